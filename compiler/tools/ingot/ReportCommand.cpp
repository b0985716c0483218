// The command `ingot report MODEL`.
//
// Writes what `ingot inspect` knows, for one or more targets, as one
// self-contained HTML file. With --json, prints the data of the page instead;
// with --md, a summary for a pull request. With --plot, also draws the time of
// each kernel.

#include "codegen/files/OutputFiles.h"
#include "compiler/Faults.h"
#include "compiler/inspect/Chart.h"
#include "compiler/inspect/ModelReport.h"
#include "compiler/report/Progress.h"
#include "compiler/tools/ingot/Commands.h"
#include "passes/schedule/DeviceTime.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace ingot {

/// Returns the JSON of the first report; the others are in its member
/// `other_targets`.
static std::string jsonOf(llvm::ArrayRef<ModelReport> reports,
                          unsigned indent) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, indent);
  json.object([&] {
    printReport(json, reports.front());
    if (reports.size() > 1)
      json.attributeArray("other_targets", [&] {
        for (const ModelReport &report : reports.drop_front())
          json.object([&] { printReport(json, report); });
      });
  });
  return text;
}

/// Returns a number with separators, 1,234,567.
static std::string number(int64_t value) {
  return llvm::formatv("{0:N0}", value).str();
}

/// Returns text for a cell of a Markdown table.
static std::string cell(llvm::StringRef text) {
  std::string out;
  for (char c : printable(text, 400))
    out += c == '|' || c == '<' || c == '`' ? std::string("\\") + c
                                            : std::string(1, c);
  return out;
}

static void printDiagnostics(const ModelReport &report, llvm::raw_ostream &os) {
  os << "The model does not compile for " << report.target->name << ":\n\n";
  for (const Diagnostic &diagnostic : report.diagnostics) {
    os << "- **" << infoOf(diagnostic.id).name
       << "**: " << cell(diagnostic.message);
    if (!diagnostic.node.empty())
      os << " (" << cell(diagnostic.node) << ")";
    os << "\n";
    for (const std::string &hint : diagnostic.hints)
      os << "  - hint: " << cell(hint) << "\n";
  }
  os << "\n";
}

/// Returns as Markdown the totals for all targets, and the kernel calls of the
/// first target for which the model compiles.
static std::string markdownOf(llvm::ArrayRef<ModelReport> reports) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<!-- written by ingot " << ingotVersion << " -->\n"
     << "## " << cell(reports.front().file) << "\n\n";
  for (const ModelReport &report : reports)
    if (!report.isPlanned)
      printDiagnostics(report, os);
  auto compiled = llvm::make_filter_range(
      reports, [](const ModelReport &report) { return report.isPlanned; });
  if (compiled.empty())
    return text;
  bool isTimed = llvm::any_of(compiled, [](const ModelReport &report) {
    return report.measured.has_value();
  });
  os << "| target | flash | RAM | arena | MACs | parameters | kernel calls |"
     << (isTimed ? " measured us |" : "") << "\n|---|--:|--:|--:|--:|--:|--:|"
     << (isTimed ? "--:|\n" : "\n");
  for (const ModelReport &report : compiled) {
    const Footprint &footprint = report.footprint;
    auto measured = [&](int64_t bytes) {
      return footprint.object ? number(bytes) : std::string("?");
    };
    os << "| " << report.target->name << " | " << measured(footprint.flash())
       << " | " << measured(footprint.ram()) << " | " << number(footprint.arena)
       << " | " << number(report.macs) << " | " << number(report.parameters)
       << " | " << report.rows.size() << " |";
    if (report.measured)
      os << llvm::format(" %.4g |", report.measured->median * 1000);
    os << "\n";
  }
  const ModelReport &first = *compiled.begin();
  os << "\n<details><summary>Kernel calls for " << first.target->name
     << "</summary>\n\n| kernel | result | MACs | bytes moved | weights | "
        "arena | "
     << (isTimed ? "measured us | " : "")
     << "nodes |\n|---|---|--:|--:|--:|--:|" << (isTimed ? "--:|" : "")
     << "---|\n";
  for (const KernelRow &row : first.rows) {
    os << "| " << row.strategy << " | " << cell(row.result) << " | "
       << number(row.macs) << " | " << number(row.bytes) << " | "
       << number(row.launch.weights) << " | " << number(row.launch.arena)
       << " | ";
    if (row.microseconds)
      os << llvm::format("%.4g | ", *row.microseconds);
    os << cell(llvm::join(row.nodes, " ")) << " |\n";
  }
  os << "\n</details>\n";
  return text;
}

