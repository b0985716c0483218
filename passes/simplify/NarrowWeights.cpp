// Keeps constant weights of 2, 4 or 8 bits in their narrow type.
//
//   matmul(a, transpose(reshape(dequantize(w, scales, zeros))))
//     ->  narrow_matmul(a, w', scales', zeros') {bits, block}
//
// `w` is a constant of integers with a scale per block of K (the summed axis),
// and `a` is a tensor of floats. w' has shape [K, N], but neighbouring elements
// of a column are packed into one byte; scales' and zeros' have shape [K /
// block, N]. If `a` is quantized too, the matmul is rewritten as a matmul of
// integers instead (HoistScales, WidenContractions).
//
//   gather(dequantize(w, scales, zeros), rows)
//     ->  dequantize(numbers(gather(w', rows)), gather(scales, rows), gather(zeros, rows))
//
// This applies to embedding tables of such weights; `numbers` unpacks the
// bytes. All other dequantized constants become floats when FoldConstants folds
// them.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/simplify/FoldableValues.h"
#include "passes/simplify/Moves.h"
#include "passes/simplify/Passes.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_NARROWWEIGHTS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Axes of a tensor, outermost first, that transposes and reshapes merge into
/// one axis of another tensor.
using MergedAxes = SmallVector<int64_t>;

/// Returns, for each axis of the value that `moves` computes, the axes of
/// `moves.from` that form it; nothing if a reshape splits an axis.
std::optional<SmallVector<MergedAxes>> axesBehind(const Moves &moves) {
  ArrayRef<int64_t> from = shapeOf(moves.from);
  SmallVector<MergedAxes> axes;
  for (size_t i = 0; i < from.size(); ++i)
    axes.push_back({int64_t(i)});
  for (Operation *move : llvm::reverse(moves.path)) {
    SmallVector<MergedAxes> next;
    if (auto transpose = dyn_cast<TransposeOp>(move)) {
      for (int64_t axis : transpose.getPerm())
        next.push_back(axes[axis]);
    } else {
      MergedAxes all;
      for (const MergedAxes &merged : axes)
        llvm::copy_if(merged, std::back_inserter(all),
                      [&](int64_t axis) { return from[axis] != 1; });
      size_t taken = 0;
      for (int64_t size : shapeOf(move->getResult(0))) {
        MergedAxes merged;
        for (int64_t held = 1; held < size && taken < all.size(); ++taken) {
          merged.push_back(all[taken]);
          held *= from[all[taken]];
        }
        if (std::accumulate(merged.begin(), merged.end(), int64_t(1),
                            [&](int64_t size, int64_t axis) {
                              return size * from[axis];
                            }) != size)
          return std::nullopt;
        next.push_back(merged);
      }
    }
    axes = std::move(next);
  }
  return axes;
}

