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

Value activate(OnnxNode &node, Value x, const ActivationNumbers &numbers) {
  std::string name = node.stringAttr("activation", "");
  if (!x || name.empty())
    return x;
  SmallVector<NamedAttribute> attributes;
  auto number = [&](StringRef key, std::optional<double> value) {
    if (value)
      attributes.push_back(
          node.builder.getNamedAttr(key, node.builder.getF32FloatAttr(*value)));
  };
  if (name == "Clip")
    return clip(node, x, numbers);
  if (name == "Relu")
    return node.elementwise<ReluOp>({x});
  if (!isa<FloatType>(elementOf(x)))
    return noValue(node.unsupported(
        "the activation `" + name + "` is not supported for integers",
        "optimize the model without fusing activations"));
  if (name == "Tanh")
    return node.elementwise<TanhOp>({x});
  if (name == "Sigmoid")
    return node.elementwise<SigmoidOp>({x});
  if (name == "Softplus")
    return node.elementwise<SoftplusOp>({x});
  if (name == "Softsign")
    return node.elementwise<SoftsignOp>({x});
  if (name == "HardSwish")
    return node.elementwise<HardSwishOp>({x});
  if (name == "Gelu")
    return gelu(node, x, node.stringAttr("approximate", "none") == "tanh");
  number("alpha", numbers.alpha);
  if (name == "LeakyRelu")
    return node.elementwise<LeakyReluOp>({x}, attributes);
  if (name == "Elu")
    return node.elementwise<EluOp>({x}, attributes);
  if (name == "Celu")
    return node.elementwise<CeluOp>({x}, attributes);
  if (name == "ThresholdedRelu")
    return node.elementwise<ThresholdedReluOp>({x}, attributes);
  if (name == "Selu") {
    number("gamma", numbers.gamma);
    return node.elementwise<SeluOp>({x}, attributes);
  }
  if (name == "HardSigmoid") {
    number("beta", numbers.beta);
    return node.elementwise<HardSigmoidOp>({x}, attributes);
  }
  return noValue(
      node.unsupported("the activation `" + name + "` is not supported"));
}

static ImportResult importGelu(OnnxNode &node) {
  Value x = sumOf(node, {node.input(0), node.input(1)});
  return one(x ? gelu(node, x, /*approximately=*/false) : Value());
}

static ImportResult importFastGelu(OnnxNode &node) {
  Value x = sumOf(node, {node.input(0), node.input(1)});
  return one(x ? gelu(node, x, /*approximately=*/true) : Value());
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
  registry.add("Gelu", importGelu, "", domain);
  registry.add("BiasGelu", importGelu, "", domain);
  registry.add("FastGelu", importFastGelu, "", domain);
  registry.add("QuickGelu", importQuickGelu, "", domain);
  registry.add("BiasSplitGelu", importBiasSplitGelu, "", domain);
  registry.add("BiasAdd", importBiasAdd, "", domain);
}

} // namespace ingot::graph
