// Imports operators that sample at computed positions.

#include "compiler/import/operators/Resize.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"

using namespace mlir;

namespace ingot::graph {

static ImportResult importGridSample(OnnxNode &node) {
  Value x = node.input(0), grid = node.input(1);
  size_t spatial = shapeOf(x).size() - 2;
  if (shapeOf(x).size() >= 3 && shapeOf(grid).size() == shapeOf(x).size() &&
      (failed(node.requireEqual(dimsOf(grid)[0], dimsOf(x)[0],
                                "the batch sizes of the input and the grid")) ||
       failed(node.requireEqual(dimsOf(grid).back(), spatial,
                                "the length of a position in the grid, and the "
                                "number of spatial axes"))))
    return failure();
  ArrayRef<int64_t> from = shapeOf(x), to = shapeOf(grid);
  if (from.size() < 3 || to.size() != from.size() || to[0] != from[0] ||
      to.back() != static_cast<int64_t>(spatial))
    return node.invalid(
        "the grid must have the rank and the batch size of the input, and "
        "positions with one coordinate for each spatial axis");
  std::string mode =
      node.stringAttr("mode", node.opset < 20 ? "bilinear" : "linear");
  if (mode == "bilinear" || mode == "bicubic")
    mode = StringRef(mode).drop_front(2).str();
  std::string padding = node.stringAttr("padding_mode", "zeros");
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, mode) ||
      !llvm::is_contained({"zeros", "border", "reflection"}, padding))
    return node.invalid("unknown mode `" + mode + "` or padding_mode `" +
                        padding + "`");
  if (product(from.drop_front(2)) == 0 && product(to.drop_back()) != 0 &&
      from[1] != 0)
    return node.invalid(
        "the input has a spatial axis of size 0, which cannot be sampled");
  Value result =
      node.build<GridSampleOp>(toChannelsLast(node, x), grid, mode, padding,
                               node.intAttr("align_corners", 0) != 0);
  return one(toChannelsFirst(node, result));
}

static ImportResult importRoiAlign(OnnxNode &node) {
  Value x = node.input(0), rois = node.input(1), batch = node.input(2);
  if (shapeOf(rois).size() == 2 && shapeOf(batch).size() == 1 &&
      (failed(node.requireEqual(dimsOf(rois)[1], 4,
                                "the number of coordinates of a region")) ||
       failed(
           node.requireEqual(dimsOf(batch)[0], dimsOf(rois)[0],
                             "the number of regions, and of batch indices"))))
    return failure();
  if (shapeOf(x).size() != 4 || shapeOf(rois).size() != 2 ||
      shapeOf(rois)[1] != 4 || shapeOf(batch) != shapeOf(rois).take_front())
    return node.invalid(
        "the input must have rank 4, the regions the shape [regions, 4], and "
        "the batch indices the shape [regions]");
  std::string mode = node.stringAttr("mode", "avg");
  if (mode != "avg" && mode != "max")
    return node.invalid("unknown mode `" + mode + "`");
  bool centred =
      node.stringAttr("coordinate_transformation_mode",
                      node.opset < 16 ? "output_half_pixel" : "half_pixel") ==
      "half_pixel";
  Dims sizes = {dimsOf(rois)[0], node.intAttr("output_height", 1),
                node.intAttr("output_width", 1), dimsOf(x)[1]};
  auto type = tensorOf(sizes, elementOf(x));
  Builder &b = node.builder;
  Value result = node.build<RoiAlignOp>(
      type, toChannelsLast(node, x), rois, batch,
      mode == "max" ? b.getUnitAttr() : UnitAttr(),
      b.getF64FloatAttr(node.floatAttr("spatial_scale", 1)),
      b.getF64FloatAttr(centred ? 0.5 : 0),
      b.getI64IntegerAttr(node.intAttr("sampling_ratio", 0)));
  return one(toChannelsFirst(node, result));
}

/// Returns `count` equidistant coordinates in [-1, 1]: from -1 to 1 inclusive
/// if `corners` is set, else the centres of `count` intervals of equal length.
static Value gridPositions(OnnxNode &node, const Dim &count, bool corners) {
  RunTimeInts ints(node);
  Type f64 = node.f64();
  Value twice = node.mul(node.countTo(count), 2);
  if (!corners)
    twice = node.add(twice, 1);
  Dim steps = corners ? count - 1 : count;
  // If `corners` is set and `count` is 1, `steps` is 0. A division by 1 instead
  // of 0 gives the coordinate -1.
  Value length = node.max(node.reshape(ints.sizes(steps), {}), 1);
  return node.sub(node.div(node.cast(twice, f64), node.cast(length, f64)), 1);
}

/// The identity grid has coordinates in [-1, 1]; each position is multiplied by
/// theta. Column k of theta is the factor of coordinate k, the last column is
/// added.
static ImportResult importAffineGrid(OnnxNode &node) {
  Value theta = node.input(0);
  if (shapeOf(theta).size() != 3 || shapeOf(node.input(1)).size() != 1)
    return node.invalid(
        "theta must have one matrix for each batch entry of `size`");
  auto length = dimsOf(node.input(1))[0].known();
  if (!length || (*length != 4 && *length != 5))
    return node.invalid("`size` must have four or five entries");
  int64_t spatial = *length - 2;
  if (failed(node.requireEqual(
          dimsOf(theta)[1], spatial,
          "the number of rows of theta, and of spatial axes")) ||
      failed(node.requireEqual(
          dimsOf(theta)[2], spatial + 1,
          "the number of columns of theta, and of spatial axes + 1")))
    return failure();
  auto sizes = sizesOfInput(node, 1, "size");
  if (failed(sizes))
    return failure();
  theta = node.input(0);
  Dim batch = dimsOf(theta)[0];
  if (surelyDiffer(batch, (*sizes)[0]))
    return node.invalid(
        "theta must have one matrix for each batch entry of `size`");
  if (!node.takeEqual(batch, (*sizes)[0])) {
    node.checkEqual((*sizes)[0], batch);
    theta = resizedAlong(node, theta, 0, (*sizes)[0]);
  }
  // Reads input 1 again, since requiring that sizes are equal may have replaced
  // symbols.
  if (node.isKnown(1))
    sizes = node.requireSizes(1, "size");
  if (failed(sizes))
    return failure();
  batch = dimsOf(theta)[0];
  bool corners = node.intAttr("align_corners", 0) != 0;
  auto column = [&](int64_t k) {
    Dims shape(spatial + 2, 1);
    shape[0] = batch;
    shape.back() = spatial;
    return node.reshape(node.slice(theta, 2, k, 1), shape);
  };
  Value sum;
  for (int64_t k = 0; k < spatial; ++k) {
    // The coordinates of a grid position are listed from the innermost spatial
    // axis to the outermost.
    Dim count = (*sizes)[1 + spatial - k];
    Value at = node.cast(gridPositions(node, count, corners), elementOf(theta));
    Value part =
        node.mul(column(k), node.alignAt(at, spatial - k, spatial + 2));
    sum = sum ? node.add(sum, part) : part;
  }
  return one(node.add(sum, column(spatial)));
}

void registerResampleImports(OnnxRegistry &registry) {
  const char *bound = "data-dependent scales or sizes without an upper bound";
  registry.add("Resize", importResize, bound);
  registry.add("Upsample", importUpsample, bound);
  registry.add("GridSample", importGridSample);
  registry.add("RoiAlign", importRoiAlign);
  registry.add("AffineGrid", importAffineGrid,
               "a data-dependent size without an upper bound");
}

} // namespace ingot::graph
