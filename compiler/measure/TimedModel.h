// Times a model and its kernel calls on this machine.
//
// The times of kernel calls come from the trace hook, a function that the
// generated code calls before and after each kernel.

#ifndef INGOT_COMPILER_MEASURE_TIMEDMODEL_H
#define INGOT_COMPILER_MEASURE_TIMEDMODEL_H

#include "compiler/run/DataSets.h"
#include "compiler/run/HostModel.h"
#include "runtime_support/ingot_thread_pool.h"

#include <chrono>

namespace ingot {

/// Statistics of runs in milliseconds.
struct TimeSummary {
  double median = 0, fastest = 0, p90 = 0;
  size_t runs = 0;
};

class TimedModel {
public:
  using Clock = std::chrono::steady_clock;

  /// Builds the model of a compilation for this machine, and runs it twice. The
  /// inputs are random numbers. With CompileOptions::trace, the times of kernel
  /// calls are recorded. Null with diagnostics on failure.
  static std::unique_ptr<TimedModel>
  build(Compilation &compilation, unsigned threads, Diagnostics &diagnostics);

  /// Runs the model for some seconds, once at least.
  void runFor(double seconds);
  TimeSummary summary() const { return summarize(times); }
  /// Returns the statistics of each kernel call, in the order of execution; a
  /// run that did not execute the call counts as 0 ms.
  std::vector<TimeSummary> ofKernels() const;
  static TimeSummary summarize(std::vector<double> times);
  /// Returns a copy of the inputs, with the sizes of the runs.
  InputData inputs() const;

  /// The milliseconds of each run.
  std::vector<double> times;
  /// For each kernel call, in the order of execution: the name of the function,
  /// and the comment on the call in the generated code.
  std::vector<std::string> names;

  /// A kernel call, recorded for a timeline.
  struct Event {
    int32_t kernel;
    Clock::time_point start, end;
  };
  /// The number of events to record, the events, and the starts of their runs.
  size_t wanted = 0;
  std::vector<Event> events;
  std::vector<Clock::time_point> starts;

private:
  explicit TimedModel(unsigned threads) : pool(threads) {}
  static void trace(void *user, int32_t kernel, int32_t finished);

  std::unique_ptr<HostModel> model;
  ThreadPool pool;
  ingot_context hooks{};
  std::vector<Tensor> tensors;
  std::vector<int64_t> sizes;
  std::vector<void *> io;
  /// The milliseconds of each kernel call in each run.
  std::vector<std::vector<double>> kernelTimes;
  Clock::time_point kernelStart;
};

/// The times of a run and of each kernel call, in the order of execution.
struct MeasuredTimes {
  TimeSummary run;
  std::vector<TimeSummary> kernels;
};

/// Builds a model with the trace hook, which times kernel calls, and runs it
/// for some seconds on one thread; nothing, with diagnostics, on failure.
std::optional<MeasuredTimes> measureKernels(CompileOptions options,
                                            double seconds,
                                            mlir::MLIRContext &context,
                                            Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_TIMEDMODEL_H
