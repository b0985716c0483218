// How a fusion group becomes loops.
//
// A strategy builds the loops for one kind of group, specialized to its shapes,
// its epilogue and the target. Stage `decide` picks the strategy (the first in
// Strategies.def that matches) and its plan; stage `schedule` builds the code
// that the plan describes.
//
// Words of this folder: a *step* is an index along the reduction (K) dimension
// of a product; a *panel* is some columns of packed weights, contiguous for
// each step; a *tile* is a block of results whose sums stay in registers; a
// *position* is a spatial index of an image; a *part* is the share of one
// thread.

#ifndef INGOT_PASSES_SCHEDULE_STRATEGY_H
#define INGOT_PASSES_SCHEDULE_STRATEGY_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

class Strategy {
public:
  virtual ~Strategy() = default;

  /// The name of the strategy in groups and kernels, as listed in
  /// Strategies.def.
  llvm::StringRef name;
  /// The machines that run its kernels: cores with vectors, devices with blocks
  /// of threads, or both.
  enum class Machine { Core, Device, Any };
  Machine machine = Machine::Any;

  /// Whether the strategy can build this group on this target, which is one of
  /// its machines.
  virtual bool matches(GroupOnTarget group) const = 0;

  /// Describes the entries of the strategy's plans; empty if there is nothing
  /// to choose.
  virtual llvm::ArrayRef<PlanKey> planKeys() const { return {}; }
  /// Returns the plans for a group that matches, at least one: the preferred
  /// plan first, the others by estimated cost.
  virtual llvm::SmallVector<Plan> plans(GroupOnTarget group) const {
    return {Plan()};
  }
  /// Estimates the cycles of a kernel that is built by `plan`; 0 if unknown.
  virtual double cost(GroupOnTarget group, const Plan &plan) const { return 0; }
  /// Returns the bytes of each scratch buffer that a kernel built by `plan`
  /// needs, as far as known before it is built.
  virtual llvm::SmallVector<int64_t> scratchBytes(GroupOnTarget group,
                                                  const Plan &plan) const {
    return {};
  }
  /// Returns the cheapest plan whose scratch buffers take at most `bytes`;
  /// nothing if there is no such plan. By default always returns nothing, for
  /// strategies whose plans are not known to differ in scratch memory.
  virtual std::optional<Plan> planWithin(GroupOnTarget group,
                                         int64_t bytes) const {
    return std::nullopt;
  }
  /// Returns how many result rows are computed together. If a kernel computes
  /// only a range of the rows, and the range begins and ends at multiples of
  /// this number, it rounds the sums like a kernel that computes all rows.
  virtual int64_t rowsTogether(GroupView group, const Plan &plan) const {
    return 1;
  }
  /// Returns why no kernel can be built for a matching group by `plan`, whose
  /// entries are within their bounds; empty if it can be built.
  virtual std::string refuse(GroupOnTarget group, const Plan &plan) const {
    return "";
  }

  /// Returns the operators that a kernel of this strategy computes besides the
  /// group's anchor: `producer` and the operators before it whose results only
  /// operators of the group read. Empty if there are none. `isMember` tells
  /// whether an operator is in the group, `isFree` whether it is in no other
  /// group. `packs` tells whether constant weights can still be packed.
  virtual llvm::SmallVector<mlir::Operation *>
  takes(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree,
        const TargetDescription &target, bool packs) const {
    return {};
  }

  /// Packs the constant weights of a group into the layout that a kernel built
  /// by `plan` reads, unless they are packed already.
  virtual void pack(GroupOnTarget group, const Plan &plan) const {}

  /// Whether the kernel reads `operand` of its group in vectors. Strategies for
  /// matrix products and convolutions override this: they read the left operand
  /// as scalars or 32-bit words, which they broadcast.
  virtual bool readsVectors(GroupOnTarget group,
                            mlir::BlockArgument operand) const {
    return group.target.maxLanes(graph::elementOf(operand)) > 1;
  }

  /// Emits the loops according to `b.plan`.
  virtual void emit(KernelBuilder &b) const = 0;
  /// Whether the strategy supports dynamic sizes.
  virtual bool takesDynamicSizes() const { return false; }
};

/// Returns the first strategy that matches the group. The last strategies match
/// any group.
const Strategy &selectStrategy(GroupOnTarget group);
const Strategy *lookupStrategy(llvm::StringRef name);

/// Returns the result of Strategy::takes of the first strategy that takes
/// operators around `producer`; empty if none does.
llvm::SmallVector<mlir::Operation *>
furtherAnchors(mlir::Operation *producer,
               llvm::function_ref<bool(mlir::Operation *)> isMember,
               llvm::function_ref<bool(mlir::Operation *)> isFree,
               const TargetDescription &target, bool packs);

/// Sets the strategy of a group to the first one that matches, and the plan to
/// the first one that this strategy offers.
void decideStrategy(graph::GroupOp group, const TargetDescription &target,
                    bool packs = true, bool savesMemory = false);

/// Returns Strategy::scratchBytes for a group's strategy and plan.
llvm::SmallVector<int64_t> scratchBytes(graph::GroupOp group,
                                        const TargetDescription &target);

/// Replaces a group's plan by one that needs at most `bytes` of scratch memory
/// (Strategy::planWithin). Returns the additional estimated cycles, or nothing
/// if there is no such plan.
std::optional<double> limitScratch(graph::GroupOp group, int64_t bytes,
                                   const TargetDescription &target);

/// Returns the constant operand of the anchor that strategies may repack for
/// their kernels; null if there is none.
mlir::OpOperand *packableWeights(mlir::Operation *anchor,
                                 const TargetDescription &target);

/// Returns why a group or kernel cannot be built by its strategy and plan;
/// empty if it can.
std::string refusal(GroupOnTarget group, llvm::StringRef strategy,
                    mlir::DictionaryAttr plan);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_STRATEGY_H
