// Imports operators on 8-bit integers other than convolutions and matmuls. Each
// becomes a dequantization, the operator on floats, and a quantization.

#include "compiler/import/operators/Quantization.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Reshapes a scale or zero point with one element to a scalar. Returns a scale
/// or zero point with several elements unchanged.
static Value scalar(OnnxNode &node, Value parameter) {
  if (parameter && product(dimsOf(parameter)) == 1)
    return node.reshape(parameter, {});
  return parameter;
}

Value dequantize(OnnxNode &node, Value x, Value scale, Value zero) {
  if (!x || !scale)
    return {};
  scale = scalar(node, scale);
  zero = zero ? scalar(node, zero) : node.scalarConstant(0, elementOf(x));
  SmallVector<Value> operands{x, scale, zero};
  RankedTensorType type = node.elementwiseType(
      operands, [&](ArrayRef<Type>) { return elementOf(scale); });
  if (!type)
    return {};
  return node.build<DequantizeOp>(type, operands[0], operands[1], operands[2]);
}

Value quantize(OnnxNode &node, Value y, Value scale, Value zero, Type type) {
  if (!y || !scale)
    return {};
  zero = zero ? scalar(node, zero) : node.scalarConstant(0, type);
  return node.elementwise<QuantizeOp>({y, scalar(node, scale), zero});
}

Value repeatedAlong(OnnxNode &node, Value parameter, int64_t axis,
                    int64_t block, int64_t size) {
  Dims shape = dimsOf(parameter), wide = shape;
  wide.insert(wide.begin() + axis + 1, 1);
  parameter = node.reshape(parameter, wide);
  wide[axis + 1] = block;
  shape[axis] = shape[axis] * block;
  parameter = node.reshape(node.expand(parameter, wide), shape);
  return node.slice(parameter, axis, 0, size);
}

DynamicallyQuantized quantizeDynamically(OnnxNode &node, Value x) {
  Type type = elementOf(x), byte = node.builder.getIntegerType(8, false);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(x).size()));
  auto number = [&](double value) { return node.scalarConstant(value, type); };
  // The range of floats that uint8 represents must include 0.
  Value low = node.reshape(node.build<ReduceMinOp>(x, axes), {}),
        high = node.reshape(node.build<ReduceMaxOp>(x, axes), {});
  low = node.min(low, 0);
  high = node.max(high, 0);
  Value scale = node.div(node.sub(high, low), 255);
  // If all elements are 0, the quantized elements are 0 for any scale.
  Value isZero = node.equal(scale, 0);
  scale = node.where(isZero, 1, scale);
  Value zero = node.div(node.elementwise<NegOp>({low}), scale);
  zero = quantize(node, zero, number(1), Value(), byte);
  return {quantize(node, x, scale, zero, byte), scale, zero};
}

//===----------------------------------------------------------------------===//
// Operators with one operand. Inputs: x, its scale and zero point, and the
// scale and zero point of the result
//===----------------------------------------------------------------------===//

/// Imports an operator with one operand: dequantizes input 0, applies `compute`
/// and quantizes the result.
static ImportResult unary(OnnxNode &node,
                          llvm::function_ref<Value(Value)> compute) {
  Value x = node.input(0);
  Value floats = dequantize(node, x, node.input(1), node.input(2));
  Value y = floats ? compute(floats) : Value();
  return one(quantize(node, y, node.input(3), node.input(4), elementOf(x)));
}

/// Returns the import function of an operator that applies ONNX's operator
/// `name`, as defined in `opset`, to the dequantized input.
static ImportFunction unaryAs(StringRef name, int64_t opset = INT64_MAX) {
  return [=](OnnxNode &node) {
    return unary(node, [&](Value x) { return node.valueAs(name, {x}, opset); });
  };
}

/// Imports QLinearSoftmax. Its attribute `opset` is the opset of the Softmax
/// operator whose rule determines which axes are normalized.
static ImportResult importQLinearSoftmax(OnnxNode &node) {
  int64_t opset = node.intAttr("opset", 13);
  return unary(node,
               [&](Value x) { return node.valueAs("Softmax", {x}, opset); });
}

