// Measures how long kernel launches take on a GPU of this machine.

#ifndef INGOT_TARGETS_LAUNCHTIMING_H
#define INGOT_TARGETS_LAUNCHTIMING_H

#include "targets/TargetDescription.h"

namespace ingot {

/// Returns the text of a program that times the launches of the source SOURCE,
/// each RUNS - 1 times, and writes their medians in microseconds to a file, one
/// per line; or "no device", or "other device" with its level if that is not
/// LEVEL, or "failed". NAME, BYTES, LAUNCH and CACHE stand for the model's
/// prefix, the sizes of its tensors, the function that launches all kernels,
/// and the size of the L2 cache. Empty for targets without a GPU.
llvm::StringRef launchTimingText(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_LAUNCHTIMING_H
