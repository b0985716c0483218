// Imports DeformConv.
//
// A deformable convolution samples its input at positions that offsets shift,
// and multiplies the samples by the weights. It becomes a GridSample and a
// matmul:
//
//   samples [N, offset group, kernel position, output position, channel]
//       times the mask, if there is one
//     -> [N, group, output position, kernel position * channel]
//       x weights + bias

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// The sizes of a DeformConv node. `kernel` is the number of kernel positions,
/// `places` the number of output positions per image.
struct Sizes {
  Dim batch, channels, outputs;
  int64_t groups, offsetGroups, kernel;
  Dim places;
};
} // namespace

/// Returns one coordinate (`axis` 0: y, 1: x) of all sampled positions, without
/// their offsets: [kernel positions, output positions, 1]. Coordinates are
/// scaled so that the input extends from -1 to 1 along the axis: `scale` is 2 /
/// (size of the input along the axis) in double precision.
static Value startsOf(OnnxNode &node, const Sizes &sizes,
                      const WindowGeometry &geometry, Value scale, int64_t axis,
                      Type type) {
  Type f64 = node.f64();
  std::vector<double> taps;
  for (int64_t k = 0, inner = *geometry.kernel[1].known(); k < sizes.kernel;
       ++k)
    taps.push_back(static_cast<double>((axis ? k % inner : k / inner) *
                                           geometry.dilations[axis] -
                                       geometry.low[axis]) +
                   0.5);
  Dims along{1, 1, 1, 1},
      all{sizes.kernel, geometry.output[0], geometry.output[1], 1};
  along[1 + axis] = all[1 + axis];
  Value places = node.mul(node.cast(node.countTo(all[1 + axis]), f64),
                          static_cast<double>(geometry.strides[axis]));
  Value p = node.add(node.reshape(places, along),
                     floatConstant(node, {sizes.kernel, 1, 1, 1}, taps, f64));
  p = node.sub(node.mul(p, scale), 1);
  return node.reshape(node.expand(node.cast(p, type), all),
                      {sizes.kernel, sizes.places, 1});
}

/// Returns one coordinate (`axis` 0: y, 1: x) of all sampled positions: the
/// coordinates that startsOf returns, plus the offsets in `offset`. The shape
/// is [N * offset groups, kernel positions, output positions, 1].
static Value coordinates(OnnxNode &node, const Sizes &sizes,
                         const WindowGeometry &geometry, Value offset,
                         const Dim &size, int64_t axis) {
  // GridSample places the centre of pixel p at (2 p + 1) / size - 1.
  // Coordinates are float64 for inputs of float64, otherwise float32.
  Type type = node.sumType(elementOf(node.input(0)));
  Value length = node.reshape(RunTimeInts(node).sizes(size), {});
  Value scale = node.div(2, node.cast(length, node.f64()));
  Value from = startsOf(node, sizes, geometry, scale, axis, type);
  scale = node.cast(scale, type);
  Value moved = node.slice(offset, 2, axis, 1);
  moved = node.reshape(
      moved, {sizes.batch * sizes.offsetGroups, sizes.kernel, sizes.places, 1});
  return node.add(node.mul(node.cast(moved, type), scale), from);
}

/// Returns the height and width of the kernel; dynamic sizes of the weights `w`
/// are taken from kernel_shape. Returns nullopt with a diagnostic if weights
/// and kernel_shape contradict each other, or neither fixes the sizes.
static std::optional<SmallVector<int64_t>> kernelOf(OnnxNode &node, Value w) {
  SmallVector<int64_t> declared =
      node.intsAttr("kernel_shape", shapeOf(w).drop_front(2));
  for (size_t i = 0; i < 2; ++i) {
    Dim size = dimsOf(w)[2 + i];
    if (declared.size() == 2 && !size.known() && node.hasAttr("kernel_shape") &&
        failed(node.requireEqual(size, declared[i],
                                 "kernel_shape and the weights' shape")))
      return std::nullopt;
    if (!dimsOf(w)[2 + i].known()) {
      (void)node.unsupported(
          "a kernel whose size is known only at run time is not supported",
          "give its sizes with --dim");
      return std::nullopt;
    }
  }
  if (ArrayRef<int64_t>(declared) == shapeOf(w).drop_front(2))
    return declared;
  (void)node.invalid("kernel_shape contradicts the weights' shape");
  return std::nullopt;
}

/// Requires a tensor to have the sizes `perPlace`; otherwise fails with the
/// diagnostic `what`.
static LogicalResult requirePlaces(OnnxNode &node, Value tensor,
                                   const Dims &perPlace, const Twine &what) {
  if (shapeOf(tensor).size() != perPlace.size())
    return node.invalid(what);
  for (auto [axis, size] : llvm::enumerate(perPlace))
    if (failed(node.requireEqual(dimsOf(tensor)[axis], size, what)))
      return failure();
  return success();
}

