// Imports matmuls, convolutions and LSTMs of com.microsoft with 8-bit operands.
// Their results are floats or 8-bit integers:
//
//   sums = sum of (a - a_zero) * (b - b_zero)     in si32
//   y    = sums * (a_scale * b_scale) + bias      in floats, then quantized

#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/Products.h"
#include "compiler/import/operators/Quantization.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

Value importScaledProduct(OnnxNode &node, const ScaledMatrix &a,
                          const ScaledMatrix &b) {
  Value sums = importIntegerProduct(node, a.bytes, a.zero, b.bytes, b.zero);
  if (!sums)
    return {};
  int64_t rank = shapeOf(sums).size();
  auto aScale = alignParameter(node, a.scale, -1, sums),
       bScale = alignParameter(node, b.scale, rank - 1, sums);
  if (failed(aScale) || failed(bScale))
    return {};
  Value scale = node.mul(*aScale, *bScale);
  return node.mul(node.cast(sums, elementOf(*aScale)), scale);
}

static ImportResult importMatMulIntegerToFloat(OnnxNode &node) {
  Value y =
      importScaledProduct(node, {node.input(0), node.input(2), node.input(4)},
                          {node.input(1), node.input(3), node.input(5)});
  return one(y ? sumOf(node, {y, node.input(6)}) : y);
}

static ImportResult importDynamicQuantizeMatMul(OnnxNode &node) {
  auto [bytes, scale, zero] = quantizeDynamically(node, node.input(0));
  Value y = importScaledProduct(node, {bytes, scale, zero},
                                {node.input(1), node.input(2), node.input(3)});
  return one(y ? sumOf(node, {y, node.input(4)}) : y);
}

/// Imports QGemm: alpha * (A * B + C), where the integers C have the scale of A
/// * B. The result is float unless the node has a scale for the result.
static ImportResult importQGemm(OnnxNode &node) {
  auto matrix = [&](unsigned i, StringRef flag) {
    return node.intAttr(flag, 0) ? node.transpose(node.input(i), {1, 0})
                                 : node.input(i);
  };
  Value aScale = node.input(1), bScale = node.input(4), c = node.input(6),
        yScale = node.input(7), yZero = node.input(8);
  Value product = importIntegerProduct(node, matrix(0, "transA"), node.input(2),
                                       matrix(3, "transB"), node.input(5));
  if (!product)
    return failure();
  if (c && shapeOf(c).size() == 2 && dimsOf(c)[0].known().value_or(1) != 1)
    (void)node.takeEqual(dimsOf(product)[0], dimsOf(c)[0]);
  if (c && !(c = node.broadcastTo(c, dimsOf(product))))
    return node.invalid("C does not broadcast to the product");
  Value sums = sumOf(node, {product, c});
  if (!sums)
    return failure();
  auto columns = alignParameter(node, bScale, 1, sums),
       whole = alignParameter(node, aScale, -1, sums);
  if (failed(columns) || failed(whole))
    return failure();
  Type f32 = node.f32();
  if (double alpha = node.floatAttr("alpha", 1); alpha != 1)
    whole = node.mul(*whole, alpha);
  if (!yScale) {
    Value scale = node.mul(*whole, *columns);
    return one(node.mul(node.cast(sums, f32), scale));
  }
  if (!yZero)
    return node.invalid("y_scale is given without y_zero_point");
  return one(requantize(node, sums, *whole, *columns, node.reshape(yScale, {}),
                        node.reshape(yZero, {})));
}

/// Imports QLinearConv of com.microsoft, which differs from ONNX's operator by
/// the attribute channels_last.
static ImportResult importQLinearConv(OnnxNode &node) {
  int64_t last = node.intAttr("channels_last", 0);
  if (last != 0 && last != 1)
    return node.invalid("channels_last must be 0 or 1, not " + Twine(last));
  SmallVector<Value> operands;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    operands.push_back(node.input(i));
  if (last)
    operands[0] = toChannelsFirst(node, operands[0]);
  Value y = node.valueAs("QLinearConv", operands);
  return one(y && last ? toChannelsLast(node, y) : y);
}

/// Returns the weights of an LSTM, dequantized and transposed from [directions,
/// inputs, gates * hidden] to [directions, gates * hidden, inputs], the layout
/// of ONNX's LSTM.
static Value lstmWeights(OnnxNode &node, Value bytes, Value scale, Value zero) {
  auto aligned = [&](Value parameter) {
    // The weights have one scale and zero point per direction, or per direction
    // and column.
    int64_t columns = shapeOf(parameter).size() == 2 ? shapeOf(bytes)[2] : 1;
    return node.reshape(parameter, {shapeOf(bytes)[0], 1, columns});
  };
  Value floats = dequantize(node, bytes, aligned(scale), aligned(zero));
  if (!floats)
    return {};
  return node.transpose(floats, {0, 2, 1});
}

static ImportResult importDynamicQuantizeLSTM(OnnxNode &node) {
  Value w = lstmWeights(node, node.input(1), node.input(8), node.input(9)),
        r = lstmWeights(node, node.input(2), node.input(10), node.input(11));
  if (!w || !r)
    return failure();
  return node.buildAs("LSTM",
                      {node.input(0), w, r, node.input(3), node.input(4),
                       node.input(5), node.input(6), node.input(7)});
}

void registerQuantizedProductImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  registry.add("MatMulIntegerToFloat", importMatMulIntegerToFloat, "", domain);
  registry.add("DynamicQuantizeMatMul", importDynamicQuantizeMatMul, "",
               domain);
  registry.add("QGemm", importQGemm, "", domain);
  registry.add("QLinearConv", importQLinearConv, "", domain);
  registry.add("DynamicQuantizeLSTM", importDynamicQuantizeLSTM,
               "quantization of the inputs of each step to int8: they stay "
               "floating-point",
               domain);
  for (StringRef name : {"QuantizeLinear", "DequantizeLinear"})
    registry.add(
        name,
        [name](OnnxNode &node) {
          return node.buildAs(name,
                              {node.input(0), node.input(1), node.input(2)});
        },
        "", domain);
}

} // namespace ingot::graph
