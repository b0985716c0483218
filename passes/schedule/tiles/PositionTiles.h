// Convolutions whose vector lanes are adjacent output positions of a row.
//
// If the output channels do not fill a vector, positions do. A vector of sums
// has one channel at as many positions as it has lanes. Each K step adds the
// product of a vector of the input and a scalar weight. For a kernel of two
// columns:
//
//   sums of channel 0    y0 y1 y2 y3  +=  x0 x1 x2 x3  *  w(0, channel 0)
//                        y0 y1 y2 y3  +=  x1 x2 x3 x4  *  w(1, channel 0)
//
// Windows are read from a copy of some input rows, one channel at a time, with
// padding at both ends. With a stride, the copy has a row for each remainder of
// the input column's index modulo the stride, so that each K step reads
// contiguous elements. For stride 2, input columns a b c ..., and one column of
// padding:
//
//     remainder 0: a c e g ..    remainder 1: 0 b d f ..
//
// With a pool, lanes are positions of the pool's result. There is a sum for
// each column of the pool's window, and the distance between adjacent lanes is
// multiplied by the window's width.

#ifndef INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_POSITIONTILES_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/ColumnTiles.h"

namespace ingot::schedule {

/// Returns the float convolution of a group, with its pool, if the output
/// positions can be vector lanes on the target; null otherwise. The group's
/// epilogue may read only scalars and values with one element per channel.
ConvolutionAnchor positionConvolution(GroupOnTarget group);

/// The stored tensor in which adjacent columns of a convolution's input (of the
/// same row and channel) are adjacent elements. of() returns nothing if there
/// is no such tensor.
struct ColumnsInMemory {
  mlir::Value tensor;
  /// For each axis of the convolution's input, the corresponding axis of
  /// `tensor`. Empty if `tensor` is the input itself, which then has a single
  /// channel.
  llvm::SmallVector<int64_t> axes;

  static std::optional<ColumnsInMemory> of(graph::ConvOp conv);
};

/// The copy of the input rows that some result rows need. It has a row for each
/// input row, channel, and remainder of the column index modulo the stride.
/// Zeros separate each row of the copy from the next one.
struct CopiedRows {
  /// The vertical axis and the horizontal axis. An image with one spatial axis
  /// has a single row.
  WindowAxis down, across;
  int64_t channels;
  /// The size of the pool's window; 1 x 1 without a pool.
  int64_t poolRows = 1, poolColumns = 1;
  /// The number of images, rows and columns of the result.
  int64_t images, resultRows, resultColumns;

  explicit CopiedRows(ConvolutionAnchor anchor);

  /// Returns the distance in input columns between adjacent lanes.
  int64_t stride() const { return across.stride * poolColumns; }
  int64_t inputColumns() const { return *across.input.known(); }
  int64_t inputRows() const { return *down.input.known(); }
  /// The position of an input column in the copy of input rows: the column's
  /// remainder modulo the stride, which selects the row of the copy, and the
  /// index in that row. The column may be outside of the input.
  struct Place {
    int64_t remainder, number;
  };
  Place placeOf(int64_t column) const;
  /// Returns the position, in the copy of input rows, of the element that
  /// kernel column `k` reads for column `position` of the first window of the
  /// pool.
  Place placeOf(int64_t position, int64_t k) const {
    return placeOf(position * across.stride + k * across.dilation - across.low);
  }
  /// whole() returns the least and most() the largest number of input columns
  /// that have the same remainder modulo the stride.
  int64_t whole() const { return inputColumns() / stride(); }
  int64_t most() const { return llvm::divideCeil(inputColumns(), stride()); }
  /// Returns how many zeros must follow each row in the copy of input rows, so
  /// that windows may reach beyond either end of a row.
  int64_t zeros() const;
  /// Returns how many input rows the windows of `lines` result rows cover.
  int64_t rows(int64_t lines) const {
    return (lines * poolRows - 1) * down.stride + down.reach() + 1;
  }
};

/// The size of a tile in channels and in vectors of positions, and the number
/// of result rows that share a copy of input rows.
struct PositionChoice {
  int64_t channels, vectors, lines;
};

/// The largest stride with which the copy of input rows is filled by whole
/// vectors, which are gathered. With larger strides, elements are copied one by
/// one.
inline constexpr int64_t mostInVectors = 4;

class PositionTiles {
public:
  PositionTiles(ConvolutionAnchor anchor, const TargetDescription &target);

  CopiedRows copied;
  /// The number of output channels of the whole result.
  int64_t channels;
  /// The lanes of each vector that covers a result row. The last vector may be
  /// narrower, and may reach beyond the row.
  llvm::SmallVector<int64_t> vectors;

  int64_t lanes() const { return vectors.front(); }
  /// Returns the number of elements from one row to the next one in the copy of
  /// input rows. It is a multiple of the lanes of a vector.
  int64_t pitch() const;
  /// Returns how many rows the copy of the input rows for `lines` result rows
  /// has.
  int64_t copies(int64_t lines) const {
    return copied.rows(lines) * copied.channels * copied.stride();
  }
  /// start() returns the number of zeros before the first row in the copy of
  /// input rows. elements() returns the number of all elements of the copy,
  /// with those that the last vectors read beyond its last row.
  int64_t start() const;
  int64_t elements(int64_t lines) const;

  /// Estimates the cycles of the whole convolution.
  double cycles(const PositionChoice &choice) const;
  /// Returns the choices, best first. `divides` says that several threads
  /// divide the work and each have their own copy of input rows.
  std::vector<PositionChoice> ranked(bool divides) const;
  /// Returns how many threads can have their own copy of input rows: at most a
  /// small constant, and at most the number of blocks of `choice.lines` result
  /// rows.
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
