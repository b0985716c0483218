// Convolutions in registers that hold small matrices (RegisterTiles.h).
//
// Pointwise convolutions are products of matrices. Others read their windows from a copy of
// some rows of the input, with its padding, in which the positions of those rows of results
// are rows of a matrix for each kernel position: what lies between the end of a row and the
// beginning of the next one is computed as well, and not stored.
//
//   a kernel of 3 x 3, rows of 4 positions: the copy has rows of 6, kernel position (1, 2)
//   reads from the 8th on
//     0 0 0 0 0 0 | 0 a b c d 0 | 0 e f g h 0      results: y y y y - - y y y y
//
// With strides there is a copy for each remainder that kernel positions leave, so that
// neighbouring results read neighbouring positions.

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
#define INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/RegisterTiles.h"

namespace ingot::schedule {

/// The copy for `lines` rows of results.
struct TileWindows {
  WindowAxis down, across;
  int64_t channels;

  explicit TileWindows(graph::ConvOp conv);
  /// Whether a kernel row is one run: its columns follow each other in the copy.
  bool joinsColumns() const {
    return across.stride == 1 && across.dilation == 1;
  }
  int64_t stepsOfRun() const {
    return channels * (joinsColumns() ? across.kernel : 1);
  }
  int64_t runs() const {
    return down.kernel * (joinsColumns() ? 1 : across.kernel);
  }
  /// Copies for remainders of rows and columns.
  static int64_t planesOf(const WindowAxis &axis) {
    return axis.kernel == 1 ? 1 : axis.stride;
  }
  int64_t planes() const { return planesOf(down) * planesOf(across); }
  int64_t columns() const {
    return *across.output.known() + across.reach() / across.stride;
  }
  int64_t rows(int64_t lines) const {
    return lines + down.reach() / down.stride;
  }
  /// Rows of the matrix.
  int64_t positions(int64_t lines) const {
    return (lines - 1) * columns() + *across.output.known();
  }
  int64_t elements(int64_t lines) const {
    return planes() * rows(lines) * columns() * channels;
  }
};

/// How tiles multiply the channels of a convolution; nothing where the target has none or
/// where it is not one of theirs.
std::optional<TileForm> tileForm(ConvolutionAnchor anchor,
                                 const TargetDescription &target);

/// Builds the loops by `b.plan`: {columns, lines, order, parts, rows}.
void emitTileConvolution(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWS_H
