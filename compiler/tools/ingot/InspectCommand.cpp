// The command `ingot inspect MODEL`.
//
// Prints a summary of the model file, the strategy of each fusion group, and
// the sizes of code and memory on the target, for which the generated code is
// compiled. If the model cannot be compiled, prints the summary and the
// diagnostics. Dimensions that the model leaves open get sizes for the report.

#include "codegen/files/NodeNames.h"
#include "compiler/Pipeline.h"
#include "compiler/import/Summary.h"
#include "compiler/import/TensorData.h"
#include "compiler/measure/Footprint.h"
#include "compiler/measure/PlanCache.h"
#include "compiler/tools/ingot/Commands.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/schedule/GroupCost.h"
#include "passes/simplify/FoldableValues.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <cmath>
#include <deque>

using namespace mlir;

namespace ingot {

namespace {

/// A fusion group with its work, as known after stage Decide.
struct GroupRow {
  std::string strategy, result;
  std::vector<std::string> nodes;
  int64_t macs = 0, parameters = 0, bytes = 0;
  /// Whether the group computes floats, which the target's vectors do not
  /// support.
  bool isScalar = false;
  llvm::json::Object plan;
};

/// A kernel call, with the fusion group that the kernel computes.
struct Row : GroupRow {
  Footprint::Launch launch;
};

struct Report {
  bool isPlanned = false;
  std::vector<Row> rows;
  int64_t macs = 0, parameters = 0;
  Footprint footprint;
  /// Weights that the code contains only in a wider type, named in `storedAs`.
  struct {
    int64_t bytes = 0, storedBytes = 0;
    std::string storedAs;
  } quantized;
  /// The reason why the sizes of code and stack are unknown, if they are.
  std::string unmeasured;
  /// The sizes that were chosen for open dimensions.
  verify::Sizes chosen;
};

} // namespace

static int64_t storedBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

/// Whether a group computes floats on a target whose vectors hold only
/// integers.
static bool isScalarFor(const TargetDescription &target, graph::GroupOp group) {
  auto isFloat = [](Value v) {
    auto type = dyn_cast<ShapedType>(v.getType());
    return type && isa<FloatType>(type.getElementType());
  };
  return !target.vectorBytes.empty() && !target.vectorFloats &&
         llvm::any_of(group.getBody().front(), [&](Operation &op) {
           return llvm::any_of(op.getOperands(), isFloat) &&
                  !op.hasTrait<OpTrait::IsTerminator>();
         });
}

static GroupRow rowOf(graph::GroupOp group, const TargetDescription &target) {
  GroupRow row;
  row.strategy = group.getStrategy().str();
  row.isScalar = isScalarFor(target, group);
  if (DictionaryAttr plan = group.getPlanAttr())
    row.plan = planAsJson(plan);
  row.macs = schedule::multiplyAddsOf(schedule::GroupView(group));
  llvm::SetVector<StringRef> names;
  for (Operation &op : *group.getBody().begin()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    names.insert_range(nodesOf(op.getLoc()));
  }
  for (StringRef name : names)
    row.nodes.push_back(name.str());
  for (auto [input, operand] : llvm::zip_equal(
           group.getInputs(), group.getBody().front().getArguments())) {
    row.bytes += schedule::bytesRead(operand);
    if (!input.getDefiningOp<graph::ConstantOp>())
      continue;
    row.parameters += graph::tensorType(input).getNumElements();
  }
  SmallVector<std::string> results;
  for (Value output : group.getOutputs()) {
    row.bytes += storedBytes(output.getType());
    results.push_back(describe(output.getType()));
  }
  row.result = llvm::join(results, " ");
  return row;
}

/// Formats 12345678 as "12.3 M".
static std::string shortNumber(int64_t number) {
  std::string text;
  llvm::raw_string_ostream os(text);
  static constexpr std::pair<double, const char *> units[] = {
      {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
  for (auto [scale, unit] : units)
    if (number >= scale) {
      os << llvm::format("%.3g", number / scale) << unit;
      return text;
    }
  os << number;
  return text;
}

/// Formats 12345678 as "12.3 MB".
static std::string shortBytes(int64_t bytes) {
  return shortNumber(bytes) + (bytes < 1000 ? " bytes" : "B");
}

static void printSummary(const ModelSummary &summary) {
  llvm::raw_ostream &os = llvm::outs();
  os << "producer: "
     << (summary.producer.empty() ? "unknown" : summary.producer)
     << ", IR version " << summary.irVersion << ", opset";
  for (auto &[domain, version] : summary.opsets)
    os << " " << domain << ":" << version;
  os << "\n";
  for (auto &input : summary.inputs)
    os << "input  " << printable(input.name) << ": " << input.type << "\n";
  for (auto &output : summary.outputs)
    os << "output " << printable(output.name) << ": " << output.type << "\n";
  os << summary.nodes << " nodes:";
  for (auto &[name, count] : summary.operators)
    os << " " << name << (count > 1 ? " x" + std::to_string(count) : "");
  os << "\n"
     << summary.initializers << " initializers, " << summary.initializerBytes
     << " bytes\n";
}

/// Formats bytes of code or stack exactly, for comparison with budgets; "?" if
/// they were not measured, "=" if an earlier call has counted the same bytes.
static std::string sizeText(const Report &report, int64_t bytes, bool shared) {
  if (!report.footprint.object)
    return "?";
  return shared ? "=" : std::to_string(bytes);
}

/// Lists up to four ONNX nodes, and the number of others as "+3".
static std::string shortNodes(ArrayRef<std::string> nodes) {
  std::vector<std::string> shown(nodes.take_front(4));
  if (nodes.size() > shown.size())
    shown.push_back("+" + std::to_string(nodes.size() - shown.size()));
  return llvm::join(shown, " ");
}

/// The column width for the longest strategy name with the mark of scalar
/// kernels.
constexpr unsigned strategyWidth = 22;

/// Predicts the time of a GPU output in seconds, launch overhead included.
/// The branches of a fork run concurrently.
static double predictedSeconds(const Report &report, const Device &device) {
  double sum = double(report.rows.size()) * schedule::launchSeconds;
  // The open fork, and its branches.
  std::optional<int64_t> fork;
  SmallVector<schedule::BranchTime> branches;
  auto closeFork = [&] {
    sum += fork ? schedule::secondsOf(branches, device) : 0;
    fork = std::nullopt;
    branches.clear();
  };
  for (const Row &row : report.rows) {
    const Footprint::Launch &launch = row.launch;
    schedule::DeviceTime time =
        schedule::predictTime(device, launch.device, row.bytes, row.macs);
    if (launch.fork != fork)
      closeFork();
    if (!launch.fork) {
      sum += time.seconds;
      continue;
    }
    fork = launch.fork;
    branches.resize(std::max<size_t>(branches.size(), *launch.branch + 1));
    branches[*launch.branch].add(time);
  }
  closeFork();
  return sum;
}

/// Prints a line for each launch of a GPU output.
static void printDeviceRows(const Report &report, const Device &device) {
  llvm::raw_ostream &os = llvm::outs();
  auto line = [&](StringRef strategy, StringRef result,
                  std::initializer_list<std::string> numbers, StringRef bound,
                  StringRef nodes) {
    os << llvm::left_justify(strategy, strategyWidth) << " "
       << llvm::left_justify(result, 24);
    for (const std::string &number : numbers)
      os << " " << llvm::right_justify(number, 7);
    os << "  " << llvm::left_justify(bound, 11) << " " << nodes << "\n";
  };
  os << "\n";
  line("strategy", "result",
       {"MACs", "moved", "weights", "blocks", "threads", "regs", "shared",
        "held", "us"},
       "bound by", "nodes");
  auto percent = [](double part) {
    return std::to_string(std::lround(part * 100)) + "%";
  };
  std::optional<int64_t> fork;
  int64_t forks = 0, forked = 0;
  for (const Row &row : report.rows) {
    const Footprint::Launch &launch = row.launch;
    const schedule::DeviceWork &work = launch.device;
    schedule::DeviceTime time =
        schedule::predictTime(device, work, row.bytes, row.macs);
    forks += launch.fork && fork != launch.fork;
    forked += launch.fork.has_value();
    fork = launch.fork;
    std::string microseconds;
    llvm::raw_string_ostream(microseconds)
        << llvm::format("%.2f", time.seconds * 1e6);
    line(row.strategy, row.result,
         {shortNumber(row.macs), shortNumber(row.bytes),
          std::to_string(launch.weights), std::to_string(work.blocks),
          std::to_string(work.threads), std::to_string(work.registers),
          std::to_string(work.shared), percent(time.occupancy), microseconds},
         time.bound,
         (launch.fork ? "{" + std::to_string(*launch.fork) + "." +
                            std::to_string(*launch.branch) + "} "
                      : "") +
             shortNodes(row.nodes));
  }
  if (forks)
    os << "\n"
       << forked << " launches run concurrently with others in " << forks
       << " forks, marked {fork.branch} before their nodes\n";
  int64_t ofHost = llvm::count_if(
      report.rows, [](const Row &row) { return row.launch.onHost; });
  if (ofHost)
    os << "\nkernels of the host: " << ofHost
       << "; they have no parallelism, and one thread of the device would take "
          "longer than the copies\n";
  if (int64_t decisions = report.footprint.decisions)
    os << "\nhost decisions: " << decisions
       << "; the host waits for the device at each of them; launches of loops "
          "and branches count once\n";
  if (ofHost || report.footprint.decisions)
    os << "\nThe run cannot be a graph: its launches start one by one.\n";
  double starting = double(report.rows.size()) * schedule::launchSeconds;
  os << "\npredicted: at least "
     << llvm::format("%.1f", predictedSeconds(report, device) * 1e6)
     << " us, including " << llvm::format("%.1f", starting * 1e6)
     << " us of launch overhead\n"
        "regs: estimated registers of a thread; held: occupancy, the share of "
        "the threads that a processor can hold\n";
}

static void printRows(const Report &report) {
  llvm::raw_ostream &os = llvm::outs();
  auto line = [&](StringRef strategy, StringRef result,
                  std::initializer_list<std::string> numbers, StringRef nodes) {
    os << llvm::left_justify(strategy, strategyWidth) << " "
       << llvm::left_justify(result, 24);
    for (const std::string &number : numbers)
      os << " " << llvm::right_justify(number, 8);
    os << "  " << nodes << "\n";
  };
  os << "\n";
  line("strategy", "result",
       {"MACs", "moved", "weights", "code", "arena", "stack"}, "nodes");
  for (const Row &row : report.rows) {
    const Footprint::Launch &launch = row.launch;
    line(row.strategy + (row.isScalar ? " *" : ""), row.result,
         {shortNumber(row.macs), shortNumber(row.bytes),
          std::to_string(launch.weights),
          sizeText(report, launch.code, !launch.isFirst),
          std::to_string(launch.arena), sizeText(report, launch.stack, false)},
         shortNodes(row.nodes));
  }
}

/// Returns the types in which quantized weights are stored, for example
/// "float32" or "float32 and int32".
static std::string storedTypes(const simplify::WidenedWeights &weights) {
  std::vector<std::string> names;
  for (Type type : weights.storedTypes)
    names.push_back(dataTypeName(onnxDataType(type)).str());
  return llvm::join(names, " and ");
}

static constexpr llvm::StringLiteral scalarReason =
    "floats are computed one by one: the vectors of this target hold integers "
    "only";

static void printTotals(const Report &report, const TargetDescription &target) {
  const Footprint &footprint = report.footprint;
  llvm::raw_ostream &os = llvm::outs();
  os << "\n";
  if (llvm::any_of(report.rows, [](const Row &row) { return row.isScalar; }))
    os << "* " << scalarReason << "; `ingot quantize` quantizes the model\n";
  os << report.rows.size() << " kernel calls of " << footprint.kernels
     << " kernels, " << shortNumber(report.macs) << " MACs, "
     << shortNumber(report.parameters) << " parameters\n";
  if (int64_t again = footprint.macsRecomputed)
    os << shortNumber(again) << " MACs recomputed for --max-ram ("
       << llvm::format("%.1f", 100.0 * again / (report.macs - again))
       << " %)\n";
  os << "arena " << footprint.arena << " bytes (lower bound "
     << footprint.arenaLowerBound << "), weights " << footprint.weights
     << " bytes\n";
  if (const auto &weights = report.quantized; weights.bytes)
    os << "quantized weights are stored as " << weights.storedAs << ": "
       << shortBytes(weights.bytes) << " become "
       << shortBytes(weights.storedBytes) << " (x "
       << llvm::format("%.1f", double(weights.storedBytes) / weights.bytes)
       << ")\n";
  if (!footprint.object) {
    os << "code and stack unknown: " << report.unmeasured << "\n";
    return;
  }
  const ObjectSizes &object = *footprint.object;
  int64_t inKernels = 0;
  for (const Row &row : report.rows)
    inKernels += row.launch.code;
  os << "flash " << footprint.flash() << " bytes: code " << object.code << " ("
     << inKernels << " in kernels), constants " << object.constants;
  if (object.data)
    os << ", values of variables " << object.data;
  os << "\nRAM " << footprint.ram() << " bytes: arena " << footprint.arena;
  if (footprint.state)
    os << ", state " << footprint.state;
  os << ", stack " << footprint.stack;
  if (footprint.variables)
    os << ", variables " << footprint.variables;
  os << "\n";
  if (footprint.second)
    os << target.tcmName.upper() << " " << footprint.second
       << " bytes, in addition to that RAM\n";
}

static void printJson(llvm::raw_ostream &os, const ModelSummary &summary,
                      const Report &report, const TargetDescription &target,
                      const Diagnostics &diagnostics) {
  const Footprint &footprint = report.footprint;
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto text = [](StringRef s) { return llvm::json::fixUTF8(s); };
  auto values = [&](StringRef key,
                    const std::vector<ModelSummary::Value> &list) {
    json.attributeArray(key, [&] {
      for (auto &value : list)
        json.object([&] {
          json.attribute("name", text(value.name));
          json.attribute("type", text(value.type));
        });
    });
  };
  json.object([&] {
    json.attribute("producer", text(summary.producer));
    json.attribute("ir_version", summary.irVersion);
    json.attributeObject("opsets", [&] {
      for (auto &[domain, version] : summary.opsets)
        json.attribute(text(domain), version);
    });
    values("inputs", summary.inputs);
    values("outputs", summary.outputs);
    json.attributeObject("operators", [&] {
      for (auto &[name, count] : summary.operators)
        json.attribute(text(name), count);
    });
    json.attribute("initializer_bytes", summary.initializerBytes);
    json.attribute("target", target.name);
    json.attribute("compiles", report.isPlanned);
    if (!report.chosen.empty())
      json.attributeObject("chosen_sizes", [&] {
        for (const auto &[key, size] : report.chosen)
          json.attribute(text(key), size);
      });
    if (report.isPlanned) {
      json.attributeArray("groups", [&] {
        for (const Row &row : report.rows)
          json.object([&] {
            json.attribute("strategy", row.strategy);
            if (!row.plan.empty())
              json.attribute("plan", llvm::json::Object(row.plan));
            if (row.isScalar)
              json.attribute("scalar", scalarReason);
            json.attribute("kernel", row.launch.kernel);
            if (row.launch.onHost)
              json.attribute("on_host", true);
            if (row.launch.device.threads) {
              json.attribute("blocks", row.launch.device.blocks);
              json.attribute("threads", row.launch.device.threads);
              json.attribute("shared", row.launch.device.shared);
              json.attribute("registers", row.launch.device.registers);
              schedule::DeviceTime time = schedule::predictTime(
                  target.device, row.launch.device, row.bytes, row.macs);
              json.attribute("occupancy", time.occupancy);
              json.attribute("microseconds", time.seconds * 1e6);
              json.attribute("bound", text(time.bound));
              if (row.launch.fork) {
                json.attribute("fork", *row.launch.fork);
                json.attribute("branch", *row.launch.branch);
              }
            }
            json.attribute("result", row.result);
            json.attribute("macs", row.macs);
            json.attribute("parameters", row.parameters);
            json.attribute("bytes", row.bytes);
            json.attribute("weight_bytes", row.launch.weights);
            json.attribute("arena_bytes", row.launch.arena);
            if (footprint.object) {
              json.attribute("code_bytes", row.launch.code);
              json.attribute("stack_bytes", row.launch.stack);
            }
            json.attributeArray("nodes", [&] {
              for (const std::string &node : row.nodes)
                json.value(text(node));
            });
          });
      });
      json.attribute("kernels", footprint.kernels);
      json.attribute("macs", report.macs);
      json.attribute("macs_recomputed", footprint.macsRecomputed);
      json.attribute("parameters", report.parameters);
      json.attribute("weight_bytes", footprint.weights);
      if (const auto &weights = report.quantized; weights.bytes)
        json.attributeObject("quantized_weights", [&] {
          json.attribute("bytes", weights.bytes);
          json.attribute("stored_bytes", weights.storedBytes);
          json.attribute("stored_as", weights.storedAs);
        });
      json.attribute("arena_bytes", footprint.arena);
      json.attribute("arena_lower_bound", footprint.arenaLowerBound);
      if (target.isDevice())
        json.attribute("predicted_microseconds",
                       predictedSeconds(report, target.device) * 1e6);
      if (target.isDevice() && footprint.decisions)
        json.attribute("host_decisions", footprint.decisions);
      if (footprint.second)
        json.attribute("tcm_bytes", footprint.second);
      if (footprint.state)
        json.attribute("state_bytes", footprint.state);
      if (footprint.object) {
        json.attribute("code_bytes", footprint.object->code);
        json.attribute("constant_bytes", footprint.object->constants);
        json.attribute("variable_bytes", footprint.variables);
        json.attribute("stack_bytes", footprint.stack);
        json.attribute("flash_bytes", footprint.flash());
        json.attribute("ram_bytes", footprint.ram());
      }
    }
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &d : diagnostics.list())
        json.object([&] {
          json.attribute("id", infoOf(d.id).name);
          json.attribute("message", text(d.message));
          if (!d.nodeName.empty())
            json.attribute("node", text(d.nodeName));
          if (d.count > 1)
            json.attribute("count", static_cast<int64_t>(d.count));
        });
    });
  });
  os << "\n";
}

