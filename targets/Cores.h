// Processors whose costs kernels can be chosen by.
//
// A target says what instructions there are, and its own rates are a compromise of the
// processors that have them. A core has the same instructions and rates of its own:
// `armv8-a:cortex-a53` is the target armv8-a whose plans are chosen for that core.

#ifndef INGOT_TARGETS_CORES_H
#define INGOT_TARGETS_CORES_H

#include "targets/TargetDescription.h"

namespace ingot {

struct Core {
  llvm::StringRef name, summary;
  /// Of the targets that it runs.
  llvm::StringRef family;
  IssueRates rates;
  int64_t l1Bytes = 0, l2Bytes = 0;
};

/// All of them, those of a family from less to more able.
llvm::ArrayRef<Core> allCores();

/// The target with the costs of one of its family's cores: known by `lookupTarget` as
/// TARGET:CORE. Null if there is no such core.
const TargetDescription *tunedFor(const TargetDescription &target,
                                  llvm::StringRef core);

} // namespace ingot

#endif // INGOT_TARGETS_CORES_H
