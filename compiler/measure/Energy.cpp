// /sys/class/powercap contains a folder intel-rapl:N for each processor package
// (of Intel or AMD), with these files: `name` (package-0), `energy_uj` (a
// counter of microjoules, which the processor updates about every millisecond),
// and `max_energy_range_uj` (the value after which the counter restarts). The
// counter of a package includes its domains, such as cores (intel-rapl:N:M).

#include "compiler/measure/Energy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace ingot {

/// Returns the text of a file in /sys; nullopt if it cannot be read.
static std::optional<std::string> textOf(const std::string &file) {
  auto buffer = MemoryBuffer::getFileAsStream(file);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().trim().str();
}

static std::optional<uint64_t> numberOf(const std::string &file) {
  std::optional<std::string> text = textOf(file);
  uint64_t number = 0;
  if (!text || StringRef(*text).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

std::optional<EnergyMeter> EnergyMeter::find(StringRef folder) {
  EnergyMeter meter;
  std::error_code error;
  for (sys::fs::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    // Skips a second folder of the same package, intel-rapl-mmio:N.
    if (!sys::path::filename(entry->path()).starts_with("intel-rapl:"))
      continue;
    std::optional<std::string> name = textOf(entry->path() + "/name");
    if (!name || !StringRef(*name).starts_with("package"))
      continue;
    Counter counter{entry->path() + "/energy_uj"};
    std::optional<uint64_t> range =
        numberOf(entry->path() + "/max_energy_range_uj");
    if (!range || !numberOf(counter.file))
      continue;
    counter.range = *range;
    meter.counters.push_back(std::move(counter));
  }
  if (meter.counters.empty())
    return std::nullopt;
  return meter;
}

void EnergyMeter::start() {
  startTime = std::chrono::steady_clock::now();
  for (Counter &counter : counters)
    counter.atStart = numberOf(counter.file).value_or(0);
}

void EnergyMeter::stop() {
  for (const Counter &counter : counters) {
    uint64_t now = numberOf(counter.file).value_or(counter.atStart);
    uint64_t used = now - counter.atStart;
    if (now < counter.atStart)
      used += counter.range;
    joules += double(used) * 1e-6;
  }
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                           startTime)
                 .count();
}

} // namespace ingot
