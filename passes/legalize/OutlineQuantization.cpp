// Outlines the scaling and limiting of integers into functions.
//
//   %a = arith.shli %sum, %left
//   %b = kernel.mul_high %a, %multiplier
//   %c = arith.addi %b, %offset
//   %d = arith.shrsi %c, %right
//   %e = arith.maxsi %d, %low
//   %f = arith.minsi %e, %high
//     ->
//   %d = call @requantize_i32(%sum, %left, %multiplier, %offset, %right)
//   %f = call @clamp_i32(%d, %low, %high)
//
// Other kernel.mul_high for which the target has no instruction become calls of
// mul_high_i32. This applies to scalars and vectors of i32. Quantized networks
// consist of these steps, which are readable if they have a name.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/legalize/NumberFunctions.h"
#include "passes/legalize/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_OUTLINEQUANTIZATION
#include "passes/legalize/Passes.h.inc"

namespace {

struct OutlineQuantizationPass
    : impl::OutlineQuantizationBase<OutlineQuantizationPass> {
  using Base::Base;

  void runOnOperation() override {
    target = lookupTarget(targetName);
    SmallVector<arith::ShRSIOp> shifts;
    SmallVector<arith::MinSIOp> limits;
    getOperation().walk([&](arith::ShRSIOp op) { shifts.push_back(op); });
    getOperation().walk([&](arith::MinSIOp op) { limits.push_back(op); });
    NumberFunctions functions(getOperation());
    for (arith::ShRSIOp op : shifts)
      outline(op, functions);
    for (arith::MinSIOp op : limits)
      outline(op, functions);
    // Outlines also the products within the functions created above.
    SmallVector<kernel::MulHighOp> products;
    getOperation().walk([&](kernel::MulHighOp op) { products.push_back(op); });
    for (kernel::MulHighOp op : products)
      outline(op, functions);
  }

private:
  /// Whether functions can have arguments of type `type`: vectors must fit into
  /// a register, unless the ABI passes vectors of any size.
  bool canPass(Type type) const {
    if (!elementOf(type).isInteger(32))
      return false;
    int64_t bytes = laneCount(type) * 4;
    return !isa<VectorType>(type) || target->wholeRegisters ||
           (!target->vectorBytes.empty() &&
            bytes <= int64_t(target->vectorBytes.front()));
  }

  void outline(arith::ShRSIOp down, NumberFunctions &functions) {
    auto added = down.getLhs().getDefiningOp<arith::AddIOp>();
    auto high = added ? added.getLhs().getDefiningOp<kernel::MulHighOp>()
                      : kernel::MulHighOp();
    auto up =
        high ? high.getX().getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
    if (!up || !canPass(down.getType()) || !added->hasOneUse() ||
        !high->hasOneUse() || !up->hasOneUse())
      return;
    auto body = [&](OpBuilder &b, ValueRange arguments) -> Value {
      Location loc = b.getUnknownLoc();
      Type type = down.getType();
      Value x = arith::ShLIOp::create(b, loc, arguments[0], arguments[1]);
      x = kernel::MulHighOp::create(b, loc, type, x, arguments[2]);
      x = arith::AddIOp::create(b, loc, x, arguments[3]);
      return arith::ShRSIOp::create(b, loc, x, arguments[4]);
    };
    func::FuncOp function = functions.get(
        "requantize", down.getType(),
        {"sum", "left", "multiplier", "offset", "right"},
        "Scales a sum by multiplier * 2^(left - right - 32). The offset is the "
        "zero point and the rounding term, times 2^right.",
        body);
    Value operands[] = {up.getLhs(), up.getRhs(), high.getY(), added.getRhs(),
                        down.getRhs()};
    NumberFunctions::replaceByCall(down, function, operands);
    added.erase();
    high.erase();
    up.erase();
  }

  void outline(arith::MinSIOp least, NumberFunctions &functions) {
    auto most = least.getLhs().getDefiningOp<arith::MaxSIOp>();
    if (!most || !most->hasOneUse() || !canPass(least.getType()))
      return;
    auto body = [&](OpBuilder &b, ValueRange arguments) -> Value {
      Location loc = b.getUnknownLoc();
      Value x = arith::MaxSIOp::create(b, loc, arguments[0], arguments[1]);
      return arith::MinSIOp::create(b, loc, x, arguments[2]);
    };
    func::FuncOp function =
        functions.get("clamp", least.getType(), {"x", "low", "high"},
                      "The number of low..high that is nearest to x.", body);
    Value operands[] = {most.getLhs(), most.getRhs(), least.getRhs()};
    NumberFunctions::replaceByCall(least, function, operands);
    most.erase();
  }

  /// Outlines the product `op` if the target needs several instructions for it.
  void outline(kernel::MulHighOp op, NumberFunctions &functions) {
    Type type = op.getType();
    if (!canPass(type) ||
        target->intrinsic(kernel::MulHighOp::getOperationName(), type, type))
      return;
    auto body = [&](OpBuilder &b, ValueRange arguments) -> Value {
      return kernel::MulHighOp::create(b, b.getUnknownLoc(), type, arguments[0],
                                       arguments[1]);
    };
    func::FuncOp function =
        functions.get("mul_high", type, {"a", "b"},
                      "The upper half of the product of a and b.", body);
    Value operands[] = {op.getX(), op.getY()};
    NumberFunctions::replaceByCall(op, function, operands);
  }

  const TargetDescription *target = nullptr;
};

} // namespace

} // namespace ingot::legalize
