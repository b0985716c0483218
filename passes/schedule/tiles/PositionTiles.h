// Convolutions whose vectors have neighbouring positions of a row in their lanes.
//
// Where output channels do not fill a vector, positions do. A sum is of one channel at as
// many positions as a vector has lanes; each step adds the product of a vector of the input
// and one weight:
//
//   sums of channel 0    y0 y1 y2 y3  +=  x0 x1 x2 x3  *  w(0, channel 0)
//                        y0 y1 y2 y3  +=  x1 x2 x3 x4  *  w(1, channel 0)
//
// Windows are read from a copy of some rows of the input, each channel by itself, with the
// padding at both ends. At a stride there is a row of the copy for each remainder that
// columns leave, so that steps read neighbouring numbers:
//
//   stride 2, one column of padding    remainder 0: 0 b d f ..    remainder 1: a c e g ..
//
// With a pool, lanes have positions of its result: there is a sum for each column of a
// pool's window, and the columns of the next window are as far apart as a stride.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/ColumnTiles.h"

namespace ingot::schedule {

/// The convolution of a group, and its pool, if positions can be in lanes: of floats, with
/// nothing behind it that reads other than channels. Null if the group computes something
/// else.
ConvolutionAnchor positionConvolution(GroupView group,
                                      const TargetDescription &target);

/// Where the input of a convolution has the columns of a row and channel side by side in
/// memory: the tensor that has them, and where that has an axis of the input. Nothing if
/// they are apart.
struct ColumnsInMemory {
  mlir::Value tensor;
  /// Empty: all axes but the channels, of which there is one.
  llvm::SmallVector<int64_t> axes;

  static std::optional<ColumnsInMemory> of(graph::ConvOp conv);
};

/// The rows of the input that are copied for some rows of the result: a row for each
/// channel and remainder of columns, from which zeros separate the next one.
struct CopiedRows {
  /// An image of one axis has one row.
  WindowAxis down, across;
  int64_t channels;
  /// The window of the pool.
  int64_t poolRows = 1, poolColumns = 1;
  /// Of the result.
  int64_t images, resultRows, resultColumns;

  explicit CopiedRows(ConvolutionAnchor anchor);

  /// Columns of the input from one lane to the next.
  int64_t stride() const { return across.stride * poolColumns; }
  int64_t inputColumns() const { return *across.input.known(); }
  int64_t inputRows() const { return *down.input.known(); }
  /// Where a row of the copy has a column of the input, which may be outside: the row by
  /// its remainder, and the number in it.
  struct Place {
    int64_t remainder, number;
  };
  Place placeOf(int64_t column) const;
  /// The place of kernel column `k` of the first window at column `position` of a pool.
  Place placeOf(int64_t position, int64_t k) const {
    return placeOf(position * across.stride + k * across.dilation - across.low);
  }
  /// The columns that every remainder has, and those that one has at most.
  int64_t whole() const { return inputColumns() / stride(); }
  int64_t most() const { return llvm::divideCeil(inputColumns(), stride()); }
  /// The zeros behind these that windows reach, or those of the next row from the other
  /// side.
  int64_t zeros() const;
  /// Rows of the input that `lines` rows of the result are computed from.
  int64_t rows(int64_t lines) const {
    return (lines * poolRows - 1) * down.stride + down.reach() + 1;
  }
};

/// What a tile computes: so many channels, at the positions of so many vectors; and for how
/// many rows of the result there is one copy.
struct PositionChoice {
  int64_t channels, vectors, lines;
};

/// Rows of the copy are put together in vectors for strides up to this.
inline constexpr int64_t mostInVectors = 4;

class PositionTiles {
public:
  PositionTiles(ConvolutionAnchor anchor, const TargetDescription &target);

  CopiedRows copied;
  /// Of the whole result.
  int64_t channels;
  /// The lanes of each vector of a row, of which the last one may be narrower, and may reach
  /// behind the row.
  llvm::SmallVector<int64_t> vectors;

  int64_t lanes() const { return vectors.front(); }
  /// From one row of a copy to the next: whole vectors.
  int64_t pitch() const;
  /// Rows of a copy.
  int64_t copies(int64_t lines) const {
    return copied.rows(lines) * copied.channels * copied.stride();
  }
  /// Elements of a copy: zeros in front of its rows, and what vectors that reach behind the
  /// last one read.
  int64_t start() const;
  int64_t elements(int64_t lines) const;

  /// Estimates the cycles of the whole result.
  double cycles(const PositionChoice &choice) const;
  /// The best one first. `divides`: there are copies for several threads.
  std::vector<PositionChoice> ranked(bool divides) const;
  /// Threads that can have a copy.
  int64_t parts(const PositionChoice &choice) const;

private:
  double cyclesOfTile(int64_t ofChannels, int64_t ofVectors) const;
  double cyclesOfCopy(int64_t lines) const;
  int64_t linesOfCopy(bool divides) const;
  int64_t registers(int64_t ofChannels, int64_t ofVectors) const;

  const TargetDescription &target;
  mlir::Type type;
  bool isInMemory;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H
