// Imports experimental operators of opset 1. ONNX removed them, but models use
// them and ONNX Runtime supports them. Their schemas are in
// FurtherOperators.def.

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

static ImportResult importAffine(OnnxNode &node) {
  return one(node.add(node.mul(node.input(0), node.floatAttr("alpha", 1)),
                      node.floatAttr("beta", 0)));
}

static ImportResult importScale(OnnxNode &node) {
  return one(node.mul(node.input(0), node.floatAttr("scale", 1)));
}

/// Imports an operator alpha * f(beta * x), where `OpT` is the function f.
template <typename OpT> static ImportResult importScaled(OnnxNode &node) {
  Value x = node.mul(node.input(0), node.floatAttr("beta", 1));
  return one(node.mul(node.elementwise<OpT>({x}), node.floatAttr("alpha", 1)));
}

/// Imports ImageScaler: x * scale, plus a bias per channel.
static ImportResult importImageScaler(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<double> bias = node.floatsAttr("bias");
  if (shapeOf(x).size() != 4)
    return node.invalid("the input must have the shape [N, C, H, W]");
  if (failed(node.requireEqual(dimsOf(x)[1], int64_t(bias.size()),
                               "the channels of the input and of the bias")))
    return failure();
  Value y = node.mul(x, node.floatAttr("scale", 1));
  Value channels =
      floatConstant(node, {int64_t(bias.size())}, bias, elementOf(x));
  return one(node.add(y, node.alignAt(channels, 1, 4)));
}

/// Imports Crop: removes the borders of an image. If `scale` is given, keeps
/// `scale` rows and columns after the top and left borders, and ignores the
/// other borders.
static ImportResult importCrop(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<int64_t> border = node.intsAttr("border"),
                       scale = node.intsAttr("scale");
  if (shapeOf(x).size() != 4)
    return node.invalid("the input must have the shape [N, C, H, W]");
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2) ||
      llvm::any_of(border, [](int64_t size) { return size < 0; }))
    return node.invalid("border must be [left, top, right, bottom], and scale "
                        "must be [height, width]");
  Dims sizes = dimsOf(x);
  int64_t starts[] = {border[1], border[0]}, ends[] = {border[3], border[2]};
  SmallVector<int64_t> from(4, 0), steps(4, 1);
  for (size_t i = 0; i < 2; ++i) {
    int64_t least = scale.empty() ? starts[i] + ends[i] : starts[i] + scale[i];
    if (!node.requireAtLeast(sizes[2 + i], least) ||
        (!scale.empty() && scale[i] < 0))
      return node.invalid("the image has " + kernel::sizeText(sizes[2 + i]) +
                          (i == 0 ? " rows" : " columns") +
                          ", but must have at least " + Twine(least));
    sizes[2 + i] = scale.empty() ? sizes[2 + i] - least : Dim(scale[i]);
    from[2 + i] = starts[i];
  }
  return one(node.builder.createOrFold<SliceOp>(node.loc, x, from, steps,
                                                ArrayRef(sizes)));
}

void registerRemovedImports(OnnxRegistry &registry) {
  registry.add("Affine", importAffine);
  registry.add("Crop", importCrop);
  registry.add("ImageScaler", importImageScaler);
  registry.add("ParametricSoftplus", importScaled<SoftplusOp>);
  registry.add("Scale", importScale);
  registry.add("ScaledTanh", importScaled<TanhOp>);
}

} // namespace ingot::graph
