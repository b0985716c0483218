// The command `ingot bench MODEL`.
//
// Prints the median, the least and the 90th percentile of the run times. With
// --raw, prints the milliseconds of each run, one number per line, and the
// summary on standard error. With --trace, writes the kernels of the first runs
// as a timeline. With --plot, draws the time of each kernel. With --compare
// onnxruntime, ONNX Runtime runs in turns with the model.

#include "compiler/inspect/Chart.h"
#include "compiler/measure/HostTime.h"
#include "compiler/measure/TimedModel.h"
#include "compiler/measure/Timeline.h"
#include "compiler/tools/ingot/Commands.h"
#include "compiler/verify/Peer.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace ingot {

using Clock = TimedModel::Clock;
using Summary = TimeSummary;

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
/// Perfetto also reads; false with a diagnostic if the file cannot be written.
static bool writeTrace(StringRef path, const TimedModel &timed, StringRef model,
                       Diagnostics &diagnostics) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    diagnostics.reportFile(DiagnosticId::CannotWrite, path,
                           "the trace cannot be written: " + error.message());
    return false;
  }
  ArrayRef<Clock::time_point> runs = timed.starts;
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
      timed.events.empty() ? start : timed.events.back().end;
  for (size_t i = 0; i + 1 < runs.size() && runs[i] < last; ++i)
    events.push_back(
        event("run " + std::to_string(i + 1), "run", runs[i], runs[i + 1]));
  for (const TimedModel::Event &one : timed.events) {
    StringRef name = size_t(one.kernel) < timed.names.size()
                         ? StringRef(timed.names[one.kernel])
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

/// Returns the chart of the time of each kernel call.
static Chart chartOf(const Arguments &arguments, const Summary &summary,
                     ArrayRef<Summary> kernels, ArrayRef<std::string> names) {
  Chart chart;
  chart.title = nameOfModel(arguments.compile.model) + " for " +
                arguments.compile.target->name.str() + ": time per kernel";
  llvm::raw_string_ostream(chart.note) << llvm::format(
      "a run takes %.4g ms (median of %zu)", summary.median, summary.runs);
  chart.valueTitle = "milliseconds (median)";
  for (auto [i, kernel] : llvm::enumerate(kernels))
    chart.points.push_back(
        {i < names.size() ? names[i] : std::to_string(i), 0, kernel.median});
  return chart;
}

/// Prints how much faster the model is than in the other runtime `name`, which
/// took the times `peer`.
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
  // Checks the path of the trace before the model is compiled.
  if (isTraced && (!checkWritable(arguments.trace, diagnostics) ||
                   !checkReplaceable(arguments, arguments.trace, diagnostics)))
    return diagnostics.exitCode();
  if (arguments.perGroup &&
      !requireOneTarget(arguments, "--per-group", diagnostics))
    return diagnostics.exitCode();
  if (!arguments.plot.empty() &&
      (!requireOneTarget(arguments, "--plot", diagnostics) ||
       !checkPlot(arguments, diagnostics)))
    return diagnostics.exitCode();
  arguments.compile.model = arguments.positional[0];
  arguments.compile.trace =
      arguments.perGroup || isTraced || !arguments.plot.empty();
  auto context = makeContext();
  std::optional<Predictions> predictions;
  if (arguments.roofline) {
    predictions = predict(arguments.compile, *context, diagnostics);
    if (!predictions)
      return diagnostics.exitCode();
  }
  Compilation compilation(arguments.compile, *context, diagnostics);
  std::unique_ptr<TimedModel> model =
      TimedModel::build(compilation, arguments.threads, diagnostics);
  if (!model)
    return diagnostics.exitCode();
  constexpr size_t mostEvents = 100'000;
  model->wanted = isTraced ? mostEvents : 0;
  std::vector<double> ofPeer;
  std::unique_ptr<verify::Peer> onnxRuntime;
  if (!arguments.compares) {
    model->runFor(arguments.seconds);
  } else {
    onnxRuntime = verify::Peer::start(arguments.compile, model->inputs(),
                                      arguments.referenceOptions.python,
                                      arguments.threads, *context, diagnostics);
    if (!onnxRuntime)
      return diagnostics.exitCode();
    // The model and ONNX Runtime run in turns, so that changes of the machine's
    // speed affect both.
    constexpr int turns = 10;
    for (int turn = 0; turn < turns; ++turn) {
      model->runFor(arguments.seconds / turns / 2);
      if (!onnxRuntime->run(arguments.seconds / turns / 2, ofPeer, diagnostics))
        return diagnostics.exitCode();
    }
  }
  Summary summary = model->summary();
  std::optional<std::pair<std::string, Summary>> peer;
  if (onnxRuntime)
    peer.emplace(onnxRuntime->name(), TimedModel::summarize(ofPeer));
  const std::vector<std::string> &names = model->names;
  std::vector<Summary> ofKernels = model->ofKernels();
  if (isTraced && !writeTrace(arguments.trace, *model, arguments.compile.model,
                              diagnostics))
    return diagnostics.exitCode();
  if (!arguments.plot.empty() &&
      !writePlot(arguments, chartOf(arguments, summary, ofKernels, names),
                 diagnostics))
    return diagnostics.exitCode();
  if (arguments.json) {
    printJson(summary,
              arguments.perGroup ? std::make_optional(ArrayRef(ofKernels))
                                 : std::nullopt,
              names, predictions ? &*predictions : nullptr, peer);
    return Success;
  }
  if (arguments.raw)
    for (double time : model->times)
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
