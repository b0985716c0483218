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
  bool matches(GroupOnTarget group) const override {
    auto product = dyn_cast_or_null<MatMulOp>(group.anchor());
    if (!group.target.smallCode || !product || group.results().size() != 1 ||
        !CursorTerms::of(product, group.target).arePossible() ||
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
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    return compactPlans(workOf(group), weightsOf(group), termsOf(group),
                        group.target);
  }
  double cost(GroupOnTarget group, const Plan &plan) const override {
    return compactTileCost(workOf(group), group.target, termsOf(group),
                           compactTile(plan));
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuseCompactTile(plan, workOf(group), weightsOf(group),
                             termsOf(group), group.target);
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    auto product = cast<MatMulOp>(group.anchor());
    packCompactPanels(group.op(), product->getOpOperand(1), plan,
                      CursorTerms::of(product, group.target), group.target);
  }

  void emit(KernelBuilder &b) const override {
    auto product = cast<MatMulOp>(b.group.anchor());
    CompactPanels panels(b, *PackedPanels::of(b, product.getB()),
                         CursorTerms::of(product, b.target), /*bias=*/{});
    emitCompactMatrix(b, product, panels);
  }

private:
  static CursorTerms termsOf(GroupOnTarget group) {
    return CursorTerms::of(cast<MatMulOp>(group.anchor()), group.target);
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
