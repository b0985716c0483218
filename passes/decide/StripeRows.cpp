// Less memory at a time.
//
// Where the arena would be larger than allowed, chains of groups are computed
// stripe by stripe: some rows of the last result, from the rows of all results
// before it that these need. Rows at the borders of stripes are computed twice.
//
//   %1 = group(%x) { conv }          %a = slice %x  // rows
//   %2 = group(%1) { depthwise } ->  %b = group(%a) { conv }
//                                    %c = group(%b) { depthwise }
//                                    ...            // the next rows
//                                    %2 = concat %c, ...
//
// The slices are views and the concatenation is in place. Equal stripes become
// one kernel later on. Stripes run from the first row on or from the last one,
// in turn, so that results creep over inputs in both directions. The module
// gets ingot.macs_recomputed. Groups that are chains already (ChainRows.cpp) stay
// such where the arena has room for what these need.
//
// Before, groups are put into an order with less alive beyond what is allowed
// (plan/OrderLaunches.h): a chain can only be of groups that follow one another.

#include "dialects/graph/ops/Movement.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/decide/ChainRows.h"
#include "passes/decide/Passes.h"
#include "passes/decide/StripePlan.h"
#include "passes/plan/Buffers.h"
#include "passes/plan/OrderLaunches.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Plan.h"
#include "passes/schedule/RowChain.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_STRIPEROWS
#include "passes/decide/Passes.h.inc"

Value buildStripes(const Chain &chain, bool fromEnd,
                   const TargetDescription &target, PlacePart place) {
  GroupOp end = chain.groups.back();
  OpBuilder builder(end);
  int64_t rows = shapeOf(end.getResult(0))[1];
  int64_t stripes = llvm::divideCeil(rows, chain.height);
  SmallVector<Value> parts(stripes);
  for (int64_t n = 0; n < stripes; ++n) {
    int64_t k = fromEnd ? stripes - 1 - n : n;
    std::optional<SmallVector<OperandRows>> reads;
    std::vector<Rows> needed = *rowsOfStripe(
        chain.groups,
        {k * chain.height, std::min(rows, (k + 1) * chain.height)},
        [&](GroupOp group, Rows its) -> auto & {
          return reads = operandRows(group, its);
        });
    llvm::DenseMap<Value, std::pair<Value, Rows>> made;
    for (auto [group, its] : llvm::zip(chain.groups, needed)) {
      GroupOp built =
          buildForRows(builder, group, its, target,
                       [&, group = group](const OperandRows &read) -> Value {
                         Value input = group->getOperand(read.operand);
                         if (read.axis < 0)
                           return place ? place(builder, read, input) : input;
                         int64_t begin = read.rows.begin;
                         if (auto it = made.find(input); it != made.end()) {
                           input = it->second.first;
                           begin -= it->second.second.begin;
                         }
                         Value part = slice(builder, group->getLoc(), input,
                                            read.axis, begin, read.rows.size());
                         return place ? place(builder, read, part) : part;
                       });
      made[group->getResult(0)] = {built.getResult(0), its};
      parts[k] = built.getResult(0);
    }
  }
  Value whole = parts.size() == 1
                    ? parts[0]
                    : ConcatOp::create(builder, end.getLoc(), parts, 1);
  end.getResult(0).replaceAllUsesWith(whole);
  for (GroupOp group : llvm::reverse(chain.groups))
    group->erase();
  return whole;
}

namespace {

struct StripeRowsPass : impl::StripeRowsBase<StripeRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function.isPublic())
        stripe(function);
  }

