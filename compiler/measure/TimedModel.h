// Times a model and its kernel calls on this machine.
//
// The times of kernel calls come from the trace hook of the generated code,
// those of threads from the function `parallel_for` that it calls.

#ifndef INGOT_COMPILER_MEASURE_TIMEDMODEL_H
#define INGOT_COMPILER_MEASURE_TIMEDMODEL_H

#include "compiler/measure/Counters.h"
#include "compiler/measure/Energy.h"
#include "compiler/run/DataSets.h"
#include "compiler/run/HostModel.h"
#include "runtime_support/ingot_thread_pool.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

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
  /// inputs are random numbers, except those with values fixed by --bind. With
  /// CompileOptions::trace, later runs record the times of kernel calls. Null
  /// with diagnostics on failure.
  static std::unique_ptr<TimedModel>
  build(Compilation &compilation, unsigned threads, Diagnostics &diagnostics);

  /// Runs the model for some seconds, once at least.
  void runFor(double seconds);
  TimeSummary summary() const { return summarize(times); }
  /// Returns the statistics of each kernel call, in the order of execution; a
  /// run that did not execute the call counts as 0 ms.
  std::vector<TimeSummary> ofKernels() const;
  static TimeSummary summarize(std::vector<double> times);
  /// Returns a copy of the inputs. Their dynamic dimensions have the sizes with
  /// which the model is run.
  InputData inputs() const;

  /// The milliseconds of each run.
  std::vector<double> times;
  /// The names of the kernel calls (launchNames).
  std::vector<std::string> names;

  /// If set, counts events in each run and in each recorded kernel call. The
  /// counters must have been opened before build() created the threads.
  std::unique_ptr<Counters> counters;
  /// Returns the median of each counter over the runs.
  std::vector<double> ofCounters() const;
  /// If set, measures the energy of all runs.
  std::optional<EnergyMeter> energy;

  /// A kernel call, recorded for a timeline.
  struct Event {
    int32_t kernel;
    Clock::time_point start, end;
    std::vector<double> counts;
  };
  /// The iterations of a kernel's parallel loop that a thread executes at a
  /// time. The kernel is -1 if several kernels share a loop. Thread 1 is the
  /// thread that runs the model.
  struct Part {
    int32_t kernel;
    unsigned thread;
    ptrdiff_t first, last;
    Clock::time_point start, end;
  };
  /// The number of events and parts, counted together, after which recording
  /// stops; 0 if nothing is recorded.
  size_t wanted = 0;
  std::vector<Event> events;
  std::vector<Part> parts;
  /// The start of each recorded run, then the end of the last run.
  std::vector<Clock::time_point> starts;

private:
  explicit TimedModel(unsigned threads) : pool(threads) {}
  static void trace(void *user, int32_t kernel, int32_t finished);
  static void parallelFor(void *user, ptrdiff_t extent, ingot_body body,
                          void *argument);
  bool isRecording() const { return recorded < wanted; }

  std::unique_ptr<HostModel> model;
  ThreadPool pool;
  ingot_context hooks{};
  std::vector<Tensor> tensors;
  std::vector<int64_t> sizes;
  std::vector<void *> io;
  /// The milliseconds of each kernel call in each run.
  std::vector<std::vector<double>> kernelTimes;
  /// The counts of each run.
  std::vector<std::vector<double>> counts;
  /// The kernel that runs, or -1.
  int32_t openKernel = -1;
  Clock::time_point kernelStart;
  std::vector<double> kernelCounts;
  std::atomic<size_t> recorded = 0;
  /// The threads that have executed parts; `mutex` guards them and `parts`.
  std::vector<std::thread::id> knownThreads;
  std::mutex mutex;
};

/// Returns the names of the kernel calls of a compiled module in the order of
/// execution: the function, and the comment about it.
std::vector<std::string> launchNames(mlir::ModuleOp module);

/// The times of a run and of each kernel call, in the order of execution.
struct MeasuredTimes {
  TimeSummary run;
  std::vector<TimeSummary> kernels;
};

/// Builds a model with the trace hook, which times kernel calls, and runs it
/// for `seconds` on one thread. Returns nullopt with diagnostics on failure.
std::optional<MeasuredTimes> measureKernels(CompileOptions options,
                                            double seconds,
                                            mlir::MLIRContext &context,
                                            Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_TIMEDMODEL_H
