// How long launches take on a device of this machine.

#ifndef INGOT_COMPILER_MEASURE_DEVICERACE_H
#define INGOT_COMPILER_MEASURE_DEVICERACE_H

#include "compiler/Compile.h"

namespace ingot {

/// Builds the model with the target's compiler, or the one that its options name, in a
/// program that runs it on the device of this machine; returns the median microseconds of
/// each launch, in the order of launches. None with diagnostics: also if there is no
/// such device.
std::vector<double> timeLaunches(Compilation &compilation);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICERACE_H
