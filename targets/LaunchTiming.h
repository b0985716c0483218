// Measures how long kernel launches take on a GPU of this machine.

#ifndef INGOT_TARGETS_LAUNCHTIMING_H
#define INGOT_TARGETS_LAUNCHTIMING_H

#include "targets/TargetDescription.h"

namespace ingot {

/// Returns the text of a program that measures the kernel launches of the
/// generated source SOURCE. The program executes each launch RUNS - 1 times and
/// writes the median times in microseconds to a file, one per line. If the
/// program cannot measure the launches, it writes "no device", "failed", or
/// "other device" with the compute capability of the GPU if that is not LEVEL.
/// Returns an empty text for targets without a GPU.
///
/// The text contains placeholders in capitals: SOURCE, RUNS, LEVEL, NAME (the
/// prefix of the model), BYTES (the sizes of its tensors), LAUNCH (the function
/// that launches all kernels) and CACHE (the size of the L2 cache).
llvm::StringRef launchTimingText(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_LAUNCHTIMING_H
