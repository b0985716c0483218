// Reads how much energy the processor uses, by the counters of Linux (RAPL).

#ifndef INGOT_COMPILER_MEASURE_ENERGY_H
#define INGOT_COMPILER_MEASURE_ENERGY_H

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// The energy of all processor packages of this machine, which includes that of
/// other programs and of idle cores.
class EnergyMeter {
public:
  /// Finds the counters in `folder` (Linux: /sys/class/powercap); nothing if
  /// there are none, or if this user must not read them.
  static std::optional<EnergyMeter> find(llvm::StringRef folder);

  /// Begin and end a period; there may be several, one after the other.
  void start();
  void stop();
  /// The energy and the length of all periods.
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
