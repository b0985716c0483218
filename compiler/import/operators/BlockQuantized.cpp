// Imports operators on weights of 2, 4 or 8 bits with a scale per block, as
// used by language models.
//
// A byte holds 8 / bits weights, the first one in the least significant bits.
// For 4 bits:
//
//   numbers = (bytes[..., None] >> {0, 4}) & 15
//   floats  = (numbers - zero points) * scales

#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/Products.h"
#include "compiler/import/operators/Quantization.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the type of the `bits`-bit numbers that are packed in `bytes`.
static Type numberType(Value bytes, int64_t bits) {
  return bits == 8 ? elementOf(bytes)
                   : IntegerType::get(bytes.getContext(), unsigned(bits),
                                      IntegerType::Unsigned);
}

/// Returns the default zero point as a scalar: the middle of the range of
/// `bits`-bit numbers.
static Value middle(OnnxNode &node, Value bytes, int64_t bits) {
  return node.cast(node.scalarConstant(1 << (bits - 1), elementOf(bytes)),
                   numberType(bytes, bits));
}

/// Unpacks `bits`-bit numbers from bytes along the last axis, which becomes 8 /
/// bits times as long.
static Value unpack(OnnxNode &node, Value bytes, int64_t bits) {
  int64_t each = 8 / bits;
  if (each == 1)
    return bytes;
  Type byte = elementOf(bytes);
  SmallVector<uint8_t> places;
  for (int64_t i = 0; i < each; ++i)
    places.push_back(static_cast<uint8_t>(i * bits));
  Value shifts = node.constant(DenseElementsAttr::get(
      RankedTensorType::get({each}, byte), ArrayRef<uint8_t>(places)));
  Dims apart = dimsOf(bytes), joined = apart;
  apart.push_back(1);
  joined.back() = joined.back() * each;
  auto right = node.builder.getNamedAttr("direction",
                                         node.builder.getStringAttr("RIGHT"));
  Value shifted =
      node.elementwise<BitShiftOp>({node.reshape(bytes, apart), shifts}, right);
  Value low = node.both(shifted, (1 << bits) - 1);
  return node.reshape(node.cast(low, numberType(bytes, bits)), joined);
}

/// Returns the first `size` elements of `x` along its last axis: [..., n] ->
/// [..., size].
static Value cut(OnnxNode &node, Value x, int64_t size) {
  return node.slice(x, shapeOf(x).size() - 1, 0, size);
}

/// Dequantizes blocks [.., count / block, block] with a scale per block and,
/// unless `zeros` is null, a zero point per block. Returns the first `count`
/// floats as a tensor [.., count].
static Value dequantizeBlocks(OnnxNode &node, Value blocks, Value scales,
                              Value zeros, int64_t count) {
  Dims one = dimsOf(scales);
  one.push_back(1);
  Value floats = dequantize(node, blocks, node.reshape(scales, one),
                            zeros ? node.reshape(zeros, one) : Value());
  if (!floats)
    return {};
  Dims rows = dimsOf(scales);
  rows.back() = rows.back() * shapeOf(blocks).back();
  return cut(node, node.reshape(floats, rows), count);
}

