// Imports pooling.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"

using namespace mlir;

namespace ingot::graph {

using BuildPool = llvm::function_ref<Value(Value x, const WindowGeometry &,
                                           RankedTensorType)>;

/// Imports a pooling operator, applied to `x` or, if `x` is null, to input 0.
/// `build` builds the graph operator from the channels-last input, the geometry
/// and the result type. `fill` is the value of padding whose amount is known
/// only at run time.
static Value importPool(OnnxNode &node, double fill, BuildPool build,
                        Value x = {}) {
  if (!x)
    x = node.input(0);
  if (shapeOf(x).size() < 3)
    return noValue(node.invalid(
        "the input of a pooling operator must have rank 3 or more"));
  SmallVector<int64_t> kernel = node.intsAttr("kernel_shape");
  auto geometry = WindowGeometry::read(node, x, kernel, /*mayPad=*/true);
  if (failed(geometry))
    return {};
  RankedTensorType type = geometry->resultType(x, dimsOf(x)[1]);
  x = geometry->pad(node, x, fill);
  return toChannelsFirst(node, build(toChannelsLast(node, x), *geometry, type));
}

/// Returns the smallest value of a type (-infinity for floats).
static double leastNumber(Type type) {
  if (isa<FloatType>(type))
    return -INFINITY;
  bool isSigned = !type.isUnsignedInteger() && !type.isInteger(1);
  return isSigned ? -std::ldexp(1.0, int(type.getIntOrFloatBitWidth()) - 1) : 0;
}

/// Converts the row-major positions that a pool has selected in the input
/// padded by WindowGeometry::pad to positions in the unpadded input. The last
/// spatial axis varies fastest in the returned positions or, if `columnMajor`
/// is set, the first one.
static Value positionsUnpadded(OnnxNode &node, const WindowGeometry &g,
                               Value positions, bool columnMajor) {
  RunTimeInts ints(node);
  Dims sizes = dimsOf(node.input(0)), wide = sizes;
  for (const WindowGeometry::Padded &each : g.padded)
    wide[each.axis] = each.size;
  int64_t rank = sizes.size();
  SmallVector<Value> places(rank);
  for (int64_t axis = rank; axis-- > 0;) {
    Value size = ints.sizes(wide[axis]);
    places[axis] = ints.modulo(positions, size);
    positions = ints.div(positions, size);
  }
  // A position in the padding is selected only if no element of the window is
  // larger than the padding. Such a position is moved to the nearest element of
  // the input.
  for (const WindowGeometry::Padded &each : g.padded) {
    Value last = node.sub(ints.sizes(sizes[each.axis]), 1);
    Value inside =
        node.sub(places[each.axis], g.before(node, node.input(0), each));
    places[each.axis] = node.min(node.max(inside, 0), last);
  }
  SmallVector<int64_t> order;
  for (int64_t axis = 2; axis < rank; ++axis)
    order.push_back(columnMajor ? axis : rank + 1 - axis);
  order.append({1, 0});
  Value sum = ints.number(0), step = ints.number(1);
  for (int64_t axis : order) {
    sum = node.add(sum, node.mul(places[axis], step));
    step = node.mul(step, ints.sizes(sizes[axis]));
  }
  return sum;
}

static ImportResult importMaxPool(OnnxNode &node) {
  double least = leastNumber(elementOf(node.input(0)));
  Value values =
      importPool(node, least,
                 [&](Value x, const WindowGeometry &g, RankedTensorType type) {
                   return node.build<MaxPoolOp>(type, x, g.knownKernel(),
                                                g.strides, g.dilations, g.low);
                 });
  SmallVector<Value> results{values};
  if (node.wantsOutput(1) && values) {
    int64_t order = node.intAttr("storage_order", 0);
    std::optional<WindowGeometry> geometry;
    Value indices = importPool(
        node, least,
        [&](Value x, const WindowGeometry &g, RankedTensorType type) {
          geometry = g;
          return node.build<MaxPoolIndexOp>(
              tensorOf(dimsOf(type), node.i64()), x, g.knownKernel(), g.strides,
              g.dilations, g.low, g.padded.empty() ? order : 0);
        });
    results.push_back(!indices || geometry->padded.empty()
                          ? indices
                          : positionsUnpadded(node, *geometry, indices,
                                              /*columnMajor=*/order != 0));
  }
  if (llvm::is_contained(results, Value()))
    return failure();
  return results;
}

static ImportResult importAveragePool(OnnxNode &node) {
  Value x = node.input(0);
  bool countsAll = node.intAttr("count_include_pad", 0) != 0, isPadded = false;
  auto average = [&](Value x, const WindowGeometry &g, RankedTensorType type) {
    isPadded = !g.padded.empty();
    return node.build<AveragePoolOp>(type, x, g.knownKernel(), g.strides,
                                     g.dilations, g.low, countsAll || isPadded,
                                     g.high);
  };
  Value y = importPool(node, /*fill=*/0, average);
  if (!y || !isPadded || countsAll)
    return one(y);
  // The fraction of each window that is inside the input is the average pool of
  // a tensor of ones.
  Dims sizes = dimsOf(x);
  sizes[0] = sizes[1] = 1;
  Value ones = node.expand(node.scalarConstant(1, elementOf(x)), sizes);
  return one(node.div(y, importPool(node, /*fill=*/0, average, ones)));
}

static ImportResult importLpPool(OnnxNode &node) {
  // `p` is a float attribute in opset 1, an integer later.
  double p = node.opset < 2 ? node.floatAttr("p", 2)
                            : static_cast<double>(node.intAttr("p", 2));
  if (p != std::floor(p))
    return node.unsupported("`p` = " + Twine(std::to_string(p)) +
                            ", which is not an integer, is not supported");
  return one(
      importPool(node, /*fill=*/0,
                 [&](Value x, const WindowGeometry &g, RankedTensorType type) {
                   return node.build<LpPoolOp>(type, x, g.knownKernel(),
                                               g.strides, g.dilations, g.low,
                                               static_cast<int64_t>(p));
                 }));
}

void registerWindowImports(OnnxRegistry &registry) {
  registry.add("MaxPool", importMaxPool);
  registry.add("AveragePool", importAveragePool);
  registry.add("LpPool", importLpPool);
}

} // namespace ingot::graph
