#include "passes/schedule/Strategy.h"

#include "passes/schedule/Anchors.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/tiles/ChannelStream.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

#define INGOT_STRATEGY(CLASS, NAME, MACHINE)                                   \
  std::unique_ptr<Strategy> create##CLASS##Strategy();
#include "passes/schedule/Strategies.def"
#undef INGOT_STRATEGY

static ArrayRef<std::unique_ptr<Strategy>> strategies() {
  static const std::vector<std::unique_ptr<Strategy>> all = [] {
    std::vector<std::unique_ptr<Strategy>> v;
#define INGOT_STRATEGY(CLASS, NAME, MACHINE)                                   \
  v.push_back(create##CLASS##Strategy());                                      \
  v.back()->name = NAME;                                                       \
  v.back()->machine = Strategy::Machine::MACHINE;
#include "passes/schedule/Strategies.def"
#undef INGOT_STRATEGY
    return v;
  }();
  return all;
}

/// Whether the target is one of the strategy's machines.
static bool isFor(const Strategy &strategy, const TargetDescription &target) {
  return strategy.machine == Strategy::Machine::Any ||
         strategy.machine == modelOf(target).machine;
}

const Strategy &selectStrategy(GroupOnTarget group) {
  bool atRunTime = group.hasDynamicSizes();
  for (const auto &strategy : strategies())
    if ((strategy->takesDynamicSizes() || !atRunTime) &&
        isFor(*strategy, group.target) && strategy->matches(group))
      return *strategy;
  llvm_unreachable("the loop nest takes any group");
}

const Strategy *lookupStrategy(StringRef name) {
  for (const auto &strategy : strategies())
    if (strategy->name == name)
      return strategy.get();
  return nullptr;
}

SmallVector<Operation *>
furtherAnchors(Operation *producer,
               llvm::function_ref<bool(Operation *)> isMember,
               llvm::function_ref<bool(Operation *)> isFree,
               const TargetDescription &target, bool packs) {
  for (const auto &strategy : strategies())
    if (isFor(*strategy, target))
      if (SmallVector<Operation *> taken =
              strategy->takes(producer, isMember, isFree, target, packs);
          !taken.empty())
        return taken;
  return {};
}

OpOperand *packableWeights(Operation *anchor, const TargetDescription &target) {
  auto product = dyn_cast<MatMulOp>(anchor);
  auto conv = dyn_cast<ConvOp>(anchor);
  bool takes = isFusableConvolution(anchor, /*packs=*/true) ||
               isa<NarrowMatMulOp>(anchor) ||
               (conv && (ChannelStream::of(conv, target) ||
                         filtersInBlocks(conv, target) ||
                         multipliesInGroups(conv, target))) ||
               (product && shapeOf(product.getB()).size() == 2 &&
                (isa<Float32Type, Float64Type>(elementOf(product.getB())) ||
                 dotForm(product, target)));
  return takes && mayBeInPanels(anchor->getOperand(1), /*packs=*/true)
             ? &anchor->getOpOperand(1)
             : nullptr;
}

void decideStrategy(GroupOp group, const TargetDescription &target, bool packs,
                    bool savesMemory) {
  GroupOnTarget view({group, packs, savesMemory}, target);
  const Strategy &strategy = selectStrategy(view);
  group.setStrategy(strategy.name);
  if (DictionaryAttr plan = strategy.plans(view).front().attribute())
    group.setPlanAttr(plan);
  else
    group.removePlanAttr();
}

SmallVector<int64_t> scratchBytes(GroupOp group,
                                  const TargetDescription &target) {
  const Strategy *strategy = lookupStrategy(group.getStrategy());
  if (!strategy)
    return {};
  return strategy->scratchBytes({group, target}, Plan(group.getPlanAttr()));
}

std::optional<double> limitScratch(GroupOp group, int64_t bytes,
                                   const TargetDescription &target) {
  GroupOnTarget view(group, target);
  const Strategy *strategy = lookupStrategy(group.getStrategy());
  auto plan =
      strategy ? strategy->planWithin(view, bytes) : std::optional<Plan>();
  if (!plan)
    return std::nullopt;
  double before = strategy->cost(view, Plan(group.getPlanAttr()));
  group.setPlanAttr(plan->attribute());
  return strategy->cost(view, *plan) - before;
}

std::string refusal(GroupOnTarget group, StringRef name, DictionaryAttr plan) {
  const Strategy *strategy = lookupStrategy(name);
  if (!strategy)
    return "the strategy '" + name.str() + "' is unknown";
  if (!isFor(*strategy, group.target) || !strategy->matches(group))
    return "the strategy '" + name.str() +
           "' does not support this computation on the target '" +
           group.target.name.str() + "'";
  std::string why = checkKeys(plan, strategy->planKeys());
  return why.empty() ? strategy->refuse(group, Plan(plan)) : why;
}

} // namespace ingot::schedule
