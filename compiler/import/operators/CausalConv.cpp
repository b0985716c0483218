// Imports causal 1-D convolutions with a state: the last elements of the input
// are returned as an output, which the user of the generated program passes as
// an input to the next run.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the depthwise convolution of x [B, C, T] with the weights w [C, 1,
/// taps] without padding: [B, C, steps].
static Value sumsAlong(OnnxNode &node, Value x, Value w, const Dim &steps) {
  Dims weights = dimsOf(w), sizes = dimsOf(x);
  Dim channels = weights[0], taps = weights[2];
  if (channels.known() && taps.known()) {
    Value last = toChannelsLast(node, x);
    auto type = tensorOf(Dims{sizes[0], steps, channels}, elementOf(x));
    Value y = node.build<ConvOp>(type, last, node.transpose(w, {2, 1, 0}),
                                 Value(), ArrayRef<int64_t>{1},
                                 ArrayRef<int64_t>{1}, ArrayRef<int64_t>{0},
                                 *channels.known(), /*x_zero=*/0);
    return toChannelsFirst(node, y);
  }
  RunTimeInts ints(node);
  Value place = node.reshape(node.countTo(steps), {steps, 1}),
        tap = node.reshape(node.countTo(taps), {1, taps});
  Value windows = gatherAlong(node, x, 2, node.add(place, tap));
  w = node.reshape(w, {1, channels, 1, taps});
  // Floats narrower than f32 are multiplied and accumulated in f32, and rounded
  // once.
  Type type = elementOf(x), f32 = node.f32();
  Type wide = type.isF64() ? type : f32;
  Value products = node.mul(node.cast(windows, wide), node.cast(w, wide));
  Value sums = node.build<ReduceSumOp>(products, ArrayRef<int64_t>{3});
  return node.reshape(node.cast(sums, type), {sizes[0], channels, steps});
}

static LogicalResult fitCausalConv(OnnxNode &node) {
  Value x = node.input(0), w = node.input(1), bias = node.input(2),
        past = node.input(3);
  const char *what =
      "the channels of the input, the weights and the past state";
  if (shapeOf(x).size() != 3 || shapeOf(w).size() != 3)
    return node.invalid("the input must be [batch, channels, length] and the "
                        "weights [channels, 1, taps]");
  if (failed(node.requireEqual(dimsOf(w)[0], dimsOf(x)[1], what)) ||
      failed(node.requireEqual(dimsOf(w)[1], 1, "axis 1 of the weights")))
    return failure();
  if (!node.requireAtLeast(dimsOf(w)[2], 1))
    return node.invalid("the weights have no taps");
  if (bias && failed(node.requireEqual(dimsOf(bias)[0], dimsOf(x)[1], what)))
    return failure();
  if (!past)
    return success();
  if (shapeOf(past).size() != 3 ||
      failed(node.requireEqual(
          dimsOf(past)[0], dimsOf(x)[0],
          "the batch sizes of the input and the past state")) ||
      failed(node.requireEqual(dimsOf(past)[1], dimsOf(x)[1], what)) ||
      failed(node.requireEqual(
          dimsOf(past)[2], dimsOf(node.input(1))[2] - 1,
          "the length of the past state, and the number of taps less 1")))
    return failure();
  return success();
}

static ImportResult importCausalConv(OnnxNode &node) {
  std::string activation = node.stringAttr("activation", "none");
  if (!llvm::is_contained({"none", "silu", "swish"}, activation))
    return node.invalid("unknown activation `" + activation + "`");
  if (failed(fitCausalConv(node)))
    return failure();
  Value x = node.input(0), w = node.input(1), past = node.input(3);
  Dims sizes = dimsOf(x);
  Dim carried = dimsOf(w)[2] - 1;
  if (!past)
    past = node.expand(node.scalarConstant(0, elementOf(x)),
                       {sizes[0], sizes[1], carried});
  Value all = node.concat({past, x}, 2);
  Value y = sumsAlong(node, all, w, sizes[2]);
  if (node.hasInput(2))
    y = node.add(y, node.alignAt(node.input(2), 1, 3));
  if (y && activation != "none")
    y = node.mul(y, node.build<SigmoidOp>(y));
  if (!y)
    return failure();
  RunTimeInts ints(node);
  Value places = node.add(node.countTo(carried), ints.sizes(sizes[2]));
  return SmallVector<Value>{y, gatherAlong(node, all, 2, places)};
}

void registerCausalConvImports(OnnxRegistry &registry) {
  registry.add("CausalConvWithState", importCausalConv);
}

} // namespace ingot::graph
