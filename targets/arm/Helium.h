// Helium (MVE), the vectors of Armv8.1-M microcontrollers.

#ifndef INGOT_TARGETS_ARM_HELIUM_H
#define INGOT_TARGETS_ARM_HELIUM_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Adds Helium to a target: eight vector registers of 16 bytes.
void addHelium(TargetDescription &target);

} // namespace ingot::targets

#endif // INGOT_TARGETS_ARM_HELIUM_H
