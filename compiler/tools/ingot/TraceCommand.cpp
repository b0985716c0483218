// The command `ingot trace LOG`.
//
// Converts a log to a timeline. The log was printed, for example on a
// microcontroller's serial port, by a program's trace hook, which the generated
// code calls before and after each kernel. A log has lines of these three
// forms; other lines are ignored:
//
//   ingot-trace clock HZ                ticks per second
//   ingot-trace name KERNEL TEXT        what NAME_kernel_name(kernel) returns
//   ingot-trace KERNEL FINISHED TICKS   a call of the hook
//
// Ticks are 32 bits, or more, and may wrap around.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/measure/Timeline.h"
#include "compiler/tools/ingot/Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace llvm;

namespace ingot {

namespace {
struct Log {
  double clock = 1e6;
  std::map<int32_t, std::string> names;
  struct Call {
    int32_t kernel;
    bool finished;
    uint64_t ticks;
  };
  std::vector<Call> calls;
};
} // namespace

/// Returns the frequency in Hz for a text such as 168M, 32768 or 4.5k; nullopt
/// for an invalid one.
static std::optional<double> readClock(StringRef text) {
  double scale = text.consume_back("G")   ? 1e9
                 : text.consume_back("M") ? 1e6
                 : text.consume_back("k") ? 1e3
                                          : 1;
  double value = 0;
  if (text.getAsDouble(value) || !(value * scale > 0) || value * scale > 1e15)
    return std::nullopt;
  return value * scale;
}

/// Reads one line; returns what is wrong with it, or an empty text.
static std::string readLine(StringRef line, Log &log) {
  size_t at = line.find("ingot-trace ");
  if (at == StringRef::npos)
    return "";
  auto [word, rest] = line.substr(at).split(' ').second.trim().split(' ');
  rest = rest.trim();
  if (word == "clock") {
    std::optional<double> clock = readClock(rest);
    log.clock = clock.value_or(log.clock);
    return clock ? "" : "ticks per second are expected after `clock`";
  }
  int32_t kernel = 0;
  if (word == "name") {
    auto [index, name] = rest.split(' ');
    if (index.getAsInteger(10, kernel) || kernel < 0 || name.empty())
      return "the number of a kernel and its name are expected after `name`";
    log.names[kernel] = name.str();
    return "";
  }
  auto [finished, ticks] = rest.split(' ');
  uint64_t time = 0;
  if (word.getAsInteger(10, kernel) || kernel < 0 ||
      (finished != "0" && finished != "1") ||
      ticks.trim().getAsInteger(10, time))
    return "KERNEL FINISHED TICKS are expected, such as `ingot-trace 3 0 5120`";
  log.calls.push_back({kernel, finished == "1", time});
  return "";
}

/// Pairs the start of each kernel with its end. A new run begins when a kernel
/// starts whose number is not greater than that of the previous kernel.
static std::vector<TimelineEvent> eventsOf(const Log &log) {
  std::vector<TimelineEvent> runs, kernels;
  std::optional<Log::Call> open;
  uint64_t wrapped = 0, last = 0, first = 0;
  int32_t lastKernel = -1;
  for (const Log::Call &call : log.calls) {
    // A 32-bit counter has wrapped around.
    if (call.ticks + wrapped < last && call.ticks < (uint64_t(1) << 32))
      wrapped += uint64_t(1) << 32;
    uint64_t now = std::max(call.ticks + wrapped, last);
    if (&call == log.calls.data())
      first = now;
    last = now;
    auto micro = [&](uint64_t ticks) {
      return double(ticks) * 1e6 / log.clock;
    };
    if (!call.finished) {
      if (call.kernel <= lastKernel || runs.empty())
        runs.push_back({"run " + std::to_string(runs.size() + 1), "run",
                        micro(now - first), 0, ""});
      lastKernel = call.kernel;
      open = {call.kernel, false, now};
      continue;
    }
    // Skips an end without a start: the log may begin in the middle of a
    // kernel, or have lost a line.
    if (!open || open->kernel != call.kernel)
      continue;
    auto known = log.names.find(call.kernel);
    auto [name, nodes] = known == log.names.end()
                             ? std::pair<StringRef, StringRef>()
                             : StringRef(known->second).split(": ");
    kernels.push_back(
        {name.empty() ? "kernel " + std::to_string(call.kernel) : name.str(),
         "kernel", micro(open->ticks - first), micro(now - open->ticks),
         nodes.str()});
    if (!runs.empty())
      runs.back().duration = micro(now - first) - runs.back().start;
    open.reset();
  }
  runs.insert(runs.end(), kernels.begin(), kernels.end());
  return runs;
}

int traceCommand(Arguments &arguments, Diagnostics &diagnostics) {
  StringRef path = arguments.positional[0];
  std::string output = arguments.output;
  if (output.empty())
    output =
        path == "-" ? "trace.json" : (sys::path::stem(path) + ".json").str();
  if (output != "-" && (!checkWritable(output, diagnostics) ||
                        !checkReplaceable(arguments, output, diagnostics)))
    return diagnostics.exitCode();
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    diagnostics.reportFile(DiagnosticId::CannotRead, path,
                           "the file cannot be read: " +
                               buffer.getError().message());
    return diagnostics.exitCode();
  }
  Log log;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i)
    if (std::string fault = readLine(lines[i].rtrim("\r"), log);
        !fault.empty()) {
      diagnostics.reportFile(DiagnosticId::CannotRead, path,
                             "line " + Twine(i + 1) + ", `" +
                                 printable(lines[i], 60) + "`: " + fault,
                             "`ingot help trace` describes the lines");
      return diagnostics.exitCode();
    }
  if (!arguments.clock.empty()) {
    std::optional<double> clock = readClock(arguments.clock);
    if (!clock) {
      diagnostics.report(DiagnosticId::BadOption,
                         "--clock: cannot parse `" +
                             printable(arguments.clock) +
                             "` as ticks per second (example: 168M)");
      return diagnostics.exitCode();
    }
    log.clock = *clock;
  }
  std::vector<TimelineEvent> events = eventsOf(log);
  size_t kernels = count_if(events, [](const TimelineEvent &event) {
    return event.category == "kernel";
  });
  if (kernels == 0) {
    diagnostics.reportFile(
        DiagnosticId::CannotRead, path,
        log.calls.empty() ? "the log contains no call of the trace hook"
                          : "no kernel both begins and ends in the log",
        "print a line `ingot-trace KERNEL FINISHED TICKS` in the hook; see "
        "`ingot help trace`");
    return diagnostics.exitCode();
  }
  if (output == "-")
    printTimeline(path, events, outs());
  else if (Error error = writeFile(output, [&](raw_ostream &os) {
             printTimeline(path, events, os);
           }))
    reportFault(std::move(error), diagnostics);
  else if (!arguments.quiet)
    outs() << "wrote " << output << ": " << kernels << " kernel calls in "
           << events.size() - kernels
           << (events.size() - kernels == 1 ? " run\n" : " runs\n");
  return diagnostics.exitCode();
}

} // namespace ingot
