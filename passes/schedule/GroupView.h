// What strategies ask about a fusion group.

#ifndef INGOT_PASSES_SCHEDULE_GROUPVIEW_H
#define INGOT_PASSES_SCHEDULE_GROUPVIEW_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::schedule {

/// The operators of one group: a block that ends with a terminator whose
/// operands are the results.
struct GroupView {
  mlir::Block *block;
  /// Whether weights that are known may still be put into the order that a strategy
  /// reads.
  bool packs = true;
  /// Whether kernels should have no scratch memory, since memory is limited.
  bool savesMemory = false;

  mlir::ValueRange results() const {
    return block->getTerminator()->getOperands();
  }
  /// The one operator that is neither elementwise nor a mere movement; null if
  /// there is none or more than one.
  mlir::Operation *anchor() const;
  bool isElementwise() const;
  /// Whether a tensor has a size that is known only at run time.
  bool hasRunTimeSizes() const;
  /// Whether sums keep the order of their terms.
  bool isStrict() const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GROUPVIEW_H
