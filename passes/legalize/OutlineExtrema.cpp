// Outlines minimum, maximum and multiply-high into functions.
//
//   %c = arith.cmpf ogt, %a, %b : f32
//   %m = arith.select %c, %a, %b : f32
//     ->
//   %m = call @max_f32(%a, %b) : (f32, f32) -> f32
//
// where max_f32 contains the two operations. In C `max_f32(a, b)` is shorter
// than `a > b ? a : b`, for which the operands would have to be variables. In
// the same way `mul_high_i32(a, b)` returns the upper half of a 64-bit product.

#include "dialects/kernel/Extremum.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/legalize/NumberFunctions.h"
#include "passes/legalize/Passes.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_OUTLINEEXTREMA
#include "passes/legalize/Passes.h.inc"

static void outline(arith::SelectOp select, bool isMax,
                    NumberFunctions &functions) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  auto body = [&](OpBuilder &builder, ValueRange arguments) -> Value {
    Value better = arith::CmpFOp::create(builder, builder.getUnknownLoc(),
                                         isMax ? arith::CmpFPredicate::OGT
                                               : arith::CmpFPredicate::OLT,
                                         arguments[0], arguments[1]);
    return arith::SelectOp::create(builder, builder.getUnknownLoc(), better,
                                   arguments[0], arguments[1]);
  };
  func::FuncOp function =
      functions.get(isMax ? "max" : "min", select.getType(), {"a", "b"},
                    isMax ? "The larger of a and b; b if one of them is NaN."
                          : "The smaller of a and b; b if one of them is NaN.",
                    body);
  Value operands[] = {select.getTrueValue(), select.getFalseValue()};
  NumberFunctions::replaceByCall(select, function, operands);
  if (compare->use_empty())
    compare.erase();
}

/// Returns the i32 value of which `wide` is the sign extension to i64; null if
/// there is none.
static Value narrowOf(Value wide) {
  if (auto extension = wide.getDefiningOp<arith::ExtSIOp>())
    return extension.getIn().getType().isInteger(32) ? extension.getIn()
                                                     : Value();
  APInt number;
  if (!matchPattern(wide, m_ConstantInt(&number)) || !number.isSignedIntN(32))
    return {};
  OpBuilder builder(wide.getContext());
  builder.setInsertionPointAfterValue(wide);
  return arith::ConstantOp::create(
      builder, wide.getLoc(),
      builder.getI32IntegerAttr(static_cast<int32_t>(number.getSExtValue())));
}

/// Returns the factors, if `op` computes the upper half of a 64-bit product;
/// else nothing.
static std::optional<std::pair<Value, Value>> upperHalf(arith::TruncIOp op) {
  auto shift = op.getIn().getDefiningOp<arith::ShRSIOp>();
  APInt bits;
  if (!shift || !op.getType().isInteger(32) || !shift.getType().isInteger(64) ||
      !matchPattern(shift.getRhs(), m_ConstantInt(&bits)) || bits != 32)
    return std::nullopt;
  auto product = shift.getLhs().getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  Value x = narrowOf(product.getLhs()), y = narrowOf(product.getRhs());
  return x && y ? std::optional(std::pair(x, y)) : std::nullopt;
}

static void outline(arith::TruncIOp op, std::pair<Value, Value> factors,
                    NumberFunctions &functions) {
  auto body = [&](OpBuilder &builder, ValueRange arguments) -> Value {
    Location loc = builder.getUnknownLoc();
    Type wide = builder.getI64Type();
    auto widened = [&](Value v) -> Value {
      return arith::ExtSIOp::create(builder, loc, wide, v);
    };
    Value product = arith::MulIOp::create(builder, loc, widened(arguments[0]),
                                          widened(arguments[1]));
    Value upper = arith::ShRSIOp::create(
        builder, loc, product,
        arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(32)));
    return arith::TruncIOp::create(builder, loc, op.getType(), upper);
  };
  func::FuncOp function =
      functions.get("mul_high", op.getType(), {"a", "b"},
                    "The upper half of the product of a and b.", body);
  Value operands[] = {factors.first, factors.second};
  NumberFunctions::replaceByCall(op, function, operands);
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
    SmallVector<std::pair<arith::SelectOp, bool>> work;
    getOperation().walk([&](arith::SelectOp select) {
      if (Type element = getElementTypeOrSelf(select.getType());
          !element.isF32() && !element.isF64())
        return;
      if (std::optional<bool> isMax = kernel::isMaximum(select))
        work.push_back({select, *isMax});
    });
    SmallVector<arith::TruncIOp> narrowed;
    getOperation().walk([&](arith::TruncIOp op) { narrowed.push_back(op); });
    NumberFunctions functions(getOperation());
    // Outline the products one after the other, since the result of one may be
    // a factor of the next.
    for (arith::TruncIOp op : narrowed)
      if (auto factors = upperHalf(op))
        outline(op, *factors, functions);
    for (auto [select, isMax] : work)
      outline(select, isMax, functions);
    for (auto kernel : getOperation().getOps<kernel::FuncOp>())
      eraseDeadCalls(kernel);
  }
};
} // namespace

} // namespace ingot::legalize
