// The command `ingot bench MODEL`.
//
// Prints the median, the least and the 90th percentile of the run times. With
// --raw, prints the milliseconds of each run, one number per line, and the
// summary on standard error. With --trace, writes the kernels of the first runs
// as a timeline, also the parts that each thread executes. With --plot, draws
// the time of each kernel. With --compare onnxruntime, also times ONNX Runtime,
// in turns with the compiled model. With --counters, also counts events of the
// processor and of the system, such as cache misses. Prints the energy of a run
// if this user may read it. On a GPU, launches are timed by events of the GPU.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/inspect/Chart.h"
#include "compiler/measure/DeviceTiming.h"
#include "compiler/measure/HostTime.h"
#include "compiler/measure/TimedModel.h"
#include "compiler/measure/Timeline.h"
#include "compiler/tools/ingot/Commands.h"
#include "compiler/verify/Peer.h"
#include "targets/ProgramForm.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
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

/// Returns the recorded runs, kernels and parts of kernels.
static std::vector<TimelineEvent> eventsOf(const TimedModel &timed) {
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
  auto nameOf = [&](int32_t kernel) -> StringRef {
    return size_t(kernel) < timed.names.size() ? StringRef(timed.names[kernel])
                                               : StringRef("kernel");
  };
  std::vector<TimelineEvent> events;
  // A run ends where the next one begins.
  Clock::time_point last =
      timed.events.empty() ? start : timed.events.back().end;
  for (size_t i = 0; i + 1 < runs.size() && runs[i] < last; ++i)
    events.push_back(
        event("run " + std::to_string(i + 1), "run", runs[i], runs[i + 1]));
  for (const TimedModel::Event &one : timed.events) {
    auto [kernel, nodes] = nameOf(one.kernel).split("  ");
    events.push_back(event(kernel.str(), "kernel", one.start, one.end, nodes));
    for (auto [i, count] : llvm::enumerate(one.counts))
      events.back().figures.emplace_back(timed.counters->names()[i], count);
  }
  for (const TimedModel::Part &part : timed.parts) {
    StringRef kernel = part.kernel < 0 ? StringRef("worker group")
                                       : nameOf(part.kernel).split(' ').first;
    events.push_back(event(kernel.str(), "part", part.start, part.end));
    events.back().thread = part.thread;
    events.back().figures = {{"first", part.first}, {"end", part.last}};
  }
  return events;
}

/// Returns an event for each run on a GPU, and for each of its launches. On the
/// time axis, the runs follow one another.
static std::vector<TimelineEvent> eventsOf(const DeviceTimes &times,
                                           ArrayRef<std::string> names) {
  std::vector<TimelineEvent> events;
  double start = 0;
  for (auto [i, run] : llvm::enumerate(times.runs)) {
    if (run.empty())
      continue;
    events.push_back(
        {"run " + std::to_string(i + 1), "run", start, run.back().second, ""});
    for (auto [launch, time] : llvm::enumerate(run)) {
      auto [kernel, nodes] = StringRef(names[launch]).split("  ");
      events.push_back({kernel.str(), "kernel", start + time.first,
                        time.second - time.first, nodes.str()});
    }
    start += run.back().second;
  }
  return events;
}

/// Writes a timeline; false with a diagnostic if the file cannot be written.
static bool writeTrace(StringRef path, ArrayRef<TimelineEvent> events,
                       StringRef model, Diagnostics &diagnostics) {
  llvm::Error error = writeFile(
      path, [&](llvm::raw_ostream &os) { printTimeline(model, events, os); });
  if (!error)
    return true;
  reportFault(std::move(error), diagnostics);
  return false;
}

namespace {
/// What a command has measured.
struct Figures {
  Summary summary;
  /// The milliseconds of each run.
  std::vector<double> times;
  std::vector<Summary> kernels;
  std::vector<std::string> names;
  std::optional<Predictions> predictions;
  std::optional<std::pair<std::string, Summary>> peer;
  std::optional<EnergyMeter> energy;
  std::vector<std::pair<std::string, double>> counts;
  std::vector<TimelineEvent> events;
};
} // namespace

/// Returns the chart of the time of each kernel call.
static Chart chartOf(const Arguments &arguments, const Figures &figures) {
  Chart chart;
  chart.title = nameOfModel(arguments.compile.model) + " for " +
                arguments.compile.target->name.str() + ": time per kernel";
  llvm::raw_string_ostream(chart.note)
      << llvm::format("a run takes %.4g ms (median of %zu)",
                      figures.summary.median, figures.summary.runs);
  chart.valueTitle = "milliseconds (median)";
  for (auto [name, kernel] : llvm::zip(figures.names, figures.kernels))
    chart.points.push_back({name, 0, kernel.median});
  return chart;
}

