#include "passes/schedule/gpu/NormedProduct.h"

#include "passes/schedule/Anchors.h"
#include "passes/schedule/gpu/BlockOperands.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

NormedProduct NormedProduct::of(MatMulOp product, bool packs) {
  Operation *before = product.getA().getDefiningOp();
  if (isa_and_nonnull<CastOp>(before))
    before = before->getOperand(0).getDefiningOp();
  auto norm = dyn_cast_or_null<LayerNormOp>(before);
  // Threads of a warp have a step each at least.
  constexpr int64_t fewestSteps = 32;
  if (!norm || norm.getCenter() || norm.getAffine().size() > 1 ||
      !product.getZeros().empty() || shapeOf(product.getB()).size() != 2 ||
      shapeOf(product.getA()).size() < 2 ||
      hasRunTimeSizes(product.getOperation()) ||
      shapeOf(product.getA()).back() < fewestSteps ||
      !isa<FloatType>(elementOf(product.getB())) ||
      ProductSizes(product).rows.most() >= fewestOfBlock ||
      !mayBeInPanels(product.getB(), packs))
    return {};
  return {norm, product};
}

NormedProduct NormedProduct::of(GroupView group) {
  NormedProduct found;
  for (Operation &op : group.block->without_terminator()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    if (isa<ConstantOp, LayerNormOp>(op) || (element && element.isCheap()))
      continue;
    auto product = dyn_cast<MatMulOp>(op);
    if (!product || found)
      return {};
    found = of(product, group.packs);
    if (!found)
      return {};
  }
  // Nobody else reads what is normalized or rounded.
  if (found && !(found.norm->hasOneUse() && found.product.getA().hasOneUse() &&
                 llvm::hasSingleElement(group.block->getOps<LayerNormOp>())))
    return {};
  return found;
}

} // namespace ingot::schedule
