// Vectors of microcontrollers.

#ifndef INGOT_TARGETS_ARM_HELIUM_H
#define INGOT_TARGETS_ARM_HELIUM_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Gives a target the vectors of the M-profile: eight registers of 16 bytes.
void addHelium(TargetDescription &target);

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_HELIUM_H
