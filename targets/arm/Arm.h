// The families of Arm targets. Each function appends the targets of a family,
// the least capable first.

#ifndef INGOT_TARGETS_ARM_ARM_H
#define INGOT_TARGETS_ARM_ARM_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Cortex-M microcontrollers: M0+, M3, M4, M7, M33, M55.
void cortexM(std::vector<TargetDescription> &targets);
/// 32-bit application cores (armv7-a).
void armv7(std::vector<TargetDescription> &targets);
/// 64-bit application cores (armv8-a and later).
void aarch64(std::vector<TargetDescription> &targets);

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_ARM_H
