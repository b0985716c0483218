// Counts events of the processor and of the system while code runs, such as
// cycles, instructions and cache misses (perf_event_open of Linux).

#ifndef INGOT_COMPILER_MEASURE_COUNTERS_H
#define INGOT_COMPILER_MEASURE_COUNTERS_H

#include "compiler/report/Diagnostics.h"

#include <memory>

namespace ingot {

class Counters {
public:
  /// Opens counters of this thread and of the threads that it creates later.
  /// Returns null with diagnostics if a name is unknown, or if the machine or
  /// the system does not count the event.
  static std::unique_ptr<Counters> open(llvm::ArrayRef<std::string> names,
                                        Diagnostics &diagnostics);
  ~Counters();
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;

  llvm::ArrayRef<std::string> names() const { return events; }
  /// Returns how often each event has occurred so far, in the order of names().
  std::vector<double> read() const;

private:
  Counters() = default;
  std::vector<std::string> events;
  std::vector<int> files;
};

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_COUNTERS_H
