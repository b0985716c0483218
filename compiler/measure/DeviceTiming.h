// Times the kernel calls (launches) of a model on a GPU of this machine.

#ifndef INGOT_COMPILER_MEASURE_DEVICETIMING_H
#define INGOT_COMPILER_MEASURE_DEVICETIMING_H

#include "compiler/Compile.h"

namespace ingot {

struct DeviceTimes {
  /// The launches of a run, in the order of execution: begin and end in
  /// microseconds since the first one began. Launches do not overlap.
  using Run = std::vector<std::pair<double, double>>;
  std::vector<Run> runs;
  /// The microseconds of whole runs, whose launches are submitted as one graph.
  std::vector<double> wholeRuns;
};

/// Builds a program that runs the model on the GPU of this machine, with the
/// target's compiler or the compiler in the options, and times whole runs for
/// `seconds`. `what`, which names the measurement, and `hint`, which says what
/// to do without such a GPU, are texts for diagnostics. Returns nullopt with
/// diagnostics on failure.
std::optional<DeviceTimes> timeOnDevice(Compilation &compilation,
                                        double seconds, llvm::StringRef what,
                                        llvm::StringRef hint);

/// Returns the median microseconds of each launch, with cold caches; empty with
/// diagnostics on failure.
std::vector<double> timeLaunches(Compilation &compilation);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICETIMING_H
