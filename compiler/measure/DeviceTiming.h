// Times the kernel calls (launches) of a model on a GPU of this machine.

#ifndef INGOT_COMPILER_MEASURE_DEVICETIMING_H
#define INGOT_COMPILER_MEASURE_DEVICETIMING_H

#include "compiler/Compile.h"

namespace ingot {

/// Builds a program that runs the model on the GPU of this machine, with the
/// target's compiler or the compiler in the options. Returns the median
/// microseconds of each kernel call, in the order of execution; empty with
/// diagnostics on failure, also if this machine has no such GPU.
std::vector<double> timeLaunches(Compilation &compilation);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICETIMING_H
