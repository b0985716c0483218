// Rows of depthwise convolutions as streams of int8 elements.
//
// Channels are contiguous, and so are the positions of a row. Whole registers
// of results process the row as one stream, whatever the number of channels:
//
//   48 channels   p0 .. p0 | p1 .. p1 | p2 .. | p2 .. p3 ..   a row of results
//   registers     0 .......................... | 1 ................
//
// A register may begin at any channel and reads its weights from there on.
// Packed weights repeat their first channels at the end (pack_panels), so that
// one load suffices. If the row is not a whole number of registers, the last
// one overlaps the previous one.
//
// With a stride above 1, a register with several positions is merged from one
// input register for each position. If there are few channels, these would be
// too many registers: a register of results then contains whole positions, as
// many as fit, and unused lanes that the next register overwrites.
//
//   registers     0 p0 .. p0 p1 .. p1 ...... | 1 p2 .. p2 p3 .. p3 ......

#ifndef INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H
#define INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H

#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// The rows of a depthwise convolution, computed in groups of kernel columns by
/// dot products of two vectors. Its input may be padded already or not yet.
struct ChannelStream {
  /// Returns the stream of `conv`; nothing if `conv` is not an integer
  /// depthwise convolution that the target can multiply in this way, or if its
  /// rows are shorter than a vector of sums.
  static std::optional<ChannelStream> of(graph::ConvOp conv,
                                         const TargetDescription &target);

  DotForm form;
  int64_t channels;
  /// Sizes along the row.
  int64_t positions, kernel, stride, dilation;
  /// The number of results that are computed together: as many as a register
  /// has int8 elements, fewer in short rows; and the bytes in a register of the
  /// input.
  int64_t lanes, loaded;

  int64_t length() const { return positions * channels; }
  /// Returns the number of results from one register to the next.
  int64_t step() const;
  /// Return the number of registers that begin at multiples of step() in a row
  /// of results; whether one more register, at the end of the row, is needed;
  /// and where that last register begins.
  int64_t registers() const;
  bool hasLast() const { return (registers() - 1) * step() < lastStart(); }
  int64_t lastStart() const { return length() - lanes; }
  /// Whether registers at multiples of step() contain whole positions.
  bool beginsAtPositions() const { return step() % channels == 0; }
  /// Whether a register has channels of two or more positions.
  bool crossesPositions() const { return channels % lanes != 0; }
  /// Returns how many channels packed weights repeat at the end.
  int64_t channelsAgain() const;

  /// How a register of the input is formed for one kernel column.
  enum class Source {
    /// From contiguous elements.
    Direct,
    /// From every second position of two registers.
    EachSecond,
    /// From positions of several registers.
    Merged
  };
  Source source() const;
  /// Return of how many positions a register has channels: a register that
  /// begins at `channel`; any register, at most; and any register that begins
  /// at a multiple of step(), at most.
  int64_t partsFrom(int64_t channel) const {
    return 1 + (channel + lanes - 1) / channels;
  }
  int64_t mostParts() const;
  int64_t partsAtSteps() const;
  /// Returns where registers are loaded for one kernel row, in bytes after the
  /// start of the window.
  llvm::SmallVector<int64_t> loads() const;
  /// Returns how many columns the row must have after its last window, as whole
  /// registers are loaded.
  int64_t overreach() const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H
