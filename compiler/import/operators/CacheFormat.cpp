#include "compiler/import/operators/CacheFormat.h"

#include "compiler/import/operators/Quantization.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

static Value shift(OnnxNode &node, Value bytes, StringRef direction) {
  return node.elementwise<BitShiftOp>(
      {bytes, node.scalarConstant(4, elementOf(bytes))},
      node.builder.getNamedAttr("direction",
                                node.builder.getStringAttr(direction)));
}

FailureOr<CacheFormat> CacheFormat::of(OnnxNode &node, StringRef which,
                                       Value x) {
  bool isKey = which == "k";
  Value cache = node.input(isKey ? 3 : 4), given = node.input(isKey ? 12 : 13);
  std::string kind =
      node.stringAttr((which + "_quant_type").str(), /*otherwise=*/"NONE");
  CacheFormat f;
  f.stored = cache ? elementOf(cache) : elementOf(x);
  f.heads = shapeOf(x)[1];
  f.size = shapeOf(x)[3];
  if (kind == "NONE") {
    if (given)
      return node.invalid(which + "_scale is given, but " + which +
                          "_quant_type is NONE");
    if (!isa<FloatType>(f.stored) || f.stored.getIntOrFloatBitWidth() < 16)
      return node.invalid("a cache of this element type requires " + which +
                          "_quant_type and " + which + "_scale");
    return f;
  }
  if (kind != "PER_TENSOR" && kind != "PER_CHANNEL")
    return node.invalid(which + "_quant_type is " + kind +
                        ", but must be NONE, PER_TENSOR or PER_CHANNEL");
  if (!given)
    return node.invalid(which + "_quant_type=" + kind + " requires " + which +
                        "_scale");
  if (!cache)
    return node.invalid("a quantized cache requires past_key and past_value");
  auto isInteger = [&](bool isSigned) {
    return f.stored == node.builder.getIntegerType(8, isSigned);
  };
  f.bits = node.intAttr("kv_cache_bit_width", 0);
  bool isFit = f.bits == 4 ? isInteger(/*isSigned=*/false) && f.size % 2 == 0
                           : f.bits == 8 && (isInteger(/*isSigned=*/true) ||
                                             isa<Float8E4M3FNType>(f.stored));
  if (!isFit)
    return node.unsupported(
        "a quantized cache of this element type, with kv_cache_bit_width=" +
            Twine(f.bits) + " and heads of " + Twine(f.size) +
            " elements, is not supported",
        "export the model with a cache of int8 or float8e4m3fn and 8 bits, or "
        "of uint8, 4 bits and heads of an even size");
  bool isWhole = kind == "PER_TENSOR";
  if (tensorType(given).getNumElements() != (isWhole ? 1 : f.heads * f.size))
    return node.invalid(which + "_scale must have " +
                        (isWhole ? Twine("one element")
                                 : "[1, " + Twine(f.heads) + ", 1, " +
                                       Twine(f.size) + "] elements") +
                        " because " + which + "_quant_type is " + kind);
  f.scale = isWhole ? node.reshape(given, {})
                    : node.reshape(given, {f.heads, f.size});
  return f;
}

Value CacheFormat::encode(OnnxNode &node, Value x) const {
  if (!isQuantized())
    return node.cast(x, stored);
  Type f32 = node.f32();
  Value one = node.scalarConstant(1, f32);
  Value inverse = node.div(one, scale);
  if (!shapeOf(inverse).empty())
    inverse = node.reshape(inverse, {heads, 1, size});
  Value scaled = node.mul(node.cast(x, f32), inverse);
  if (isa<FloatType>(stored)) {
    constexpr double largest = 448;
    Value limited = node.max(scaled, -largest);
    limited = node.min(limited, largest);
    return node.cast(limited, stored);
  }
  if (!isPacked())
    return quantize(node, scaled, one, Value(), stored);
  Type number = node.builder.getIntegerType(4, /*isSigned=*/false);
  Value middle = node.cast(node.scalarConstant(8, stored), number);
  Value numbers = quantize(node, scaled, one, middle, number);
  Dims pairs = dimsOf(numbers), half = pairs;
  half.back() = pairs.back() = size / 2;
  pairs.push_back(2);
  Value bytes = node.reshape(node.cast(numbers, stored), pairs);
  auto element = [&](int64_t i) {
    return node.reshape(node.slice(bytes, 4, i, 1), half);
  };
  return node.either(element(0), shift(node, element(1), "LEFT"));
}

Value CacheFormat::decode(OnnxNode &node, Value cache, Type type) const {
  if (!isPacked())
    return node.cast(cache, type);
  auto floats = [&](Value numbers) {
    return node.sub(node.cast(numbers, type), 8);
  };
  Value low = node.both(cache, 15);
  return node.concat({floats(low), floats(shift(node, cache, "RIGHT"))},
                     /*axis=*/3);
}

Value CacheFormat::scaleQueries(OnnxNode &node, Value query) const {
  if (!isQuantized())
    return query;
  Dims whole = dimsOf(query);
  if (shapeOf(scale).empty()) {
    query = node.mul(query, scale);
  } else {
    int64_t times = *whole[1].known() / heads;
    Value grouped =
        node.reshape(query, {whole[0], heads, times, whole[2], whole[3]});
    query = node.reshape(
        node.mul(grouped, node.reshape(scale, {1, heads, 1, 1, size})), whole);
  }
  if (!isPacked())
    return query;
  Value pairs =
      node.reshape(query, {whole[0], whole[1], whole[2], size / 2, 2});
  return node.reshape(node.transpose(pairs, {0, 1, 2, 4, 3}), whole);
}

Value CacheFormat::scaleResult(OnnxNode &node, Value y) const {
  if (!isQuantized())
    return y;
  Dims whole = dimsOf(y);
  int64_t all = *whole[2].known() / size;
  if (isPacked()) {
    Value halves = node.reshape(y, {whole[0], whole[1], all, 2, size / 2});
    y = node.reshape(node.transpose(halves, {0, 1, 2, 4, 3}), whole);
  }
  if (shapeOf(scale).empty())
    return node.mul(y, scale);
  Value grouped =
      node.reshape(y, {whole[0], whole[1], heads, all / heads, size});
  return node.reshape(
      node.mul(grouped, node.reshape(scale, {1, 1, heads, 1, size})), whole);
}

} // namespace ingot::graph
