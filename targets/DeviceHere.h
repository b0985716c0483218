// Detects whether this machine has the GPU that a target is for.

#ifndef INGOT_TARGETS_DEVICEHERE_H
#define INGOT_TARGETS_DEVICEHERE_H

namespace ingot {

struct TargetDescription;

/// Whether the first GPU of this machine runs the code of a target for GPUs, and
/// a compiler for it is installed. Returns false if EMULATED_GPU is set in the
/// environment.
bool hasDeviceFor(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_DEVICEHERE_H
