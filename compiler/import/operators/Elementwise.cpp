// Imports the elementwise operators whose operands or attributes differ between
// ONNX and the graph dialect.

#include "compiler/import/operators/Quantization.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Strings.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ingot::graph {

/// Combines all inputs of a node with the binary operator `OpT`, from left to
/// right, in the element type `wide`.
template <typename OpT> static Value chain(OnnxNode &node, Type wide) {
  Value result = node.cast(node.input(0), wide);
  for (unsigned i = 1; i < node.numInputs() && result; ++i)
    result = node.elementwise<OpT>({result, node.cast(node.input(i), wide)});
  return result;
}

template <typename OpT> static ImportResult importChain(OnnxNode &node) {
  if (node.numInputs() == 0)
    return node.invalid("at least one input is required");
  return one(chain<OpT>(node, elementOf(node.input(0))));
}

static ImportResult importSum(OnnxNode &node) {
  if (node.numInputs() < 3)
    return importChain<AddOp>(node);
  Type type = elementOf(node.input(0));
  return one(node.cast(chain<AddOp>(node, node.sumType(type)), type));
}

static ImportResult importMean(OnnxNode &node) {
  if (node.numInputs() < 2)
    return importChain<AddOp>(node);
  Type type = elementOf(node.input(0)), wide = node.sumType(type);
  Value sum = chain<AddOp>(node, wide);
  if (!sum)
    return failure();
  Value count = node.scalarConstant(node.numInputs(), wide);
  return one(node.cast(node.div(sum, count), type));
}

//===----------------------------------------------------------------------===//
// Clip, PRelu and Binarizer
//===----------------------------------------------------------------------===//

/// Imports Clip: min(max(x, low), high). The bounds are optional; they are
/// attributes until opset 10 and operands later.
static ImportResult importClip(OnnxNode &node) {
  Value x = node.input(0), low = node.input(1), high = node.input(2);
  if (node.opset < 11) {
    if (node.hasAttr("min"))
      low = node.scalarConstant(node.floatAttr("min", 0), elementOf(x));
    if (node.hasAttr("max"))
      high = node.scalarConstant(node.floatAttr("max", 0), elementOf(x));
  }
  for (Value bound : {low, high})
    if (bound && tensorType(bound).getNumElements() != 1)
      return node.invalid("the bounds must be scalars");
  if (low)
    x = node.max(x, node.reshape(low, {}));
  if (high)
    x = node.min(x, node.reshape(high, {}));
  return one(x);
}

/// Imports PRelu. Until opset 6, a slope vector applies to the channels (axis
/// 1); later, the slope broadcasts.
static ImportResult importPRelu(OnnxNode &node) {
  Value x = node.input(0), slope = node.input(1);
  int64_t rank = shapeOf(x).size();
  if (node.opset < 7 && rank > 1 && shapeOf(slope).size() == 1)
    slope = node.alignAt(slope, 1, rank);
  // The slope broadcasts to x, but x does not broadcast to the slope: each
  // dynamic size of the slope is expanded to the size of x.
  Dims own = dimsOf(slope), sizes = dimsOf(x);
  if (own.size() <= sizes.size() && hasDynamicSizes(slope.getType())) {
    for (auto [size, whole] :
         llvm::zip(own, ArrayRef(sizes).take_back(own.size())))
      size = size == 1 ? size : whole;
    slope = node.broadcastTo(slope, own);
    if (!slope)
      return node.invalid("the slope does not broadcast to the input");
  }
  return one(node.elementwise<PReluOp>({x, slope}));
}