/// Returns the chart of the time of each kernel call: measured, or predicted.
static Chart chartOf(const ModelReport &report) {
  const TargetDescription &target = *report.target;
  Chart chart;
  chart.title = report.file + " for " + target.name.str() + ": time per kernel";
  bool predictsCycles = programForm(target).predictsCycles;
  chart.valueTitle = report.measured  ? "microseconds (median)"
                     : predictsCycles ? "predicted cycles"
                                      : "predicted microseconds";
  if (report.measured)
    llvm::raw_string_ostream(chart.note)
        << llvm::format("a run takes %.4g us (median of %zu)",
                        report.measured->median * 1000, report.measured->runs);
  for (const KernelRow &row : report.rows) {
    double time = row.cycles;
    if (row.microseconds)
      time = *row.microseconds;
    else if (!predictsCycles)
      time = schedule::predictTime(target.device, row.launch.device, row.bytes,
                                   row.macs)
                 .seconds *
             1e6;
    chart.points.push_back(
        {row.strategy + ": " + llvm::join(row.nodes, " "), 0, time});
  }
  return chart;
}

/// Reports combinations of options without effect; false if there are any.
static bool checkOptions(const Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.json && arguments.markdown)
    diagnostics.report(DiagnosticId::BadOption,
                       "--json and --md exclude each other");
  if (!arguments.measures)
    refuseUnused(arguments, {"seconds"}, "without --measure", diagnostics);
  if (arguments.against.empty())
    refuseUnused(arguments, {"input", "range", "seed"}, "without --against",
                 diagnostics);
  else if (arguments.markdown)
    refuseUnused(arguments, {"against"}, "with --md", diagnostics);
  if (arguments.measures || !arguments.against.empty())
    refuseUnused(arguments, {"entry", "state"},
                 "if the model is run, which --measure and --against do",
                 diagnostics);
  if (arguments.measures)
    for (const TargetDescription *target : arguments.targets) {
      CompileOptions compile = arguments.compile;
      compile.target = target;
      if (!compile.runsOnThisHost())
        diagnostics.report(DiagnosticId::BadOption,
                           "--measure: code for " + target->name +
                               " does not run on this machine",
                           "leave --measure out, or name only targets of this "
                           "machine with --target");
    }
  return diagnostics.empty();
}

int reportCommand(Arguments &arguments, Diagnostics &diagnostics) {
  arguments.compile.model = arguments.positional[0];
  if (!checkOptions(arguments, diagnostics) ||
      !checkPlot(arguments, diagnostics))
    return diagnostics.exitCode();
  bool isPage = !arguments.json && !arguments.markdown;
  std::string output = arguments.output;
  if (output.empty() && isPage)
    output = nameOfModel(arguments.compile.model) + ".html";
  if (isPage && reportPage("").empty()) {
    diagnostics.report(DiagnosticId::MissingProgram,
                       "this `ingot` was built without the JavaScript "
                       "libraries of the page",
                       "build it with the Debian packages node-d3 and "
                       "node-dagre-layout, or use --json or --md");
    return diagnostics.exitCode();
  }
  if (!output.empty() && output != "-" &&
      (!checkWritable(output, diagnostics) ||
       !checkReplaceable(arguments, output, diagnostics)))
    return diagnostics.exitCode();

  std::vector<ModelReport> reports;
  DescribeOptions describe;
  describe.hasDetails = !arguments.markdown;
  if (arguments.measures)
    describe.seconds = arguments.seconds;
  describe.against = arguments.against;
  describe.inputs = arguments.inputChoices;
  for (const TargetDescription *target : arguments.targets) {
    CompileOptions compile = arguments.compile;
    compile.target = target;
    Diagnostics ofTarget;
    ofTarget.setFile(diagnostics.file());
    ModelReport report;
    bool isModel = describeModel(compile, describe, report, ofTarget);
    for (llvm::ArrayRef<Diagnostic> list :
         {ofTarget.list(), ofTarget.warnings()})
      for (const Diagnostic &diagnostic : list)
        diagnostics.report(diagnostic);
    if (!isModel)
      return diagnostics.exitCode();
    reports.push_back(std::move(report));
  }
  std::string text = isPage           ? reportPage(jsonOf(reports, 0))
                     : arguments.json ? jsonOf(reports, 2) + "\n"
                                      : markdownOf(reports);
  if (output.empty() || output == "-") {
    llvm::outs() << text;
  } else if (llvm::Error error = writeFile(
                 output, [&](llvm::raw_ostream &os) { os << text; })) {
    reportFault(std::move(error), diagnostics);
  } else if (!arguments.quiet) {
    llvm::outs() << "wrote " << output << " (" << number(text.size() / 1000)
                 << " KB)\n";
  }
  if (!arguments.plot.empty() && reports.front().isPlanned)
    writePlot(arguments, chartOf(reports.front()), diagnostics);
  arguments.json = false; // the diagnostics are printed as JSON already
  return diagnostics.exitCode();
}

} // namespace ingot
