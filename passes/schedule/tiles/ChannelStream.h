// Result rows of depthwise convolutions as streams of int8 elements.
//
// The channels of a position are contiguous, and so are the positions of a row.
// Whole registers of results process the row as one stream, whatever the number
// of channels. For 48 channels, with p0, p1, ... for elements of positions 0,
// 1, ...:
//
//   row of results  p0 .. p0 | p1 .. p1 | p2 .. | p2 .. p3 ..
//   registers       0 .......................... | 1 ................
//
// A register may begin at any channel and reads its weights from that channel
// on. Packed weights repeat their first channels at the end (pack_panels), so
// that one load suffices. If the row does not fill a whole number of registers,
// the last register overlaps the previous one.
//
// With a stride above 1, a register with several positions is merged from one
// input register for each position. If there are few channels, these would be
// too many input registers. In this case, a register of results contains as
// many whole positions as fit, and unused lanes, which the next register
// overwrites:
//
//   registers       0 p0 .. p0 p1 .. p1 ...... | 1 p2 .. p2 p3 .. p3 ......

#ifndef INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H
#define INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H

#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// The division of a depthwise convolution's result rows into registers. Each
/// dot product of two vectors multiplies a group of kernel columns. The
/// convolution's input may or may not be padded already.
struct ChannelStream {
  /// Returns the stream of `conv`. Returns nothing if `conv` is not an integer
  /// depthwise convolution that the target can multiply in this way, or if its
  /// result rows are shorter than a vector of sums.
  static std::optional<ChannelStream> of(graph::ConvOp conv,
                                         const TargetDescription &target);

  DotForm form;
  int64_t channels;
  /// Sizes along a row: result positions, kernel columns, stride and dilation.
  int64_t positions, kernel, stride, dilation;
  /// `lanes` is the number of results that are computed together: as many as a
  /// register has int8 elements, fewer in short rows. `loaded` is the number of
  /// bytes in a register of the input.
  int64_t lanes, loaded;

  int64_t length() const { return positions * channels; }
  /// Returns the distance, in results, from the start of a register to the
  /// start of the next one.
  int64_t step() const;
  /// registers() returns the number of registers of a row that begin at
  /// multiples of step(). hasLast() returns whether one more register is needed
  /// at the end of the row, and lastStart() the index of that register's first
  /// result.
  int64_t registers() const;
  bool hasLast() const { return (registers() - 1) * step() < lastStart(); }
  int64_t lastStart() const { return length() - lanes; }
  /// Whether registers that begin at multiples of step() begin at the first
  /// channel of a position.
  bool beginsAtPositions() const { return step() % channels == 0; }
  /// Whether the channels of a register belong to two or more positions.
  bool crossesPositions() const { return channels % lanes != 0; }
  /// Returns how many of the first channels the packed weights repeat at the
  /// end.
  int64_t channelsAgain() const;

  /// How a register of the input is formed for one kernel column.
  enum class Source {
    /// The register is loaded from contiguous elements.
    Direct,
    /// The register has every second position of two loaded registers.
    EachSecond,
    /// The register is merged from positions of several loaded registers.
    Merged
  };
  Source source() const;
  /// Return the number of positions to which the channels of a register belong:
  /// partsFrom() for a register that begins at `channel`, mostParts() the
  /// maximum of all registers, and partsAtSteps() the maximum of the registers
  /// that begin at multiples of step().
  int64_t partsFrom(int64_t channel) const {
    return 1 + (channel + lanes - 1) / channels;
  }
  int64_t mostParts() const;
  int64_t partsAtSteps() const;
  /// Returns the offsets, in bytes from the start of a window, of the input
  /// registers that are loaded for one kernel row.
  llvm::SmallVector<int64_t> loads() const;
  /// Returns how many columns an input row must have after its last window,
  /// because whole registers are loaded.
  int64_t overreach() const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H
