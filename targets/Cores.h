// Processor cores for which plans (tile sizes and loop orders of kernels) can
// be chosen.
//
// The description of a target states which instructions exist; its issue rates
// are a compromise among the processors that have these instructions. A core is
// one such processor, with its own rates: `armv8-a:cortex-a53` is the target
// armv8-a with plans chosen for Cortex-A53.

#ifndef INGOT_TARGETS_CORES_H
#define INGOT_TARGETS_CORES_H

#include "targets/TargetDescription.h"

namespace ingot {

struct Core {
  llvm::StringRef name, summary;
  /// The family (TargetDescription::family) of the targets whose code the core
  /// executes.
  llvm::StringRef family;
  IssueRates rates;
  int64_t l1Bytes = 0, l2Bytes = 0;
};

/// Returns all cores. Cores of the same family are in order, from the least to
/// the most capable.
llvm::ArrayRef<Core> allCores();

} // namespace ingot

#endif // INGOT_TARGETS_CORES_H
