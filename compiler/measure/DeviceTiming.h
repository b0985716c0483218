// Times the launches of a model on a device of this machine.

#ifndef INGOT_COMPILER_MEASURE_DEVICETIMING_H
#define INGOT_COMPILER_MEASURE_DEVICETIMING_H

#include "compiler/Compile.h"

namespace ingot {

/// Builds the model in a program that runs it on this machine's device, with
/// the target's compiler or the one in its options. Returns the median
/// microseconds per launch, in order; empty with diagnostics on failure, also
/// if there is no such device.
std::vector<double> timeLaunches(Compilation &compilation);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICETIMING_H