/// Reads the sizes of a DeformConv node and checks that the shapes of its
/// inputs match.
static FailureOr<Sizes> readSizes(OnnxNode &node, WindowGeometry &geometry) {
  Value x = node.input(0), w = node.input(1), offset = node.input(2),
        mask = node.input(4);
  if (shapeOf(x).size() != 4 || shapeOf(w).size() != 4 ||
      shapeOf(offset).size() != 4)
    return node.unsupported("only two spatial axes are supported");
  auto kernel = kernelOf(node, w);
  if (!kernel)
    return failure();
  int64_t groups = node.intAttr("group", 1),
          own = node.intAttr("offset_group", 1),
          taps = (*kernel)[0] * (*kernel)[1];
  if (groups < 1 || own < 1 || !node.requireMultiple(dimsOf(w)[0], groups) ||
      !node.requireMultiple(dimsOf(x)[1], own))
    return node.invalid("the output channels must be a multiple of group, and "
                        "the input channels of offset_group");
  if (!node.requireAtLeast(dimsOf(x)[2], 1) ||
      !node.requireAtLeast(dimsOf(x)[3], 1))
    return node.invalid(
        "the input has a spatial axis of size 0, which cannot be sampled");
  // The sizes are read again for each tensor, since requiring two sizes to be
  // equal may replace one of them in the types.
  auto perPlace = [&](int64_t each) -> FailureOr<Dims> {
    auto read = WindowGeometry::read(node, x, *kernel);
    if (failed(read))
      return failure();
    geometry = *read;
    return Dims{dimsOf(x)[0], each * own * taps, geometry.output[0],
                geometry.output[1]};
  };
  for (auto [tensor, each, what] :
       {std::make_tuple(mask, 1,
                        "the shape of the mask does not match the output"),
        std::make_tuple(
            offset, 2, "the shape of the offsets does not match the output")}) {
    if (!tensor)
      continue;
    auto needed = perPlace(each);
    if (failed(needed) || failed(requirePlaces(node, tensor, *needed, what)))
      return failure();
  }
  if (failed(perPlace(1)))
    return failure();
  return Sizes{dimsOf(x)[0],
               dimsOf(x)[1],
               dimsOf(w)[0],
               groups,
               own,
               taps,
               geometry.output[0] * geometry.output[1]};
}

static ImportResult importDeformConv(OnnxNode &node) {
  WindowGeometry geometry;
  FailureOr<Sizes> read = readSizes(node, geometry);
  if (failed(read))
    return failure();
  const Sizes &sizes = *read;
  Value x = node.input(0), w = node.input(1), offset = node.input(2),
        bias = node.input(3), mask = node.input(4);
  Dim height = dimsOf(x)[2], width = dimsOf(x)[3];
  int64_t own = sizes.offsetGroups;

  OpBuilder &b = node.builder;
  Dim each = sizes.channels.floorDiv(own), images = sizes.batch * own;
  offset = node.reshape(offset, {images, sizes.kernel, 2, sizes.places});
  Value grid = ConcatOp::create(
      b, node.loc,
      ValueRange{coordinates(node, sizes, geometry, offset, width, 1),
                 coordinates(node, sizes, geometry, offset, height, 0)},
      3);
  Value image =
      toChannelsLast(node, node.reshape(x, {images, each, height, width}));
  Value samples =
      node.build<GridSampleOp>(image, grid, "linear", "zeros", false);
  if (mask)
    samples = node.mul(
        samples, node.reshape(mask, {images, sizes.kernel, sizes.places, 1}));
  // Makes the samples of all channels of a kernel position adjacent, then
  // splits the channels into groups.
  Dim inGroup = sizes.channels.floorDiv(sizes.groups),
      outGroup = sizes.outputs.floorDiv(sizes.groups);
  samples = node.reshape(samples,
                         {sizes.batch, own, sizes.kernel, sizes.places, each});
  samples = buildTranspose(b, node.loc, samples, {0, 3, 2, 1, 4});
  samples = node.reshape(samples, {sizes.batch, sizes.places, sizes.kernel,
                                   sizes.groups, inGroup});
  samples = buildTranspose(b, node.loc, samples, {0, 3, 1, 2, 4});
  samples = node.reshape(samples, {sizes.batch, sizes.groups, sizes.places,
                                   inGroup * sizes.kernel});
  w = node.reshape(w, {sizes.groups, outGroup, inGroup, sizes.kernel});
  w = buildTranspose(b, node.loc, w, {0, 3, 2, 1});
  w = node.reshape(w, {sizes.groups, inGroup * sizes.kernel, outGroup});
  Value y = node.build<MatMulOp>(samples, w);
  y = buildTranspose(b, node.loc, y, {0, 1, 3, 2});
  y = node.reshape(
      y, {sizes.batch, sizes.outputs, geometry.output[0], geometry.output[1]});
  if (OnnxNode::unlessZeros(bias))
    y = node.add(y, node.alignAt(bias, 1, 4));
  return one(y);
}

void registerDeformableImports(OnnxRegistry &registry) {
  registry.add("DeformConv", importDeformConv, "other than two spatial axes");
}

} // namespace ingot::graph