/// Returns the value that all elements of a constant equal; reshapes and
/// expansions may follow the constant. Returns null for other values.
Attribute numberOf(Value v) {
  while (isa_and_nonnull<ReshapeOp, ExpandOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto constant = v.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  return value && !value.empty() && value.isSplat()
             ? value.getSplatValue<Attribute>()
             : Attribute();
}

/// Builds the elementwise operator OpT of `x` and the scalar constant `number`.
template <typename OpT> Value applied(OpBuilder &b, Value x, int64_t number) {
  auto scalar = RankedTensorType::get({}, elementOf(x));
  Value constant = ConstantOp::create(
      b, x.getLoc(),
      DenseElementsAttr::get(scalar, APInt(8, uint64_t(number))));
  return OpT::create(b, x.getLoc(), TypeRange{x.getType()},
                     ValueRange{x, constant})
      .getResult();
}

unsigned bitsOf(Value v) { return elementOf(v).getIntOrFloatBitWidth(); }

/// Whether `op` dequantizes integers of 2, 4 or 8 bits. False if `op` is null
/// or its tensor has no elements.
bool isOfNarrowIntegers(DequantizeOp op) {
  auto number = op ? dyn_cast<IntegerType>(elementOf(op.getX())) : nullptr;
  return number && !number.isSignless() &&
         llvm::is_contained({2u, 4u, 8u}, number.getWidth()) &&
         tensorType(op.getX()).getNumElements() != 0;
}

/// Whether the elements of `x` are signed and become unsigned when they are
/// packed.
bool losesSign(Value x) {
  return bitsOf(x) < 8 && elementOf(x).isSignedInteger();
}

/// Returns `x` as 8-bit integers. 8-bit elements are returned unchanged.
/// Elements of fewer bits become uint8; if they are signed, an offset is added
/// so that their least value becomes 0.
Value unsignedNumbers(OpBuilder &b, Value x) {
  if (bitsOf(x) == 8)
    return x;
  auto bytes = [&](IntegerType::SignednessSemantics sign) {
    return RankedTensorType::get(shapeOf(x),
                                 IntegerType::get(b.getContext(), 8, sign));
  };
  if (losesSign(x)) {
    int64_t least = -(1 << (bitsOf(x) - 1));
    x = CastOp::create(b, x.getLoc(), bytes(IntegerType::Signed), x);
    x = applied<AddOp>(b, x, -least);
  }
  return CastOp::create(b, x.getLoc(), bytes(IntegerType::Unsigned), x);
}

/// Packs elements of `bits` bits into bytes: neighbouring elements of `numbers`
/// along `axis` share a byte, with the first element in the lowest bits.
Value inBytes(OpBuilder &b, Value numbers, int64_t axis, int64_t bits) {
  int64_t perByte = 8 / bits, bytes = shapeOf(numbers)[axis] / perByte;
  Value all;
  for (int64_t place = 0; place < perByte; ++place) {
    Value part = applied<MulOp>(
        b, slice(b, numbers.getLoc(), numbers, axis, place, bytes, perByte),
        1 << (place * bits));
    all = all ? AddOp::create(b, part.getLoc(), TypeRange{part.getType()},
                              ValueRange{all, part})
                    .getResult()
              : part;
  }
  return all;
}

/// Returns the bytes from which `numbers` is unpacked along the last axis, as by
/// numbersIn; null if it is computed in another way.
Value bytesBehind(OpBuilder &b, Value numbers) {
  auto operandOf = [](Operation *op, unsigned i) {
    return op->getOperand(i).getDefiningOp();
  };
  auto joined = numbers.getDefiningOp<ReshapeOp>();
  auto cast = joined ? joined.getX().getDefiningOp<CastOp>() : CastOp();
  auto low = cast ? dyn_cast_or_null<AndOp>(operandOf(cast, 0)) : AndOp();
  auto shift =
      low ? dyn_cast_or_null<BitShiftOp>(operandOf(low, 0)) : BitShiftOp();
  auto places =
      shift ? dyn_cast_or_null<ConstantOp>(operandOf(shift, 1)) : ConstantOp();
  auto mask = dyn_cast_or_null<IntegerAttr>(low ? numberOf(low->getOperand(1))
                                                : Attribute());
  if (!places || !mask || shift.getDirection() != "RIGHT")
    return {};
  int64_t bits = bitsOf(numbers), perByte = 8 / bits;
  SmallVector<int64_t> wanted;
  for (int64_t place = 0; place < perByte; ++place)
    wanted.push_back(place * bits);
  Value bytes = shift->getOperand(0);
  SmallVector<int64_t> shape(shapeOf(numbers)), apart(shapeOf(bytes));
  if (mask.getValue() != (1 << bits) - 1 || bitsOf(bytes) != 8 ||
      !elementOf(bytes).isUnsignedInteger() ||
      graph::elementsAsInts(places.getValue()) != wanted || shape.empty() ||
      shape.back() % perByte != 0)
    return {};
  shape.back() /= perByte;
  SmallVector<int64_t> expected(shape);
  expected.push_back(1);
  return apart == expected
             ? buildReshape(b, bytes.getLoc(), bytes, ArrayRef<int64_t>(shape))
             : Value();
}

/// Unpacks `bytes`, which inBytes has packed along the last axis, into elements
/// of `bits` bits.
Value numbersIn(OpBuilder &b, Value bytes, unsigned bits) {
  int64_t perByte = 8 / int64_t(bits);
  Location loc = bytes.getLoc();
  SmallVector<uint8_t> places;
  for (int64_t place = 0; place < perByte; ++place)
    places.push_back(uint8_t(place * bits));
  Value shifts = ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(RankedTensorType::get({perByte}, elementOf(bytes)),
                             ArrayRef<uint8_t>(places)));
  Dims apart = dimsOf(bytes), joined = apart;
  apart.push_back(1);
  joined.back() = joined.back() * perByte;
  Dims wide = apart;
  wide.back() = perByte;
  Value shifted =
      BitShiftOp::create(b, loc, TypeRange{tensorOf(wide, elementOf(bytes))},
                         ValueRange{buildReshape(b, loc, bytes, apart), shifts},
                         b.getNamedAttr("direction", b.getStringAttr("RIGHT")))
          .getResult();
  Value low = applied<AndOp>(b, shifted, (1 << bits) - 1);
  return CastOp::create(
      b, loc, buildReshape(b, loc, low, joined),
      IntegerType::get(b.getContext(), bits, IntegerType::Unsigned));
}

/// The dequantized weights of a matmul, of shape [K, N] = [steps, columns].
struct Weights {
  DequantizeOp op;
  MergedAxes order; // Axes of the stored weights; axes of K first.
  int64_t steps = 1, columns = 1, block = 1;
  /// The innermost axis of K.
  int64_t innermost = 0;
  /// The axes that form a block, along which scales and zero points are
  /// constant.
  llvm::SmallDenseSet<int64_t> inBlock;

