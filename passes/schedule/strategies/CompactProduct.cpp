// Matrix products for cores with little code memory: the right operand is
// packed in panels, the rows of the left operand are read through cursors
// (pointers that advance), and tiles cover all rows in a single loop
// (CompactPanels.h).

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/CompactPanels.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class CompactProductStrategy : public Strategy {
public:
  bool matches(GroupView group,
               const TargetDescription &target) const override {
    auto product = dyn_cast_or_null<MatMulOp>(group.anchor());
    if (!target.smallCode || !product || group.results().size() != 1 ||
        !CursorTerms::of(product, target).arePossible() ||
        !mayBeInPanels(product.getB(), group.packs) ||
        shapeOf(product.getB()).size() != 2 ||
        !isa<BlockArgument>(product.getA()) ||
        shapeOf(product.getResult()) != shapeOf(group.results()[0]))
      return false;
    ProductSizes sizes(product);
    return sizes.oneMatrix && mayDiffer(sizes.steps, 0) &&
           hasFlatEpilogue(group, product);
  }

  ArrayRef<PlanKey> planKeys() const override { return compactPlanKeys(); }
  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    return compactPlans(workOf(group), weightsOf(group), termsOf(group, target),
                        target);
  }
  double cost(GroupView group, const Plan &plan,
              const TargetDescription &target) const override {
    return compactTileCost(workOf(group), target, termsOf(group, target),
                           compactTile(plan));
  }
  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
    return refuseCompactTile(plan, workOf(group), weightsOf(group),
                             termsOf(group, target), target);
  }

  void pack(GroupOp group, const Plan &plan,
            const TargetDescription &target) const override {
    auto product = cast<MatMulOp>(GroupView{&group.getBody().front()}.anchor());
    packCompactPanels(group, product->getOpOperand(1), plan,
                      CursorTerms::of(product, target), target);
  }

  void emit(KernelBuilder &b) const override {
    auto product = cast<MatMulOp>(b.group.anchor());
    ProductSizes sizes(product);
    CompactPanels panels(b, *PackedPanels::of(b, product.getB()),
                         CursorTerms::of(product, b.target), /*bias=*/{});
    emitCompactMatrix(b, product,
                      b.view(b.bufferOf(product.getA()),
                             {sizes.rows.most(), sizes.steps.most()}),
                      panels);
  }

private:
  static CursorTerms termsOf(GroupView group, const TargetDescription &target) {
    return CursorTerms::of(cast<MatMulOp>(group.anchor()), target);
  }
  static Value weightsOf(GroupView group) {
    return cast<MatMulOp>(group.anchor()).getB();
  }
  static TileWork workOf(GroupView group) {
    ProductSizes sizes(cast<MatMulOp>(group.anchor()));
    return matrixWork(group, sizes.rows.most(), sizes.columns,
                      sizes.steps.most());
  }
};

} // namespace

std::unique_ptr<Strategy> createCompactProductStrategy() {
  return std::make_unique<CompactProductStrategy>();
}

} // namespace ingot::schedule
