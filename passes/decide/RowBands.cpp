// Computes chains of groups in row bands to reduce the arena (patch-based
// execution).
//
// If the arena exceeds the limit, chains of groups are computed band by band: a
// band consists of some rows of the chain's result, and of the rows of all
// previous results that are needed for them. Rows that two bands need are
// either recomputed or kept for the next band, whichever costs less
// (RowBandBuilder.cpp, RowBandCosts.cpp).
//
//   %1 = group(%x) { conv }          %a = slice %x  // rows
//   %2 = group(%1) { depthwise } ->  %b = group(%a) { conv }
//                                    %c = group(%b) { depthwise }
//                                    ...            // the next rows
//                                    %2 = concat %c, ...
//
// The bands of a chain are computed from the first row to the last, or from the
// last to the first. If successive chains alternate, results can overwrite
// inputs in both directions; the pass tries this as well as one direction for
// all chains. The attribute kernel.macs_recomputed counts recomputed MACs. If
// the arena exceeds `max-bytes`, groups that ChainRows.cpp has fused are
// separated first.
//
// Before chains are chosen, groups are reordered so that fewer bytes are live
// at steps that exceed the limit (plan/OrderLaunches.h), since a chain consists
// of consecutive groups. Kernels with scratch memory get plans that need less
// of it.
//
// Without a limit (`max-bytes` is 0), the estimated time must not increase: row
// bands may cost time, but also save time, since large results are no longer
// evicted from the caches before they are read. If they do not reduce the arena
// by a large part, nothing changes.

#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/IRMapping.h"
#include "passes/decide/ChainRows.h"
#include "passes/decide/Passes.h"
#include "passes/decide/RowBandPlan.h"
#include "passes/plan/Buffers.h"
#include "passes/plan/OrderLaunches.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/RowChain.h"
#include "passes/schedule/Strategy.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_ROWBANDS
#include "passes/decide/Passes.h.inc"

namespace {

/// Without a limit, row bands are used only if the arena shrinks to this
/// fraction of its size, since they need more kernels.
constexpr double worthShare = 0.75;

struct RowBandsPass : impl::RowBandsBase<RowBandsPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (function.isPublic())
        splitIntoBands(function);
  }

