// Measures how long kernel launches take on a GPU of this machine.

#ifndef INGOT_TARGETS_LAUNCHTIMING_H
#define INGOT_TARGETS_LAUNCHTIMING_H

#include "targets/TargetDescription.h"

namespace ingot {

/// Returns the text of a program that times the launches of the generated
/// source SOURCE, each RUNS - 1 times, then whole runs for SECONDS. It writes
/// lines to a file: "run" where a run begins, "launch BEGIN END" with
/// microseconds since the first launch of the run, and "whole 0 TIME"; or "no
/// device", or "other device" with the compute capability if this is not LEVEL,
/// or "failed". Words in capitals are placeholders, also COLD (whether the L2
/// cache is cleared before each launch), NAME (the prefix of the model), SIZES
/// (its dynamic sizes, then 0), BYTES (the sizes of its tensors), LAUNCH (the
/// function that launches all kernels) and CACHE (the size of the L2 cache).
/// Empty for targets without a GPU.
llvm::StringRef launchTimingText(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_LAUNCHTIMING_H