private:
  void stripe(func::FuncOp main) {
    int64_t least = arenaOf(main);
    if (least <= maxBytes)
      return;
    for (auto group : llvm::make_early_inc_range(main.getOps<GroupOp>()))
      if (schedule::RowChain::of({&group.getBody().front()}))
        separateStages(group);
    least = arenaOf(main);
    if (least <= maxBytes)
      return;
    plan::orderGroups(main, maxBytes);
    least = arenaOf(main);
    if (least <= maxBytes)
      return;
    // The plan is an estimate: what it comes to is measured, and the limit
    // lowered by what it was off.
    int64_t limit = maxBytes, step = 0;
    OwningOpRef<func::FuncOp> best;
    StripePlanner planner(main, alignment);
    std::vector<Chain> before;
    for (int attempt = 0; attempt < 16 && limit > 0; ++attempt, limit -= step) {
      int64_t reached = std::numeric_limits<int64_t>::max();
      std::vector<Chain> chains = planner.plan(limit);
      if (chains.empty())
        break;
      if (llvm::equal(chains, before, [](const Chain &a, const Chain &b) {
            return a.groups == b.groups && a.height == b.height;
          }))
        continue;
      before = chains;
      // Which directions leave fewer gaps is not known before.
      for (bool inTurn : {true, false}) {
        IRMapping mapping;
        OwningOpRef<func::FuncOp> trial(main.clone(mapping));
        // Strategies ask the module how strict it is.
        getOperation().push_back(*trial);
        buildAll(chains, mapping, inTurn);
        int64_t bytes = arenaOf(*trial);
        reached = std::min(reached, bytes);
        if (bytes < least) {
          least = bytes;
          best = std::move(trial);
        }
        if (bytes <= maxBytes)
          break;
      }
      if (reached <= maxBytes)
        break;
      step = std::max<int64_t>(
          {(reached - maxBytes) / 4, maxBytes / 64, alignment});
    }
    if (!best)
      return;
    int64_t recomputed = multiplyAdds(*best) - multiplyAdds(main);
    main.getBody().takeBody(best->getBody());
    main->setAttr(kernel::kMacsRecomputedAttr,
                  Builder(&getContext()).getI64IntegerAttr(recomputed));
  }

  void buildAll(std::vector<Chain> chains, const IRMapping &mapping,
                bool inTurn) const {
    llvm::DenseMap<Value, bool> builtFromEnd;
    for (Chain &chain : chains) {
      // In the copy.
      for (GroupOp &group : chain.groups)
        group = mapping.lookup(group.getResult(0)).getDefiningOp<GroupOp>();
      Value input;
      if (OpOperand *read = chain.input)
        input = mapping.lookup(read->getOwner()->getResult(0))
                    .getDefiningOp()
                    ->getOperand(read->getOperandNumber());
      auto before = builtFromEnd.find(rootOf(input));
      bool fromEnd = inTurn && before != builtFromEnd.end() && !before->second;
      builtFromEnd[buildStripes(chain, fromEnd, *lookupTarget(targetName))] =
          fromEnd;
    }
  }

  /// The tensor that a view is of.
  static Value rootOf(Value v) {
    while (v && isa_and_nonnull<ReshapeOp, SliceOp>(v.getDefiningOp()))
      v = v.getDefiningOp()->getOperand(0);
    return v;
  }

  int64_t arenaOf(func::FuncOp function) const {
    plan::Buffers buffers(function);
    auto requests = buffers.requests(alignment, nullptr);
    for (auto [time, op] : llvm::enumerate(buffers.steps()))
      if (auto group = dyn_cast<GroupOp>(op))
        if (auto chain = schedule::RowChain::of({&group.getBody().front()})) {
          int64_t parts = schedule::Plan(group.getPlanAttr()).number("parts"),
                  step = static_cast<int64_t>(time);
          for (int64_t bytes : chain->scratchBytes())
            requests.push_back(
                {static_cast<int64_t>(llvm::alignTo(parts * bytes, alignment)),
                 step, step});
        }
    return plan::planArena(requests, alignment).bytes;
  }

  static int64_t multiplyAdds(func::FuncOp function) {
    int64_t sum = 0;
    for (GroupOp group : function.getOps<GroupOp>())
      sum += schedule::multiplyAddsOf(
          schedule::GroupView{&group.getBody().front()});
    return sum;
  }
};

} // namespace
} // namespace ingot::decide
