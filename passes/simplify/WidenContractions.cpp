// Rewrites contractions of dequantized operands as contractions of integers.
//
//   conv(dequantize(x, 1, zx), dequantize(w, 1, 0), bias)
//     ->  cast(conv(x, w) {x_zero = zx}, f32) + bias
//     ->  cast(conv(x, w, cast(bias, si32)) {x_zero = zx}, f32)
//         if all elements of bias are integers
//
//   conv(cast(x, si32) - zx, cast(w, si32), bias)  ->  conv(x, w, bias) {x_zero}
//
// Matmuls are rewritten in the same way. Before this pass, HoistScales has
// moved the scales out of the operands. Integer sums are exact in any order,
// while f32 sums are exact only up to 2^24. Integer sums replace float sums if
// every possible sum fits 32 bits. Convolutions of integers support no zero
// point of the weights: uint8 weights with zero point 128 become int8 weights
// with zero point 0. For any other zero point, the zero point times the sum of
// the input window is subtracted from each result. Integers of 2 and 4 bits
// become int8.
//
// On targets without float vectors, or with much faster int8 dot products, a
// 16-bit operand is split into two 8-bit ones; the weights remain 8-bit. This
// is omitted with --strict, since the sums of such products are rounded in f32,
// but not in integers:
//
//   conv(dequantize(x: ui16, 1, zx), dequantize(w, 1, 0))
//     ->  cast(conv(cast(x >> 8, ui8), w) {x_zero = zx >> 8}, f32) * 256
//       + cast(conv(cast(x, ui8), w) {x_zero = zx & 255}, f32)
//
// 8-bit floats, whose scales have been moved out of the operands as well, are
// multiplied directly if the target can do that. Otherwise they are multiplied
// as f16, which represents each of them exactly:
//
//   matmul(dequantize(x: f8E4M3FN, 1, 0), dequantize(w: f8E4M3FN, 1, 0)) : f32
//     ->  matmul(x, w) : f32
//     ->  matmul(cast(x, f16), cast(w, f16)) : f32
//
// Targets that gain nothing from int8 multiplication (multipliesInt8 is false)
// keep the float sums.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "dialects/kernel/SmallFloats.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "passes/simplify/Moves.h"
#include "passes/simplify/Passes.h"
#include "passes/simplify/WordSums.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_WIDENCONTRACTIONS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Returns the integer that all elements of a constant equal; casts and
/// reshapes may follow the constant. A float constant must be a splat of an
/// integer with a magnitude below 256. Returns nothing for other values.
std::optional<int64_t> numberOf(Value v) {
  while (isa_and_nonnull<CastOp, ReshapeOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto constant = v.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  ElementsAttr value = constant.getValue();
  if (!hasData(value) || value.empty())
    return std::nullopt;
  if (isa<IntegerType>(value.getElementType())) {
    SmallVector<int64_t> numbers = elementsAsInts(value);
    return llvm::all_equal(numbers) ? std::optional(numbers[0]) : std::nullopt;
  }
  auto splat = dyn_cast<SplatElementsAttr>(value);
  if (!splat || !value.getElementType().isF32())
    return std::nullopt;
  float number = splat.getSplatValue<float>();
  return number == std::trunc(number) && std::abs(number) < 256
             ? std::optional<int64_t>(number)
             : std::nullopt;
}

/// Whether `number` is a value of the integer type `type`.
bool isOf(IntegerType type, int64_t number) {
  return type.isUnsigned() ? llvm::isUIntN(type.getWidth(), number)
                           : llvm::isIntN(type.getWidth(), number);
}

/// Integers minus their zero point, followed by transposes and reshapes. The
/// zero point is a value of their type.
struct Centered {
  Value bytes;
  int64_t zero = 0;
  Moves moves; // Transposes and reshapes after the conversion of `bytes`.

  /// Matches integers of 16 bits, or (`isWide` is false) of 2, 4 or 8 bits.
  static std::optional<Centered> match(Value v, bool isWide = false) {
    Centered result;
    result.moves = Moves::behind(v);
    v = result.moves.from;
    Value zero;
    if (auto op = v.getDefiningOp<DequantizeOp>()) {
      if (numberOf(op.getScale()) != 1)
        return std::nullopt;
      v = op.getX();
      zero = op.getZero();
    } else {
      // The zero point does not broadcast the integers.
      if (auto op = v.getDefiningOp<SubOp>();
          op && dimsOf(op->getOperand(0)) == dimsOf(v)) {
        v = op->getOperand(0);
        zero = op->getOperand(1);
      }
      auto cast = v.getDefiningOp<CastOp>();
      if (!cast || !elementOf(cast.getResult()).isSignedInteger(32))
        return std::nullopt;
      v = cast.getX();
    }
    auto type = dyn_cast<IntegerType>(elementOf(v));
    std::optional<int64_t> number = zero ? numberOf(zero) : 0;
    if (!type || type.isSignless() || !number || !isOf(type, *number) ||
        !(isWide ? type.getWidth() == 16
                 : llvm::is_contained({2u, 4u, 8u}, type.getWidth())))
      return std::nullopt;
    result.bytes = v;
    result.zero = *number;
    return result;
  }

  /// Returns the upper or the lower bytes of 16-bit integers, with the upper or
  /// lower byte of their zero point.
  Centered part(bool isUpper) const {
    OpBuilder builder(bytes.getContext());
    builder.setInsertionPointAfterValue(bytes);
    Location loc = bytes.getLoc();
    auto type = cast<IntegerType>(elementOf(bytes));
    Value part = bytes;
    if (isUpper) {
      Value eight = ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(RankedTensorType::get({}, type),
                                 APInt(16, 8)));
      auto shift = BitShiftOp::create(builder, loc, TypeRange{bytes.getType()},
                                      ValueRange{bytes, eight});
      shift->setAttr("direction", builder.getStringAttr("RIGHT"));
      part = shift->getResult(0);
    }
    bool isSigned = isUpper && type.isSigned();
    Type byte = builder.getIntegerType(8, isSigned);
    return {CastOp::create(builder, loc, tensorOf(dimsOf(part), byte), part),
            isUpper ? zero >> 8 : zero & 255, moves};
  }

  /// Returns `bytes` after the transposes and reshapes of `moves`.
  Value moved() const { return moves.repeat(bytes); }

  /// Rewrites integers of fewer than 8 bits as int8 with zero point 0.
  void becomeBytes() {
    if (elementOf(bytes).getIntOrFloatBitWidth() < 8)
      becomeInt8<SubOp>(zero);
  }

  /// Rewrites uint8 with zero point 128 as int8 with zero point 0.
  void takeSign() {
    if (zero == 128 && elementOf(bytes).isUnsignedInteger())
      becomeInt8<XorOp>(128);
  }

private:
  /// Casts the integers to int8, and applies OpT to them and to `number` unless
  /// that is 0. The zero point becomes 0.
  template <typename OpT> void becomeInt8(int64_t number) {
    OpBuilder builder(bytes.getContext());
    builder.setInsertionPointAfterValue(bytes);
    Location loc = bytes.getLoc();
    Type type = builder.getIntegerType(8, /*isSigned=*/true);
    auto all = tensorOf(dimsOf(bytes), type);
    bytes = CastOp::create(builder, loc, all, bytes);
    zero = 0;
    if (number == 0)
      return;
    Value constant = ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, type),
                               APInt(8, number, /*isSigned=*/false,
                                     /*implicitTrunc=*/true)));
    bytes =
        OpT::create(builder, loc, TypeRange{all}, ValueRange{bytes, constant})
            .getResult();
  }
};

