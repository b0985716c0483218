// Expands arithmetic for which C has no operator.
//
//     arith.maximumf %x, %c   =>  select (%c > %x), %c, %x
//         if the target has no instruction for the maximum
//     select (%c > %x), %c, %x  =>  arith.maximumf %x, %c
//         if the target has the instruction, for vectors
//     arith.maxsi %x, %y      =>  select (%x > %y), %x, %y
//     math.absf on vectors    =>  the bits without the sign
//     arith.uitofp on masks   =>  select %m, 1.0, 0.0
//     kernel.mul_high %x, %y  =>  the 64-bit product, shifted right
//     kernel.narrow_signed %x, %y  =>  clamped, truncated, shuffled
//     kernel.round_saturated %x    =>  rounded, clamped, converted
//     kernel.add_saturated %x, %y  =>  the 32-bit sum, clamped, truncated
//     kernel.zip_low %x, %y  =>  vector.shuffle
//     kernel.low_bits 4 of %x  =>  masked and converted
//
// Minimum and maximum are written as a comparison and a select with the
// operands in the order for which compilers emit a single instruction: the
// instruction returns its second operand if either operand is NaN.

#include "dialects/kernel/Extremum.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"
#include "passes/legalize/Expansions.h"
#include "passes/legalize/TargetPatterns.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

/// Expands minimum and maximum of floats: maximumf and minimumf return NaN if
/// an operand is NaN; maxnumf and minnumf return the operand that is not NaN.
template <typename Op, arith::CmpFPredicate predicate, bool propagatesNan>
struct ExpandFloatExtremum : OpRewritePattern<Op> {
  ExpandFloatExtremum(MLIRContext *context, PatternBenefit benefit,
                      const TargetDescription &target)
      : OpRewritePattern<Op>(context, benefit), target(target) {}
  const TargetDescription &target;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getLhs(), y = op.getRhs();
    if (target.intrinsic(op->getName().getStringRef(), x.getType(),
                         op.getType()))
      return failure();
    Location loc = op.getLoc();
    if (kernel::isNumber(x))
      std::swap(x, y);
    auto pick = [&](Value a, Value b) -> Value {
      Value better = arith::CmpFOp::create(rewriter, loc, predicate, a, b);
      return arith::SelectOp::create(rewriter, loc, better, a, b);
    };
    // `pick(a, b)` returns b if either operand is NaN. Here, only x can be NaN.
    // An operation that returns NaN then becomes pick(y, x), and one that
    // returns the number y becomes pick(x, y).
    if (kernel::isNumber(y)) {
      rewriter.replaceOp(op, propagatesNan ? pick(y, x) : pick(x, y));
      return success();
    }
    Value chosen = pick(x, y), suspect = propagatesNan ? x : y;
    Value isNan = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::UNE, suspect, suspect);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNan, x, chosen);
    return success();
  }
};

/// Replaces `a > b ? a : b` or `a < b ? a : b` by an instruction. The
/// expression returns b if either operand is NaN. If a is never NaN, the
/// expression equals maximumf (for `<`: minimumf), which returns NaN if b is
/// NaN. If b is never NaN, the expression equals maxnumf (minnumf), which
/// returns b if a is NaN. If the operands are 0 and -0, the result may differ
/// in its sign.
struct FormFloatExtremum : OpRewritePattern<arith::SelectOp> {
  FormFloatExtremum(MLIRContext *context, const TargetDescription &target)
      : OpRewritePattern(context), target(target) {}
  const TargetDescription &target;

