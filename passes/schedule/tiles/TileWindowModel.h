// What convolutions in registers that hold small matrices cost (TileWindows.h).

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWMODEL_H
#define INGOT_PASSES_SCHEDULE_TILES_TILEWINDOWMODEL_H

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

/// Estimates the cycles of a convolution by numbers of a narrower type in tiles; nothing where
/// the target has no such tiles, or where the convolution is not one of theirs.
std::optional<double> tileCycles(graph::ConvOp conv, mlir::Type narrow,
                                 const TargetDescription &target);

/// The tiles of one convolution, and how many of its rows are computed together.
class TileWindowModel {
public:
  TileWindowModel(graph::ConvOp conv, const TileForm &form,
                  const TargetDescription &target);

  /// `lines`: 0 for a product of matrices.
  struct Choice {
    TileChoice block;
    int64_t lines;
  };
  double cycles(const Choice &choice) const;
  /// The best one first.
  std::vector<Choice> ranked() const;
  /// Threads that can have a copy: few, and as many as there is work for.
  int64_t parts(const Choice &choice) const;

private:
  /// The copy takes half of the second cache at most, but for a single row.
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
