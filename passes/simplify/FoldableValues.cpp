#include "passes/simplify/FoldableValues.h"

#include "dialects/graph/ElementsData.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {

static bool isLarge(Operation *op) {
  int64_t made = 0, from = 0;
  for (Value v : op->getResults())
    made += tensorType(v).getNumElements();
  for (Value v : op->getOperands())
    from += tensorType(v).getNumElements();
  return made > (1 << 16) && made > 4 * from;
}

FoldableValues findFoldableValues(Block &body) {
  FoldableValues found;
  auto isConstant = [&](Value v) {
    return v.getDefiningOp() && found.operations.contains(v.getDefiningOp());
  };
  for (Operation &op : body.without_terminator()) {
    auto given = dyn_cast<ConstantOp>(op);
    if (given ? hasData(given.getValue())
              : isPure(&op) && !isa<UnpackPanelsOp, GroupOp>(op) &&
                    !hasDynamicSizes(&op) && !isLarge(&op) &&
                    !isa<StringsOp, RandomBitsOp, WithRoomOp>(op) &&
                    llvm::all_of(op.getOperands(), isConstant))
      found.operations.insert(&op);
  }
  for (Operation *op : found.operations)
    for (Value result : op->getResults())
      if (!isa<ConstantOp>(op) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !found.operations.contains(user);
          }))
        found.frontier.push_back(result);
  return found;
}

static unsigned bitsOf(Value v) { return elementOf(v).getIntOrFloatBitWidth(); }

/// Whether the element type of `v` is a type of quantized weights: an integer
/// of 2 to 16 bits, or a float of at most 8 bits.
static bool isQuantized(Value v) {
  unsigned bits = bitsOf(v);
  return bits > 1 && bits <= (isa<IntegerType>(elementOf(v)) ? 16 : 8);
}

WidenedWeights findWidenedWeights(Block &body) {
  WidenedWeights found;
  llvm::DenseSet<Value> counted;
  llvm::DenseSet<std::pair<Value, Type>> stored;
  for (Value value : findFoldableValues(body).frontier) {
    Type type = elementOf(value);
    llvm::SetVector<Operation *> sources;
    sources.insert(value.getDefiningOp());
    for (size_t i = 0; i < sources.size(); ++i)
      for (Value operand : sources[i]->getOperands())
        sources.insert(operand.getDefiningOp());
    for (Operation *source : sources) {
      auto constant = dyn_cast<ConstantOp>(source);
      // Zero points have a narrow type, too, but fewer elements than the
      // weights.
      if (!constant || !isQuantized(constant) ||
          bitsOf(constant) >= bitsOf(value) ||
          tensorType(constant).getNumElements() !=
              tensorType(value).getNumElements())
        continue;
      int64_t elements = tensorType(value).getNumElements();
      if (counted.insert(constant).second)
        found.bytes += llvm::divideCeil(elements * bitsOf(constant), 8);
      if (!stored.insert({constant, type}).second)
        break;
      found.storedBytes += elements * llvm::divideCeil(bitsOf(value), 8);
      found.storedTypes.insert(type);
      break;
    }
  }
  return found;
}

} // namespace ingot::simplify
