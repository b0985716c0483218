// The command `ingot inspect MODEL`.
//
// Prints a summary of the model file, the strategy of each fusion group (how
// its loops are built), and the sizes of code and memory on the target,
// measured by compiling the generated code. If the model cannot be compiled,
// prints the summary and the diagnostics. Dynamic dimensions without a size get
// one for the report.

#include "compiler/inspect/ModelReport.h"
#include "compiler/tools/ingot/Commands.h"
#include "passes/schedule/GroupCost.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;

namespace ingot {

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

/// Formats a number of bytes without rounding, for comparison with budgets.
/// Returns "?" if the object was not measured, and "=" if `shared`: the bytes
/// are those of a kernel that an earlier line of the table lists.
static std::string sizeText(const ModelReport &report, int64_t bytes,
                            bool shared) {
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

/// The width of the column of strategies (ways to build loops): the longest
/// name of a strategy, and the mark of kernels that compute floats one by one.
constexpr unsigned strategyWidth = 22;

/// Prints a line for each kernel call of a model compiled for a GPU.
static void printDeviceRows(const ModelReport &report, const Device &device) {
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
  for (const KernelRow &row : report.rows) {
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
      report.rows, [](const KernelRow &row) { return row.launch.onHost; });
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

static void printRows(const ModelReport &report) {
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
  for (const KernelRow &row : report.rows) {
    const Footprint::Launch &launch = row.launch;
    line(row.strategy + (row.isScalar ? " *" : ""), row.result,
         {shortNumber(row.macs), shortNumber(row.bytes),
          std::to_string(launch.weights),
          sizeText(report, launch.code, !launch.isFirst),
          std::to_string(launch.arena), sizeText(report, launch.stack, false)},
         shortNodes(row.nodes));
  }
}

static void printTotals(const ModelReport &report,
                        const TargetDescription &target) {
  const Footprint &footprint = report.footprint;
  llvm::raw_ostream &os = llvm::outs();
  os << "\n";
  if (llvm::any_of(report.rows,
                   [](const KernelRow &row) { return row.isScalar; }))
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
  for (const KernelRow &row : report.rows)
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

/// Prints the options that fix dynamic dimensions.
static void printChosen(const ModelReport &report) {
  llvm::raw_ostream &os = llvm::outs();
  if (report.chosen.empty())
    return;
  os << "\nthe model leaves dimensions open; these figures are for";
  for (const auto &[key, size] : report.chosen)
    os << " " << printable(key) << "=" << size;
  os << "\nbind them:";
  for (const auto &[key, size] : report.chosen)
    os << " --dim " << printable(key) << "=" << size;
  os << "  (or a range: --dim " << printable(report.chosen.begin()->first)
     << "=1..64)\n";
}

/// If the model does not compile, prints its errors with their hints.
static void printErrors(const ModelReport &report,
                        const Diagnostics &diagnostics) {
  llvm::raw_ostream &os = llvm::outs();
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

/// Prints a report as JSON.
static void printJson(llvm::raw_ostream &os, const ModelReport &report) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] { printReport(json, report); });
  os << "\n";
}

std::string inspectAsJson(const Arguments &arguments,
                          Diagnostics &diagnostics) {
  ModelReport report;
  std::string text;
  DescribeOptions describe;
  describe.choosesSizes = false;
  if (describeModel(arguments.compile, describe, report, diagnostics)) {
    llvm::raw_string_ostream os(text);
    printJson(os, report);
  }
  return text;
}

int inspectCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (!requireOneTarget(arguments, "`ingot inspect`", diagnostics))
    return diagnostics.exitCode();
  arguments.compile.model = arguments.positional[0];
  ModelReport report;
  if (!describeModel(arguments.compile, {}, report, diagnostics))
    return diagnostics.exitCode();
  if (arguments.json) {
    printJson(llvm::outs(), report);
    arguments.json = false; // the diagnostics are printed as JSON already
    return diagnostics.exitCode();
  }
  llvm::outs() << printable(arguments.compile.model, 400) << " for "
               << arguments.compile.target->name << "\n";
  printSummary(report.summary);
  if (report.isPlanned) {
    const TargetDescription &target = *arguments.compile.target;
    programForm(target).measuresObjects
        ? printRows(report)
        : printDeviceRows(report, target.device);
    printChosen(report);
    printTotals(report, target);
  } else {
    printChosen(report);
  }
  printErrors(report, diagnostics);
  return diagnostics.exitCode();
}

} // namespace ingot