  template <typename Op>
  LogicalResult form(arith::SelectOp op, PatternRewriter &rewriter) const {
    auto isInstruction = [&](StringRef name) {
      return target.intrinsic(name, op.getType(), op.getType());
    };
    // Replaces only vectors, and only on targets that have instructions for
    // both `Op` and maximumf.
    if (!isVector(op.getType()) || !isInstruction(Op::getOperationName()) ||
        !isInstruction(arith::MaximumFOp::getOperationName()))
      return failure();
    rewriter.replaceOpWithNewOp<Op>(op, op.getTrueValue(), op.getFalseValue());
    return success();
  }

  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<bool> isMax = kernel::isMaximum(op);
    if (!isMax || !isa<FloatType>(elementOf(op.getType())))
      return failure();
    if (kernel::isNumber(op.getTrueValue()))
      return *isMax ? form<arith::MaximumFOp>(op, rewriter)
                    : form<arith::MinimumFOp>(op, rewriter);
    if (kernel::isNeverNan(op.getFalseValue()))
      return *isMax ? form<arith::MaxNumFOp>(op, rewriter)
                    : form<arith::MinNumFOp>(op, rewriter);
    return failure();
  }
};

template <typename Op, arith::CmpIPredicate predicate>
struct ExpandIntegerExtremum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value better = arith::CmpIOp::create(rewriter, op.getLoc(), predicate,
                                         op.getLhs(), op.getRhs());
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, better, op.getLhs(),
                                                 op.getRhs());
    return success();
  }
};

/// Builds a constant of the scalar or vector type `type`, with `element` in all
/// lanes.
Value makeConstant(PatternRewriter &b, Location loc, Type type,
                   TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(b, loc, type, element);
}

/// Builds, from a float vector, integers that contain only the sign bits of the
/// lanes (`of`), or all bits except the sign bits (`without`).
struct SignBits {
  SignBits(PatternRewriter &b, Location loc, Type type) : b(b), loc(loc) {
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    element = b.getIntegerType(width);
    integers = cast<VectorType>(type).clone(element);
    sign = APInt::getSignMask(width);
  }
  Value of(Value x) { return masked(x, sign); }
  Value without(Value x) { return masked(x, ~sign); }
  Value masked(Value x, const APInt &mask) {
    Value bits = arith::BitcastOp::create(b, loc, integers, x);
    return arith::AndIOp::create(
        b, loc, bits,
        makeConstant(b, loc, integers, b.getIntegerAttr(element, mask)));
  }
  PatternRewriter &b;
  Location loc;
  Type element, integers;
  APInt sign;
};

LogicalResult expandVectorAbs(math::AbsFOp op, PatternRewriter &rewriter) {
  if (!isVector(op.getType()))
    return failure();
  SignBits bits(rewriter, op.getLoc(), op.getType());
  rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(),
                                                bits.without(op.getOperand()));
  return success();
}

LogicalResult expandVectorCopySign(math::CopySignOp op,
                                   PatternRewriter &rewriter) {
  if (!isVector(op.getType()))
    return failure();
  SignBits bits(rewriter, op.getLoc(), op.getType());
  Value both = arith::OrIOp::create(
      rewriter, op.getLoc(), bits.without(op.getLhs()), bits.of(op.getRhs()));
  rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), both);
  return success();
}

/// Expands kernel.mul_high (the upper 32 bits of products of i32) to vector
/// widths for which the target has an instruction: splits wider vectors in
/// halves and pads narrower ones. If the target has no such instruction,
/// multiplies in 64 bits.
struct ExpandMulHigh : OpRewritePattern<kernel::MulHighOp> {
  ExpandMulHigh(MLIRContext *context, const TargetDescription &target)
      : OpRewritePattern(context), target(target) {}
  const TargetDescription &target;

  bool isInstruction(Type type) const {
    return target.intrinsic(kernel::MulHighOp::getOperationName(), type, type);
  }

