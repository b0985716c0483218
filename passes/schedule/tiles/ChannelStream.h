// Rows of images with a filter for each channel, as streams of bytes.
//
// Channels lie side by side, and so do the positions of a row. Whole registers of
// results take the row as one stream, whatever the number of its channels:
//
//   48 channels   p0 .. p0 | p1 .. p1 | p2 .. | p2 .. p3 ..        one row of results
//   registers     0 .......................... | 1 ................
//
// A register begins at any channel, and reads its weights from there on. Packed
// weights have their first channels once more behind the last one (pack_panels), so that
// they are read in one piece. Where the row is no whole number of registers, the last one
// begins earlier, and results are computed twice.
//
// At a stride a register of several positions is merged of one for each of them. Of few
// channels that are too many: registers have whole positions then, as many as there is
// room for, and lanes behind these that the next register overwrites.
//
//   registers     0 p0 .. p0 p1 .. p1 ...... | 1 p2 .. p2 p3 .. p3 ......

#ifndef INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H
#define INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H

#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// The rows of one convolution, computed in groups of kernel columns by products of two
/// vectors. It may have been padded already, or may be about to.
struct ChannelStream {
  /// Nothing for other convolutions, and for rows that are shorter than a vector of sums.
  static std::optional<ChannelStream> of(graph::ConvOp conv,
                                         const TargetDescription &target);

  DotForm form;
  int64_t channels;
  /// Along the row.
  int64_t positions, kernel, stride, dilation;
  /// Results that are computed together: a register of them, or half of one in rows that
  /// have no more; and bytes of a register of the input.
  int64_t lanes, loaded;

  int64_t length() const { return positions * channels; }
  /// Results from one register to the next.
  int64_t step() const;
  /// Registers that begin at multiples of the step; whether one more ends with the row,
  /// and where that begins.
  int64_t registers() const;
  bool hasLast() const { return (registers() - 1) * step() < lastStart(); }
  int64_t lastStart() const { return length() - lanes; }
  /// Whether those at multiples of the step have whole positions.
  bool beginsAtPositions() const { return step() % channels == 0; }
  /// Whether a register has channels of two positions, or of more.
  bool crossesPositions() const { return channels % lanes != 0; }
  /// Channels that follow the last one of packed weights once more.
  int64_t channelsAgain() const;

  /// How a register of the input for one kernel column is made.
  enum class Source {
    /// The bytes follow one another.
    Direct,
    /// Each second position of two registers.
    EachSecond,
    /// Positions that are apart, each from another register.
    Merged
  };
  Source source() const;
  /// Positions that a register has parts of: where its first one is `channel`, at most,
  /// and of those that begin at a multiple of the step.
  int64_t partsFrom(int64_t channel) const {
    return 1 + (channel + lanes - 1) / channels;
  }
  int64_t mostParts() const;
  int64_t partsAtSteps() const;
  /// Where registers are loaded for one kernel row: how many bytes behind the window's
  /// first one.
  llvm::SmallVector<int64_t> loads() const;
  /// How many columns behind its last window the row has to have: whole registers are
  /// loaded.
  int64_t overreach() const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CHANNELSTREAM_H
