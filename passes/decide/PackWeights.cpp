// Packs weights in the order in which kernels read them.
//
//   group(%x, %w) { conv(%x, %w) }
//     ->
//   %p = pack_panels %w
//   group(%x, %p) { conv(%x, unpack_panels(%p)) }
//
// This applies to constant weights; the group's strategy and plan determine the
// order. `pack_panels` is folded later, since its operand is constant. Groups
// that read the same weights in the same order share the packed weights.

#include "dialects/graph/GraphDialect.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Strategy.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/decide/Passes.h.inc"

namespace {

struct PackWeightsPass : impl::PackWeightsBase<PackWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    for (GroupOp group : getOperation().getOps<GroupOp>())
      if (DictionaryAttr plan = group.getPlanAttr())
        schedule::lookupStrategy(group.getStrategy())
            ->pack({group, target}, schedule::Plan(plan));
    share();
  }

private:
  void share() {
    std::map<std::tuple<const void *, uint64_t, uint64_t, uint64_t, uint64_t>,
             PackPanelsOp>
        known;
    for (auto pack :
         llvm::make_early_inc_range(getOperation().getOps<PackPanelsOp>())) {
      auto [first, isNew] =
          known.insert({{pack.getW().getAsOpaquePointer(), pack.getPanel(),
                         pack.getTail(), pack.getGroup(), pack.getAxes()},
                        pack});
      if (isNew)
        continue;
      pack.replaceAllUsesWith(first->second.getResult());
      pack.erase();
    }
  }
};

} // namespace
} // namespace ingot::decide