  LogicalResult matchAndRewrite(kernel::MulHighOp op,
                                PatternRewriter &b) const override {
    Type type = op.getType();
    Location loc = op.getLoc();
    if (isInstruction(type))
      return failure();
    auto vector = dyn_cast<VectorType>(type);
    int64_t own = vector ? vector.getNumElements() : 1;
    for (int64_t lanes : target.lanes(b.getI32Type()))
      if (own > 1 && isInstruction(VectorType::get(lanes, b.getI32Type()))) {
        b.replaceOp(op, own > lanes ? inHalves(op, own / 2, b)
                                    : filledUp(op, own, lanes, b));
        return success();
      }
    Type wide = b.getI64Type();
    if (vector)
      wide = vector.clone(wide);
    auto widened = [&](Value x) -> Value {
      return arith::ExtSIOp::create(b, loc, wide, x);
    };
    Value product =
        arith::MulIOp::create(b, loc, widened(op.getX()), widened(op.getY()));
    Value upper = arith::ShRSIOp::create(
        b, loc, product, makeConstant(b, loc, wide, b.getI64IntegerAttr(32)));
    b.replaceOpWithNewOp<arith::TruncIOp>(op, type, upper);
    return success();
  }

private:
  static Value inHalves(kernel::MulHighOp op, int64_t lanes,
                        PatternRewriter &b) {
    auto half = [&](int64_t from) -> Value {
      auto part = [&](Value x) -> Value {
        return vector::ExtractStridedSliceOp::create(b, op.getLoc(), x, from,
                                                     lanes, 1);
      };
      Value x = part(op.getX());
      return kernel::MulHighOp::create(b, op.getLoc(), x.getType(), x,
                                       part(op.getY()));
    };
    Value low = half(0), high = half(lanes);
    return vector::ShuffleOp::create(
        b, op.getLoc(), low, high,
        llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes)));
  }

  static Value filledUp(kernel::MulHighOp op, int64_t own, int64_t lanes,
                        PatternRewriter &b) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane)
      order.push_back(lane % own);
    auto whole = [&](Value x) -> Value {
      return vector::ShuffleOp::create(b, op.getLoc(), x, x, order);
    };
    Value x = whole(op.getX());
    Value product = kernel::MulHighOp::create(b, op.getLoc(), x.getType(), x,
                                              whole(op.getY()));
    return vector::ExtractStridedSliceOp::create(b, op.getLoc(), product, 0,
                                                 own, 1);
  }
};

/// Expands the saturating narrowing of two vectors to half the element width,
/// if the target lacks the instruction: clamps and truncates both vectors and
/// interleaves them in blocks of 128 bits.
template <typename Op>
LogicalResult expandNarrowing(Op op, const TargetDescription &target,
                              PatternRewriter &b) {
  auto from = cast<VectorType>(op.getX().getType());
  if (target.intrinsic(Op::getOperationName(), from, op.getType()))
    return failure();
  Location loc = op.getLoc();
  unsigned bits = from.getElementTypeBitWidth();
  int64_t lanes = from.getNumElements(), block = 128 / bits;
  int64_t range = int64_t(1) << bits / 2,
          low = std::is_same_v<Op, kernel::NarrowSignedOp> ? -range / 2 : 0;
  auto narrow = [&](Value x) -> Value {
    auto number = [&](int64_t value) {
      return makeConstant(b, loc, from,
                          b.getIntegerAttr(from.getElementType(), value));
    };
    x = arith::MaxSIOp::create(b, loc, x, number(low));
    x = arith::MinSIOp::create(b, loc, x, number(low + range - 1));
    return arith::TruncIOp::create(b, loc,
                                   from.clone(b.getIntegerType(bits / 2)), x);
  };
  SmallVector<int64_t> order;
  for (int64_t first = 0; first < lanes; first += block)
    for (int64_t start : {first, lanes + first})
      for (int64_t lane = 0; lane < block; ++lane)
        order.push_back(start + lane);
  b.replaceOpWithNewOp<vector::ShuffleOp>(op, narrow(op.getX()),
                                          narrow(op.getY()), order);
  return success();
}

/// Expands the conversion of floats to the nearest integers, if the target lacks
/// the instruction.
LogicalResult expandRounding(kernel::RoundSaturatedOp op,
                             const TargetDescription &target,
                             PatternRewriter &b) {
  Value x = op.getX();
  Type type = x.getType();
  if (target.intrinsic(op.getOperationName(), type, op.getType()))
    return failure();
  Location loc = op.getLoc();
  auto number = [&](float value) {
    return makeConstant(b, loc, type, b.getF32FloatAttr(value));
  };
  Value isNumber =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  x = arith::SelectOp::create(b, loc, isNumber, x, number(0));
  x = math::RoundEvenOp::create(b, loc, x);
  x = arith::MaxNumFOp::create(b, loc, x, number(-0x1p31f));
  // 2^31 does not fit into 32 bits, and is the next float.
  Value fits = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x,
                                     number(0x1p31f));
  x = arith::SelectOp::create(b, loc, fits, x, number(0));
  Value integer = arith::FPToSIOp::create(b, loc, op.getType(), x);
  b.replaceOpWithNewOp<arith::SelectOp>(
      op, fits, integer,
      makeConstant(b, loc, op.getType(), b.getI32IntegerAttr(INT32_MAX)));
  return success();
}

