// The command `ingot bench MODEL`.
//
// Prints the median, the least and the 90th percentile of the run times. With
// --raw, prints the milliseconds of each run, one number per line, and the
// summary on standard error. With --trace, writes the kernels of the first runs
// as a timeline. With --compare onnxruntime, ONNX Runtime runs in turns with
// the model.

#include "compiler/import/TensorData.h"
#include "compiler/measure/HostTime.h"
#include "compiler/measure/Timeline.h"
#include "compiler/report/Progress.h"
#include "compiler/run/DataSets.h"
#include "compiler/run/DynamicSizes.h"
#include "compiler/run/HostModel.h"
#include "compiler/tools/ingot/Commands.h"
#include "compiler/verify/Peer.h"
#include "dialects/kernel/KernelDialect.h"
#include "runtime_support/ingot_thread_pool.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <chrono>

using namespace mlir;

namespace ingot {

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

namespace {
/// Records the time of each kernel in each run through the trace hook.
struct KernelTimes {
  /// The milliseconds of each kernel in each run.
  std::vector<std::vector<double>> times;
  size_t run = 0;
  Clock::time_point start;
  /// A launch of a kernel, recorded for --trace.
  struct Event {
    int32_t kernel;
    Clock::time_point start, end;
  };
  std::vector<Event> events;
  /// The number of events to record.
  size_t wanted = 0;
  static void trace(void *user, int32_t kernel, int32_t finished) {
    auto &all = *static_cast<KernelTimes *>(user);
    if (!finished) {
      all.start = Clock::now();
      return;
    }
    if (all.times.size() <= size_t(kernel))
      all.times.resize(kernel + 1);
    std::vector<double> &own = all.times[kernel];
    own.resize(all.run + 1);
    Clock::time_point end = Clock::now();
    own.back() +=
        std::chrono::duration<double, std::milli>(end - all.start).count();
    if (all.events.size() < all.wanted)
      all.events.push_back({kernel, all.start, end});
  }
};
} // namespace

/// Returns the names of the kernels in the order of execution.
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

namespace {
/// Statistics of the runs in milliseconds.
struct Summary {
  double median, fastest, p90;
  size_t runs;
};
} // namespace

static Summary summarize(std::vector<double> times) {
  llvm::sort(times);
  auto at = [&](double part) {
    return times[size_t(part * (times.size() - 1))];
  };
  return {at(0.5), at(0), at(0.9), times.size()};
}

static void printSummary(const Summary &summary, llvm::raw_ostream &os) {
  os << llvm::format(
      "%.4f ms (median of %zu runs; fastest %.4f, 90%% below %.4f)",
      summary.median, summary.runs, summary.fastest, summary.p90);
  os << llvm::format(", %.4g runs per second\n", 1000 / summary.median);
}

using Predictions = llvm::StringMap<HostTime>;

/// Returns the predicted time of each kernel; nothing, with diagnostics, if the
/// model cannot be compiled.
static std::optional<Predictions> predict(const CompileOptions &options,
                                          MLIRContext &context,
                                          Diagnostics &diagnostics) {
  // Compiles the model again, up to stage Lower: the same options give the same
  // kernels.
  Compilation lowered(options, context, diagnostics);
  if (!lowered.advance(Stage::Lower))
    return std::nullopt;
  Predictions predictions;
  for (const auto &[kernel, time] : predictLaunches(
           lowered.module(), *options.target, measureHost(*options.target)))
    predictions[kernel] = time;
  return predictions;
}

/// Returns the statistics of each kernel; a run that did not execute the kernel
/// counts as 0 ms.
static std::vector<Summary> summarize(const KernelTimes &kernels) {
  std::vector<Summary> summaries;
  for (std::vector<double> times : kernels.times) {
    times.resize(kernels.run);
    summaries.push_back(summarize(std::move(times)));
  }
  return summaries;
}

static void printKernels(ArrayRef<Summary> kernels, ArrayRef<std::string> names,
                         const Predictions *predictions) {
  llvm::raw_ostream &os = llvm::outs();
  double sum = 0, limits = 0;
  for (const Summary &kernel : kernels)
    sum += kernel.median;
  if (predictions)
    os << " measured    part   predicted    of limit  bound by      kernel\n";
  std::vector<double> errors;
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    std::string name = i < names.size() ? names[i] : std::to_string(i);
    double each = kernel.median;
    os << llvm::format("%9.4f ms %5.1f%%  ", each, 100 * each / sum);
    if (predictions) {
      HostTime known = predictions->lookup(StringRef(name).split(' ').first);
      os << llvm::format("%9.4f ms  %5.1f%%  ", known.seconds * 1e3,
                         100 * known.limit * 1e3 / each)
         << llvm::left_justify(known.bound, 13) << " ";
      limits += known.limit * 1e3;
      constexpr double leastMilliseconds = 0.02;
      if (each > leastMilliseconds)
        errors.push_back(std::abs(known.seconds * 1e3 / each - 1));
    }
    os << name << "\n";
  }
  if (limits > 0)
    os << llvm::format("all kernels: %.1f%% of what this machine can do\n",
                       100 * limits / sum);
  if (errors.empty())
    return;
  llvm::sort(errors);
  os << llvm::format(
      "predictions of the %zu kernels above 20 us are %.0f %% off (median)\n",
      errors.size(), 100 * errors[errors.size() / 2]);
}

