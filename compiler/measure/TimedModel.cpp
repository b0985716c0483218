#include "compiler/measure/TimedModel.h"

#include "compiler/import/TensorData.h"
#include "compiler/run/DynamicSizes.h"
#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot {

static double milliseconds(TimedModel::Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Returns what `counters` have counted since they had the values `before`.
static std::vector<double> since(ArrayRef<double> before,
                                 const Counters &counters) {
  std::vector<double> counts = counters.read();
  for (auto [count, start] : llvm::zip_equal(counts, before))
    count -= start;
  return counts;
}

void TimedModel::trace(void *user, int32_t kernel, int32_t finished) {
  auto &all = *static_cast<TimedModel *>(user);
  bool isCounted = all.counters && all.isRecording();
  if (!finished) {
    if (isCounted)
      all.kernelCounts = all.counters->read();
    all.openKernel = kernel;
    all.kernelStart = Clock::now();
    return;
  }
  Clock::time_point end = Clock::now();
  all.openKernel = -1;
  if (all.kernelTimes.size() <= size_t(kernel))
    all.kernelTimes.resize(kernel + 1);
  std::vector<double> &own = all.kernelTimes[kernel];
  own.resize(all.times.size() + 1);
  own.back() += milliseconds(end - all.kernelStart);
  if (!all.isRecording())
    return;
  ++all.recorded;
  all.events.push_back({kernel, all.kernelStart, end,
                        isCounted ? since(all.kernelCounts, *all.counters)
                                  : std::vector<double>()});
}

void TimedModel::parallelFor(void *user, ptrdiff_t extent, ingot_body body,
                             void *argument) {
  auto &all = *static_cast<TimedModel *>(user);
  if (!all.isRecording())
    return all.pool.parallelFor(extent, body, argument);
  struct Loop {
    TimedModel &all;
    ingot_body body;
    void *argument;
    int32_t kernel;
  } loop{all, body, argument, all.openKernel};
  all.pool.parallelFor(
      extent,
      [](void *argument, ptrdiff_t first, ptrdiff_t last) {
        Loop &loop = *static_cast<Loop *>(argument);
        auto start = Clock::now();
        loop.body(loop.argument, first, last);
        auto end = Clock::now();
        ++loop.all.recorded;
        std::lock_guard lock(loop.all.mutex);
        auto &known = loop.all.knownThreads;
        auto own = llvm::find(known, std::this_thread::get_id());
        unsigned thread = own - known.begin() + 1;
        if (own == known.end())
          known.push_back(std::this_thread::get_id());
        loop.all.parts.push_back(
            {loop.kernel, thread, first, last, start, end});
      },
      &loop);
}

std::vector<std::string> launchNames(ModuleOp module) {
  std::vector<std::string> names;
  module.walk([&](kernel::LaunchOp launch) {
    std::string text = launch.getCallee().str();
    if (auto callee = module.lookupSymbol<kernel::FuncOp>(launch.getCallee()))
      if (std::optional<StringRef> comment = callee.getComment())
        text += "  " + comment->split('\n').first.str();
    names.push_back(text);
  });
  return names;
}

std::unique_ptr<TimedModel> TimedModel::build(Compilation &compilation,
                                              unsigned threads,
                                              Diagnostics &diagnostics) {
  std::unique_ptr<TimedModel> timed(new TimedModel(threads));
  timed->model = HostModel::build(compilation, {"-O2"});
  if (!timed->model)
    return nullptr;
  HostModel &model = *timed->model;
  for (auto types : {model.inputTypes(), model.outputTypes()})
    for (RankedTensorType type : types)
      fillWithNumbers(timed->tensors.emplace_back(Tensor{type, {}}),
                      timed->tensors.size());
  for (const HostModel::Bound &bound : model.bound)
    timed->tensors[bound.input].bytes = bound.bytes;
  timed->sizes = largestValues(model.dynamicSizes());
  timed->io = fieldsOf(model.dynamicSizes(), timed->sizes);
  for (Tensor &tensor : timed->tensors)
    timed->io.push_back(tensor.bytes.data());
  if (threads > 1)
    timed->hooks = timed->pool.context();
  for (int warmUp = 0; warmUp < 2; ++warmUp)
    if (ingot_status status = model.run(timed->io, &timed->hooks)) {
      diagnostics.report(DiagnosticId::Internal,
                         "the compiled model failed: " + statusText(status));
      return nullptr;
    }
  if (compilation.options.trace) {
    timed->hooks.trace = trace;
    timed->hooks.trace_user = timed.get();
    timed->knownThreads = {std::this_thread::get_id()};
    if (threads > 1) {
      timed->hooks.parallel_for = parallelFor;
      timed->hooks.user = timed.get();
    }
    timed->names = launchNames(compilation.module());
  }
  return timed;
}

void TimedModel::runFor(double seconds) {
  auto start = Clock::now();
  Clock::time_point end;
  if (energy)
    energy->start();
  do {
    std::vector<double> before;
    if (counters)
      before = counters->read();
    auto begin = Clock::now();
    if (isRecording())
      starts.push_back(begin);
    model->run(io, &hooks);
    end = Clock::now();
    times.push_back(milliseconds(end - begin));
    if (counters)
      counts.push_back(since(before, *counters));
  } while (milliseconds(end - start) < seconds * 1000);
  if (energy)
    energy->stop();
  if (wanted)
    starts.push_back(end);
}

std::vector<double> TimedModel::ofCounters() const {
  std::vector<double> medians;
  for (size_t i = 0; counters && i < counters->names().size(); ++i) {
    std::vector<double> ofRuns;
    for (const std::vector<double> &run : counts)
      ofRuns.push_back(run[i]);
    medians.push_back(summarize(std::move(ofRuns)).median);
  }
  return medians;
}

TimeSummary TimedModel::summarize(std::vector<double> times) {
  llvm::sort(times);
  auto at = [&](double part) {
    return times[size_t(part * (times.size() - 1))];
  };
  return {at(0.5), at(0), at(0.9), times.size()};
}

std::vector<TimeSummary> TimedModel::ofKernels() const {
  std::vector<TimeSummary> summaries;
  for (std::vector<double> own : kernelTimes) {
    own.resize(times.size());
    summaries.push_back(summarize(std::move(own)));
  }
  return summaries;
}

InputData TimedModel::inputs() const {
  InputData data;
  for (size_t i = 0; i < model->inputTypes().size(); ++i) {
    Tensor tensor = tensors[i];
    tensor.type = typeAt(tensor.type, model->dynamicSizes(), sizes);
    tensor.bytes.resize(tensor.elements() *
                        elementBytes(tensor.type.getElementType()));
    data.push_back(std::move(tensor));
  }
  return data;
}

std::optional<MeasuredTimes> measureKernels(CompileOptions options,
                                            double seconds,
                                            MLIRContext &context,
                                            Diagnostics &diagnostics) {
  options.trace = true;
  Compilation compilation(options, context, diagnostics);
  auto model = TimedModel::build(compilation, /*threads=*/1, diagnostics);
  if (!model)
    return std::nullopt;
  model->runFor(seconds);
  MeasuredTimes measured{model->summary(), model->ofKernels()};
  // Calls after the last one that was executed have no times.
  measured.kernels.resize(model->names.size());
  return measured;
}

} // namespace ingot
