// Chooses one panel width for all groups that use the same weights, so that the
// weights are packed only once. (A panel consists of the packed weights of some
// columns.)
//
//   @prompt: group "matrix-product"(%x, %w) {plan = {columns = 16, rows = 6}}
//   @token:  group "matrix-product"(%y, %w) {plan = {columns = 32, rows = 1}}
//     ->
//   @prompt: group "matrix-product"(%x, %w) {plan = {columns = 16, rows = 6}}
//   @token:  group "matrix-product"(%y, %w) {plan = {columns = 16, rows = 1}}
//
// Before the pass, each group has the plan that is best for itself; different
// panel widths would require a second copy of the weights. Among the widths for
// which the groups have plans, the pass chooses the one with the least total
// cost that slows down no group too much.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Strategy.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_AGREEPANELS
#include "passes/decide/Passes.h.inc"

namespace {

/// The entry of a plan (the dictionary `plan` of a group) that holds the number
/// of columns in a panel of packed weights.
constexpr StringLiteral columnsKey = "columns";
/// A common panel width is not used if it slows down a group by more than this
/// factor. If no width remains, each group keeps its own plan, and the weights
/// are packed once for each panel width that these plans have.
constexpr double mostLoss = 1.25;

struct AgreePanelsPass : impl::AgreePanelsBase<AgreePanelsPass> {
  using Base::Base;

  void runOnOperation() override {
    target = lookupTarget(targetName);
    // Collects the groups that read the same weights. Weights are compared by
    // their bytes, since the importer creates a separate constant in each
    // function.
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
        bytesOfAll += bytesOf(readers.weights);
    for (auto &[hash, candidates] : byHash)
      for (Readers &readers : candidates)
        agree(readers);
  }

private:
  struct Readers {
    ElementsAttr weights;
    SmallVector<GroupOp> groups;
  };

  /// Returns the constant weights that the strategy of `group` will pack into
  /// panels (the weights of some columns, in the order in which the kernel
  /// reads them); null if there are none.
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

  /// Returns the best plan of `group` for weights packed in panels of `columns`
  /// columns, and its estimated cost in cycles.
  std::pair<schedule::Plan, double> planOfWidth(GroupOp group,
                                                int64_t columns) const {
    const schedule::Strategy *strategy =
        schedule::lookupStrategy(group.getStrategy());
    // Once the weights of a group are packed, its strategy offers only plans
    // with the panel width of the packed weights. So this function clones the
    // group, packs the weights of the clone, and asks for the clone's plans.
    OpBuilder builder(group);
    NamedAttrList entries(group.getPlanAttr());
    entries.set(columnsKey, builder.getI64IntegerAttr(columns));
    auto copy = cast<GroupOp>(builder.clone(*group));
    schedule::GroupOnTarget view(copy, *target);
    strategy->pack(view,
                   schedule::Plan(entries.getDictionary(builder.getContext())));
    std::pair<schedule::Plan, double> best;
    best.first = strategy->plans(view).front();
    best.second = strategy->cost(view, best.first);
    llvm::SetVector<Operation *> packs;
    for (Value input : copy.getInputs())
      if (Operation *pack = input.getDefiningOp();
          isa_and_nonnull<PackPanelsOp, ConcatOp>(pack))
        packs.insert(pack);
    copy.erase();
    while (!packs.empty()) {
      Operation *pack = packs.pop_back_val();
      if (!pack->use_empty())
        continue;
      for (Value operand : pack->getOperands())
        if (Operation *made = operand.getDefiningOp())
          packs.insert(made);
      pack->erase();
    }
    return best;
  }

  static int64_t bytesOf(ElementsAttr weights) {
    return weights.getNumElements() * bytesPerElement(weights.getElementType());
  }

  /// Returns a lower bound of the cycles for reading `weights` from the memory
  /// beyond the L2 cache; 0 if the weights of all groups together fit into the
  /// L2 cache.
  double cyclesToRead(ElementsAttr weights) const {
    return bytesOfAll > target->l2Bytes
               ? double(bytesOf(weights)) / target->rates.cacheBytes
               : 0;
  }

  void agree(const Readers &readers) const {
    ArrayRef<GroupOp> groups = readers.groups;
    std::set<int64_t> widths;
    for (GroupOp group : groups)
      widths.insert(columnsOf(group));
    if (widths.size() == 1)
      return;
    for (GroupOp group : groups)
      for (const schedule::Plan &plan :
           schedule::lookupStrategy(group.getStrategy())
               ->plans({group, *target}))
        widths.insert(plan.number(columnsKey));
    std::map<int64_t, SmallVector<std::pair<schedule::Plan, double>>> plans;
    double least = 0, toRead = cyclesToRead(readers.weights);
    for (int64_t width : widths)
      for (GroupOp group : groups) {
        plans[width].push_back(planOfWidth(group, width));
        double &cost = plans[width].back().second;
        cost = std::max(cost, toRead);
      }
    const SmallVector<std::pair<schedule::Plan, double>> *best = nullptr;
    for (const auto &[width, own] : plans) {
      double sum = 0;
      bool isPossible = true;
      for (auto [group, found] : llvm::zip(groups, own)) {
        size_t index = &found - own.begin();
        double alone = plans[columnsOf(group)][index].second;
        isPossible &= found.second <= mostLoss * alone &&
                      found.first.number(columnsKey) == width;
        sum += found.second;
      }
      if (isPossible && (!best || sum < least)) {
        best = &own;
        least = sum;
      }
    }
    if (best)
      for (auto [group, found] : llvm::zip(groups, *best))
        GroupOp(group).setPlanAttr(found.first.attribute());
  }

  const TargetDescription *target = nullptr;
  /// The total size in bytes of the weights that any group packs; weights that
  /// several groups share count once.
  int64_t bytesOfAll = 0;
};

} // namespace
} // namespace ingot::decide
