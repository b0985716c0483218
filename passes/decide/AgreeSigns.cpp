// Chooses signed or unsigned int8 activations for cores that have no int8
// vectors but multiply int8 numbers in core registers.
//
// If int8 dot products of one signedness are faster, activations get this
// signedness (SignedBytes.h):
//
//   %q = quantize(x, s, 116: ui8)                 %q = quantize(x, s, -12: si8)
//   conv(%q, w: si8) {x_zero = 116}         ->    conv(%q, w: si8) {x_zero = -12}
//   dequantize(%q, s, 116: ui8)                   dequantize(%q, s, -12: si8)
//
// The change costs nothing at run time, and results are bit-identical. On
// targets with vector dot products, the pass TakeSigns chooses the signedness
// earlier, before it is known which contractions use int8. There,
// FormIntegerDots converts the activations that still have the wrong
// signedness.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/tiles/DotForm.h"
#include "passes/simplify/OtherSign.h"
#include "passes/simplify/SignedBytes.h"

using namespace mlir;
using namespace ingot::graph;
using namespace ingot::simplify;

namespace ingot::decide {
#define GEN_PASS_DEF_AGREESIGNS
#include "passes/decide/Passes.h.inc"

namespace {

/// The int8 tensors that must all have the same signedness, and the
/// contractions that read them.
class Readers {
public:
  Readers(Value first, const TargetDescription &target)
      : target(target), type(cast<IntegerType>(elementOf(first))),
        bytes(first, [&](OpOperand &use) { return allows(use); }) {}

  ArrayRef<Value> all() const { return bytes.all(); }
  bool shouldChange() const { return bytes.mayChange() && gain > 0; }
  void change() {
    bytes.change([&](OpOperand &use) { changeReader(use.getOwner()); });
  }

private:
  bool allows(OpOperand &use) {
    Operation *op = use.getOwner();
    if (use.getOperandNumber() != 0 || !isa<ConvOp, MatMulOp>(op) ||
        !hasKnownSteps(op) || !mayChangeOperand(op))
      return false;
    double now = cyclesWith(op, type), then = cyclesWith(op, otherSign(type));
    if (now > 0 && then == 0)
      return false;
    gain += now - then;
    return true;
  }

  bool mayChangeOperand(Operation *op) {
    if (auto conv = dyn_cast<ConvOp>(op)) {
      bool hasPadding = conv.getXZero() + moveOf(otherSign(type)) != 0 &&
                        !schedule::fillsPadding(conv, target);
      return conv.isWidening() && conv.getGroups() == 1 && !hasPadding;
    }
    auto product = cast<MatMulOp>(op);
    return product.isWidening() && product.getB().getDefiningOp<ConstantOp>() &&
           (product.getZeros().empty() || (oneNumberOf(product.getAZero()) &&
                                           oneNumberOf(product.getBZero())));
  }

  /// Estimates the cycles of a contraction if its input has the int8 type
  /// `sign`; 0 if the target has no dot product for that type.
  double cyclesWith(Operation *op, Type sign) const {
    ArrayRef<int64_t> w = shapeOf(op->getOperand(1));
    auto conv = dyn_cast<ConvOp>(op);
    bool fillsUp = conv && schedule::copiesWindows(conv, target);
    int64_t steps = w.end()[-2];
    if (fillsUp)
      steps = ShapedType::getNumElements(w.drop_back());
    auto form = schedule::dotForm(sign, elementOf(op->getOperand(1)), target,
                                  steps, fillsUp);
    if (!form)
      return 0;
    int64_t all = ShapedType::getNumElements(w.drop_back()) / steps *
                  int64_t(llvm::alignTo(steps, form->group));
    return double(all) * double(tensorType(op->getResult(0)).getNumElements()) /
           form->perCycle;
  }

  void changeReader(Operation *op) {
    IntegerType other = bytes.other();
    if (auto conv = dyn_cast<ConvOp>(op)) {
      conv.setXZero(conv.getXZero() + moveOf(other));
    } else if (auto product = dyn_cast<MatMulOp>(op)) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      bool hasZeros = !product.getZeros().empty();
      int64_t a = hasZeros ? *oneNumberOf(product.getAZero()) : 0,
              b = hasZeros ? *oneNumberOf(product.getBZero()) : 0;
      product.getZerosMutable().assign(
          {numberAt(builder, loc, other, a + moveOf(other)),
           numberAt(builder, loc, elementOf(product.getB()), b)});
    }
  }

  const TargetDescription &target;
  IntegerType type;
  double gain = 0;
  SignedBytes bytes;
};

struct AgreeSignsPass : impl::AgreeSignsBase<AgreeSignsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.coreRegisters)
      return;
    llvm::DenseSet<Value> seen;
    SmallVector<Value> operands;
    getOperation().walk([&](Operation *op) {
      if (!isa<ConvOp, MatMulOp>(op))
        return;
      auto type = dyn_cast<IntegerType>(elementOf(op->getOperand(0)));
      if (type && type.getWidth() == 8 && !type.isSignless())
        operands.push_back(op->getOperand(0));
    });
    for (Value operand : operands) {
      if (seen.contains(operand))
        continue;
      Readers readers(operand, target);
      seen.insert_range(readers.all());
      if (readers.shouldChange())
        readers.change();
    }
  }
};

} // namespace
} // namespace ingot::decide
