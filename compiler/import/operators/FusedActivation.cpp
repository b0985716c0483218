// Imports activations that ONNX Runtime's optimizer creates, some of them fused
// with additions.

#include "compiler/import/operators/FusedActivation.h"

#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

Value sumOf(OnnxNode &node, ArrayRef<Value> terms) {
  Value sum;
  for (Value term : terms)
    if (term)
      sum = sum ? node.add(sum, term) : term;
  return sum;
}

Value gelu(OnnxNode &node, Value x, bool approximately) {
  return node.elementwise<GeluOp>(
      {x}, node.builder.getNamedAttr(
               "approximate",
               node.builder.getStringAttr(approximately ? "tanh" : "none")));
}

/// Clips `x` to [alpha, beta], the bounds of a fused Clip. A bound that is
/// nullopt does not limit `x`.
static Value clip(OnnxNode &node, Value x, const ActivationNumbers &numbers) {
  if (numbers.alpha)
    x = node.max(x, *numbers.alpha);
  if (numbers.beta)
    x = node.min(x, *numbers.beta);
  return x;
}

/// Builds the activation `OpT` with those of `numbers` that it has as
/// attributes.
template <typename OpT>
static Value applied(OnnxNode &node, Value x,
                     const ActivationNumbers &numbers) {
  SmallVector<NamedAttribute> attributes;
  for (auto [key, value] : {std::pair("alpha", numbers.alpha),
                            {"beta", numbers.beta},
                            {"gamma", numbers.gamma}})
    if (value && llvm::is_contained(OpT::getAttributeNames(), key))
      attributes.push_back(
          node.builder.getNamedAttr(key, node.builder.getF32FloatAttr(*value)));
  return node.elementwise<OpT>({x}, attributes);
}

using Activation = Value (*)(OnnxNode &, Value, const ActivationNumbers &);
static constexpr std::pair<const char *, Activation> activations[] = {
    {"Tanh", applied<TanhOp>},
    {"Sigmoid", applied<SigmoidOp>},
    {"Softplus", applied<SoftplusOp>},
    {"Softsign", applied<SoftsignOp>},
    {"HardSwish", applied<HardSwishOp>},
    {"LeakyRelu", applied<LeakyReluOp>},
    {"Elu", applied<EluOp>},
    {"Celu", applied<CeluOp>},
    {"ThresholdedRelu", applied<ThresholdedReluOp>},
    {"Selu", applied<SeluOp>},
    {"HardSigmoid", applied<HardSigmoidOp>},
};

Value activate(OnnxNode &node, Value x, const ActivationNumbers &numbers) {
  std::string name = node.stringAttr("activation", "");
  if (!x || name.empty())
    return x;
  if (name == "Clip")
    return clip(node, x, numbers);
  if (name == "Relu")
    return node.elementwise<ReluOp>({x});
  if (!isa<FloatType>(elementOf(x)))
    return noValue(node.unsupported(
        "the activation `" + name + "` is not supported for integers",
        "optimize the model without fusing activations"));
  if (name == "Gelu")
    return gelu(node, x, node.stringAttr("approximate", "none") == "tanh");
  for (auto [known, apply] : activations)
    if (name == known)
      return apply(node, x, numbers);
  return noValue(
      node.unsupported("the activation `" + name + "` is not supported"));
}

template <bool approximately> static ImportResult importGelu(OnnxNode &node) {
  Value x = sumOf(node, {node.input(0), node.input(1)});
  return one(x ? gelu(node, x, approximately) : x);
}

/// Imports QuickGelu: x * sigmoid(alpha * x).
static ImportResult importQuickGelu(OnnxNode &node) {
  auto alpha = node.builder.getNamedAttr(
      "alpha", node.builder.getF32FloatAttr(node.floatAttr("alpha", 1.702)));
  return one(node.elementwise<SwishOp>({node.input(0)}, alpha));
}

/// Imports BiasSplitGelu: the left half of each row (the last axis) times the
/// Gelu of the right half.
static ImportResult importBiasSplitGelu(OnnxNode &node) {
  Value x = sumOf(node, {node.input(0), node.input(1)});
  if (!x)
    return failure();
  int64_t width = shapeOf(x).back();
  if (width % 2 != 0)
    return node.invalid("rows of " + Twine(width) +
                        " elements cannot be split into two halves");
  auto half = [&](int64_t i) {
    return node.slice(x, 2, i * (width / 2), width / 2);
  };
  return one(node.mul(half(0), gelu(node, half(1), false)));
}

static ImportResult importBiasAdd(OnnxNode &node) {
  return one(sumOf(node, {node.input(0), node.input(1), node.input(2)}));
}

void registerFusedActivationImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  registry.add("Gelu", importGelu</*approximately=*/false>, "", domain);
  registry.add("BiasGelu", importGelu</*approximately=*/false>, "", domain);
  registry.add("FastGelu", importGelu</*approximately=*/true>, "", domain);
  registry.add("QuickGelu", importQuickGelu, "", domain);
  registry.add("BiasSplitGelu", importBiasSplitGelu, "", domain);
  registry.add("BiasAdd", importBiasAdd, "", domain);
}

} // namespace ingot::graph