/// Imports a quantized pooling operator: applies ONNX's operator `name` to the
/// dequantized input. The attribute `channels_last` determines the layout.
static ImportResult pool(OnnxNode &node, StringRef name) {
  int64_t last = node.intAttr("channels_last", 0);
  if (last != 0 && last != 1)
    return node.invalid("channels_last must be 0 or 1, not " + Twine(last));
  return unary(node, [&](Value x) -> Value {
    Value y = node.valueAs(name, {last ? toChannelsFirst(node, x) : x});
    return y && last ? toChannelsLast(node, y) : y;
  });
}
static ImportResult importQLinearAveragePool(OnnxNode &node) {
  return pool(node, "AveragePool");
}
static ImportResult importQLinearGlobalAveragePool(OnnxNode &node) {
  return pool(node, "GlobalAveragePool");
}

//===----------------------------------------------------------------------===//
// Operators with several operands
//===----------------------------------------------------------------------===//

/// Imports a quantized elementwise operator. Inputs: A and B, each followed by
/// its scale and zero point, then scale and zero point of the result.
template <typename OpT> static ImportResult importBinary(OnnxNode &node) {
  Value a = dequantize(node, node.input(0), node.input(1), node.input(2)),
        b = dequantize(node, node.input(3), node.input(4), node.input(5));
  Value y = a && b ? node.elementwise<OpT>({a, b}) : Value();
  return one(quantize(node, y, node.input(6), node.input(7),
                      elementOf(node.input(0))));
}

static ImportResult importQLinearWhere(OnnxNode &node) {
  Value x = dequantize(node, node.input(1), node.input(2), node.input(3)),
        y = dequantize(node, node.input(4), node.input(5), node.input(6));
  Value z = x && y ? node.where(node.input(0), x, y) : Value();
  return one(quantize(node, z, node.input(7), node.input(8),
                      elementOf(node.input(1))));
}

/// Imports QLinearConcat. Inputs: scale and zero point of the result, then
/// tensor, scale and zero point of each concatenated part.
static ImportResult importQLinearConcat(OnnxNode &node) {
  constexpr unsigned first = 2, each = 3;
  if (node.numInputs() <= first || (node.numInputs() - first) % each != 0)
    return node.invalid("each concatenated part must have three inputs: a "
                        "tensor, a scale and a zero point");
  Value scale = node.input(0), zero = node.input(1);
  SmallVector<Value> parts;
  for (unsigned i = first; i < node.numInputs(); i += each) {
    Value x = node.input(i), s = node.input(i + 1), z = node.input(i + 2);
    if (!isa<IntegerType>(elementOf(x)) || !elementOf(s).isF32() ||
        elementOf(z) != elementOf(x) || tensorType(s).getNumElements() != 1 ||
        tensorType(z).getNumElements() != 1)
      return node.invalid("input " + Twine(i) +
                          " must be int8 or uint8, its scale one float32 "
                          "number, its zero point one number of its type");
    // A part with the same scale and zero point as the result needs no
    // conversion.
    bool isSame = s == scale && z == zero;
    parts.push_back(isSame ? x
                           : quantize(node, dequantize(node, x, s, z), scale,
                                      zero, elementOf(zero)));
  }
  return one(node.valueAs("Concat", parts));
}

/// Imports DynamicQuantizeLinear. ONNX's function body is not used, since it
/// computes the scale 0 for a tensor of zeros.
static ImportResult importDynamicQuantizeLinear(OnnxNode &node) {
  auto [bytes, scale, zero] = quantizeDynamically(node, node.input(0));
  if (!bytes)
    return failure();
  return SmallVector<Value>{bytes, scale, zero};
}

void registerQuantizedElementImports(OnnxRegistry &registry) {
  registry.add("DynamicQuantizeLinear", importDynamicQuantizeLinear);
  StringRef domain = "com.microsoft";
  registry.add("QLinearAdd", importBinary<AddOp>, "", domain);
  registry.add("QLinearMul", importBinary<MulOp>, "", domain);
  registry.add("QLinearWhere", importQLinearWhere, "", domain);
  registry.add("QLinearConcat", importQLinearConcat, "", domain);
  registry.add("QLinearSigmoid", unaryAs("Sigmoid"), "", domain);
  registry.add("QLinearLeakyRelu", unaryAs("LeakyRelu"), "", domain);
  registry.add("QLinearSoftmax", importQLinearSoftmax, "", domain);
  // The axes of QLinearReduceMean are an attribute, as those of ReduceMean until
  // opset 17.
  registry.add("QLinearReduceMean", unaryAs("ReduceMean", 17), "", domain);
  registry.add("QLinearAveragePool", importQLinearAveragePool, "", domain);
  registry.add("QLinearGlobalAveragePool", importQLinearGlobalAveragePool, "",
               domain);
}

} // namespace ingot::graph
