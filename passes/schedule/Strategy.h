// How a fusion group becomes loops.
//
// A strategy builds the loops of one kind of group for its very shapes, its
// epilogue and the target. `decide` asks which one takes a group (the first in
// Strategies.def that matches) and by which plan; `schedule` has it build the
// code that the plan describes.

#ifndef INGOT_PASSES_SCHEDULE_STRATEGY_H
#define INGOT_PASSES_SCHEDULE_STRATEGY_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

class Strategy {
public:
  virtual ~Strategy() = default;

  /// What groups and kernels call it, as Strategies.def says.
  llvm::StringRef name;

  /// Whether it takes this group on this target.
  virtual bool matches(GroupView group,
                       const TargetDescription &target) const = 0;

  /// What its plans hold; nothing where there is nothing to choose.
  virtual llvm::ArrayRef<PlanKey> planKeys() const { return {}; }
  /// The plans for a group that it takes, at least one and the one to use first;
  /// the others by what they are estimated to cost.
  virtual llvm::SmallVector<Plan> plans(GroupView group,
                                        const TargetDescription &target) const {
    return {Plan()};
  }
  /// Estimates the cycles that a group takes by a plan; 0 where nothing is known.
  virtual double cost(GroupView group, const Plan &plan,
                      const TargetDescription &target) const {
    return 0;
  }
  /// Returns the bytes of each buffer that a kernel by this plan needs while it runs, as
  /// far as that is known before it is built.
  virtual llvm::SmallVector<int64_t>
  scratchBytes(GroupView group, const Plan &plan,
               const TargetDescription &target) const {
    return {};
  }
  /// Returns the cheapest plan by which a kernel of the group needs at most so many bytes
  /// while it runs; nothing where no plan is known to need less than others.
  virtual std::optional<Plan>
  planWithin(GroupView group, int64_t bytes,
             const TargetDescription &target) const {
    return std::nullopt;
  }
  /// Returns how many rows of the result are computed together: kernels for parts that
  /// begin and end at multiples of as many rows round their sums alike.
  virtual int64_t rowsTogether(GroupView group, const Plan &plan) const {
    return 1;
  }
  /// Says why a group that it takes cannot be built by a plan whose entries are
  /// in their bounds; empty if it can.
  virtual std::string refuse(GroupView group, const Plan &plan,
                             const TargetDescription &target) const {
    return "";
  }

  /// Returns the operators from `producer` on, which only members of a group read,
  /// that a kernel of this strategy computes besides the group's own anchor; empty
  /// if there are none. `isFree`: in no other group.
  virtual llvm::SmallVector<mlir::Operation *>
  takes(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree,
        const TargetDescription &target, bool packs) const {
    return {};
  }

  /// Puts the weights of a group into the order that the kernel reads by this plan,
  /// if they are known and not in that order already.
  virtual void pack(graph::GroupOp group, const Plan &plan,
                    const TargetDescription &target) const {}

  /// Whether the kernel reads an operand of its group in vectors. Left operands of
  /// products are words, or numbers that are copied to all lanes.
  virtual bool readsVectors(GroupView group, mlir::BlockArgument operand,
                            const TargetDescription &target) const {
    return target.maxLanes(graph::elementOf(operand)) > 1;
  }

  /// Builds the loops by `b.plan`.
  virtual void emit(KernelBuilder &b) const = 0;
  /// Whether its loops go as far as sizes at run time say.
  virtual bool takesRunTimeSizes() const { return false; }
  /// Whether it builds kernels for threads of a device.
  virtual bool takesDevices() const { return false; }
};

/// The first strategy that takes the group. The last ones take anything.
const Strategy &selectStrategy(GroupView group,
                               const TargetDescription &target);
const Strategy *lookupStrategy(llvm::StringRef name);

/// What the first strategy takes that takes something: see Strategy::takes.
llvm::SmallVector<mlir::Operation *>
furtherAnchors(mlir::Operation *producer,
               llvm::function_ref<bool(mlir::Operation *)> isMember,
               llvm::function_ref<bool(mlir::Operation *)> isFree,
               const TargetDescription &target, bool packs);

/// Gives a group the strategy that takes it, and its first plan.
void decideStrategy(graph::GroupOp group, const TargetDescription &target,
                    bool packs = true, bool savesMemory = false);

/// What kernels by the plan of a group need while they run: see Strategy::scratchBytes.
llvm::SmallVector<int64_t> scratchBytes(graph::GroupOp group,
                                        const TargetDescription &target);

/// Gives a group another plan where that of its own needs more bytes while it runs:
/// Strategy::planWithin. Returns the cycles that this is estimated to take, or nothing if
/// there is no such plan.
std::optional<double> limitScratch(graph::GroupOp group, int64_t bytes,
                                   const TargetDescription &target);

/// The constant operand that strategies may put into another order for kernels
/// around this anchor; null if there is none.
mlir::OpOperand *packableWeights(mlir::Operation *anchor,
                                 const TargetDescription &target);

/// Says why a group or kernel cannot be built by what was decided for it; empty
/// if it can.
std::string refusal(GroupView group, llvm::StringRef strategy,
                    mlir::DictionaryAttr plan, const TargetDescription &target);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STRATEGY_H