  int64_t bits() { return bitsOf(op.getX()); }
  int64_t perByte() { return 8 / bits(); }

  static std::optional<Weights> match(Value v) {
    Moves moves = Moves::behind(v);
    Weights w;
    w.op = moves.from.getDefiningOp<DequantizeOp>();
    if (!isOfNarrowIntegers(w.op) || shapeOf(v).size() != 2)
      return std::nullopt;
    auto axes = axesBehind(moves);
    if (!axes)
      return std::nullopt;
    w.steps = shapeOf(v)[0];
    w.columns = shapeOf(v)[1];
    w.innermost = (*axes)[0].empty() ? 0 : (*axes)[0].back();
    w.findBlock((*axes)[0]);
    // If each row of K has a scale of its own, a block would be a single
    // element; such weights are not packed. The elements of a block must fill
    // whole bytes.
    if (w.block == 1 || w.block % w.perByte() != 0)
      return std::nullopt;
    // Axes that belong neither to K nor to N have size 1. They may have any
    // position, so they are put first.
    for (size_t i = 0; i < shapeOf(w.op.getX()).size(); ++i)
      if (!llvm::is_contained((*axes)[0], i) &&
          !llvm::is_contained((*axes)[1], i))
        w.order.push_back(i);
    for (const MergedAxes &merged : *axes)
      llvm::append_range(w.order, merged);
    return w;
  }

  /// Returns the packed weights, of shape [steps / perByte, columns].
  Value bytes(OpBuilder &b) {
    Value x = op.getX();
    if (bits() == 8)
      return matrix(b, x, steps);
    // Elements are packed before they are transposed, if the innermost axis of K
    // can be packed: weights that the model stores packed along it stay so.
    int64_t size = shapeOf(x)[innermost];
    if (size % perByte() != 0)
      return inBytes(b, matrix(b, unsignedNumbers(b, x), steps), 0, bits());
    bool isLast = innermost + 1 == int64_t(shapeOf(x).size());
    Value packed = isLast ? bytesBehind(b, x) : Value();
    if (!packed)
      packed = inBytes(b, unsignedNumbers(b, x), innermost, bits());
    return matrix(b, packed, steps / perByte());
  }

  Value scales(OpBuilder &b) { return ofBlocks(b, op.getScale()); }
  /// Returns the zero point of all packed elements if it is the same.
  std::optional<int64_t> zero() {
    auto number = dyn_cast_or_null<IntegerAttr>(numberOf(op.getZero()));
    if (!number)
      return std::nullopt;
    int64_t offset = losesSign(op.getX()) ? 1 << (bits() - 1) : 0;
    return (elementOf(op.getZero()).isUnsignedInteger()
                ? int64_t(number.getValue().getZExtValue())
                : number.getValue().getSExtValue()) +
           offset;
  }
  /// Returns the zero points of the packed elements as a tensor.
  Value zeros(OpBuilder &b) {
    return ofBlocks(b, unsignedNumbers(b, op.getZero()));
  }

private:
  /// Finds the block: the innermost axes of K along which scale and zero point
  /// are constant.
  void findBlock(ArrayRef<int64_t> stepAxes) {
    ArrayRef<int64_t> x = shapeOf(op.getX());
    auto varies = [&](Value parameter, int64_t axis) {
      ArrayRef<int64_t> own = shapeOf(parameter);
      int64_t missing = int64_t(x.size() - own.size());
      return axis >= missing && own[axis - missing] != 1 &&
             !numberOf(parameter);
    };
    for (int64_t axis : llvm::reverse(stepAxes)) {
      if (varies(op.getScale(), axis) || varies(op.getZero(), axis))
        break;
      block *= x[axis];
      inBlock.insert(axis);
    }
  }

  /// Returns `x`, which has the axes of the stored weights, transposed to
  /// `order` and reshaped to [rows, columns].
  Value matrix(OpBuilder &b, Value x, int64_t rows) {
    return buildReshape(b, x.getLoc(), buildTranspose(b, x.getLoc(), x, order),
                        {rows, columns});
  }

  /// Returns `parameter`, the scales or zero points, with shape [steps / block,
  /// columns].
  Value ofBlocks(OpBuilder &b, Value parameter) {
    int64_t blocks = steps / block;
    Location loc = parameter.getLoc();
    if (Attribute number = numberOf(parameter))
      return ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(
              RankedTensorType::get({blocks, columns}, elementOf(parameter)),
              number));
    SmallVector<int64_t> own(shapeOf(parameter)), wanted(shapeOf(op.getX()));
    own.insert(own.begin(), wanted.size() - own.size(), 1);
    for (int64_t axis : inBlock)
      wanted[axis] = 1;
    Value x = buildReshape(b, loc, parameter, own);
    if (own != wanted)
      x = ExpandOp::create(b, loc, x, ArrayRef<int64_t>(wanted));
    return matrix(b, x, blocks);
  }
};

