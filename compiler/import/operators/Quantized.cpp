// Imports integer convolutions and matrix multiplications.
//
// ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul become operators
// that accumulate in 32 bits. The QLinear operators also requantize the result:
//
//   acc = sum of (a - a_zero) * (b - b_zero) + bias           in si32
//   y   = saturate(round(acc * (a_scale * b_scale / y_scale)) + y_zero)
//
// Matrix multiplications take the operands and their zero points directly; 1x1
// convolutions become matrix multiplications. For other convolutions, the zero
// points are subtracted first. Padding has the value of the zero point, so it
// is 0 after the subtraction.

#include "compiler/import/operators/OnnxImport.h"
#include "compiler/import/operators/Products.h"
#include "compiler/import/operators/Quantization.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the operand minus its zero point (which may be null), as si32.
static Value centered(OnnxNode &node, Value x, Value zero) {
  Type i32 = node.builder.getIntegerType(32, /*isSigned=*/true);
  x = node.cast(x, i32);
  if (!zero)
    return x;
  return node.sub(x, node.cast(zero, i32));
}

FailureOr<Value> alignParameter(OnnxNode &node, Value parameter, int64_t axis,
                                Value operand) {
  if (!parameter)
    return Value();
  const char *misfit =
      "the shape of a scale or zero point does not match its operand";
  if (axis < 0 && shapeOf(parameter).size() == 1 &&
      failed(node.requireEqual(dimsOf(parameter)[0], 1, misfit)))
    return failure();
  size_t rank = shapeOf(operand).size();
  Dims wide = dimsOf(parameter);
  if (product(wide) == 1)
    return node.reshape(parameter, {});
  if (wide.size() == 1) {
    Dim own = wide[0];
    wide.assign(rank, 1);
    wide[axis] = own;
    parameter = node.reshape(parameter, wide);
  }
  if (wide.size() > rank)
    return node.invalid(misfit);
  // If the scale or zero point has several elements along an axis, a dynamic
  // size of the operand along this axis must be equal to their number.
  for (int64_t i = 1; i <= int64_t(wide.size()); ++i)
    if (auto count = wide.end()[-i].known(); count && *count != 1)
      if (Dim size = dimsOf(operand).end()[-i];
          !size.known() && !node.takeEqual(size, *count))
        return node.invalid(misfit);
  // If the size of the scale or zero point along an axis is dynamic, there may
  // be only one element along the axis at run time. So the scale or zero point
  // is expanded to the size of the operand.
  for (int64_t i = 1; i <= int64_t(wide.size()); ++i)
    if (mayDiffer(wide.end()[-i], 1))
      wide.end()[-i] = dimsOf(operand).end()[-i];
  Value grown = node.broadcastTo(parameter, wide);
  if (!grown)
    return node.invalid(misfit);
  return grown;
}

/// Whether `zero` is a scalar, or has size 1 along the reduction axis of its
/// matrix: the last axis (`steps` = 1) or the one before it (`steps` = 2).
static bool isByRow(Value zero, size_t steps) {
  ArrayRef<int64_t> shape = shapeOf(zero);
  return shape.empty() ||
         (shape.size() >= 2 && shape[shape.size() - steps] == 1);
}

Value importIntegerProduct(OnnxNode &node, Value a, Value aZero, Value b,
                           Value bZero) {
  int64_t aRank = shapeOf(a).size(), bRank = shapeOf(b).size();
  auto rows = alignParameter(node, aZero, aRank - 2, a),
       columns = alignParameter(node, bZero, bRank - 1, b);
  if (failed(rows) || failed(columns))
    return {};
  if (!*rows && !*columns)
    return importIntegerMatMul(node, a, b, {});
  if (!*rows)
    rows = node.scalarConstant(0, elementOf(a));
  if (!*columns)
    columns = node.scalarConstant(0, elementOf(b));
  if (isByRow(*rows, 1) && isByRow(*columns, 2) &&
      elementOf(*rows) == elementOf(a) && elementOf(*columns) == elementOf(b))
    return importIntegerMatMul(node, a, b, {*rows, *columns});
  return importMatMul(node, centered(node, a, *rows),
                      centered(node, b, *columns));
}

/// Whether the node is a 1x1 convolution without padding, strides or groups, of
/// integers of at most 16 bits, whose weights have a static shape.
static bool isPointwise(OnnxNode &node, Value x, Value w) {
  ArrayRef<int64_t> xs = shapeOf(x), ws = shapeOf(w);
  auto all = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_equal(values) && (values.empty() || values[0] == value);
  };
  return !hasDynamicSizes(w.getType()) && xs.size() == ws.size() &&
         xs.size() > 2 && xs[1] == ws[1] && all(ws.drop_front(2), 1) &&
         node.intAttr("group", 1) == 1 && all(node.intsAttr("strides"), 1) &&
         all(node.intsAttr("pads"), 0) &&
         all(node.intsAttr("kernel_shape"), 1) &&
         elementOf(x).getIntOrFloatBitWidth() <= 16 &&
         elementOf(w).getIntOrFloatBitWidth() <= 16;
}

