// DeformConv.
//
// A deformable convolution samples its input where the offsets say and
// multiplies the samples with the weights, so it becomes a grid_sample and a
// matrix product:
//
//   samples [N, offset group, kernel position, place, channel] (* mask)
//     -> [N, group, place, kernel position * channel] x weights + bias

#include "compiler/import/operators/OnnxImport.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// The sizes of one node: a 2-D convolution.
struct Sizes {
  int64_t batch, channels, outputs, groups, offsetGroups, kernel, places;
};
} // namespace

/// One coordinate (0: y, 1: x) of all samples, from -1 to 1 over the input:
/// [N * offset groups, kernel, places, 1].
static Value coordinates(OnnxNode &node, const Sizes &sizes,
                         const WindowGeometry &geometry, Value offset,
                         int64_t size, int64_t axis) {
  // Pixel p has its centre at (2 p + 1) / size - 1.
  double scale = 2.0 / static_cast<double>(size);
  std::vector<double> start;
  for (int64_t k = 0; k < sizes.kernel; ++k)
    for (int64_t place = 0; place < sizes.places; ++place) {
      int64_t inner = *geometry.output[1].known(),
              taps = *geometry.kernel[1].known();
      int64_t o = axis ? place % inner : place / inner,
              tap = axis ? k % taps : k / taps;
      auto p =
          static_cast<double>(o * geometry.strides[axis] - geometry.low[axis] +
                              tap * geometry.dilations[axis]);
      start.push_back((p + 0.5) * scale - 1);
    }
  Type f32 = node.builder.getF32Type();
  Value moved = slice(node.builder, node.loc, offset, 2, axis, 1);
  moved = node.reshape(
      moved, {sizes.batch * sizes.offsetGroups, sizes.kernel, sizes.places, 1});
  Value from = floatConstant(node, {sizes.kernel, sizes.places, 1}, start, f32);
  return node.elementwise<AddOp>(
      {node.elementwise<MulOp>(
           {node.cast(moved, f32), node.scalarConstant(scale, f32)}),
       from});
}

static ImportResult importDeformConv(OnnxNode &node) {
  Value x = node.input(0), w = node.input(1), offset = node.input(2),
        bias = node.input(3), mask = node.input(4);
  ArrayRef<int64_t> xs = shapeOf(x), ws = shapeOf(w), os = shapeOf(offset);
  if (xs.size() != 4 || ws.size() != 4 || os.size() != 4)
    return node.unsupported("other than two spatial axes");
  SmallVector<int64_t> declared =
      node.intsAttr("kernel_shape", ws.drop_front(2));
  if (ArrayRef<int64_t>(declared) != ws.drop_front(2))
    return node.invalid("kernel_shape contradicts the weights' shape");
  for (Value tensor : {x, w, offset, bias, mask})
    if (tensor && hasRunTimeSizes(tensor.getType()))
      return node.unsupported("sizes that are known only at run time",
                              "give them one size with --dim");
  auto geometry = WindowGeometry::read(node, x, ws.drop_front(2));
  if (failed(geometry))
    return failure();
  int64_t height = *geometry->output[0].known(),
          width = *geometry->output[1].known();
  Sizes sizes{xs[0],
              xs[1],
              ws[0],
              node.intAttr("group", 1),
              node.intAttr("offset_group", 1),
              ws[2] * ws[3],
              height * width};
  int64_t own = sizes.offsetGroups;
  if (sizes.groups < 1 || own < 1 || ws[0] % sizes.groups || xs[1] % own)
    return node.invalid("the groups do not divide the channels");
  if (xs[2] == 0 || xs[3] == 0)
    return node.invalid("samples an empty axis");
  SmallVector<int64_t> perPlace{xs[0], own * sizes.kernel, height, width};
  if (mask && shapeOf(mask) != ArrayRef<int64_t>(perPlace))
    return node.invalid("the mask does not fit the output");
  perPlace[1] *= 2;
  if (os != ArrayRef<int64_t>(perPlace))
    return node.invalid("the offsets do not fit the output");

  OpBuilder &b = node.builder;
  int64_t each = sizes.channels / own, images = sizes.batch * own;
  offset = node.reshape(offset, {images, sizes.kernel, 2, sizes.places});
  Value grid = ConcatOp::create(
      b, node.loc,
      ValueRange{coordinates(node, sizes, *geometry, offset, xs[3], 1),
                 coordinates(node, sizes, *geometry, offset, xs[2], 0)},
      3);
  Value image =
      toChannelsLast(node, node.reshape(x, {images, each, xs[2], xs[3]}));
  Value samples =
      node.build<GridSampleOp>(image, grid, "linear", "zeros", false);
  if (mask)
    samples = node.elementwise<MulOp>(
        {samples, node.reshape(mask, {images, sizes.kernel, sizes.places, 1})});
  // All channels of a kernel position side by side, then by groups.
  int64_t inGroup = sizes.channels / sizes.groups,
          outGroup = sizes.outputs / sizes.groups;
  samples = node.reshape(samples,
                         {sizes.batch, own, sizes.kernel, sizes.places, each});
  samples = buildTranspose(b, node.loc, samples, {0, 3, 2, 1, 4});
  samples = node.reshape(samples, {sizes.batch, sizes.places, sizes.kernel,
                                   sizes.groups, inGroup});
  samples = buildTranspose(b, node.loc, samples, {0, 3, 1, 2, 4});
  samples = node.reshape(samples, {sizes.batch, sizes.groups, sizes.places,
                                   sizes.kernel * inGroup});
  w = node.reshape(w, {sizes.groups, outGroup, inGroup, sizes.kernel});
  w = buildTranspose(b, node.loc, w, {0, 3, 2, 1});
  w = node.reshape(w, {sizes.groups, sizes.kernel * inGroup, outGroup});
  Value y = node.build<MatMulOp>(samples, w);
  y = buildTranspose(b, node.loc, y, {0, 1, 3, 2});
  y = node.reshape(y, {sizes.batch, sizes.outputs, height, width});
  if (OnnxNode::unlessZeros(bias))
    y = node.elementwise<AddOp>({y, node.alignAt(bias, 1, 4)});
  return SmallVector<Value>{y};
}

void registerDeformableImports(OnnxRegistry &registry) {
  registry.add("DeformConv", importDeformConv, "two spatial axes only");
}

} // namespace ingot::graph