class Widening {
public:
  Widening(Operation *op, const TargetDescription &target, bool strict)
      : op(op), target(target), strict(strict), builder(op) {}

  bool run() {
    Value y = op->getResult(0);
    Type type = elementOf(y);
    bool isFloat = type.isF32();
    if (isFloat && !strict && target.multipliesFloat8() && multiplyFloats())
      return true;
    if (!hasKnownSteps(op) || (!isFloat && !type.isSignedInteger(32)))
      return false;
    std::optional<Centered> a = Centered::match(op->getOperand(0)),
                            b = Centered::match(op->getOperand(1));
    ArrayRef<int64_t> w = shapeOf(op->getOperand(1));
    auto conv = dyn_cast<ConvOp>(op);
    int64_t terms = conv ? ShapedType::getNumElements(w.drop_back())
                         : shapeOf(op->getOperand(0)).back();
    std::optional<Centered> wide;
    if (!a && isFloat && !strict && splits(conv, terms))
      wide = Centered::match(op->getOperand(0), /*isWide=*/true);
    if ((!a && !wide) || !b)
      return false;
    if (isFloat && !fitsWord(terms))
      return false;
    if (a)
      a->becomeBytes();
    b->becomeBytes();
    if (conv) {
      b->takeSign();
      bool isDepthwise =
          w.end()[-2] == 1 && w.back() == int64_t(conv.getGroups());
      int64_t groups = conv.getGroups();
      bool fillsUnits = !isDepthwise && a && a->zero == 0 && b->zero == 0 &&
                        !strict &&
                        target.multipliesGroups(w.end()[-2], w.back() / groups);
      if (conv.getGroups() != 1 && !fillsUnits &&
          (!isDepthwise || b->zero != 0 ||
           (target.vectorFloats && !filtersInt8(conv, a->bytes, b->bytes))))
        return false;
    }
    if (wide)
      split(*wide, *b);
    else
      widen(*a, *b);
    return true;
  }

private:
  /// Rewrites `op` if it multiplies 8-bit floats by constant 8-bit floats and
  /// the scale of both is 1. Returns whether it did.
  bool multiplyFloats() {
    auto conv = dyn_cast<ConvOp>(op);
    if (conv && conv.getGroups() != 1)
      return false;
    Value narrow[2];
    for (unsigned i : {0, 1}) {
      Moves moves = Moves::behind(op->getOperand(i));
      auto dequantize = moves.from.getDefiningOp<DequantizeOp>();
      if (!dequantize || numberOf(dequantize.getScale()) != 1 ||
          !isFloat8(elementOf(dequantize.getX())) ||
          (i == 1 && !dequantize.getX().getDefiningOp<ConstantOp>()))
        return false;
      Value bytes = dequantize.getX();
      if (!target.device.multipliesFloat8()) {
        builder.setInsertionPointAfterValue(bytes);
        bytes = CastOp::create(builder, op->getLoc(),
                               tensorOf(dimsOf(bytes), builder.getF16Type()),
                               bytes);
      }
      narrow[i] = moves.repeat(bytes);
    }
    op->setOperands(0, 2, narrow);
    return true;
  }