/// A gather of rows of a dequantized table.
struct Rows {
  GatherOp gather;
  DequantizeOp table;

  static std::optional<Rows> match(GatherOp gather) {
    Moves moves = Moves::behind(gather.getX());
    auto table = moves.from.getDefiningOp<DequantizeOp>();
    if (gather.getAxis() != 0 || !isOfNarrowIntegers(table))
      return std::nullopt;
    // The reshapes between the dequantize and the gather must keep the first
    // axis, whose rows are gathered.
    auto axes = axesBehind(moves);
    bool isMoved = llvm::any_of(moves.path, llvm::IsaPred<TransposeOp>);
    if (!axes || isMoved || (*axes)[0] != MergedAxes{0})
      return std::nullopt;
    return Rows{gather, table};
  }

  void rewrite() {
    OpBuilder b(gather);
    unsigned bits = bitsOf(table.getX());
    ArrayRef<int64_t> shape = shapeOf(table.getX());
    bool isPacked =
        bits < 8 && shape.back() % (8 / bits) == 0 && shape.size() > 1;
    Value rows;
    if (isPacked) {
      Value packed = bytesBehind(b, table.getX());
      if (!packed)
        packed = inBytes(b, unsignedNumbers(b, table.getX()),
                         int64_t(shape.size()) - 1, bits);
      rows = numbersIn(b, taken(b, packed), bits);
    } else {
      rows = taken(b, unsignedNumbers(b, table.getX()));
    }
    Value zero = unsignedNumbers(b, table.getZero());
    if (elementOf(zero) != elementOf(rows))
      zero = CastOp::create(b, zero.getLoc(), zero, elementOf(rows));
    Value floats = DequantizeOp::create(
        b, gather.getLoc(),
        tensorOf(dimsOf(rows), elementOf(gather.getResult())), rows,
        ofRows(b, table.getScale()), ofRows(b, zero));
    gather.replaceAllUsesWith(
        buildReshape(b, gather.getLoc(), floats, dimsOf(gather.getResult())));
    gather.erase();
  }

private:
  Value taken(OpBuilder &b, Value from) {
    return GatherOp::create(b, gather.getLoc(), from, gather.getIndices(),
                            gather.getAxis(), gather.getInRange());
  }
  /// Returns `parameter`, the scale or zero point of the table, for the
  /// gathered rows. If all rows have the same value, no rows are gathered.
  Value ofRows(OpBuilder &b, Value parameter) {
    ArrayRef<int64_t> own = shapeOf(parameter);
    if (own.size() < shapeOf(table.getX()).size())
      return parameter;
    return own[0] == 1 ? buildReshape(b, parameter.getLoc(), parameter,
                                      own.drop_front())
                       : taken(b, parameter);
  }
};

struct NarrowWeightsPass : impl::NarrowWeightsBase<NarrowWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    auto [constant, frontier] = findFoldableValues(body);
    SmallVector<std::pair<MatMulOp, Weights>> found;
    for (auto product : body.getOps<MatMulOp>()) {
      if (!elementOf(product.getResult()).isF32() ||
          Moves::behind(product.getA()).from.getDefiningOp<DequantizeOp>())
        continue;
      auto weights = Weights::match(product.getB());
      if (weights && constant.contains(weights->op.getOperation()))
        found.push_back({product, *weights});
    }
    SmallVector<Rows> tables;
    for (auto gather : body.getOps<GatherOp>())
      if (auto rows = Rows::match(gather);
          rows && constant.contains(rows->table.getOperation()) &&
          !constant.contains(gather.getOperation()))
        tables.push_back(*rows);
    for (Rows &rows : tables)
      rows.rewrite();
    for (auto &[product, weights] : found) {
      OpBuilder b(product);
      std::optional<int64_t> zero = weights.zero();
      Value zeros = zero ? Value() : weights.zeros(b);
      auto narrow = NarrowMatMulOp::create(
          b, product.getLoc(), product.getResult().getType(), product.getA(),
          weights.bytes(b), weights.scales(b), zeros, weights.bits(),
          weights.block,
          zero.value_or(0) ? b.getI64IntegerAttr(*zero) : IntegerAttr());
      if (Attribute multiplied = product->getAttr(kMultipliedAttr))
        narrow->setAttr(kMultipliedAttr, multiplied);
      product.replaceAllUsesWith(narrow.getResult());
      product.erase();
    }
  }
};

} // namespace
} // namespace ingot::simplify
