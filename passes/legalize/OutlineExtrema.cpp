// Outlines minimum, maximum and the bits of a clamped float into functions.
//
//   %c = arith.cmpf ogt, %a, %b : f32
//   %m = arith.select %c, %a, %b : f32
//     ->
//   %m = call @max_f32(%a, %b) : (f32, f32) -> f32
//
// where max_f32 contains the two operations. In C, `max_f32(a, b)` is shorter
// than `a > b ? a : b`, which evaluates its operands twice and would need
// variables for them. In the same way, `clamped_bits_f32(x, low, high)` is
// outlined: the bits of the float min(max(x, low), high) as an i32. Kernels use
// it to round floats to integers: after 1.5 * 2^23 has been added to a float,
// the lowest bits of the sum are the rounded number.
//
// Vectors for whose maximum or minimum the target's table has an entry if all
// lanes of an operand are equal keep the two operations.
//
// If the target's compiler uses an instruction for `a > b ? a : b` that does
// not return b if b is NaN, a test for NaN is inserted:
//
//   %n = arith.cmpf une, %b, %b : f32
//   %m = arith.select %n, %b, (arith.select %c, %a, %b)

#include "dialects/kernel/Extremum.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/legalize/NumberFunctions.h"
#include "passes/legalize/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_OUTLINEEXTREMA
#include "passes/legalize/Passes.h.inc"

/// Whether all lanes of a vector are equal.
static bool isSplat(Value value) {
  DenseElementsAttr lanes;
  if (matchPattern(value, m_Constant(&lanes)))
    return lanes.isSplat();
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  return broadcast && !isVector(broadcast.getSourceType());
}

/// Whether the target's table has an entry for this maximum or minimum because
/// all lanes of an operand are equal, and its compiler would treat NaN wrongly
/// otherwise. A function would hide that the lanes are equal.
static bool isIntrinsicOfSplat(arith::SelectOp select, bool isMax,
                               const TargetDescription &target) {
  Type type = select.getType();
  // `select` is a maximum or minimum of numbers if its last operand is a number
  // and the other one is never NaN.
  if (kernel::isNumber(select.getFalseValue()) &&
      kernel::isNeverNan(select.getTrueValue()))
    return false;
  return (isSplat(select.getTrueValue()) &&
          target.intrinsic(isMax ? "max[of splat]" : "min[of splat]", type,
                           type)) ||
         (isSplat(select.getFalseValue()) &&
          target.intrinsic(isMax ? "max[with splat]" : "min[with splat]", type,
                           type));
}

static void outline(arith::SelectOp select, bool isMax,
                    NumberFunctions &functions) {
  Operation *compare = select.getCondition().getDefiningOp();
  bool isFloat = isa<arith::CmpFOp>(compare);
  auto body = [&](OpBuilder &builder, ValueRange arguments) -> Value {
    Location loc = builder.getUnknownLoc();
    Value a = arguments[0], b = arguments[1], better;
    if (isFloat)
      better = arith::CmpFOp::create(
          builder, loc,
          isMax ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, a, b);
    else
      better = arith::CmpIOp::create(
          builder, loc,
          isMax ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, a, b);
    return arith::SelectOp::create(builder, loc, better, a, b);
  };
  std::string comment =
      isMax ? "The larger of a and b" : "The smaller of a and b";
  comment += isFloat ? "; b if one of them is NaN." : ".";
  func::FuncOp function = functions.get(isMax ? "max" : "min", select.getType(),
                                        {"a", "b"}, comment, body);
  Value operands[] = {select.getTrueValue(), select.getFalseValue()};
  NumberFunctions::replaceByCall(select, function, operands);
  if (compare->use_empty())
    compare->erase();
}

/// Returns the call of a scalar helper `stem`_f32 that computes `value`, if
/// `value` has a single use; null otherwise.
static func::CallOp callOf(Value value, StringRef stem) {
  auto call = value.getDefiningOp<func::CallOp>();
  if (!call || !value.hasOneUse() || isa<VectorType>(value.getType()))
    return {};
  StringRef name = call.getCallee();
  return name.consume_front(stem) && name == "_f32" ? call : func::CallOp();
}

