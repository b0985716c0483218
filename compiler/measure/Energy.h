// Measures the energy that the processor uses, with Linux's RAPL counters.

#ifndef INGOT_COMPILER_MEASURE_ENERGY_H
#define INGOT_COMPILER_MEASURE_ENERGY_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// Measures the energy of all processor packages of this machine, which
/// includes the energy for other programs and idle cores.
class EnergyMeter {
public:
  /// Finds the counters in `folder` (Linux: /sys/class/powercap). Returns
  /// nullopt if there are none, or if this user may not read them.
  static std::optional<EnergyMeter> find(llvm::StringRef folder);

  /// Begin and end a measured period. Several periods may follow each other.
  void start();
  void stop();
  /// The energy and the time of all periods together.
  double joules = 0, seconds = 0;

private:
  struct Counter {
    std::string file;
    /// The counter restarts at 0 after this number of microjoules.
    uint64_t range = 0, atStart = 0;
  };
  std::vector<Counter> counters;
  std::chrono::steady_clock::time_point startTime;
};

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_ENERGY_H
