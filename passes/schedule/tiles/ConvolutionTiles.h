// The choice of register tiles for convolutions.

#ifndef INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONTILES_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/DotTile.h"

namespace ingot::schedule {

/// Returns the transpose in the convolution's group that makes the channels of
/// an image in memory the last axis, if tiles read adjacent columns of that image
/// in vectors: for each kernel row and each of the few channels, they load the
/// columns of all windows of a tile, and multiply by their lanes. Null if tiles
/// do not, for example in strict mode, since the kernel columns of a channel are
/// then added up before the next channel.
graph::TransposeOp imageOfColumns(graph::ConvOp conv, bool isStrict,
                                  const TargetDescription &target);

/// The cost model of a convolution's tiles, for f32 and f64 or for dot products
/// of narrow types.
class ConvolutionTiles {
public:
  ConvolutionTiles(ConvolutionAnchor anchor, const TargetDescription &target)
      : anchor(anchor), target(target), form(dotForm(anchor.conv, target)) {}

  bool isOfBytes() const { return form.has_value(); }
  bool isMixed() const { return form && form->isMixed(); }
  /// Returns how many adjacent input channels a dot product multiplies; 1 for
  /// f32 and f64.
  int64_t group() const { return form ? form->group : 1; }
  bool groupsKernelRows() const {
    return form && schedule::groupsKernelRows(anchor.conv, *form);
  }
  int64_t lanes() {
    return form ? form->lanes.front() : target.maxLanes(anchor.type());
  }
  std::vector<TileChoice> ranked() {
    return form ? dots().ranked() : floats().ranked();
  }
  double cycles(const TileChoice &tile) {
    return form ? dots().cycles(tile) : floats().cycles(tile);
  }
  ColumnVectors cover(int64_t columns) {
    return form ? coverWithDots(columns, *form, target, /*padded=*/true)
                : ColumnVectors::cover(columns, target, anchor.type(), true);
  }

private:
  TileModel floats() {
    // The rows of a tile are adjacent output positions. The distance between
    // their inputs, in elements, is the stride times `channels`.
    int64_t channels = graph::shapeOf(anchor.conv.getX()).back();
    TileModel model(anchor.positions().most(), anchor.channels(),
                    anchor.steps(), target, anchor.type(),
                    anchor.conv.getStrides().back() * channels *
                        anchor.type().getIntOrFloatBitWidth() / 8);
    // With few K steps, the epilogue of wider tiles costs what they save: with
    // 27 steps (3 x 3 windows of three channels), efficientnet_b0 takes 0.6%
    // more instructions; with 147 steps, resnet18 takes 3% fewer (armv8-a,
    // clang 22, November 2026).
    constexpr int64_t fewSteps = 64;
    if (anchor.steps() > fewSteps &&
        loadsSingly(target.maxLanes(anchor.type())))
      model.loadSingly();
    return model;
  }
  DotModel dots() {
    DotForm used = *form;
    if (used.stage && loadsSingly(used.rowGroups))
      used.rowGroups = 1;
    return DotModel(anchor.conv, anchor.positions().most(), used, target);
  }
  /// Whether the elements of a window are loaded one by one, although one load
  /// could fetch `lanes` factors: an input with few channels that the group
  /// computes, such as a transposed image, is read by kernel columns
  /// (ConvolutionLoops.cpp).
  bool loadsSingly(int64_t lanes) {
    mlir::Value x = anchor.conv.getX();
    return graph::shapeOf(x).back() < lanes &&
           !mlir::isa<mlir::BlockArgument>(x) &&
           !imageOfColumns(anchor.conv, /*isStrict=*/false, target);
  }

  ConvolutionAnchor anchor;
  const TargetDescription &target;
  std::optional<DotForm> form;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CONVOLUTIONTILES_H
