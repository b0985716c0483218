#include "passes/schedule/ArgumentRoles.h"

#include "dialects/graph/GraphDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

static constexpr llvm::StringLiteral kData = "x";

/// Returns the role of operand number `operand`: the entry of `roles` with that
/// number, or `kData` if `roles` has fewer entries.
static StringRef among(unsigned operand, ArrayRef<StringRef> roles) {
  return operand < roles.size() ? roles[operand] : StringRef(kData);
}

/// Returns the role of packed data in the matrix product that uses it: scales,
/// zero points or weights.
static StringRef roleOfPanels(OpOperand &use) {
  if (auto product = dyn_cast<NarrowMatMulOp>(use.getOwner())) {
    if (use.get() == product.getScales())
      return "scales";
    if (use.get() == product.getZeros())
      return "zeros";
  }
  return "weights";
}

static StringRef roleOf(Value value);

static StringRef roleOf(OpOperand &use) {
  unsigned at = use.getOperandNumber();
  return llvm::TypeSwitch<Operation *, StringRef>(use.getOwner())
      .Case([&](GroupOp stage) {
        return roleOf(Value(stage.getBody().getArgument(at)));
      })
      .Case([&](UnpackPanelsOp unpack) {
        return unpack->use_empty() ? StringRef("weights")
                                   : roleOfPanels(*unpack->getUses().begin());
      })
      .Case<ConvOp, ConvTransposeOp>(
          [&](Operation *) { return among(at, {kData, "weights", "bias"}); })
      .Case(
          [&](QuantizeOp) { return among(at, {kData, "scale", "zero_point"}); })
      .Case([&](DequantizeOp) {
        return among(at, {kData, "scale", "zero_point"});
      })
      .Case([&](MulHighOp) { return among(at, {kData, "multiplier"}); })
      .Case([&](AddOp add) {
        bool isScaled = add->getOperand(0).getDefiningOp<MulHighOp>();
        return among(at, {kData, isScaled ? "offset" : "addend"});
      })
      .Case([&](SubOp) { return among(at, {kData, "subtrahend"}); })
      .Case([&](MulOp) { return among(at, {kData, "factor"}); })
      .Case([&](DivOp) { return among(at, {kData, "divisor"}); })
      .Case([&](PowOp) { return among(at, {kData, "exponent"}); })
      .Case([&](PReluOp) { return among(at, {kData, "slope"}); })
      .Case<MaximumOp, MinimumOp>(
          [&](Operation *) { return among(at, {kData, "limit"}); })
      .Case([&](WhereOp) { return among(at, {"condition"}); })
      .Case([&](LayerNormOp) { return among(at, {kData, "scale", "bias"}); })
      .Case<GRUOp, RNNOp>([&](Operation *) {
        return among(at, {"gates", "recurrent_weights", "initial_h", "bias"});
      })
      .Case([&](LSTMOp) {
        return among(at, {"gates", "recurrent_weights", "initial_h",
                          "initial_c", "peepholes"});
      })
      .Case<GatherOp, GatherElementsOp, GatherNDOp>(
          [&](Operation *) { return among(at, {kData, "indices"}); })
      .Case<ScatterElementsOp, ScatterNDOp>(
          [&](Operation *) { return among(at, {kData, "indices", "updates"}); })
      .Case([&](OneHotOp) { return among(at, {"indices", "values"}); })
      .Case([&](AppendOp) { return among(at, {"state", "rows", "position"}); })
      .Case([&](TensorScatterOp) {
        return among(at, {"past", "update", "position"});
      })
      .Case([&](PadOp) { return among(at, {kData, "padding"}); })
      .Case([&](NonMaxSuppressionOp) { return among(at, {"boxes", "scores"}); })
      .Case([&](ReverseSequenceOp) { return among(at, {kData, "lengths"}); })
      .Case<CastOp, BitCastOp, ReshapeOp, ExpandOp, TransposeOp>(
          [&](Operation *op) { return roleOf(op->getResult(0)); })
      .Default([](Operation *) { return kData; });
}

static StringRef roleOf(Value value) {
  StringRef role;
  for (OpOperand &use : value.getUses()) {
    StringRef found = roleOf(use);
    if (found == kData)
      return kData;
    if (role.empty())
      role = found;
  }
  return role.empty() ? StringRef(kData) : role;
}

StringRef roleOf(BlockArgument input) { return roleOf(Value(input)); }

} // namespace ingot::schedule
