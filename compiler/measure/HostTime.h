// Predicts the time of kernels on this machine, and a lower bound of the time.
//
// The rates (clock, bandwidth of each memory level) are measured on this
// machine; the work of a kernel is estimated from the plan of its loops (tile
// sizes, order). A prediction that is far off means that a plan was chosen by a
// wrong estimate; a measured time far above the lower bound shows potential for
// improvement.

#ifndef INGOT_COMPILER_MEASURE_HOSTTIME_H
#define INGOT_COMPILER_MEASURE_HOSTTIME_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/schedule/GroupView.h"
#include "targets/TargetDescription.h"

#include <vector>

namespace ingot {

/// The performance of one core of this machine, each value the best of a few
/// short measurements.
struct HostRates {
  double cyclesPerSecond = 0;
  /// Multiply-add instructions on the target's widest vectors per cycle; 0 if
  /// not measured.
  double multiplyAdds = 0;
  /// Bytes per second read from the L2 cache, from the shared cache, and from
  /// memory; and the size of the shared cache.
  double ownCacheBytes = 0, sharedBytes = 0, memoryBytes = 0;
  int64_t sharedCacheBytes = 0;
};

/// Measures the rates of this machine, for about 0.3 seconds.
HostRates measureHost(const TargetDescription &target);

/// Returns the estimated cycles of a group's operators, with all data in the L1
/// cache, if the strategy `name` (a way to build loops) builds their loops with
/// the parameters `plan`; and the least cycles that the group's contractions
/// take at peak rate.
std::pair<double, double> issueCycles(schedule::GroupOnTarget group,
                                      llvm::StringRef name,
                                      mlir::DictionaryAttr plan);

struct HostTime {
  /// The predicted time, and a lower bound of the time: the time of all
  /// multiply-adds at peak rate, or that of all reads and writes at the rates
  /// of the caches and of memory, whichever is longer.
  double seconds = 0, limit = 0;
  /// The limiting resource: "issue", "cache", "shared cache", "memory".
  llvm::StringRef bound;
};

/// Predicts the time of each kernel call of a module after stage Lower; returns
/// pairs of kernel name and time.
std::vector<std::pair<std::string, HostTime>>
predictLaunches(mlir::ModuleOp lowered, const TargetDescription &target,
                const HostRates &rates);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_HOSTTIME_H
