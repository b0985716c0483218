// What a kernel should take on the machine that compiles, and what it takes at least.
//
// The rates are those that the machine shows when it is asked (clock, bytes from each
// memory level), the work is what strategies estimate of their plans. A prediction that
// is far off says that a plan was chosen by a wrong estimate; a small share of the limit
// says where there is something to win.

#ifndef INGOT_COMPILER_MEASURE_HOSTTIME_H
#define INGOT_COMPILER_MEASURE_HOSTTIME_H

#include "mlir/IR/BuiltinOps.h"
#include "targets/TargetDescription.h"

#include <vector>

namespace ingot {

/// What one core of this machine does, each as the best of a few short measurements.
struct HostRates {
  double cyclesPerSecond = 0;
  /// Multiply-adds of the target's widest vectors per cycle; 0: not measured.
  double multiplyAdds = 0;
  /// Bytes per second that are read from the second cache, from behind it, and from
  /// memory, and how many bytes the caches hold that are not the core's own.
  double nearBytes = 0, sharedBytes = 0, memoryBytes = 0;
  int64_t sharedCacheBytes = 0;
};

/// Measures for about 0.3 seconds.
HostRates measureHost(const TargetDescription &target);

struct HostTime {
  /// Predicted, and what the fastest resource needs at least: multiply-adds at the peak of
  /// their kind, or bytes, each read or written once.
  double seconds = 0, limit = 0;
  /// What takes most: "issue", "cache", "shared cache", "memory".
  llvm::StringRef bound;
};

/// Predicts the launches of a module that is lowered and not yet scheduled, by the name of
/// the kernel.
std::vector<std::pair<std::string, HostTime>>
predictLaunches(mlir::ModuleOp lowered, const TargetDescription &target,
                const HostRates &rates);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_HOSTTIME_H
