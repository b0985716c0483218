// How long launches take on a device of this machine.

#ifndef INGOT_TARGETS_LAUNCHTIMING_H
#define INGOT_TARGETS_LAUNCHTIMING_H

#include "targets/TargetDescription.h"

namespace ingot {

/// A program that times the launches of the source SOURCE, each RUNS - 1 times, and writes
/// their medians in microseconds to a file, a line each; or "no device", "other device" with
/// its level where that is not LEVEL, or "failed". The source is that of the model NAME, whose
/// tensors have so many BYTES and whose function LAUNCH starts all kernels; CACHE bytes fill
/// the second cache. Empty where kernels run on the host.
llvm::StringRef launchTimingText(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_LAUNCHTIMING_H
