#include "compiler/measure/Counters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>

#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace llvm;

namespace ingot {

#if __has_include(<linux/perf_event.h>)

namespace {
struct Event {
  StringLiteral name;
  uint32_t type;
  uint64_t config;
};
} // namespace

static constexpr Event kEvents[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"cpu-ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

/// Opens a counter. Returns its file descriptor, or -1 with errno set.
static int openCounter(const Event &event) {
  perf_event_attr attribute = {};
  attribute.size = sizeof attribute;
  attribute.type = event.type;
  attribute.config = event.config;
  attribute.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attribute.inherit = 1;
  // Programs without privileges must not count events in the kernel of the
  // operating system.
  attribute.exclude_kernel = attribute.exclude_hv = 1;
  return int(syscall(SYS_perf_event_open, &attribute, /*pid=*/0, /*cpu=*/-1,
                     /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
}

/// Reports why the system does not count the event `name`.
static void reportRefusal(StringRef name, int error, Diagnostics &diagnostics) {
  if (error == EACCES || error == EPERM) {
    std::string level = "unknown";
    if (auto file = MemoryBuffer::getFileAsStream(
            "/proc/sys/kernel/perf_event_paranoid"))
      level = (*file)->getBuffer().trim().str();
    diagnostics.report(DiagnosticId::RunFailed,
                       "--counters: the system does not allow this user to "
                       "count `" +
                           name + "` (kernel.perf_event_paranoid is " + level +
                           ")",
                       "allow it by `sysctl kernel.perf_event_paranoid=2`; a "
                       "container also needs the capability CAP_PERFMON");
    return;
  }
  diagnostics.report(
      DiagnosticId::RunFailed,
      "--counters: this machine does not count `" + name + "`",
      "virtual machines often have no counters of the processor; `page-faults` "
      "and `cpu-ns` are counted on any Linux");
}

std::unique_ptr<Counters> Counters::open(ArrayRef<std::string> names,
                                         Diagnostics &diagnostics) {
  std::unique_ptr<Counters> counters(new Counters);
  for (StringRef name : names) {
    const Event *known = find_if(
        kEvents, [&](const Event &event) { return event.name == name; });
    if (known == std::end(kEvents)) {
      diagnostics.report(DiagnosticId::BadOption,
                         "--counters: unknown event `" + printable(name) +
                             "` (choose " +
                             join(map_range(kEvents,
                                            [](const Event &event) {
                                              return event.name.str();
                                            }),
                                  ", ") +
                             ")");
      continue;
    }
    int file = openCounter(*known);
    if (file < 0) {
      reportRefusal(name, errno, diagnostics);
      continue;
    }
    counters->events.push_back(name.str());
    counters->files.push_back(file);
  }
  return counters->files.size() == names.size() ? std::move(counters) : nullptr;
}

Counters::~Counters() {
  for (int file : files)
    close(file);
}

std::vector<double> Counters::read() const {
  std::vector<double> counts;
  for (int file : files) {
    struct {
      uint64_t count, enabled, running;
    } value = {};
    if (::read(file, &value, sizeof value) != sizeof value || !value.running) {
      counts.push_back(0);
      continue;
    }
    // If more events are open than the processor can count at a time, the
    // system counts each only for a part of the time. So the count is
    // extrapolated to the whole time.
    counts.push_back(double(value.count) * double(value.enabled) /
                     double(value.running));
  }
  return counts;
}

#else

std::unique_ptr<Counters> Counters::open(ArrayRef<std::string>,
                                         Diagnostics &diagnostics) {
  diagnostics.report(DiagnosticId::RunFailed,
                     "--counters: only Linux counts events for a program");
  return nullptr;
}

Counters::~Counters() = default;

std::vector<double> Counters::read() const { return {}; }

#endif

} // namespace ingot
