// The properties of a fusion group that strategies ask for.

#ifndef INGOT_PASSES_SCHEDULE_GROUPVIEW_H
#define INGOT_PASSES_SCHEDULE_GROUPVIEW_H

#include "dialects/graph/GraphDialect.h"

namespace ingot {
struct TargetDescription;
}

namespace ingot::schedule {

/// The operators of a fusion group: a block whose terminator's operands are the
/// results.
struct GroupView {
  GroupView(mlir::Block *block, bool packs = true, bool savesMemory = false)
      : block(block), packs(packs), savesMemory(savesMemory) {}
  GroupView(graph::GroupOp group, bool packs = true, bool savesMemory = false)
      : GroupView(&group.getBody().front(), packs, savesMemory) {}

  mlir::Block *block;
  /// Whether constant weights may still be packed into the layout that a
  /// strategy reads.
  bool packs;
  /// Whether kernels should avoid scratch memory because memory is limited.
  bool savesMemory;

  mlir::ValueRange results() const {
    return block->getTerminator()->getOperands();
  }
  /// Returns the only operator that is not cheap; null if there is none or more
  /// than one. Constants, elementwise operators and pure data movement are
  /// cheap (ElementOpInterface::isCheap).
  mlir::Operation *anchor() const;
  bool isElementwise() const;
  /// Whether a tensor of the group has a dynamic size.
  bool hasDynamicSizes() const;
  /// Whether sums must keep the order of their terms (strict mode).
  bool isStrict() const;
};

/// A fusion group and the target for which its kernel is built.
struct GroupOnTarget : GroupView {
  GroupOnTarget(GroupView group, const TargetDescription &target)
      : GroupView(group), target(target) {}

  const TargetDescription &target;

  /// Returns the group's operation. Valid only before the group has become a
  /// kernel function.
  graph::GroupOp op() const {
    return llvm::cast<graph::GroupOp>(block->getParentOp());
  }
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GROUPVIEW_H
