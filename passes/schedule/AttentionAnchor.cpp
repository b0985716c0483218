#include "passes/schedule/AttentionAnchor.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Follows `v` back to the only matrix product that it is computed from element by
/// element; null if there is none, or another reader on the way. Puts the operators
/// between into `between`.
static MatMulOp elementwiseFrom(Value v,
                                SmallVectorImpl<Operation *> &between) {
  // Chains of masks and scales are short; longer ones are no attention.
  constexpr size_t mostBetween = 16;
  Operation *op = v.getDefiningOp();
  if (!op || !op->hasOneUse() || between.size() > mostBetween)
    return {};
  if (auto product = dyn_cast<MatMulOp>(op))
    return product;
  if (!isa<ElementwiseOpInterface>(op))
    return {};
  between.push_back(op);
  for (Value operand : op->getOperands()) {
    size_t size = between.size();
    if (dimsOf(operand) == dimsOf(v))
      if (MatMulOp product = elementwiseFrom(operand, between))
        return product;
    between.truncate(size);
  }
  return {};
}

/// Whether it is a product of `operands`, in f32, whose matrices come in as many axes as
/// the result has.
static bool isPlain(MatMulOp product, Type operands) {
  size_t rank = shapeOf(product.getResult()).size();
  return rank >= 3 && product.getZeros().empty() &&
         elementOf(product.getResult()).isF32() &&
         llvm::all_of(product->getOperands(), [&](Value v) {
           return shapeOf(v).size() == rank && elementOf(v) == operands &&
                  tensorType(v).getNumElements() > 0;
         });
}

AttentionAnchor AttentionAnchor::of(MatMulOp product) {
  AttentionAnchor found;
  Value weights = product.getA();
  Type operands = elementOf(weights);
  if (auto cast = weights.getDefiningOp<CastOp>();
      cast && isa<BFloat16Type, Float16Type>(operands) && cast->hasOneUse()) {
    found.rounding = cast;
    weights = cast.getX();
  }
  auto softmax = weights.getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax->hasOneUse() || !elementOf(softmax).isF32() ||
      !isPlain(product, operands) ||
      static_cast<size_t>(softmax.getAxis()) + 1 != shapeOf(softmax).size())
    return {};
  MatMulOp scores = elementwiseFrom(softmax.getInput(), found.between);
  if (!scores || !isPlain(scores, operands) ||
      ArrayRef(dimsOf(scores)).drop_back() !=
          ArrayRef(dimsOf(product)).drop_back() ||
      !dimsOf(scores.getA()).back().known() ||
      !dimsOf(product).back().known() || dimsOf(scores).back().least() < 1)
    return {};
  found.product = product;
  found.softmax = softmax;
  found.scores = scores;
  return found;
}

bool isReadInPlace(Operation *op, Operation *reader) {
  if (!op->hasOneUse() || reader->getNumResults() != 1)
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(reader))
    return transpose.getPerm().back() + 1 ==
           static_cast<int64_t>(transpose.getPerm().size());
  return isa<ElementwiseOpInterface>(reader) &&
         dimsOf(reader->getResult(0)) == dimsOf(op->getResult(0));
}

AttentionAnchor AttentionAnchor::of(GroupView group) {
  AttentionAnchor found;
  for (auto product : group.block->getOps<MatMulOp>())
    if (AttentionAnchor anchor = of(product))
      found = anchor;
  if (!found || group.results().size() != 1)
    return {};
  for (Operation &op : group.block->without_terminator()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    bool isPart = &op == found.product || &op == found.softmax ||
                  &op == found.scores || &op == found.rounding ||
                  llvm::is_contained(found.between, &op);
    if (!isPart && !isa<ConstantOp>(op) && !(element && element.isCheap()))
      return {};
  }
  // Up to the result, one reader after the other.
  Operation *op = found.product;
  while (op->getResult(0) != group.results()[0]) {
    Operation *reader = *op->user_begin();
    if (!isReadInPlace(op, reader))
      return {};
    op = reader;
  }
  return found;
}

SmallVector<int64_t> AttentionAnchor::axesOf(Value result) {
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(result).size()));
  for (Value v = product.getResult(); v != result;) {
    Operation *reader = *v.user_begin();
    if (auto transpose = dyn_cast<TransposeOp>(reader)) {
      SmallVector<int64_t> before(axes);
      for (auto [axis, from] : llvm::enumerate(transpose.getPerm()))
        axes[axis] = before[from];
    }
    v = reader->getResult(0);
  }
  return axes;
}

} // namespace ingot::schedule