/// Expands the saturating sum of 16-bit integers, if the target lacks the
/// instruction.
LogicalResult expandSaturatedSum(kernel::AddSaturatedOp op,
                                 const TargetDescription &target,
                                 PatternRewriter &b) {
  VectorType type = op.getType(), wide = type.clone(b.getI32Type());
  if (target.intrinsic(op.getOperationName(), type, type))
    return failure();
  Location loc = op.getLoc();
  auto number = [&](int32_t value) {
    return makeConstant(b, loc, wide, b.getI32IntegerAttr(value));
  };
  auto widened = [&](Value x) {
    return arith::ExtSIOp::create(b, loc, wide, x);
  };
  Value sum =
      arith::AddIOp::create(b, loc, widened(op.getX()), widened(op.getY()));
  sum = arith::MaxSIOp::create(b, loc, sum, number(INT16_MIN));
  sum = arith::MinSIOp::create(b, loc, sum, number(INT16_MAX));
  b.replaceOpWithNewOp<arith::TruncIOp>(op, type, sum);
  return success();
}

/// Expands kernel.zip_low or kernel.zip_high to a shuffle, if the target lacks
/// the instruction. These operations interleave the lower or upper halves of
/// corresponding 128-bit blocks of two vectors.
template <typename Op>
LogicalResult expandZip(Op op, const TargetDescription &target,
                        PatternRewriter &b) {
  auto type = cast<VectorType>(op.getType());
  if (target.intrinsic(Op::getOperationName(), type, type))
    return failure();
  int64_t lanes = type.getNumElements(),
          block = 128 / type.getElementTypeBitWidth();
  SmallVector<int64_t> order;
  for (int64_t first = std::is_same_v<Op, kernel::ZipLowOp> ? 0 : block / 2;
       first < lanes; first += block)
    for (int64_t lane = first; lane < first + block / 2; ++lane)
      order.append({lane, lanes + lane});
  b.replaceOpWithNewOp<vector::ShuffleOp>(op, op.getX(), op.getY(), order);
  return success();
}

/// Expands the conversion of the low bits of integers to floats, if the target
/// lacks the instruction: masks these bits and converts the result.
LogicalResult expandLowBits(kernel::LowBitsOp op,
                            const TargetDescription &target,
                            PatternRewriter &b) {
  Type type = op.getX().getType();
  if (target.intrinsic(op.getIntrinsicName(), type, op.getType()))
    return failure();
  Value mask = makeConstant(b, op.getLoc(), type,
                            b.getI32IntegerAttr((1 << op.getBits()) - 1));
  Value number = arith::AndIOp::create(b, op.getLoc(), op.getX(), mask);
  b.replaceOpWithNewOp<arith::SIToFPOp>(op, op.getType(), number);
  return success();
}

LogicalResult expandAbsI(math::AbsIOp op, PatternRewriter &b) {
  Type type = op.getType();
  Location loc = op.getLoc();
  Value x = op.getOperand();
  Value zero = makeConstant(
      b, loc, type, cast<TypedAttr>(b.getZeroAttr(getElementTypeOrSelf(type))));
  Value negative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, zero);
  Value negated = arith::SubIOp::create(b, loc, zero, x);
  b.replaceOpWithNewOp<arith::SelectOp>(op, negative, negated, x);
  return success();
}

/// Expands the conversion of i1 to float to a select of the constants `one` and
/// 0.
template <typename Op, int one>
struct ExpandBoolToFloat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isInteger(1))
      return failure();
    Type type = op.getType(), element = getElementTypeOrSelf(type);
    auto number = [&](double value) {
      return makeConstant(rewriter, op.getLoc(), type,
                          rewriter.getFloatAttr(element, value));
    };
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, op.getIn(), number(one),
                                                 number(0));
    return success();
  }
};