/// Combines the kernel calls of the footprint with the fusion groups of the
/// same model.
static Report makeReport(ModuleOp grouped, const TargetDescription &target,
                         Footprint footprint) {
  Report report;
  report.isPlanned = true;
  // The fusion groups by location. Groups with the same location are called in
  // order.
  llvm::MapVector<Location, std::deque<GroupRow>> groups;
  llvm::DenseSet<Operation *> counted;
  grouped.walk([&](graph::GroupOp group) {
    GroupRow row = rowOf(group, target);
    report.macs += row.macs;
    // A constant that several groups read counts once.
    for (Value input : group.getInputs())
      if (auto constant = input.getDefiningOp<graph::ConstantOp>();
          constant && counted.insert(constant).second)
        report.parameters += graph::tensorType(input).getNumElements();
    groups[group.getLoc()].push_back(std::move(row));
  });
  for (const Footprint::Launch &launch : footprint.launches) {
    GroupRow row;
    row.strategy = launch.strategy;
    if (auto &same = groups[launch.location]; !same.empty()) {
      row = std::move(same.front());
      same.pop_front();
    }
    report.rows.push_back({std::move(row), launch});
  }
  report.footprint = std::move(footprint);
  return report;
}

/// Returns the types in which quantized weights of an imported module are
/// stored.
static simplify::WidenedWeights widenedWeights(ModuleOp imported,
                                               const CompileOptions &options) {
  OwningOpRef<ModuleOp> module = imported.clone();
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.strict = options.strict;
  if (failed(widenContractions(*module, pipeline)))
    return {};
  // The entry points of one model have the same weights.
  for (auto function : module->getOps<func::FuncOp>())
    if (function.isPublic())
      return simplify::findWidenedWeights(function.front());
  return {};
}