/// Imports a 1x1 convolution as the matrix multiplication of channels-last
/// inputs [..., C] and weights [O, C, 1, ...].
static Value pointwise(OnnxNode &node, Value x, Value xZero, Value w,
                       Value wZero, Value bias) {
  ArrayRef<int64_t> ws = shapeOf(w);
  Value matrix = node.transpose(node.reshape(w, {ws[0], ws[1]}), {1, 0});
  Value sums =
      importIntegerProduct(node, toChannelsLast(node, x), xZero, matrix, wZero);
  if (!sums)
    return {};
  if (bias)
    sums = node.add(sums, bias);
  return toChannelsFirst(node, sums);
}

/// Returns the integer convolution, accumulated in si32. `wZero` has one
/// element, or one per output channel.
static Value convolution(OnnxNode &node, Value x, Value xZero, Value w,
                         Value wZero, Value bias) {
  auto isOneOr = [](Value zero, int64_t count) {
    return !zero || tensorType(zero).getNumElements() == 1 ||
           shapeOf(zero) == ArrayRef<int64_t>{count};
  };
  if (isPointwise(node, x, w) && isOneOr(xZero, 1) &&
      isOneOr(wZero, shapeOf(w)[0]) &&
      (!bias || shapeOf(bias) == ArrayRef<int64_t>{shapeOf(w)[0]}))
    return pointwise(node, x, xZero, w, wZero, bias);
  auto whole = alignParameter(node, xZero, -1, x),
       channels = alignParameter(node, wZero, 0, w);
  if (failed(whole) || failed(channels))
    return {};
  return importConv(node, centered(node, x, *whole),
                    centered(node, w, *channels), bias);
}

/// Combines the scales of the operands and the result in float32, then
/// multiplies the accumulators by the combined scale.
Value requantize(OnnxNode &node, Value acc, Value aScale, Value bScale,
                 Value yScale, Value yZero) {
  Type f32 = node.f32();
  Value scale =
      node.div(node.mul(node.cast(aScale, f32), node.cast(bScale, f32)),
               node.cast(yScale, f32));
  Value scaled = node.mul(node.cast(acc, f32), scale);
  Value y = quantize(node, scaled, node.scalarConstant(1, f32), yZero,
                     elementOf(yZero));
  if (y && shapeOf(y) != shapeOf(acc))
    return noValue(node.invalid(
        "the shape of a scale or zero point does not match the result"));
  return y;
}

static ImportResult importMatMulInteger(OnnxNode &node) {
  return one(importIntegerProduct(node, node.input(0), node.input(2),
                                  node.input(1), node.input(3)));
}

static ImportResult importConvInteger(OnnxNode &node) {
  return one(convolution(node, node.input(0), node.input(2), node.input(1),
                         node.input(3), Value()));
}

static ImportResult importQLinearMatMul(OnnxNode &node) {
  Value a = node.input(0), b = node.input(3);
  if (!isa<IntegerType>(elementOf(a)) || !isa<IntegerType>(elementOf(b)))
    return node.unsupported(
        "floating-point operands are not supported",
        "quantize the operands to int8 or uint8, or export MatMul");
  Value acc = importIntegerProduct(node, a, node.input(2), b, node.input(5));
  if (!acc)
    return failure();
  // Scales and zero points per row or column are aligned with the rows or
  // columns of the product `acc`.
  int64_t rank = shapeOf(acc).size();
  auto aScale = alignParameter(node, node.input(1), rank - 2, acc),
       bScale = alignParameter(node, node.input(4), rank - 1, acc),
       yScale = alignParameter(node, node.input(6), rank - 2, acc),
       yZero = alignParameter(node, node.input(7), rank - 2, acc);
  if (failed(aScale) || failed(bScale) || failed(yScale) || failed(yZero))
    return failure();
  return one(requantize(node, acc, *aScale, *bScale, *yScale, *yZero));
}

static ImportResult importQLinearConv(OnnxNode &node) {
  Value acc = convolution(node, node.input(0), node.input(2), node.input(3),
                          node.input(5), node.input(8));
  if (!acc)
    return failure();
  auto xScale = alignParameter(node, node.input(1), -1, acc),
       wScale = alignParameter(node, node.input(4), 1, acc),
       yScale = alignParameter(node, node.input(6), -1, acc),
       yZero = alignParameter(node, node.input(7), -1, acc);
  if (failed(xScale) || failed(wScale) || failed(yScale) || failed(yZero))
    return failure();
  return one(requantize(node, acc, *xScale, *wScale, *yScale, *yZero));
}

void registerQuantizedImports(OnnxRegistry &registry) {
  registry.add("MatMulInteger", importMatMulInteger);
  registry.add("ConvInteger", importConvInteger);
  registry.add("QLinearMatMul", importQLinearMatMul, "floating-point operands");
  registry.add("QLinearConv", importQLinearConv);
}

} // namespace ingot::graph
