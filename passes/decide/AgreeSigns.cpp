// The sign of bytes between layers.
//
// Where products of bytes of one sign are faster than those of two, bytes get the other
// sign where they are quantized, with a zero point that is as far away:
//
//   %q = quantize(x, s, 116: ui8)                 %q = quantize(x, s, -12: si8)
//   conv(%q, w: si8) {x_zero = 116}         ->    conv(%q, w: si8) {x_zero = -12}
//   dequantize(%q, s, 116: ui8)                   dequantize(%q, s, -12: si8)
//
// All that moves such bytes, or takes their maximum, goes along. They have one sign from
// their quantizations to their last readers, so all of these have to allow it; nothing
// is computed for it, and results stay the same bits.
//
// Only for cores that multiply bytes in core registers: others change the sign of an
// operand where they store its padding (FormIntegerProducts).

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Contraction.h"
#include "passes/decide/IntegerSums.h"
#include "passes/decide/OtherSign.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/tiles/DotTile.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_AGREESIGNS
#include "passes/decide/Passes.h.inc"

namespace {

/// Whether the sign of an operator's result is that of all its operands, which it moves
/// or takes the greatest of.
bool passesSigns(Operation *op) {
  return isa_and_nonnull<ReshapeOp, TransposeOp, SliceOp, ConcatOp, MaxPoolOp>(
      op);
}

/// The one number that a zero point is.
std::optional<int64_t> numberOf(Value zero) {
  auto numbers = Numbers::of(zero);
  if (!numbers || numbers->values.size() != 1)
    return std::nullopt;
  return int64_t(numbers->values[0]);
}

/// Bytes that have one sign, with all that writes and reads them.
class Bytes {
public:
  Bytes(Value first, const TargetDescription &target)
      : target(target), type(cast<IntegerType>(elementOf(first))),
        other(otherSign(type)) {
    values.insert(first);
    for (size_t i = 0; i < values.size(); ++i)
      mayChange &= addWriter(values[i]) && addReaders(values[i]);
  }

  ArrayRef<Value> all() const { return values.getArrayRef(); }
  bool shouldChange() const { return mayChange && gain > 0; }

  void change() {
    for (Value v : values) {
      OpBuilder builder(v.getContext());
      builder.setInsertionPointAfterValue(v);
      if (auto op = v.getDefiningOp<QuantizeOp>())
        op->setOperand(2, moved(op.getZero(), op));
      for (OpOperand &use : v.getUses())
        changeReader(use);
      v.setType(tensorOf(dimsOf(v), other));
    }
  }

private:
  bool addWriter(Value v) {
    Operation *op = v.getDefiningOp();
    if (passesSigns(op)) {
      for (Value operand : op->getOperands())
        values.insert(operand);
      return true;
    }
    auto quantize = dyn_cast_or_null<QuantizeOp>(op);
    return quantize && quantize.getSaturate() &&
           numberOf(quantize.getZero()).has_value();
  }

  bool addReaders(Value v) {
    for (OpOperand &use : v.getUses()) {
      Operation *op = use.getOwner();
      if (passesSigns(op)) {
        values.insert(op->getResult(0));
        continue;
      }
      if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
        if (!numberOf(dequantize.getZero()))
          return false;
        continue;
      }
      if (use.getOperandNumber() != 0 || !isa<ConvOp, MatMulOp>(op) ||
          !hasKnownSteps(op) || !mayChangeOperand(op))
        return false;
      gain += cyclesWith(op, type) - cyclesWith(op, other);
    }
    return true;
  }

  bool mayChangeOperand(Operation *op) {
    if (auto conv = dyn_cast<ConvOp>(op)) {
      bool hasPadding = conv.getXZero() + moveOf(other) != 0 &&
                        !schedule::fillsPadding(conv, target);
      return conv.isWidening() && conv.getGroups() == 1 && !hasPadding;
    }
    auto product = cast<MatMulOp>(op);
    return product.isWidening() && product.getB().getDefiningOp<ConstantOp>() &&
           (product.getZeros().empty() ||
            (numberOf(product.getAZero()) && numberOf(product.getBZero())));
  }

  /// Estimates the cycles of the products, if the bytes had this sign.
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

  Value numberAt(OpBuilder &builder, Location loc, Type type, int64_t value) {
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, type),
                               APInt(type.getIntOrFloatBitWidth(), value,
                                     /*isSigned=*/true,
                                     /*implicitTrunc=*/true)));
  }

  Value moved(Value zero, Operation *reader) {
    OpBuilder builder(reader);
    return numberAt(builder, zero.getLoc(), other,
                    *numberOf(zero) + moveOf(other));
  }

  void changeReader(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<DequantizeOp>(op)) {
      op->setOperand(2, moved(op->getOperand(2), op));
    } else if (auto conv = dyn_cast<ConvOp>(op)) {
      conv.setXZero(conv.getXZero() + moveOf(other));
    } else if (auto product = dyn_cast<MatMulOp>(op)) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      auto zeroOf = [&](Value zero) {
        return zero ? *numberOf(zero) : int64_t(0);
      };
      bool hasZeros = !product.getZeros().empty();
      int64_t a = zeroOf(hasZeros ? product.getAZero() : Value()) +
                  moveOf(other),
              b = zeroOf(hasZeros ? product.getBZero() : Value());
      product.getZerosMutable().assign(
          {numberAt(builder, loc, other, a),
           numberAt(builder, loc, elementOf(product.getB()), b)});
    }
  }

  const TargetDescription &target;
  IntegerType type, other;
  llvm::SetVector<Value> values;
  bool mayChange = true;
  double gain = 0;
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
      Bytes bytes(operand, target);
      seen.insert_range(bytes.all());
      if (bytes.shouldChange())
        bytes.change();
    }
  }
};

} // namespace
} // namespace ingot::decide