/// Whether the model lacks nothing but sizes of dimensions.
static bool lacksSizes(const Diagnostics &diagnostics) {
  return !diagnostics.empty() &&
         llvm::all_of(diagnostics.list(), [](const Diagnostic &d) {
           return d.id == DiagnosticId::UnboundDimension;
         });
}

/// Describes the model of the options; returns false, with diagnostics, if it
/// is not an ONNX model. If `choosesSizes`, open dimensions get sizes.
static bool describeModel(const Arguments &arguments, bool choosesSizes,
                          ModelSummary &summary, Report &report,
                          Diagnostics &diagnostics) {
  auto context = makeContext();
  CompileOptions compile = arguments.compile;
  Compilation reader(compile, *context, diagnostics);
  ModelFile *file = reader.open();
  if (!file)
    return false;
  summary = summarize(file->model());
  Footprint footprint;
  Diagnostics trial;
  trial.setFile(diagnostics.file());
  auto planned = planAndMeasure(compile, *context, footprint, trial);
  if (choosesSizes && lacksSizes(trial)) {
    size_t inputs = fedInputs(file->model(), context.get()).size();
    verify::Sizes sizes = verify::sizesToRun(file->model(), compile.import,
                                             InputData(inputs), *context)
                              .front();
    for (const auto &[key, size] : sizes)
      if (!compile.import.dims.count(key) && !StringRef(key).contains('+'))
        compile.import.dims[key] = report.chosen[key] = size;
    Diagnostics again;
    again.setFile(diagnostics.file());
    planned = planAndMeasure(compile, *context, footprint, again);
    // The first diagnostics tell more if the chosen sizes do not fit.
    if (planned)
      trial = std::move(again);
    else
      report.chosen.clear();
  }
  for (ArrayRef<Diagnostic> list : {trial.list(), trial.warnings()})
    for (const Diagnostic &diagnostic : list)
      diagnostics.report(diagnostic);
  if (planned) {
    // `planned` contains kernels instead of fusion groups. To report the
    // groups, the model is compiled again up to `decide`, with the options of
    // `planned` (which --max-ram may have changed), so that they are the same.
    Compilation groups(planned->options, *context, diagnostics);
    simplify::WidenedWeights widened;
    if (groups.advance(Stage::Import))
      widened = widenedWeights(groups.module(), planned->options);
    verify::Sizes chosen = std::move(report.chosen);
    if (groups.advance(Stage::Decide))
      report =
          makeReport(groups.module(), *compile.target, std::move(footprint));
    report.chosen = std::move(chosen);
    // The types belong to the context, which the report outlives.
    report.quantized = {widened.bytes, widened.storedBytes,
                        storedTypes(widened)};
    if (auto compiler = findMeasuringCompiler(compile); !compiler)
      report.unmeasured = llvm::toString(compiler.takeError());
  }
  if (report.isPlanned)
    checkBudget(compile, report.footprint, *context, diagnostics);
  return true;
}