/// Prints the energy of a run and the events of a run, as far as they were
/// measured.
static void printMeters(const Figures &figures, llvm::raw_ostream &os) {
  if (figures.energy)
    os << llvm::format("energy: %.4g mJ per run (%.4g W of all processor "
                       "packages, also for other programs)\n",
                       figures.energy->joules * 1e3 / figures.times.size(),
                       figures.energy->joules / figures.energy->seconds);
  if (figures.counts.empty())
    return;
  os << "counted in a run (medians): ";
  llvm::interleaveComma(figures.counts, os, [&](const auto &count) {
    os << llvm::formatv("{0:N0} ", int64_t(count.second)) << count.first;
  });
  os << "\n";
}

/// Prints the times of the peer called `name` (ONNX Runtime), and the ratio of
/// its median time to that of the model.
static void printPeer(const Summary &summary, const Summary &peer,
                      StringRef name, llvm::raw_ostream &os) {
  os << name << ": ";
  printSummary(peer, os);
  os << llvm::format("ratio %.2f\n", peer.median / summary.median);
}

static void printJson(const Figures &figures, bool hasKernels) {
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  auto print = [&](const Summary &of) {
    json.attribute("median", of.median);
    json.attribute("fastest", of.fastest);
    json.attribute("p90", of.p90);
    json.attribute("runs", static_cast<int64_t>(of.runs));
    json.attribute("runs_per_second", 1000 / of.median);
  };
  json.object([&] {
    json.attribute("unit", "ms");
    print(figures.summary);
    if (figures.peer)
      json.attributeObject("compared_with", [&] {
        json.attribute("name", llvm::json::fixUTF8(figures.peer->first));
        print(figures.peer->second);
      });
    if (figures.energy) {
      json.attribute("joules_per_run",
                     figures.energy->joules / figures.times.size());
      json.attribute("watts", figures.energy->joules / figures.energy->seconds);
    }
    if (!figures.counts.empty())
      json.attributeObject("counters", [&] {
        for (const auto &[name, count] : figures.counts)
          json.attribute(name, count);
      });
    if (!hasKernels)
      return;
    json.attributeArray("kernels", [&] {
      for (size_t i = 0; i < figures.kernels.size(); ++i)
        json.object([&] {
          const std::string &name = figures.names[i];
          const Summary &kernel = figures.kernels[i];
          json.attribute("name", name);
          json.attribute("median", kernel.median);
          json.attribute("fastest", kernel.fastest);
          if (!figures.predictions)
            return;
          HostTime known =
              figures.predictions->lookup(StringRef(name).split(' ').first);
          json.attribute("predicted", known.seconds * 1e3);
          json.attribute("limit", known.limit * 1e3);
          json.attribute("bound", known.bound);
        });
    });
  });
  llvm::outs() << "\n";
}

/// Writes the timeline and the chart, and prints the results, as the options
/// request. Returns the exit code.
static int present(const Arguments &arguments, const Figures &figures,
                   Diagnostics &diagnostics) {
  if (!arguments.trace.empty() &&
      !writeTrace(arguments.trace, figures.events, arguments.compile.model,
                  diagnostics))
    return diagnostics.exitCode();
  if (!arguments.plot.empty() &&
      !writePlot(arguments, chartOf(arguments, figures), diagnostics))
    return diagnostics.exitCode();
  if (arguments.json) {
    printJson(figures, arguments.perGroup);
    return Success;
  }
  if (arguments.raw)
    for (double time : figures.times)
      llvm::outs() << llvm::format("%.6f\n", time);
  if (arguments.perGroup)
    printKernels(figures.kernels, figures.names,
                 figures.predictions ? &*figures.predictions : nullptr);
  llvm::raw_ostream &os = arguments.raw ? llvm::errs() : llvm::outs();
  printSummary(figures.summary, os);
  printMeters(figures, os);
  if (figures.peer)
    printPeer(figures.summary, figures.peer->second, figures.peer->first, os);
  return Success;
}

