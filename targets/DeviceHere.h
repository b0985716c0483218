// Whether this machine has the device that a target is for.

#ifndef INGOT_TARGETS_DEVICEHERE_H
#define INGOT_TARGETS_DEVICEHERE_H

namespace ingot {

struct TargetDescription;

/// True if the target's code runs on the first device of this machine, and a compiler
/// for it is installed; never where EMULATED_GPU is set in the environment.
bool isDeviceHere(const TargetDescription &target);

} // namespace ingot

#endif // INGOT_TARGETS_DEVICEHERE_H
