// Processor cores for which plans can be chosen.
//
// A target says which instructions exist; its rates are a compromise among the
// processors that have them. A core has the same instructions with rates of its
// own: `armv8-a:cortex-a53` is the target armv8-a with plans chosen for that
// core.

#ifndef INGOT_TARGETS_CORES_H
#define INGOT_TARGETS_CORES_H

#include "targets/TargetDescription.h"

namespace ingot {

struct Core {
  llvm::StringRef name, summary;
  /// The family of targets (TargetDescription::family) whose code the core
  /// runs.
  llvm::StringRef family;
  IssueRates rates;
  int64_t l1Bytes = 0, l2Bytes = 0;
};

/// Returns all cores; those of a family from the least to the most capable.
llvm::ArrayRef<Core> allCores();

} // namespace ingot

#endif // INGOT_TARGETS_CORES_H
