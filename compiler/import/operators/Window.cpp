// Pooling.

#include "compiler/import/operators/WindowGeometry.h"

using namespace mlir;

namespace ingot::graph {

/// `build` gets the channels-last input, the geometry and the result type.
static FailureOr<Value> importPool(
    OnnxNode &node,
    llvm::function_ref<Value(Value x, const WindowGeometry &, RankedTensorType)>
        build) {
  Value x = node.input(0);
  if (shapeOf(x).size() < 3)
    return node.invalid("pooling needs an input of rank 3 or more");
  SmallVector<int64_t> kernel = node.intsAttr("kernel_shape");
  auto geometry = WindowGeometry::read(node, x, kernel);
  if (failed(geometry))
    return failure();
  Value y = build(toChannelsLast(node, x), *geometry,
                  geometry->resultType(x, dimsOf(x)[1]));
  return toChannelsFirst(node, y);
}

static ImportResult importMaxPool(OnnxNode &node) {
  FailureOr<Value> values = importPool(
      node, [&](Value x, const WindowGeometry &g, RankedTensorType type) {
        return node.build<MaxPoolOp>(type, x, g.knownKernel(), g.strides,
                                     g.dilations, g.low);
      });
  if (failed(values))
    return failure();
  SmallVector<Value> results{*values};
  if (node.wantsOutput(1)) {
    auto i64 =
        IntegerType::get(node.builder.getContext(), 64, IntegerType::Signed);
    FailureOr<Value> indices = importPool(
        node, [&](Value x, const WindowGeometry &g, RankedTensorType type) {
          return node.build<MaxPoolIndexOp>(
              tensorOf(dimsOf(type), i64), x, g.knownKernel(), g.strides,
              g.dilations, g.low, node.intAttr("storage_order", 0));
        });
    if (failed(indices))
      return failure();
    results.push_back(*indices);
  }
  return results;
}

static ImportResult importAveragePool(OnnxNode &node) {
  FailureOr<Value> y = importPool(
      node, [&](Value x, const WindowGeometry &g, RankedTensorType type) {
        return node.build<AveragePoolOp>(
            type, x, g.knownKernel(), g.strides, g.dilations, g.low,
            node.intAttr("count_include_pad", 0) != 0, g.high);
      });
  if (failed(y))
    return failure();
  return SmallVector<Value>{*y};
}

static ImportResult importLpPool(OnnxNode &node) {
  FailureOr<Value> y = importPool(
      node, [&](Value x, const WindowGeometry &g, RankedTensorType type) {
        return node.build<LpPoolOp>(type, x, g.knownKernel(), g.strides,
                                    g.dilations, g.low, node.intAttr("p", 2));
      });
  if (failed(y))
    return failure();
  return SmallVector<Value>{*y};
}

void registerWindowImports(OnnxRegistry &registry) {
  registry.add("MaxPool", importMaxPool);
  registry.add("AveragePool", importAveragePool);
  registry.add("LpPool", importLpPool);
}

} // namespace ingot::graph