/// Imports Binarizer: 1 where an element exceeds the threshold, else 0.
static ImportResult importBinarizer(OnnxNode &node) {
  Value x = node.input(0);
  Type type = elementOf(x);
  // The threshold is a float without an exact equivalent in an integer type, so
  // integers are compared as floats.
  Type real = isa<FloatType>(type) ? type : node.f64();
  Value threshold = node.scalarConstant(node.floatAttr("threshold", 0), real);
  Value above = node.greater(node.cast(x, real), threshold);
  return one(node.where(above, 1, node.scalarConstant(0, type)));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Converts integers to decimal strings, and booleans to "0" and "1". The text
/// of each element occupies 21 bytes: 20 columns, in which the digits are
/// right-aligned, and a terminating zero. The string begins at the sign or at
/// the first digit.
static Value textOfIntegers(OnnxNode &node, Value x) {
  constexpr int64_t digits = 20, width = digits + 1;
  OpBuilder &builder = node.builder;
  Type u64 = builder.getIntegerType(64, /*isSigned=*/false),
       u8 = builder.getIntegerType(8, /*isSigned=*/false),
       s64 = builder.getIntegerType(64, /*isSigned=*/true);
  SmallVector<uint64_t> powers(width, 1), least(width, 0);
  SmallVector<bool> isEnd(width, false), isDigit(width, true);
  for (int64_t column = digits - 1; column-- > 0;)
    least[column] = powers[column] = powers[column + 1] * 10;
  isEnd[digits] = true;
  isDigit[digits] = false;
  auto row = [&](Type type, auto values) {
    return node.constant(DenseElementsAttr::get(
        RankedTensorType::get({width}, type), ArrayRef(values)));
  };
  auto number = [&](int64_t value, Type type) {
    return node.scalarConstant(static_cast<double>(value), type);
  };
  Dims sizes = dimsOf(x), flat{product(sizes)};
  x = node.reshape(x, flat);
  bool isSigned =
      !elementOf(x).isUnsignedInteger() && !elementOf(x).isInteger(1);
  Value magnitude = node.cast(node.cast(x, isSigned ? s64 : u64), u64), sign;
  if (isSigned) {
    sign = node.less(x, number(0, elementOf(x)));
    magnitude =
        node.where(sign, node.sub(number(0, u64), magnitude), magnitude);
  }
  Value column = node.reshape(magnitude, {flat[0], 1});
  Value shifted = node.div(column, row(u64, powers));
  Value tens = node.div(shifted, number(10, u64));
  Value digit = node.sub(shifted, node.mul(tens, number(10, u64)));
  Value isShown = node.greaterOrEqual(column, row(u64, least));
  Value text =
      node.where(isShown, node.add(node.cast(digit, u8), number('0', u8)),
                 number('-', u8));
  text = node.where(row(builder.getI1Type(), isEnd), number(0, u8), text);
  Value shown =
      node.cast(node.both(isShown, row(builder.getI1Type(), isDigit)), s64);
  Value length =
      node.reshape(node.build<ReduceSumOp>(shown, ArrayRef<int64_t>{1}), flat);
  if (sign)
    length = node.add(length, node.cast(sign, s64));
  // Computes where each string begins: its end minus its length.
  Value begins =
      node.sub(node.add(node.mul(node.countTo(flat[0]), number(width, s64)),
                        number(digits, s64)),
               length);
  Dim total = flat[0] * width;
  return node.build<StringsOp>(node.reshape(text, {total}),
                               node.reshape(begins, sizes));
}

static ImportResult castTo(OnnxNode &node, Type type) {
  Value x = node.input(0);
  if (elementOf(x) == type)
    return one(x);
  if (isString(type) && isa<IntegerType>(elementOf(x)))
    return one(tensorType(x).getNumElements() == 0
                   ? buildStrings(node.builder, node.loc, shapeOf(x), {})
                   : textOfIntegers(node, x));
  if (isString(type) || isString(elementOf(x)))
    return node.unsupported(isString(type)
                                ? "conversion of floating-point numbers to "
                                  "strings is not supported"
                                : "conversion of strings to numbers is not "
                                  "supported",
                            "convert before or after the model");
  std::string roundMode = node.stringAttr("round_mode", "up");
  if (!llvm::is_contained({"up", "down", "nearest"}, roundMode))
    return node.invalid("unknown round_mode `" + roundMode + "`");
  return one(node.build<CastOp>(tensorOf(dimsOf(x), type), x,
                                node.intAttr("saturate", 1), roundMode));
}

/// Returns the attribute `to` of Cast as a value of TensorProto.DataType. Until
/// opset 5, the attribute is the name of the type.
static int64_t typeToCastTo(OnnxNode &node) {
  if (node.opset >= 6)
    return node.intAttr("to", 0);
  return llvm::StringSwitch<int64_t>(
             StringRef(node.stringAttr("to", "")).upper())
      .Case("FLOAT", 1)
      .Case("UINT8", 2)
      .Case("INT8", 3)
      .Case("UINT16", 4)
      .Case("INT16", 5)
      .Case("INT32", 6)
      .Case("INT64", 7)
      .Case("BOOL", 9)
      .Case("FLOAT16", 10)
      .Case("DOUBLE", 11)
      .Case("UINT32", 12)
      .Case("UINT64", 13)
      .Default(0);
}

static ImportResult importCast(OnnxNode &node) {
  Type type = node.elementType(typeToCastTo(node));
  if (!type)
    return node.unsupported("conversion to this element type is not supported");
  return castTo(node, type);
}

static ImportResult importCastLike(OnnxNode &node) {
  return castTo(node, elementOf(node.input(1)));
}

static ImportResult importBitCast(OnnxNode &node) {
  Value x = node.input(0);
  Type type = node.elementType(node.intAttr("to", 0));
  if (!type)
    return node.unsupported("conversion to this element type is not supported");
  // The width of an element in bits; a bool occupies a byte.
  auto width = [](Type t) {
    return t.isInteger(1) ? 8 : t.getIntOrFloatBitWidth();
  };
  if (width(type) != width(elementOf(x)))
    return node.invalid("both types must have the same width in bits");
  return one(node.build<BitCastOp>(tensorOf(dimsOf(x), type), x));
}

/// Repeats each element of a scale or zero point `block_size` times along
/// `axis`, up to the size of this axis of input 0, which may be dynamic.
static FailureOr<Value> repeatedAtRunTime(OnnxNode &node, Value parameter,
                                          int64_t axis) {
  int64_t block = node.intAttr("block_size", 0);
  if (block < 1)
    return node.unsupported("block quantization of an axis whose size is known "
                            "only at run time needs `block_size`",
                            "set `block_size`, or fix the sizes with --dim");
  auto size = [&](int64_t i) { return dimsOf(node.input(0))[i]; };
  // A fixed number of blocks limits the size of the axis: the last block must
  // contain at least one element.
  if (auto blocks = dimsOf(parameter)[axis].known()) {
    (void)node.requireAtLeast(size(axis), (*blocks - 1) * block + 1);
    (void)node.requireAtMost(size(axis), *blocks * block);
  }
  auto isCovered = [&] {
    Dim blocks = dimsOf(parameter)[axis];
    return blocks.known() &&
           size(axis).least() > (*blocks.known() - 1) * block &&
           size(axis).most() <= *blocks.known() * block;
  };
  for (int64_t i = 0; i < int64_t(shapeOf(parameter).size()); ++i)
    if (!(i == axis && isCovered()) &&
        failed(node.requireEqual(
            dimsOf(parameter)[i],
            i == axis ? (size(i) + (block - 1)).floorDiv(block) : size(i),
            "the number of blocks of the scale, and the number that covers the "
            "axis")))
      return failure();
  RunTimeInts ints(node);
  return gatherAlong(node, parameter, axis,
                     ints.div(node.countTo(size(axis)), block));
}

/// Returns `parameter`, a scale or zero point, in a form that broadcasts to
/// `x`. If `parameter` has one element per block of elements and all blocks are
/// complete, also reshapes `x`: its quantized axis becomes two axes, blocks and
/// elements of a block. If the last block may be incomplete, the elements of
/// `parameter` are repeated instead, as they are if `atRunTime` is set, because
/// a size of an operand is dynamic.
static FailureOr<Value> alignQuantization(OnnxNode &node, Value &x,
                                          Value parameter, bool atRunTime) {
  int64_t rank = shapeOf(node.input(0)).size();
  ArrayRef<int64_t> shape = shapeOf(node.input(0)), given = shapeOf(parameter);
  if (product(dimsOf(parameter)) == 1)
    return node.reshape(parameter, {});
  // If the attribute `axis` exceeds the rank of the input, a scale or zero
  // point that is a vector must have one element.
  if (given.size() == 1 && rank <= 1 && node.intAttr("axis", 1) >= rank &&
      !dimsOf(parameter)[0].known()) {
    if (failed(node.requireEqual(dimsOf(parameter)[0], 1,
                                 "the length of the scale")))
      return failure();
    return node.reshape(parameter, {});
  }
  FailureOr<int64_t> axis = node.axisAttr("axis", 1, rank);
  if (failed(axis))
    return failure();
  if (given.size() == 1 && rank >= 1 && node.intAttr("block_size", 0) == 0) {
    // A scale or zero point that is a vector with several elements has one
    // element for each position along the axis, so its length must equal the
    // size of the axis.
    if (dimsOf(parameter)[0].least() > 1)
      (void)node.takeEqual(dimsOf(node.input(0))[*axis], dimsOf(parameter)[0]);
    Dims sizes(rank, 1);
    sizes[*axis] = dimsOf(node.input(0))[*axis];
    Value grown = node.broadcastTo(node.alignAt(parameter, *axis, rank), sizes);
    if (!grown)
      return node.invalid(
          "the scale must have one element for each position of the axis");
    return grown;
  }
  if (static_cast<int64_t>(given.size()) != rank)
    return node.invalid(
        "the scale must be one element, a vector along the axis, or a tensor "
        "of the input's rank (one element for each block)");
  if (atRunTime)
    return repeatedAtRunTime(node, parameter, *axis);
  int64_t blocks = given[*axis], size = shape[*axis];
  int64_t block = node.intAttr("block_size", 0);
  if (block <= 0 && blocks > 0 && size % blocks == 0)
    block = size / blocks;
  if (block <= 0 || blocks != int64_t(llvm::divideCeil(size, block)))
    return node.invalid("the number of blocks of the scale does not match the "
                        "size of the axis and block_size");
  if (blocks * block != size)
    return repeatedAlong(node, parameter, *axis, block, size);
  SmallVector<int64_t> split(shape), of(given);
  split[*axis] = blocks;
  split.insert(split.begin() + *axis + 1, block);
  of.insert(of.begin() + *axis + 1, 1);
  x = node.reshape(x, split);
  return node.reshape(parameter, of);
}

template <typename OpT>
static ImportResult importQuantization(OnnxNode &node, Type zeroType,
                                       Type resultType,
                                       ArrayRef<NamedAttribute> attrs) {
  Value x = node.input(0);
  // The alignment of the scale may fix dynamic sizes, so this is determined once
  // for scale and zero point, which must have the same form.
  bool atRunTime = false;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    atRunTime |= node.hasInput(i) && hasDynamicSizes(node.input(i).getType());
  FailureOr<Value> scale = alignQuantization(node, x, node.input(1), atRunTime);
  if (failed(scale))
    return failure();
  Value split = node.input(0);
  FailureOr<Value> zero =
      node.hasInput(2)
          ? alignQuantization(node, split, node.input(2), atRunTime)
          : FailureOr<Value>(node.scalarConstant(0, zeroType));
  if (failed(zero))
    return failure();
  SmallVector<Value> operands{x, *scale, *zero};
  RankedTensorType type = node.elementwiseType(
      operands, [&](ArrayRef<Type>) { return resultType; });
  if (!type)
    return failure();
  Value result =
      OpT::create(node.builder, node.loc, TypeRange{type}, operands, attrs);
  return one(node.reshape(result, dimsOf(node.input(0))));
}

static ImportResult importQuantizeLinear(OnnxNode &node) {
  if (!isa<FloatType>(elementOf(node.input(1))))
    return node.unsupported("an integer scale is not supported",
                            "cast the scale to float");
  Type type = node.hasInput(2)
                  ? elementOf(node.input(2))
                  : node.builder.getIntegerType(8, /*isSigned=*/false);
  if (int64_t given = node.intAttr("output_dtype", 0);
      given && !node.hasInput(2))
    type = node.elementType(given);
  if (!type)
    return node.unsupported(
        "quantization to this element type is not supported");
  if (node.intAttr("precision", 0) &&
      node.elementType(node.intAttr("precision", 0)) !=
          elementOf(node.input(1)))
    return node.unsupported(
        "a `precision` other than the type of the scale is not supported");
  NamedAttribute saturate = node.builder.getNamedAttr(
      "saturate", node.builder.getI64IntegerAttr(node.intAttr("saturate", 1)));
  return importQuantization<QuantizeOp>(node, type, type, saturate);
}

static ImportResult importDequantizeLinear(OnnxNode &node) {
  Type type = elementOf(node.input(1));
  if (int64_t given = node.intAttr("output_dtype", 0))
    type = node.elementType(given);
  if (!type)
    return node.unsupported(
        "dequantization to this element type is not supported");
  return importQuantization<DequantizeOp>(node, elementOf(node.input(0)), type,
                                          {});
}

void registerElementwiseImports(OnnxRegistry &registry) {
  registry.addRegular<AndOp>("BitwiseAnd");
  registry.addRegular<OrOp>("BitwiseOr");
  registry.addRegular<XorOp>("BitwiseXor");
  registry.addRegular<NotOp>("BitwiseNot");
  registry.add("Max", importChain<MaximumOp>);
  registry.add("Min", importChain<MinimumOp>);
  registry.add("Sum", importSum);
  registry.add("Mean", importMean);
  registry.add("Clip", importClip);
  registry.add("PRelu", importPRelu);
  registry.add(
      "Cast", importCast,
      "from strings to numbers; from floating-point numbers to strings");
  registry.add(
      "CastLike", importCastLike,
      "from strings to numbers; from floating-point numbers to strings");
  registry.add("BitCast", importBitCast);
  registry.add(
      "QuantizeLinear", importQuantizeLinear,
      "integer scales; a `precision` other than the type of the scale");
  registry.add("DequantizeLinear", importDequantizeLinear);
  registry.add("Binarizer", importBinarizer, "", "ai.onnx.ml");
}

} // namespace ingot::graph