/// Prints the options that bind open dimensions and, if the model does not
/// compile, its errors with their hints.
static void printNextSteps(const Report &report,
                           const Diagnostics &diagnostics) {
  llvm::raw_ostream &os = llvm::outs();
  if (!report.chosen.empty()) {
    os << "\nthe model leaves dimensions open; these figures are for";
    for (const auto &[key, size] : report.chosen)
      os << " " << printable(key) << "=" << size;
    os << "\nbind them:";
    for (const auto &[key, size] : report.chosen)
      os << " --dim " << printable(key) << "=" << size;
    os << "  (or a range: --dim " << printable(report.chosen.begin()->first)
       << "=1..64)\n";
  }
  if (report.isPlanned || diagnostics.empty())
    return;
  os << "\nthe model does not compile yet:\n";
  for (const Diagnostic &diagnostic : diagnostics.list()) {
    os << "  " << infoOf(diagnostic.id).name << ": "
       << printable(diagnostic.message, 200);
    if (diagnostic.count > 1)
      os << " (" << diagnostic.count << " nodes)";
    os << "\n";
    for (const std::string &hint : diagnostic.hints)
      os << "    " << printable(hint, 200) << "\n";
  }
}

std::string inspectAsJson(const Arguments &arguments,
                          Diagnostics &diagnostics) {
  ModelSummary summary;
  Report report;
  std::string text;
  if (describeModel(arguments, /*choosesSizes=*/false, summary, report,
                    diagnostics)) {
    llvm::raw_string_ostream os(text);
    printJson(os, summary, report, *arguments.compile.target, diagnostics);
  }
  return text;
}

int inspectCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (!requireOneTarget(arguments, "`ingot inspect`", diagnostics))
    return diagnostics.exitCode();
  arguments.compile.model = arguments.positional[0];
  ModelSummary summary;
  Report report;
  if (!describeModel(arguments, /*choosesSizes=*/true, summary, report,
                     diagnostics))
    return diagnostics.exitCode();
  if (arguments.json) {
    printJson(llvm::outs(), summary, report, *arguments.compile.target,
              diagnostics);
    arguments.json = false; // the JSON contains the diagnostics
    return diagnostics.exitCode();
  }
  llvm::outs() << printable(arguments.compile.model, 400) << " for "
               << arguments.compile.target->name << "\n";
  printSummary(summary);
  if (report.isPlanned) {
    const TargetDescription &target = *arguments.compile.target;
    target.isDevice() ? printDeviceRows(report, target.device)
                      : printRows(report);
    printTotals(report, target);
  }
  printNextSteps(report, diagnostics);
  return diagnostics.exitCode();
}

} // namespace ingot