private:
  const TargetDescription &target() const { return *lookupTarget(targetName); }

  void splitIntoBands(func::FuncOp main) {
    int64_t least = arenaOf(main);
    if (maxBytes > 0) {
      if (least <= maxBytes)
        return;
      for (auto group : llvm::make_early_inc_range(main.getOps<GroupOp>()))
        if (schedule::RowChain::of(group))
          separateStages(group);
      return splitIntoBands(main, maxBytes);
    }
    if (least <= target().l2Bytes)
      return;
    // Works on copies of `main`: the new order of the groups is discarded
    // unless row bands are used.
    auto copy = [&] {
      OwningOpRef<func::FuncOp> trial(main.clone());
      getOperation().push_back(*trial);
      return trial;
    };
    int64_t most = planOf(main).lowerBound / 2;
    {
      OwningOpRef<func::FuncOp> ordered = copy();
      plan::orderGroups(*ordered, most);
      plan::ArenaPlan plan = planOf(*ordered);
      least = std::min(least, plan.bytes);
      most = std::min(most, plan.lowerBound / 2);
    }
    OwningOpRef<func::FuncOp> trial = copy();
    splitIntoBands(*trial, most);
    if (double(arenaOf(*trial)) > worthShare * double(least))
      return;
    main.getBody().takeBody(trial->getBody());
    if (Attribute recomputed = (*trial)->getAttr(kernel::kMacsRecomputedAttr))
      main->setAttr(kernel::kMacsRecomputedAttr, recomputed);
  }

  /// Reduces the arena of `main` to `most` bytes, or as close to it as
  /// possible. Without a limit (maxBytes is 0), the estimated time does not
  /// increase.
  void splitIntoBands(func::FuncOp main, int64_t most) {
    int64_t least = arenaOf(main);
    if (least <= most)
      return;
    plan::orderGroups(main, most);
    limitScratch(main, most);
    least = arenaOf(main);
    if (least <= most)
      return;
    Best best{least, nullptr};
    RowBandPlanner planner(main, target());
    build(main, planner, most, most, /*keeps=*/true, best);
    // The planner may overestimate the arena. So a plan for a higher limit may
    // fit into `most` bytes and recompute fewer rows.
    if (maxBytes > 0 &&
        (!best.function || multiplyAdds(*best.function) > multiplyAdds(main))) {
      Best other{least, nullptr};
      build(main, planner, most, most + most / 4, /*keeps=*/true, other);
      if (other.function && other.bytes <= most &&
          (best.bytes > most ||
           multiplyAdds(*other.function) < multiplyAdds(*best.function)))
        best = std::move(other);
    }
    if (maxBytes > 0 && best.bytes > most)
      build(main, planner, most, most, /*keeps=*/false, best);
    if (!best.function)
      return;
    int64_t recomputed = multiplyAdds(*best.function) - multiplyAdds(main);
    main.getBody().takeBody(best.function->getBody());
    if (recomputed > 0)
      main->setAttr(kernel::kMacsRecomputedAttr,
                    Builder(&getContext()).getI64IntegerAttr(recomputed));
  }

  /// The rewritten function with the smallest arena so far, and the bytes of
  /// this arena.
  struct Best {
    int64_t bytes;
    OwningOpRef<func::FuncOp> function;
  };

  /// Builds the row bands that `planner` chooses for a limit of `first` bytes,
  /// then for lower limits as long as the arena exceeds `most` bytes. Stores
  /// the best result in `best`.
  void build(func::FuncOp main, RowBandPlanner &planner, int64_t most,
             int64_t first, bool keeps, Best &best) const {
    // The planner only estimates the arena. If the actual arena exceeds `most`,
    // the limit is lowered. Without maxBytes, this is repeated only if gaps in
    // the arena are the cause.
    int64_t limit = first, step = 0;
    std::vector<Chain> before;
    int attempts = maxBytes > 0 ? 16 : 4;
    for (int attempt = 0; attempt < attempts && limit > 0;
         ++attempt, limit -= step) {
      int64_t reached = std::numeric_limits<int64_t>::max(), bound = reached;
      std::vector<Chain> chains = maxBytes > 0 ? planner.plan(limit, keeps)
                                               : planner.planAtNoCost(limit);
      if (chains.empty())
        break;
      // With maxBytes, the same chains as before are not built again. Without
      // maxBytes, they may give another result, since `limit` also limits the
      // scratch memory of kernels.
      if (maxBytes > 0 &&
          llvm::equal(chains, before,
                      [](const Chain &a, const Chain &b) { return a.isAs(b); }))
        continue;
      before = chains;
      // Computes the bands of each chain from the first row to the last or in
      // reverse, and alternates the direction between chains or not. All
      // combinations are tried, since it is not known in advance which leave
      // fewer gaps in the arena.
      for (auto [inTurn, fromEnd] : {std::pair(true, false),
                                     {false, false},
                                     {true, true},
                                     {false, true}}) {
        IRMapping mapping;
        OwningOpRef<func::FuncOp> trial(main.clone(mapping));
        // The copy is added to the module, since strategies read the module's
        // `strict` attribute.
        main->getParentOfType<ModuleOp>().push_back(*trial);
        buildAll(chains, mapping, inTurn, fromEnd);
        if (limit < most)
          limitScratch(*trial, limit);
        auto [offsets, bytes, alive] = planOf(*trial);
        reached = std::min(reached, bytes);
        bound = std::min(bound, alive);
        if (bytes < best.bytes)
          best = {bytes, std::move(trial)};
        if (bytes <= most)
          break;
      }
      if (reached <= most || (maxBytes == 0 && bound > most))
        break;
      step = std::max<int64_t>(
          {(reached - most) / 4, most / 64, int64_t(target().bufferAlign)});
    }
  }

  /// Makes kernels use less scratch memory where scratch memory and live
  /// buffers together exceed `most` bytes. Without maxBytes, this may increase
  /// the total time by at most one percent.
  void limitScratch(func::FuncOp main, int64_t most) const {
    constexpr double mostOfTime = 0.01;
    double left = std::numeric_limits<double>::infinity();
    if (maxBytes == 0) {
      left = 0;
      for (GroupOp group : main.getOps<GroupOp>())
        left += mostOfTime * double(schedule::cyclesOf({group, target()}));
    }
    plan::Buffers buffers(main);
    auto requests = buffers.requests(target().bufferAlign, nullptr);
    for (auto [time, op] : llvm::enumerate(buffers.steps())) {
      auto group = dyn_cast<GroupOp>(op);
      if (!group)
        continue;
      SmallVector<int64_t> scratch = schedule::scratchBytes(group, target());
      int64_t room = most - plan::aliveAt(requests, time),
              needed =
                  std::accumulate(scratch.begin(), scratch.end(), int64_t(0));
      if (needed <= room || room <= 0)
        continue;
      DictionaryAttr before = group.getPlanAttr();
      double cycles = schedule::limitScratch(group, room, target()).value_or(0);
      if (cycles > left)
        group.setPlanAttr(before);
      else
        left -= cycles;
    }
  }

  void buildAll(std::vector<Chain> chains, const IRMapping &mapping,
                bool inTurn, bool first) const {
    llvm::DenseMap<Value, bool> builtFromEnd;
    for (Chain &chain : chains) {
      // Replaces the groups of the plan by their copies in the copied function.
      for (GroupOp &group : chain.groups)
        group = mapping.lookup(group.getResult(0)).getDefiningOp<GroupOp>();
      Value input;
      if (OpOperand *read = chain.input)
        input = mapping.lookup(read->getOwner()->getResult(0))
                    .getDefiningOp()
                    ->getOperand(read->getOperandNumber());
      auto before = builtFromEnd.find(rootOf(input));
      bool fromEnd =
          inTurn && before != builtFromEnd.end() ? !before->second : first;
      builtFromEnd[buildRowBands(chain, fromEnd, target())] = fromEnd;
    }
  }

  /// Returns the tensor of which `v` is a view.
  static Value rootOf(Value v) {
    while (v && isa_and_nonnull<ReshapeOp, SliceOp>(v.getDefiningOp()))
      v = v.getDefiningOp()->getOperand(0);
    return v;
  }

  int64_t arenaOf(func::FuncOp function) const {
    return planOf(function).bytes;
  }

  plan::ArenaPlan planOf(func::FuncOp function) const {
    int64_t alignment = target().bufferAlign;
    plan::Buffers buffers(function);
    auto requests = buffers.requests(alignment, nullptr);
    for (auto [time, op] : llvm::enumerate(buffers.steps()))
      if (auto group = dyn_cast<GroupOp>(op))
        for (int64_t bytes : schedule::scratchBytes(group, target())) {
          auto step = static_cast<int64_t>(time);
          requests.push_back(
              {int64_t(llvm::alignTo(bytes, alignment)), step, step});
        }
    return plan::planArena(requests, alignment);
  }

  static int64_t multiplyAdds(func::FuncOp function) {
    int64_t sum = 0;
    for (GroupOp group : function.getOps<GroupOp>())
      sum += schedule::multiplyAddsOf(schedule::GroupView(group));
    return sum;
  }
};

} // namespace
} // namespace ingot::decide
