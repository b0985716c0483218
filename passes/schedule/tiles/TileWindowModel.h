// The cost model of convolutions in registers that hold two-dimensional tiles
// of a matrix (TileWindows.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWMODEL_H
#define INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWMODEL_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/RegisterTiles.h"

namespace ingot::schedule {

/// The size and layout of the copy of input rows that a convolution in tile
/// registers reads. Where a function has a parameter `lines`, the copy is for
/// that number of result rows.
struct TileWindows {
  WindowAxis down, across;
  int64_t channels;

  explicit TileWindows(graph::ConvOp conv);
  /// Whether the K steps of a whole kernel row are contiguous in the copy of
  /// input rows, because adjacent kernel columns read adjacent positions.
  bool joinsColumns() const {
    return across.stride == 1 && across.dilation == 1;
  }
  int64_t stepsOfRun() const {
    return channels * (joinsColumns() ? across.kernel : 1);
  }
  int64_t runs() const {
    return down.kernel * (joinsColumns() ? 1 : across.kernel);
  }
  /// Returns the number of planes along an axis in the copy of input rows: one
  /// for each remainder of the index modulo the stride, or only one if the
  /// kernel has size 1 on that axis.
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
  /// Returns the number of rows of the matrix product: the positions of `lines`
  /// result rows, and the positions between these rows that are computed but
  /// not stored.
  int64_t positions(int64_t lines) const {
    return (lines - 1) * columns() + *across.output.known();
  }
  int64_t elements(int64_t lines) const {
    return planes() * rows(lines) * columns() * channels;
  }
};

/// Returns the TileForm in which tile registers multiply the channels of a
/// convolution; nothing if the target has no such registers or the convolution
/// is unsuitable.
std::optional<TileForm> tileForm(ConvolutionAnchor anchor,
                                 const TargetDescription &target);

/// Estimates the cycles that a convolution would take in tile registers if its
/// operands had the type `narrow`; nothing if the target has no such registers
/// or the convolution is unsuitable.
std::optional<double> tileCycles(graph::ConvOp conv, mlir::Type narrow,
                                 const TargetDescription &target);

/// The cost model of a convolution in tile registers. It also chooses the
/// number of result rows that are computed together.
class TileWindowModel {
public:
  TileWindowModel(graph::ConvOp conv, const TileForm &form,
                  const TargetDescription &target);

  /// A block of tile registers, and the number of result rows that are computed
  /// from one copy of input rows (`lines`); 0 if the convolution is a matrix
  /// product of the input as it is stored.
  struct Choice {
    TileChoice block;
    int64_t lines;
  };
  double cycles(const Choice &choice) const;
  /// Returns the choices, best first.
  std::vector<Choice> ranked() const;
  /// Returns how many threads can have their own copy of input rows: at most a
  /// small constant, and at most the number of work items.
  int64_t parts(const Choice &choice) const;

private:
  /// Whether the copy of the input rows for `lines` result rows takes at most
  /// half of the L2 cache. A single result row always fits.
  bool fits(int64_t lines) const;
  RegisterTileModel tiles(int64_t lines) const;

  TileForm form;
  const TargetDescription &target;
  TileWindows windows;
  bool isMatrix;
  llvm::ArrayRef<int64_t> y;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWMODEL_H
