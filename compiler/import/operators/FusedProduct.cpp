// Imports matrix multiplications and convolutions that ONNX Runtime's optimizer
// fuses with transposes, a factor, an addition, an activation or a
// channels-last layout.

#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/Products.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Matrix multiplications
//===----------------------------------------------------------------------===//

/// Transposes an operand of FusedMatMul to the layout of MatMul. If `batch` is
/// set, the first axis is moved to the position before the last axis. If `flip`
/// is set, the last two axes are then swapped.
static Value arranged(OnnxNode &node, Value x, bool batch, bool flip) {
  int64_t rank = shapeOf(x).size();
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (batch && rank > 2)
    std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (flip && rank > 1)
    std::swap(perm[rank - 1], perm[rank - 2]);
  return node.transpose(x, perm);
}

static ImportResult importFusedMatMul(OnnxNode &node) {
  auto flag = [&](StringRef name) { return node.intAttr(name, 0) != 0; };
  Value y = importMatMul(
      node, arranged(node, node.input(0), flag("transBatchA"), flag("transA")),
      arranged(node, node.input(1), flag("transBatchB"), flag("transB")));
  if (double alpha = node.floatAttr("alpha", 1); alpha != 1)
    y = node.mul(y, alpha);
  return one(y);
}

/// Returns the parameters of the fused activation: the attributes
/// `activation_alpha`, `activation_beta` and `activation_gamma`.
static ActivationNumbers namedNumbers(OnnxNode &node) {
  auto number = [&](StringRef name) -> std::optional<double> {
    if (!node.hasAttr(name))
      return std::nullopt;
    return node.floatAttr(name, 0);
  };
  return {number("activation_alpha"), number("activation_beta"),
          number("activation_gamma")};
}

static ImportResult importFusedMatMulActivation(OnnxNode &node) {
  ImportResult product = importFusedMatMul(node);
  if (failed(product))
    return failure();
  if (node.stringAttr("activation", "") == "Softmax")
    return node.unsupported("the activation `Softmax` is not supported",
                            "keep Softmax as a separate node");
  return one(activate(node, product->front(), namedNumbers(node)));
}

static ImportResult importFusedGemm(OnnxNode &node) {
  Value y = node.valueAs("Gemm", {node.input(0), node.input(1), node.input(2)});
  return one(activate(node, y, namedNumbers(node)));
}

static ImportResult importGemmFastGelu(OnnxNode &node) {
  Value product = importMatMul(node, node.input(0), node.input(1));
  Value sum = product ? sumOf(node, {product, node.input(2)}) : Value();
  return one(sum ? gelu(node, sum, /*approximately=*/true) : Value());
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns the convolution of `x` and `w` plus `addend`, with the fused
/// activation applied to the sum. `addend` is null or has the shape of the
/// result.
static Value convolve(OnnxNode &node, Value x, Value w, Value addend) {
  Value y = node.valueAs("Conv", {x, w, node.input(2)});
  if (!y)
    return {};
  if (addend &&
      failed(node.requireAlike(
          addend, y, "the shapes of Z and of the result of the convolution")))
    return {};
  SmallVector<double> given = node.floatsAttr("activation_params");
  ActivationNumbers numbers;
  if (!given.empty())
    numbers.alpha = given[0];
  if (given.size() > 1)
    numbers.beta = given[1];
  return activate(node, sumOf(node, {y, addend}), numbers);
}

static ImportResult importFusedConv(OnnxNode &node) {
  return one(convolve(node, node.input(0), node.input(1), node.input(3)));
}

static ImportResult channelsLast(OnnxNode &node, Value w) {
  Value addend = node.input(3);
  Value y = convolve(node, toChannelsFirst(node, node.input(0)), w,
                     addend ? toChannelsFirst(node, addend) : Value());
  return one(y ? toChannelsLast(node, y) : Value());
}

/// Imports NhwcConv, whose input and weights are both channels-last.
static ImportResult importNhwcConv(OnnxNode &node) {
  return channelsLast(node, toChannelsFirst(node, node.input(1)));
}

/// Imports NhwcFusedConv, whose input is channels-last, while its weights have
/// the layout of Conv.
static ImportResult importNhwcFusedConv(OnnxNode &node) {
  return channelsLast(node, node.input(1));
}

static ImportResult importNhwcMaxPool(OnnxNode &node) {
  Value y = node.valueAs("MaxPool", {toChannelsFirst(node, node.input(0))});
  return one(y ? toChannelsLast(node, y) : Value());
}

void registerFusedProductImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  registry.add("FusedMatMul", importFusedMatMul, "", domain);
  registry.add("TransposeMatMul", importFusedMatMul, "", domain);
  registry.add("FusedMatMulActivation", importFusedMatMulActivation,
               "the activation Softmax", domain);
  registry.add("FusedGemm", importFusedGemm, "", domain);
  registry.add("GemmFastGelu", importGemmFastGelu, "", domain);
  registry.add("FusedConv", importFusedConv, "", domain);
  registry.add("NhwcConv", importNhwcConv, "", domain);
  registry.add("NhwcFusedConv", importNhwcFusedConv, "", domain);
  registry.add("NhwcMaxPool", importNhwcMaxPool, "", domain);
}

} // namespace ingot::graph