/// Expands addition, subtraction and multiplication of i1, and the comparisons
/// `<`, `<=`, `>` and `>=` of vectors of i1, to bitwise logic.
struct ExpandBoolArithmetic : RewritePattern {
  explicit ExpandBoolArithmetic(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &b) const override {
    if (op->getNumOperands() != 2 ||
        !getElementTypeOrSelf(op->getOperand(0)).isInteger(1))
      return failure();
    Value x = op->getOperand(0), y = op->getOperand(1);
    Location loc = op->getLoc();
    auto inverse = [&](Value v) -> Value {
      return arith::XOrIOp::create(
          b, loc, v, makeConstant(b, loc, v.getType(), b.getBoolAttr(true)));
    };
    if (isa<arith::AddIOp, arith::SubIOp>(op)) {
      b.replaceOpWithNewOp<arith::XOrIOp>(op, x, y);
      return success();
    }
    if (isa<arith::MulIOp>(op)) {
      b.replaceOpWithNewOp<arith::AndIOp>(op, x, y);
      return success();
    }
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (!compare || !isVector(op->getResult(0).getType()))
      return failure();
    // True is 1 in unsigned comparisons and -1 in signed ones.
    using P = arith::CmpIPredicate;
    P p = compare.getPredicate();
    if (p == P::eq || p == P::ne)
      return failure();
    bool needsTrueY = p == P::ult || p == P::sgt || p == P::ule || p == P::sge;
    bool takesEqual = p == P::ule || p == P::sge || p == P::uge || p == P::sle;
    (needsTrueY ? x : y) = inverse(needsTrueY ? x : y);
    if (takesEqual)
      b.replaceOpWithNewOp<arith::OrIOp>(op, x, y);
    else
      b.replaceOpWithNewOp<arith::AndIOp>(op, x, y);
    return success();
  }
};

} // namespace

void populateExpandArith(RewritePatternSet &patterns,
                         const TargetDescription &target) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  // These patterns have priority over MLIR's expansions of the same operations.
  PatternBenefit ahead(2);
  patterns.add<ExpandFloatExtremum<arith::MaximumFOp, F::OGT, true>,
               ExpandFloatExtremum<arith::MinimumFOp, F::OLT, true>,
               ExpandFloatExtremum<arith::MaxNumFOp, F::OGT, false>,
               ExpandFloatExtremum<arith::MinNumFOp, F::OLT, false>>(
      patterns.getContext(), ahead, target);
  patterns
      .add<ExpandIntegerExtremum<arith::MaxSIOp, I::sgt>,
           ExpandIntegerExtremum<arith::MinSIOp, I::slt>,
           ExpandIntegerExtremum<arith::MaxUIOp, I::ugt>,
           ExpandIntegerExtremum<arith::MinUIOp, I::ult>>(patterns.getContext(),
                                                          ahead)
      .add(expandVectorAbs, ahead)
      .add(expandVectorCopySign, ahead)
      .add(expandAbsI, ahead)
      .add<ExpandBoolToFloat<arith::UIToFPOp, 1>,
           ExpandBoolToFloat<arith::SIToFPOp, -1>>(patterns.getContext(),
                                                   ahead);
  patterns.add<ExpandBoolArithmetic>(patterns.getContext());
  patterns.add<ExpandMulHigh, FormFloatExtremum>(patterns.getContext(), target);
  addForTarget(patterns, target, expandNarrowing<kernel::NarrowSignedOp>);
  addForTarget(patterns, target, expandNarrowing<kernel::NarrowUnsignedOp>);
  addForTarget(patterns, target, expandRounding);
  addForTarget(patterns, target, expandSaturatedSum);
  addForTarget(patterns, target, expandZip<kernel::ZipLowOp>);
  addForTarget(patterns, target, expandZip<kernel::ZipHighOp>);
  addForTarget(patterns, target, expandLowBits);
}

} // namespace ingot::legalize
