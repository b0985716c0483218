#include "passes/simplify/SignedBytes.h"

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/simplify/OtherSign.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {

std::optional<int64_t> oneNumberOf(Value v) {
  while (isa_and_nonnull<ReshapeOp, ExpandOp>(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  auto constant = v.getDefiningOp<ConstantOp>();
  if (!constant || !isa<IntegerType>(elementOf(v)) ||
      !hasData(constant.getValue()) || constant.getValue().empty())
    return std::nullopt;
  SmallVector<int64_t> numbers = elementsAsInts(constant.getValue());
  return llvm::all_equal(numbers) ? std::optional(numbers[0]) : std::nullopt;
}

Value numberAt(OpBuilder &builder, Location loc, Type type, int64_t value) {
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, type),
                             APInt(type.getIntOrFloatBitWidth(), value,
                                   /*isSigned=*/true,
                                   /*implicitTrunc=*/true)));
}

/// Whether `op` moves its operands or takes their maximum, so that its operands
/// and result must have the same signedness.
static bool passesSigns(Operation *op) {
  return isa_and_nonnull<ReshapeOp, TransposeOp, SliceOp, ConcatOp, MaxPoolOp>(
      op);
}

SignedBytes::SignedBytes(Value first,
                         llvm::function_ref<bool(OpOperand &)> allows)
    : otherType(otherSign(elementOf(first))) {
  values.insert(first);
  for (size_t i = 0; i < values.size(); ++i)
    allAllow &= addWriter(values[i]) && addReaders(values[i], allows);
}

bool SignedBytes::addWriter(Value v) {
  Operation *op = v.getDefiningOp();
  if (passesSigns(op)) {
    for (Value operand : op->getOperands())
      values.insert(operand);
    return true;
  }
  auto quantize = dyn_cast_or_null<QuantizeOp>(op);
  return quantize && quantize.getSaturate() &&
         oneNumberOf(quantize.getZero()).has_value();
}

bool SignedBytes::addReaders(Value v,
                             llvm::function_ref<bool(OpOperand &)> allows) {
  for (OpOperand &use : v.getUses()) {
    Operation *op = use.getOwner();
    auto dequantize = dyn_cast<DequantizeOp>(op);
    if (passesSigns(op))
      values.insert(op->getResult(0));
    else if (dequantize ? !oneNumberOf(dequantize.getZero()) : !allows(use))
      return false;
  }
  return true;
}

void SignedBytes::change(llvm::function_ref<void(OpOperand &)> change) {
  // The zero point is the third operand of both quantize and dequantize.
  auto moveZero = [&](Operation *op) {
    OpBuilder builder(op);
    Value zero = op->getOperand(2);
    op->setOperand(2, numberAt(builder, zero.getLoc(), otherType,
                               *oneNumberOf(zero) + moveOf(otherType)));
  };
  for (Value v : values) {
    if (auto quantize = v.getDefiningOp<QuantizeOp>())
      moveZero(quantize);
    for (OpOperand &use : v.getUses()) {
      if (isa<DequantizeOp>(use.getOwner()))
        moveZero(use.getOwner());
      else if (!passesSigns(use.getOwner()))
        change(use);
    }
    v.setType(tensorOf(dimsOf(v), otherType));
  }
}

} // namespace ingot::simplify