/// Times the model on a GPU of this machine.
static int benchOnDevice(const Arguments &arguments, Diagnostics &diagnostics) {
  if (!requireOneTarget(arguments, "ingot bench", diagnostics) ||
      !refuseUnused(arguments,
                    {"compare", "counters", "energy", "roofline", "threads"},
                    "for a target whose kernels run on a device", diagnostics))
    return diagnostics.exitCode();
  auto context = makeContext();
  Compilation compilation(arguments.compile, *context, diagnostics);
  std::optional<DeviceTimes> times = timeOnDevice(
      compilation, arguments.seconds, "cannot time code",
      "use `ingot inspect --target " + arguments.compile.target->name.str() +
          "` for predicted times");
  if (!times)
    return diagnostics.exitCode();
  Figures figures;
  for (double time : times->wholeRuns)
    figures.times.push_back(time * 1e-3);
  figures.summary = TimedModel::summarize(figures.times);
  figures.names = launchNames(compilation.module());
  figures.names.resize(times->runs.front().size());
  for (size_t i = 0; i < figures.names.size(); ++i) {
    std::vector<double> ofLaunch;
    for (const DeviceTimes::Run &run : times->runs)
      ofLaunch.push_back((run[i].second - run[i].first) * 1e-3);
    figures.kernels.push_back(TimedModel::summarize(std::move(ofLaunch)));
  }
  figures.events = eventsOf(*times, figures.names);
  return present(arguments, figures, diagnostics);
}

/// Times the model on the processor of this machine.
static int benchOnHost(Arguments &arguments, Diagnostics &diagnostics) {
  if (!refuseUnused(arguments, {"cxx"}, "for a processor", diagnostics))
    return diagnostics.exitCode();
  bool isTraced = !arguments.trace.empty();
  arguments.compile.trace =
      arguments.perGroup || isTraced || !arguments.plot.empty();
  // Opens the counters first, since they count only in this thread and in
  // threads that are created later.
  std::unique_ptr<Counters> counters;
  if (!arguments.counters.empty()) {
    counters = Counters::open(arguments.counters, diagnostics);
    if (!counters)
      return diagnostics.exitCode();
  }
  std::optional<EnergyMeter> energy = EnergyMeter::find(arguments.energy);
  if (!energy && llvm::is_contained(arguments.given, "energy")) {
    diagnostics.reportFile(DiagnosticId::CannotRead, arguments.energy,
                           "the folder contains no counter of a processor "
                           "package that this user may read",
                           "the files are intel-rapl:0/energy_uj ...; only "
                           "the administrator may read them on most systems");
    return diagnostics.exitCode();
  }
  auto context = makeContext();
  Figures figures;
  if (arguments.roofline) {
    figures.predictions = predict(arguments.compile, *context, diagnostics);
    if (!figures.predictions)
      return diagnostics.exitCode();
  }
  Compilation compilation(arguments.compile, *context, diagnostics);
  std::unique_ptr<TimedModel> model =
      TimedModel::build(compilation, arguments.threads, diagnostics);
  if (!model)
    return diagnostics.exitCode();
  constexpr size_t mostEvents = 100'000;
  model->wanted = isTraced ? mostEvents : 0;
  model->counters = std::move(counters);
  model->energy = std::move(energy);
  if (!arguments.compares) {
    model->runFor(arguments.seconds);
  } else {
    std::vector<double> ofPeer;
    std::unique_ptr<verify::Peer> onnxRuntime = verify::Peer::start(
        arguments.compile, model->inputs(), arguments.referenceOptions.python,
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
    figures.peer.emplace(onnxRuntime->name(), TimedModel::summarize(ofPeer));
  }
  figures.summary = model->summary();
  figures.times = model->times;
  figures.kernels = model->ofKernels();
  figures.names = model->names;
  for (size_t i = figures.names.size(); i < figures.kernels.size(); ++i)
    figures.names.push_back(std::to_string(i));
  figures.energy = model->energy;
  if (model->counters)
    for (auto [name, count] :
         llvm::zip_equal(model->counters->names(), model->ofCounters()))
      figures.counts.emplace_back(name, count);
  if (isTraced)
    figures.events = eventsOf(*model);
  return present(arguments, figures, diagnostics);
}

int benchCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.raw &&
      !refuseUnused(arguments, {"json", "per-group", "roofline"}, "with --raw",
                    diagnostics))
    return diagnostics.exitCode();
  arguments.perGroup |= arguments.roofline;
  // A trace that cannot be written is reported before the model is compiled.
  if (!arguments.trace.empty() &&
      (!requireOneTarget(arguments, "--trace", diagnostics) ||
       !checkWritable(arguments.trace, diagnostics) ||
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
  return programForm(*arguments.compile.target).timesLaunches
             ? benchOnDevice(arguments, diagnostics)
             : benchOnHost(arguments, diagnostics);
}

} // namespace ingot