static LogicalResult checkBits(OnnxNode &node, int64_t bits, int64_t block) {
  if (bits != 2 && bits != 4 && bits != 8)
    return node.unsupported("weights of " + Twine(bits) +
                                " bits are not supported",
                            "quantize to 2, 4 or 8 bits");
  if (block < 1 || block > (int64_t(1) << 31) || block * bits % 8 != 0)
    return node.invalid(
        "`block_size` is " + Twine(block) +
        ", but a block must contain a positive number of whole bytes");
  return success();
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

namespace {
struct BlockWeights {
  int64_t steps, columns, bits, block, blocks;
};
} // namespace

static FailureOr<BlockWeights> readWeights(OnnxNode &node) {
  BlockWeights w{node.intAttr("K", 0), node.intAttr("N", 0),
                 node.intAttr("bits", 4), node.intAttr("block_size", 0), 0};
  if (failed(checkBits(node, w.bits, w.block)))
    return failure();
  if (node.intAttr("weight_prepacked", 0))
    return node.unsupported(
        "weights in a machine-specific packing are not supported",
        "export the model with weight_prepacked=0");
  if (node.hasInput(4))
    return node.unsupported("the input `g_idx` is not supported",
                            "export the model without act_order");
  if (w.steps < 1 || w.columns < 1 || w.steps > (int64_t(1) << 31) ||
      w.columns > (int64_t(1) << 31))
    return node.invalid("K and N must be positive");
  w.blocks = (w.steps + w.block - 1) / w.block;
  auto has = [&](unsigned i, int64_t count) {
    return !node.hasInput(i) ||
           tensorType(node.input(i)).getNumElements() == count;
  };
  if (shapeOf(node.input(0)).empty() ||
      !node.takeEqual(dimsOf(node.input(0)).back(), w.steps))
    return node.invalid("the last axis of A does not have K=" + Twine(w.steps) +
                        " elements");
  if (!has(1, w.columns * w.blocks * (w.block * w.bits / 8)) ||
      !has(2, w.columns * w.blocks) || !has(5, w.columns))
    return node.invalid(
        "the shapes of B, scales or bias do not match K=" + Twine(w.steps) +
        ", N=" + Twine(w.columns) + ", block_size=" + Twine(w.block) +
        " and bits=" + Twine(w.bits));
  return w;
}

/// Returns the zero points [columns, blocks] of a MatMulNBits node, unpacked if
/// they are packed like the weights. If the node has none, returns the default
/// zero point, a scalar.
static FailureOr<Value> zeroPoints(OnnxNode &node, const BlockWeights &w) {
  Value given = node.input(3);
  Type byte = elementOf(node.input(1));
  if (!given)
    return middle(node, node.input(1), w.bits);
  int64_t count = tensorType(given).getNumElements();
  int64_t packed = (w.blocks * w.bits + 7) / 8;
  bool isPacked = elementOf(given) == byte;
  if (count != w.columns * (isPacked ? packed : w.blocks))
    return node.invalid("zero_points has " + Twine(count) +
                        " elements, which does not match " + Twine(w.blocks) +
                        " blocks in each of N=" + Twine(w.columns) +
                        " columns");
  if (!isPacked)
    return node.reshape(given, {w.columns, w.blocks});
  return cut(node,
             unpack(node, node.reshape(given, {w.columns, packed}), w.bits),
             w.blocks);
}

static ImportResult importMatMulNBits(OnnxNode &node) {
  FailureOr<BlockWeights> w = readWeights(node);
  if (failed(w))
    return failure();
  FailureOr<Value> zeros = zeroPoints(node, *w);
  if (failed(zeros))
    return failure();
  Value a = node.input(0);
  Value scales = node.reshape(node.input(2), {w->columns, w->blocks});
  Value numbers = unpack(node,
                         node.reshape(node.input(1), {w->columns, w->blocks,
                                                      w->block * w->bits / 8}),
                         w->bits);
  // `dequantizeBlocks` requires zero points of the same type as the weights. If
  // the zero points are floats, separate operators subtract them from the
  // weights and multiply the differences by the scales.
  bool isFloat = isa<FloatType>(elementOf(*zeros));
  if (isFloat) {
    Value difference =
        node.sub(node.cast(numbers, elementOf(scales)),
                 node.reshape(node.cast(*zeros, elementOf(scales)),
                              {w->columns, w->blocks, 1}));
    numbers =
        node.mul(difference, node.reshape(scales, {w->columns, w->blocks, 1}));
    numbers =
        cut(node, node.reshape(numbers, {w->columns, w->blocks * w->block}),
            w->steps);
  } else {
    // A default zero point becomes a constant with an element for each block. A
    // broadcast of a scalar would be too large to fold, so that the weights,
    // which are computed from it, would not be folded either.
    if (shapeOf(*zeros).empty())
      zeros = Value(node.build<ConstantOp>(DenseElementsAttr::get(
          RankedTensorType::get({w->columns, w->blocks}, elementOf(*zeros)),
          APInt(w->bits, uint64_t(1) << (w->bits - 1)))));
    numbers = dequantizeBlocks(node, numbers, scales, *zeros, w->steps);
  }
  if (!numbers)
    return failure();
  Value y = importMatMul(node, a, node.transpose(numbers, {1, 0}));
  if (!y)
    return failure();
  // accuracy_level=4 permits quantizing the left operand to 8 bits, in blocks
  // like those of the weights.
  constexpr int64_t quantized = 4;
  if (auto product = y.getDefiningOp<MatMulOp>();
      product && elementOf(a).isF32() &&
      node.intAttr("accuracy_level", 0) == quantized)
    product->setAttr(kMultipliedAttr,
                     TypeAttr::get(node.builder.getIntegerType(8, true)));
  Value bias = node.input(5);
  return one(
      sumOf(node, {y, bias ? node.reshape(bias, {w->columns}) : Value()}));
}

//===----------------------------------------------------------------------===//
// GatherBlockQuantized
//===----------------------------------------------------------------------===//

/// Returns a boolean for each index: whether it is in [-size, size).
static Value isInside(OnnxNode &node, Value indices, int64_t size) {
  Value least = node.greaterOrEqual(indices, -size);
  Value most = node.less(indices, size);
  return node.both(least, most);
}

static ImportResult importGatherBlockQuantized(OnnxNode &node) {
  Value data = node.input(0), indices = node.input(1), scales = node.input(2),
        zeros = node.input(3);
  int64_t rank = shapeOf(data).size(), block = node.intAttr("block_size", 128);
  auto axis = node.axisAttr("gather_axis", 0, rank),
       along = node.axisAttr("quantize_axis", 1, rank);
  if (failed(axis) || failed(along))
    return failure();
  if (*axis == *along)
    return node.unsupported("blocks along the gathered axis are not supported",
                            "quantize along another axis");
  bool isPacked = elementOf(data).getIntOrFloatBitWidth() == 8;
  int64_t bits = isPacked ? node.intAttr("bits", 4) : 4;
  if (failed(checkBits(node, bits, block)))
    return failure();
  if (isPacked && bits != 8 && *along != rank - 1)
    return node.unsupported(
        "packed elements are supported only with blocks along the last axis");
  if (shapeOf(data)[*axis] == 0)
    return node.invalid(
        "the gathered axis has size 0, so that no index is valid");
  int64_t size = shapeOf(data)[*axis];

  // Indices may be out of range; their results are replaced by zeros below.
  Value rows = gatherAlong(node, data, *axis, indices);
  if (isPacked)
    rows = unpack(node, rows, bits);
  int64_t added = shapeOf(indices).size() - 1;
  int64_t at = *along > *axis ? *along + added : *along;
  int64_t count = shapeOf(rows)[at], blocks = (count + block - 1) / block;
  // Each block has one scale, and optionally one zero point.
  SmallVector<int64_t> wanted(shapeOf(data));
  wanted[*along] = blocks;
  if (shapeOf(scales) != ArrayRef<int64_t>(wanted))
    return node.invalid("`scales` must have one element for each block of " +
                        Twine(block));
  if (zeros && isPacked && bits != 8)
    wanted.back() = (blocks * bits + 7) / 8;
  if (zeros && shapeOf(zeros) != ArrayRef<int64_t>(wanted))
    return node.invalid(
        "`zero_points` must have one element for each block of " +
        Twine(block));
  scales = gatherAlong(node, scales, *axis, indices);
  if (zeros) {
    zeros = gatherAlong(node, zeros, *axis, indices);
    if (isPacked)
      zeros = cut(node, unpack(node, zeros, bits), shapeOf(scales).back());
  } else if (isPacked) {
    zeros = middle(node, data, bits);
  }

  auto spread = [&](Value parameter) {
    return !parameter || shapeOf(parameter).empty()
               ? parameter
               : repeatedAlong(node, parameter, at, block, count);
  };
  Value floats = dequantize(node, rows, spread(scales), spread(zeros));
  if (!floats)
    return failure();
  Dims places(dimsOf(floats).size(), 1);
  llvm::copy(dimsOf(indices), places.begin() + *axis);
  Value inside = node.reshape(isInside(node, indices, size), places);
  return one(node.where(inside, floats, 0));
}

void registerBlockQuantizedImports(OnnxRegistry &registry) {
  StringRef domain = "com.microsoft";
  registry.add("MatMulNBits", importMatMulNBits,
               "`g_idx`; weight_prepacked=1; weights of 3, 5, 6 or 7 bits",
               domain);
  registry.add("GatherBlockQuantized", importGatherBlockQuantized,
               "blocks along the gathered axis; small floats", domain);
}

} // namespace ingot::graph
