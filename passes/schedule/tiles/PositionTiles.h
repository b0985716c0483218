// Convolutions with adjacent positions of a row in vector lanes.
//
// If the output channels do not fill a vector, positions do. A vector of sums
// has one channel at as many positions as it has lanes; each step adds the
// product of a vector of the input and a scalar weight:
//
//   sums of channel 0    y0 y1 y2 y3  +=  x0 x1 x2 x3  *  w(0, channel 0)
//                        y0 y1 y2 y3  +=  x1 x2 x3 x4  *  w(1, channel 0)
//
// Windows are read from a copy of some input rows, one channel at a time, with
// padding at both ends. With a stride, the copy has a row for each remainder of
// the column index modulo the stride, so that steps read contiguous elements:
//
//   stride 2, one column of padding:
//     remainder 0: 0 b d f ..    remainder 1: a c e g ..
//
// With a pool, lanes are positions of its result: there is a sum for each
// column of the pool's window, and the distance between adjacent lanes is
// multiplied by the window's width.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/ColumnTiles.h"

namespace ingot::schedule {

/// Returns the float convolution of a group, with its pool, if positions can be
/// in lanes: its epilogue may read per-channel values only. Null if the group
/// computes something else.
ConvolutionAnchor positionConvolution(GroupOnTarget group);

/// The tensor in which the columns of a row and channel of a convolution's
/// input are contiguous, and the mapping of axes. Nothing if they are not
/// contiguous.
struct ColumnsInMemory {
  mlir::Value tensor;
  /// For each axis of the input, its axis in the tensor. Empty if the input
  /// itself is that tensor, with a single channel.
  llvm::SmallVector<int64_t> axes;

  static std::optional<ColumnsInMemory> of(graph::ConvOp conv);
};

/// The input rows that are copied for some result rows: a row of the copy for
/// each channel and remainder of columns, separated from the next one by zeros.
struct CopiedRows {
  /// The vertical and the horizontal axis. An image with one spatial axis has a
  /// single row.
  WindowAxis down, across;
  int64_t channels;
  /// The window of the pool.
  int64_t poolRows = 1, poolColumns = 1;
  /// Sizes of the result.
  int64_t images, resultRows, resultColumns;

  explicit CopiedRows(ConvolutionAnchor anchor);

  /// Returns the input columns from one lane to the next.
  int64_t stride() const { return across.stride * poolColumns; }
  int64_t inputColumns() const { return *across.input.known(); }
  int64_t inputRows() const { return *down.input.known(); }
  /// The position of an input column, which may be outside, in the copy: its
  /// row by the remainder, and its index in that row.
  struct Place {
    int64_t remainder, number;
  };
  Place placeOf(int64_t column) const;
  /// Returns the position of kernel column `k` of the first window at column
  /// `position` of a pool.
  Place placeOf(int64_t position, int64_t k) const {
    return placeOf(position * across.stride + k * across.dilation - across.low);
  }
  /// Return how many input columns each remainder has at least, and at most.
  int64_t whole() const { return inputColumns() / stride(); }
  int64_t most() const { return llvm::divideCeil(inputColumns(), stride()); }
  /// Returns how many zeros must follow each row for windows that reach beyond
  /// either end.
  int64_t zeros() const;
  /// Returns how many input rows are needed for `lines` result rows.
  int64_t rows(int64_t lines) const {
    return (lines * poolRows - 1) * down.stride + down.reach() + 1;
  }
};

/// The size of a tile: channels, and vectors of positions; and the result rows
/// per copy.
struct PositionChoice {
  int64_t channels, vectors, lines;
};

/// The largest stride for which rows of the copy are gathered in vectors.
inline constexpr int64_t mostInVectors = 4;

class PositionTiles {
public:
  PositionTiles(ConvolutionAnchor anchor, const TargetDescription &target);

  CopiedRows copied;
  /// Channels of the whole result.
  int64_t channels;
  /// The lanes of each vector of a row; the last may be narrower and may reach
  /// beyond the row.
  llvm::SmallVector<int64_t> vectors;

  int64_t lanes() const { return vectors.front(); }
  /// Returns the elements from one row of the copy to the next, a multiple of
  /// the lanes of a vector.
  int64_t pitch() const;
  /// Returns the number of rows in the copy.
  int64_t copies(int64_t lines) const {
    return copied.rows(lines) * copied.channels * copied.stride();
  }
  /// Return the zeros before the rows of the copy, and all elements of the
  /// copy, including those that the last vectors read beyond its last row.
  int64_t start() const;
  int64_t elements(int64_t lines) const;

  /// Estimates the cycles of the whole result.
  double cycles(const PositionChoice &choice) const;
  /// Returns the choices, best first. `divides`: several threads have a copy
  /// each.
  std::vector<PositionChoice> ranked(bool divides) const;
  /// Returns how many threads can have a copy of their own.
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