/// Writes the recorded kernels in the format of Chrome's trace viewer, which
/// Perfetto reads, too; false with a diagnostic if the file cannot be written.
static bool writeTrace(StringRef path, const KernelTimes &kernels,
                       ArrayRef<std::string> names, StringRef model,
                       ArrayRef<Clock::time_point> runs,
                       Diagnostics &diagnostics) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, path,
                           "the trace cannot be written: " + error.message());
    return false;
  }
  Clock::time_point start = runs.front();
  auto event = [&](std::string name, StringRef category, Clock::time_point from,
                   Clock::time_point to, StringRef nodes = "") {
    auto microseconds = [](Clock::duration time) {
      return std::chrono::duration<double, std::micro>(time).count();
    };
    return TimelineEvent{std::move(name), category.str(),
                         microseconds(from - start), microseconds(to - from),
                         nodes.str()};
  };
  std::vector<TimelineEvent> events;
  // A run ends where the next one begins.
  Clock::time_point last =
      kernels.events.empty() ? start : kernels.events.back().end;
  for (size_t i = 0; i + 1 < runs.size() && runs[i] < last; ++i)
    events.push_back(
        event("run " + std::to_string(i + 1), "run", runs[i], runs[i + 1]));
  for (const KernelTimes::Event &one : kernels.events) {
    StringRef name = size_t(one.kernel) < names.size()
                         ? StringRef(names[one.kernel])
                         : StringRef("kernel");
    auto [kernel, nodes] = name.split("  ");
    events.push_back(event(kernel.str(), "kernel", one.start, one.end, nodes));
  }
  printTimeline(model, events, os);
  os.close();
  if (os.has_error()) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, path,
                           "the trace cannot be written: " +
                               os.error().message());
    os.clear_error();
    return false;
  }
  return true;
}

/// Prints how much faster the model is than its peer.
static void printPeer(const Summary &summary, const Summary &peer,
                      StringRef name, llvm::raw_ostream &os) {
  os << name << ": ";
  printSummary(peer, os);
  os << llvm::format("ratio %.2f\n", peer.median / summary.median);
}

static void
printJson(const Summary &summary, std::optional<ArrayRef<Summary>> kernels,
          ArrayRef<std::string> names, const Predictions *predictions,
          const std::optional<std::pair<std::string, Summary>> &peer) {
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  auto figures = [&](const Summary &of) {
    json.attribute("median", of.median);
    json.attribute("fastest", of.fastest);
    json.attribute("p90", of.p90);
    json.attribute("runs", static_cast<int64_t>(of.runs));
    json.attribute("runs_per_second", 1000 / of.median);
  };
  json.object([&] {
    json.attribute("unit", "ms");
    figures(summary);
    if (peer)
      json.attributeObject("compared_with", [&] {
        json.attribute("name", llvm::json::fixUTF8(peer->first));
        figures(peer->second);
      });
    if (!kernels)
      return;
    json.attributeArray("kernels", [&] {
      for (size_t i = 0; i < kernels->size(); ++i)
        json.object([&] {
          std::string name = i < names.size() ? names[i] : std::to_string(i);
          json.attribute("name", name);
          json.attribute("median", (*kernels)[i].median);
          json.attribute("fastest", (*kernels)[i].fastest);
          if (!predictions)
            return;
          HostTime known =
              predictions->lookup(StringRef(name).split(' ').first);
          json.attribute("predicted", known.seconds * 1e3);
          json.attribute("limit", known.limit * 1e3);
          json.attribute("bound", known.bound);
        });
    });
  });
  llvm::outs() << "\n";
}

int benchCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.raw &&
      !refuseUnused(arguments, {"json", "per-group", "roofline"}, "with --raw",
                    diagnostics))
    return diagnostics.exitCode();
  bool isTraced = !arguments.trace.empty();
  arguments.perGroup |= arguments.roofline;
  if (isTraced && !requireOneTarget(arguments, "--trace", diagnostics))
    return diagnostics.exitCode();
  // A trace that cannot be written is reported before the model is compiled.
  if (isTraced && (!checkWritable(arguments.trace, diagnostics) ||
                   !checkReplaceable(arguments, arguments.trace, diagnostics)))
    return diagnostics.exitCode();
  if (arguments.perGroup &&
      !requireOneTarget(arguments, "--per-group", diagnostics))
    return diagnostics.exitCode();
  arguments.compile.model = arguments.positional[0];
  arguments.compile.trace = arguments.perGroup || isTraced;
  auto context = makeContext();
  std::optional<Predictions> predictions;
  if (arguments.roofline) {
    predictions = predict(arguments.compile, *context, diagnostics);
    if (!predictions)
      return diagnostics.exitCode();
  }
  Compilation compilation(arguments.compile, *context, diagnostics);
  std::unique_ptr<HostModel> model = HostModel::build(compilation, {"-O2"});
  if (!model)
    return diagnostics.exitCode();

  std::vector<Tensor> tensors;
  for (auto types : {model->inputTypes(), model->outputTypes()})
    for (RankedTensorType type : types)
      fillWithNumbers(tensors.emplace_back(Tensor{type, {}}), tensors.size());
  for (const HostModel::Bound &bound : model->bound)
    tensors[bound.input].bytes = bound.bytes;
  std::vector<int64_t> sizes = largestValues(model->dynamicSizes());
  std::vector<void *> io = fieldsOf(model->dynamicSizes(), sizes);
  for (Tensor &tensor : tensors)
    io.push_back(tensor.bytes.data());

  ThreadPool pool(arguments.threads);
  KernelTimes kernels;
  ingot_context hooks =
      arguments.threads > 1 ? pool.context() : ingot_context{};
  for (int warmUp = 0; warmUp < 2; ++warmUp)
    if (ingot_status status = model->run(io, &hooks)) {
      diagnostics.report(DiagnosticId::Internal,
                         "the compiled model failed: " + statusText(status));
      return diagnostics.exitCode();
    }
  hooks.trace = arguments.compile.trace ? KernelTimes::trace : nullptr;
  hooks.trace_user = &kernels;
  constexpr size_t mostEvents = 100'000;
  kernels.wanted = isTraced ? mostEvents : 0;

  std::unique_ptr<verify::Peer> onnxRuntime;
  if (arguments.compares) {
    InputData data;
    for (size_t i = 0; i < model->inputTypes().size(); ++i) {
      Tensor tensor = tensors[i];
      tensor.type = typeAt(tensor.type, model->dynamicSizes(), sizes);
      tensor.bytes.resize(tensor.elements() *
                          elementBytes(tensor.type.getElementType()));
      data.push_back(std::move(tensor));
    }
    onnxRuntime = verify::Peer::start(arguments.compile, data,
                                      arguments.referenceOptions.python,
                                      arguments.threads, *context, diagnostics);
    if (!onnxRuntime)
      return diagnostics.exitCode();
  }

  std::vector<double> times, ofPeer;
  std::vector<Clock::time_point> runs;
  auto runFor = [&](double seconds) {
    auto start = Clock::now();
    do {
      auto begin = Clock::now();
      if (isTraced && kernels.events.size() < mostEvents)
        runs.push_back(begin);
      model->run(io, &hooks);
      times.push_back(millisecondsSince(begin));
      ++kernels.run;
    } while (millisecondsSince(start) < seconds * 1000);
    if (isTraced)
      runs.push_back(Clock::now());
  };
  if (!onnxRuntime) {
    runFor(arguments.seconds);
  } else {
    // In turns, so that both see the same changes of the machine's speed.
    constexpr int turns = 10;
    for (int turn = 0; turn < turns; ++turn) {
      runFor(arguments.seconds / turns / 2);
      if (!onnxRuntime->run(arguments.seconds / turns / 2, ofPeer, diagnostics))
        return diagnostics.exitCode();
    }
  }
  Summary summary = summarize(times);
  std::optional<std::pair<std::string, Summary>> peer;
  if (onnxRuntime)
    peer.emplace(onnxRuntime->name(), summarize(ofPeer));
  std::vector<std::string> names;
  if (arguments.compile.trace)
    names = launchNames(compilation.module());
  std::vector<Summary> ofKernels = summarize(kernels);
  if (isTraced && !writeTrace(arguments.trace, kernels, names,
                              arguments.compile.model, runs, diagnostics))
    return diagnostics.exitCode();
  if (arguments.json) {
    printJson(summary,
              arguments.perGroup ? std::make_optional(ArrayRef(ofKernels))
                                 : std::nullopt,
              names, predictions ? &*predictions : nullptr, peer);
    return Success;
  }
  if (arguments.raw)
    for (double time : times)
      llvm::outs() << llvm::format("%.6f\n", time);
  if (arguments.perGroup)
    printKernels(ofKernels, names, predictions ? &*predictions : nullptr);
  llvm::raw_ostream &os = arguments.raw ? llvm::errs() : llvm::outs();
  printSummary(summary, os);
  if (peer)
    printPeer(summary, peer->second, peer->first, os);
  return Success;
}

} // namespace ingot
