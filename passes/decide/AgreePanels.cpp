// Weights that several groups read are packed once, in one order.
//
//   @prompt: group "matrix-product"(%x, %w) {plan = {columns = 16, rows = 6}}
//   @token:  group "matrix-product"(%y, %w) {plan = {columns = 32, rows = 1}}
//     ->
//   @prompt: group "matrix-product"(%x, %w) {plan = {columns = 16, rows = 6}}
//   @token:  group "matrix-product"(%y, %w) {plan = {columns = 16, rows = 1}}
//
// Each group has the plan that is best for it alone, and panels of another width would be
// a second copy of the weights. Of the widths that all of these groups can take the one
// with the least cost is taken, unless a group would lose too much by it.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Strategy.h"

#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_AGREEPANELS
#include "passes/decide/Passes.h.inc"

namespace {

/// The entry of plans that says how wide panels are.
constexpr StringLiteral columnsKey = "columns";
/// A group that would take so many times as long keeps panels of its own.
constexpr double mostLoss = 1.25;

struct AgreePanelsPass : impl::AgreePanelsBase<AgreePanelsPass> {
  using Base::Base;

  void runOnOperation() override {
    target = lookupTarget(targetName);
    // Constants with the same bytes, as the importer has them once for each function.
    std::map<uint64_t, SmallVector<Readers>> byHash;
    getOperation().walk([&](GroupOp group) {
      DictionaryAttr plan = group.getPlanAttr();
      ConstantOp weights = plan && plan.contains(columnsKey)
                               ? packableConstant(group)
                               : ConstantOp();
      if (!weights || !hasData(weights.getValue()))
        return;
      auto &candidates = byHash[hashOfSample(weights.getValue())];
      auto same = llvm::find_if(candidates, [&](const Readers &readers) {
        return haveSameBytes(readers.weights, weights.getValue());
      });
      if (same == candidates.end()) {
        candidates.push_back({weights.getValue(), {}});
        same = std::prev(candidates.end());
      }
      same->groups.push_back(group);
    });
    for (auto &[hash, candidates] : byHash)
      for (Readers &readers : candidates)
        agree(readers.groups);
  }

private:
  struct Readers {
    ElementsAttr weights;
    SmallVector<GroupOp> groups;
  };

  /// The constant that the group's strategy will pack; null if there is none.
  ConstantOp packableConstant(GroupOp group) const {
    for (Operation &op : group.getBody().front())
      if (OpOperand *weights = schedule::packableWeights(&op, *target))
        if (auto inside = dyn_cast<BlockArgument>(weights->get());
            inside && inside.getOwner() == &group.getBody().front())
          return group.getInputs()[inside.getArgNumber()]
              .getDefiningOp<ConstantOp>();
    return {};
  }

  static int64_t columnsOf(GroupOp group) {
    return schedule::Plan(group.getPlanAttr()).number(columnsKey);
  }

  /// The cheapest plan of a group for each width of panels, with its cost.
  std::map<int64_t, std::pair<schedule::Plan, double>>
  plansByWidth(GroupOp group) const {
    const schedule::Strategy *strategy =
        schedule::lookupStrategy(group.getStrategy());
    schedule::GroupView view{&group.getBody().front()};
    std::map<int64_t, std::pair<schedule::Plan, double>> plans;
    for (const schedule::Plan &plan : strategy->plans(view, *target)) {
      double cost = strategy->cost(view, plan, *target);
      auto [known, isNew] =
          plans.insert({plan.number(columnsKey), {plan, cost}});
      if (!isNew && cost < known->second.second)
        known->second = {plan, cost};
    }
    return plans;
  }

  void agree(ArrayRef<GroupOp> groups) const {
    if (llvm::all_of(groups, [&](GroupOp group) {
          return columnsOf(group) == columnsOf(groups.front());
        }))
      return;
    auto plans = llvm::map_to_vector(
        groups, [&](GroupOp group) { return plansByWidth(group); });
    std::optional<int64_t> best;
    double least = 0;
    for (const auto &entry : plans.front()) {
      int64_t width = entry.first;
      double sum = 0;
      bool isPossible = true;
      for (auto [group, own] : llvm::zip(groups, plans)) {
        auto first = own.find(columnsOf(group)), found = own.find(width);
        isPossible &= found != own.end() && first != own.end() &&
                      found->second.second <= mostLoss * first->second.second;
        if (isPossible)
          sum += found->second.second;
      }
      if (isPossible && (!best || sum < least)) {
        best = width;
        least = sum;
      }
    }
    if (!best)
      return;
    for (auto [group, own] : llvm::zip(groups, plans))
      if (columnsOf(group) != *best)
        GroupOp(group).setPlanAttr(own.find(*best)->second.first.attribute());
  }

  const TargetDescription *target = nullptr;
};

} // namespace
} // namespace ingot::decide