/// Outlines `bits` if it returns the bits of an f32 of the form `min(max(x,
/// low), high)`, whose minimum and maximum have been outlined.
static void outlineClampedBits(arith::BitcastOp bits,
                               NumberFunctions &functions) {
  func::CallOp least = callOf(bits.getIn(), "min");
  func::CallOp most = least ? callOf(least.getOperand(0), "max") : least;
  if (!most || !bits.getIn().getType().isF32() || !bits.getType().isInteger(32))
    return;
  Type type = bits.getIn().getType();
  StringRef smaller = least.getCallee(), larger = most.getCallee();
  auto body = [&](OpBuilder &builder, ValueRange arguments) -> Value {
    Location loc = builder.getUnknownLoc();
    auto call = [&](StringRef name, Value a, Value b) {
      return func::CallOp::create(builder, loc, name, type, ValueRange{a, b})
          .getResult(0);
    };
    Value clamped = call(larger, arguments[0], arguments[1]);
    clamped = call(smaller, clamped, arguments[2]);
    return arith::BitcastOp::create(builder, loc, bits.getType(), clamped);
  };
  func::FuncOp function =
      functions.get("clamped_bits", type, {"x", "low", "high"},
                    "The bits of x, limited to low..high. If to_integer was "
                    "added to x, their "
                    "lowest 16 are the rounded number.",
                    body, bits.getType());
  Value operands[] = {most.getOperand(0), most.getOperand(1),
                      least.getOperand(1)};
  NumberFunctions::replaceByCall(bits, function, operands);
  least.erase();
  most.erase();
}

/// Returns the operand that `select` returns if one of the compared floats is
/// NaN, if `select` returns the larger or the smaller of two scalar floats. The
/// comparison may include equality. Returns null for other selects.
static Value resultForNan(arith::SelectOp select) {
  using P = arith::CmpFPredicate;
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || isVector(select.getType()))
    return {};
  Value left = compare.getLhs(), right = compare.getRhs();
  Value ifTrue = select.getTrueValue(), ifFalse = select.getFalseValue();
  if (!(left == ifTrue && right == ifFalse) &&
      !(left == ifFalse && right == ifTrue))
    return {};
  switch (compare.getPredicate()) {
  case P::OGT:
  case P::OGE:
  case P::OLT:
  case P::OLE:
    return ifFalse;
  case P::UGT:
  case P::UGE:
  case P::ULT:
  case P::ULE:
    return ifTrue;
  default:
    return {};
  }
}

/// Inserts the test for NaN after `select` if resultForNan returns a value that
/// may be NaN.
static void keepNan(arith::SelectOp select) {
  Value suspect = resultForNan(select);
  if (!suspect || kernel::isNumber(suspect))
    return;
  OpBuilder builder(select.getContext());
  builder.setInsertionPointAfter(select);
  Value isNan = arith::CmpFOp::create(
      builder, select.getLoc(), arith::CmpFPredicate::UNE, suspect, suspect);
  auto kept =
      arith::SelectOp::create(builder, select.getLoc(), isNan, suspect, select);
  select.getResult().replaceAllUsesExcept(kept, kept);
}

/// Erases calls with unused results, and their operands if these become dead.
/// No other pass erases them, since calls may have side effects.
static void eraseDeadCalls(kernel::FuncOp kernel) {
  SmallVector<Operation *> operations;
  kernel.getBody().walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : llvm::reverse(operations)) {
    auto call = dyn_cast<func::CallOp>(op);
    bool isDead = call ? call.getNumResults() == 1 && call->use_empty() &&
                             llvm::none_of(call.getOperandTypes(),
                                           llvm::IsaPred<MemRefType>)
                       : op->getNumRegions() == 0 && isOpTriviallyDead(op);
    if (isDead)
      op->erase();
  }
}

namespace {
struct OutlineExtremaPass : impl::OutlineExtremaBase<OutlineExtremaPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<std::pair<arith::SelectOp, bool>> work;
    getOperation().walk([&](arith::SelectOp select) {
      Type type = select.getType();
      if (Type element = getElementTypeOrSelf(type);
          !element.isF32() && !element.isF64() && !type.isInteger(32) &&
          !type.isIndex())
        return;
      std::optional<bool> isMax = kernel::isMaximum(select);
      if (isMax && !isIntrinsicOfSplat(select, *isMax, target))
        work.push_back({select, *isMax});
    });
    NumberFunctions functions(getOperation());
    for (auto [select, isMax] : work)
      outline(select, isMax, functions);
    for (auto kernel : getOperation().getOps<kernel::FuncOp>()) {
      eraseDeadCalls(kernel);
      SmallVector<arith::BitcastOp> casts;
      kernel.walk([&](arith::BitcastOp op) { casts.push_back(op); });
      for (arith::BitcastOp op : casts)
        outlineClampedBits(op, functions);
    }
    if (!target.extremaDropNan)
      return;
    SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](arith::SelectOp op) { selects.push_back(op); });
    llvm::for_each(selects, keepNan);
  }
};
} // namespace

} // namespace ingot::legalize
