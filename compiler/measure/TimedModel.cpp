#include "compiler/measure/TimedModel.h"

#include "compiler/import/TensorData.h"
#include "compiler/run/DynamicSizes.h"
#include "dialects/kernel/KernelDialect.h"

using namespace mlir;

namespace ingot {

static double milliseconds(TimedModel::Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void TimedModel::trace(void *user, int32_t kernel, int32_t finished) {
  auto &all = *static_cast<TimedModel *>(user);
  if (!finished) {
    all.kernelStart = Clock::now();
    return;
  }
  Clock::time_point end = Clock::now();
  if (all.kernelTimes.size() <= size_t(kernel))
    all.kernelTimes.resize(kernel + 1);
  std::vector<double> &own = all.kernelTimes[kernel];
  own.resize(all.times.size() + 1);
  own.back() += milliseconds(end - all.kernelStart);
  if (all.events.size() < all.wanted)
    all.events.push_back({kernel, all.kernelStart, end});
}

/// Returns the names of the kernel calls in the order of execution.
static std::vector<std::string> launchNames(ModuleOp module) {
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
    timed->names = launchNames(compilation.module());
  }
  return timed;
}

void TimedModel::runFor(double seconds) {
  auto start = Clock::now();
  Clock::time_point end;
  do {
    auto begin = Clock::now();
    if (events.size() < wanted)
      starts.push_back(begin);
    model->run(io, &hooks);
    end = Clock::now();
    times.push_back(milliseconds(end - begin));
  } while (milliseconds(end - start) < seconds * 1000);
  if (wanted)
    starts.push_back(end);
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
