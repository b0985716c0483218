// Outlines math operations into functions.
//
//   %y = math.exp %x : f32
//     ->
//   %y = call @exp_f32(%x) : (f32) -> f32
//
//   func.func private @exp_f32(%x: f32) -> f32 {
//     %y = math.exp %x : f32
//     return %y : f32
//   }
//
// Each expansion is then printed once, under a name and with a comment that
// states its accuracy. Operations for which the target has an instruction,
// powers with a constant exponent (which become products), and operations on
// floats narrower than f32 are not outlined.

#include "passes/legalize/math/OutlineMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/legalize/NumberFunctions.h"
#include "passes/legalize/Passes.h"
#include "passes/legalize/math/ExpandMath.h"
#include "targets/TargetDescription.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_OUTLINEMATH
#include "passes/legalize/Passes.h.inc"

const MathFunction *lookupMathFunction(StringRef op) {
  static const MathFunction functions[] = {
#define INGOT_MATH_FUNCTION(OP, NAME, TEXT, ULPS32, ULPS64)                    \
  {OP, NAME, TEXT, ULPS32, ULPS64},
#include "passes/legalize/math/MathFunctions.def"
  };
  for (const MathFunction &function : functions)
    if (function.op == op)
      return &function;
  return nullptr;
}

/// Returns the comment for the function in the generated code, such as "e^x,
/// within 2.5 units in the last place."
static std::string commentOf(const MathFunction &function, Type type,
                             bool isOrZero) {
  bool isDouble = getElementTypeOrSelf(type).isF64(),
       isHalf = getElementTypeOrSelf(type).isF16();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << function.text << ", ";
  double ulps = isDouble ? function.ulps64 : function.ulps32;
  if (isOrZero && !isDouble)
    os << "within 2.5 + |x| units in the last place";
  else if (ulps == 0)
    os << "exactly";
  else
    os << "within " << llvm::format("%g", ulps)
       << (ulps == 1 ? " unit" : " units") << " in the last place";
  if (isOrZero)
    os << (isHalf     ? "; 0 below e^-10, infinite from e^10.7 on"
           : isDouble ? "; 0 below e^-700, infinite from e^709.4 on"
                      : "; 0 below e^-80, infinite from e^88.4 on");
  os << '.';
  return text;
}

static bool isOutlined(Operation *op, const TargetDescription &target) {
  const MathFunction *function =
      lookupMathFunction(op->getName().getStringRef());
  if (!function || op->use_empty())
    return false;
  Type type = op->getResult(0).getType();
  auto isWide = [](Type element) { return element.isF32() || element.isF64(); };
  bool isPower = isa<math::PowFOp>(op);
  bool isHalf = isExpOrZero(op) && expandsInHalves(type, target);
  return (isWide(getElementTypeOrSelf(type)) || isHalf) &&
         !isByExp2(op, target) &&
         !(isPower && matchPattern(op->getOperand(1), m_Constant())) &&
         !target.intrinsic(op->getName().getStringRef(),
                           op->getOperand(0).getType(), type);
}

namespace {
struct OutlineMathPass : impl::OutlineMathBase<OutlineMathPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<Operation *> work;
    getOperation().walk([&](Operation *op) {
      if (isOutlined(op, target))
        work.push_back(op);
    });
    NumberFunctions functions(getOperation());
    for (Operation *op : work) {
      const MathFunction &function =
          *lookupMathFunction(op->getName().getStringRef());
      Type type = op->getResult(0).getType();
      StringRef names[] = {"x", "y"};
      auto body = [&](OpBuilder &builder, ValueRange arguments) {
        Operation *copy = builder.clone(*op);
        copy->setLoc(getOperation().getLoc());
        copy->setOperands(arguments);
        return copy->getResult(0);
      };
      bool isOrZero = isExpOrZero(op);
      NumberFunctions::replaceByCall(
          op,
          functions.get((function.name + (isOrZero ? "_or_zero" : "")).str(),
                        type, ArrayRef(names).take_front(op->getNumOperands()),
                        commentOf(function, type, isOrZero), body),
          op->getOperands());
    }
  }
};
} // namespace

} // namespace ingot::legalize