  /// Whether the two int8 contractions that replace a contraction of a 16-bit
  /// operand (see split) are faster than one float contraction. On targets with
  /// float vectors, int8 must be much faster (splitsWords), `conv` must have
  /// one group, and `terms`, the number of products per result, must be large
  /// enough to outweigh storing and reloading the result of the first
  /// contraction.
  bool splits(ConvOp conv, int64_t terms) const {
    constexpr int64_t leastTerms = 48;
    return !target.vectorFloats ||
           (target.splitsWords() && terms >= leastTerms &&
            (!conv || conv.getGroups() == 1));
  }

  /// Whether the depthwise convolution `conv` of 8-bit `x` and `w` is faster in
  /// int8 although the target has float vectors.
  bool filtersInt8(ConvOp conv, Value x, Value w) const {
    return !hasDynamicSizes(conv) &&
           target.filtersInt8(elementOf(x), elementOf(w),
                              shapeOf(conv.getW()).back());
  }

  /// Replaces `op` by the sum of two contractions: of the upper bytes of the
  /// left operand, and of its lower bytes.
  void split(const Centered &wide, const Centered &b) {
    Location loc = op->getLoc();
    Operation *upper = builder.clone(*op), *lower = builder.clone(*op);
    if (auto conv = dyn_cast<ConvOp>(upper); conv && conv.getBias())
      conv.getBiasMutable().clear();
    auto type = op->getResult(0).getType();
    Value steps = ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, builder.getF32Type()),
                               256.0f));
    Value scaled = MulOp::create(builder, loc, TypeRange{type},
                                 ValueRange{upper->getResult(0), steps})
                       .getResult();
    op->getResult(0).replaceAllUsesWith(
        AddOp::create(builder, loc, TypeRange{type},
                      ValueRange{scaled, lower->getResult(0)})
            .getResult());
    op->erase();
    Widening(upper, target, strict).widen(wide.part(/*isUpper=*/true), b);
    Widening(lower, target, strict).widen(wide.part(/*isUpper=*/false), b);
  }

  void widen(const Centered &a, const Centered &b) {
    if (auto conv = dyn_cast<ConvOp>(op))
      widen(conv, a, b);
    else
      widen(cast<MatMulOp>(op), a, b);
  }

  void widen(MatMulOp product, const Centered &a, const Centered &b) {
    auto zero = [&](const Centered &operand) -> Value {
      return ConstantOp::create(
          builder, op->getLoc(),
          DenseElementsAttr::get(
              RankedTensorType::get({}, elementOf(operand.bytes)),
              APInt(8, operand.zero, false, /*implicitTrunc=*/true)));
    };
    SmallVector<Value> zeros;
    if (a.zero != 0 || b.zero != 0)
      zeros = {zero(a), zero(b)};
    replace(MatMulOp::create(builder, op->getLoc(), sumType(), a.moved(),
                             b.moved(), zeros),
            Value());
  }

  void widen(ConvOp conv, const Centered &x, const Centered &w) {
    Value later, bias = conv.getBias(), bytes = x.moved(), weights = w.moved();
    if (elementOf(conv.getResult()).isF32()) {
      int64_t terms =
          ShapedType::getNumElements(shapeOf(conv.getW()).drop_back());
      later = bias;
      bias = biasInWords(builder, later, terms);
      if (bias)
        later = {};
    }
    auto sumsWith = [&](Value weights, Value bias, Type type) -> Value {
      return ConvOp::create(builder, op->getLoc(), type, bytes, weights, bias,
                            conv.getStrides(), conv.getDilations(),
                            conv.getLow(), conv.getGroups(), x.zero);
    };
    Value sums = sumsWith(weights, bias, sumType());
    if (w.zero != 0)
      sums = withoutZero(sums, weights, w.zero, sumsWith);
    replace(sums, later);
  }

  /// Subtracts zero * (sum of each input window) from `sums`. The window sums
  /// are a contraction with weights of 1 and a single output channel, which
  /// `sumsWith` builds.
  Value withoutZero(Value sums, Value weights, int64_t zero,
                    llvm::function_ref<Value(Value, Value, Type)> sumsWith) {
    Location loc = op->getLoc();
    auto all = [&](RankedTensorType type, int64_t value) -> Value {
      APInt bits(type.getElementTypeBitWidth(), value, /*isSigned=*/true,
                 /*implicitTrunc=*/true);
      return ConstantOp::create(builder, loc,
                                DenseElementsAttr::get(type, bits));
    };
    SmallVector<int64_t> window(shapeOf(weights));
    Dims sizes = dimsOf(sums);
    window.back() = 1;
    sizes.back() = 1;
    auto type = tensorOf(sizes, elementOf(sums));
    Value seen =
        sumsWith(all(RankedTensorType::get(window, elementOf(weights)), 1),
                 Value(), type);
    Value moved =
        MulOp::create(
            builder, loc, TypeRange{type},
            ValueRange{seen,
                       all(RankedTensorType::get({}, elementOf(sums)), zero)})
            .getResult();
    return SubOp::create(builder, loc, TypeRange{sums.getType()},
                         ValueRange{sums, moved})
        .getResult();
  }

  Type sumType() {
    return tensorOf(dimsOf(op->getResult(0)),
                    builder.getIntegerType(32, /*isSigned=*/true));
  }

  /// Replaces `op` by `sums`, converted to the element type of the result of
  /// `op`, plus `bias`, which may be null.
  void replace(Value sums, Value bias) {
    Type type = op->getResult(0).getType();
    if (sums.getType() != type)
      sums = CastOp::create(builder, op->getLoc(), type, sums);
    if (bias)
      sums = AddOp::create(builder, op->getLoc(), TypeRange{type},
                           ValueRange{sums, bias})
                 .getResult();
    op->getResult(0).replaceAllUsesWith(sums);
    op->erase();
  }

  Operation *op;
  const TargetDescription &target;
  bool strict;
  OpBuilder builder;
};

struct WidenContractionsPass
    : impl::WidenContractionsBase<WidenContractionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.multipliesInt8())
      return;
    SmallVector<Operation *> contractions;
    getOperation().walk([&](Operation *op) {
      if (isa<ConvOp, MatMulOp>(op))
        contractions.push_back(op);
    });
    for (Operation *op : contractions)
      Widening(op, target, strict).run();
  }
};

} // namespace
} // namespace ingot::simplify
