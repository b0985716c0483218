// The commands `ingot ops` and `ingot targets`.
//
// Lists the supported operators and targets from the tables that the compiler
// itself uses. The Markdown form is the main part of dialects/graph/OPS.md.

#include "compiler/import/ImportOnnx.h"
#include "compiler/import/Schema.h"
#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Commands.h"

#include "codegen/objects/Toolchain.h"
#include "compiler/import/operators/OnnxImport.h"
#include "targets/Cores.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace ingot {

namespace {
struct OperatorRow {
  std::string name;
  /// For the table: the graph operator that the importer creates for this ONNX
  /// operator, or a text such as "several operators".
  std::string how;
  /// The unsupported attributes and types of the operator.
  std::string limits;
  OperatorInfo info;
  bool supported = true;
};
} // namespace

static constexpr StringLiteral severalOperators = "several operators";

static OperatorRow rowOf(const OperatorInfo &info) {
  OperatorRow row;
  row.name = (info.domain.empty() ? "" : info.domain + ".") + info.name;
  row.info = info;
  const graph::OnnxOperator *op =
      graph::OnnxRegistry::get().lookup(info.domain, info.name);
  if (auto resolved = resolvedOperator(info.domain, info.name)) {
    row.how = "decided when compiling";
    if (!resolved->graphOperator.empty())
      row.how = resolved->graphOperator.str() + ", or " + row.how;
    row.limits = resolved->limits.str();
  } else if (op) {
    row.how =
        op->graphOperator.empty() ? severalOperators.str() : op->graphOperator;
    row.limits = op->limits;
  } else if (info.isFunction) {
    row.how = "the operators that ONNX defines it by";
  } else {
    row.how = "not supported";
    row.supported = false;
  }
  return row;
}

/// Returns a remark on an ambiguity in the operator's specification; empty if
/// there is none.
static StringRef remarkOn(const OperatorInfo &info) {
  struct Remark {
    StringLiteral domain, name, text;
  };
  static constexpr Remark remarks[] = {
#define INGOT_REMARK(DOMAIN, NAME, TEXT) {DOMAIN, NAME, TEXT},
#include "compiler/import/operators/Remarks.def"
  };
  for (const Remark &remark : remarks)
    if (remark.domain == info.domain && remark.name == info.name)
      return remark.text;
  return "";
}

static std::vector<OperatorRow> operatorRows() {
  std::vector<OperatorRow> rows;
  for (const OperatorInfo &info : standardOperators())
    rows.push_back(rowOf(info));
  // Adds operators that are not in ONNX's own domains.
  for (const graph::OnnxOperator *op : graph::OnnxRegistry::get().all())
    if (!op->domain.empty() && !newestOpset(op->domain))
      rows.push_back({op->domain + "." + op->name,
                      severalOperators.str(),
                      op->limits,
                      {},
                      true});
  return rows;
}

static std::string versionList(const OperatorRow &row) {
  return join(
      map_range(row.info.versions, [](int64_t v) { return std::to_string(v); }),
      ", ");
}

static void printMarkdown(ArrayRef<OperatorRow> rows, raw_ostream &os) {
  os << "| operator | opsets | becomes | not supported |\n"
        "|---|---|---|---|\n";
  for (const OperatorRow &row : rows)
    os << "| " << row.name << " | " << versionList(row) << " | "
       << (row.supported ? row.how : "") << " | "
       << (row.supported ? row.limits : "all") << " |\n";
}

void printOperatorTable(raw_ostream &os) { printMarkdown(operatorRows(), os); }

static int reportUnknown(StringRef wanted, ArrayRef<OperatorRow> rows,
                         Diagnostics &diagnostics) {
  std::vector<std::string> names;
  for (const OperatorRow &row : rows)
    names.push_back(row.name);
  if (isVendorDomain(wanted))
    diagnostics.report(DiagnosticId::UnsupportedOperator,
                       "the operator `" + printable(wanted) +
                           "` is not implemented",
                       "`ingot ops` lists the implemented operators");
  else
    diagnostics.report(DiagnosticId::UnknownOperator,
                       "unknown operator `" + printable(wanted) + "`",
                       didYouMean(wanted, names));
  return diagnostics.exitCode();
}

static void showRow(const OperatorRow &row) {
  const OperatorInfo &info = row.info;
  outs() << row.name << (row.supported ? " is supported" : " is not supported");
  if (info.newest)
    outs() << (row.supported ? " in models of opset "
                             : "; ONNX has it in opset ")
           << (row.supported && info.domain.empty()
                   ? std::max(info.versions.front(), oldestOpset)
                   : info.versions.front())
           << " to " << info.newest << " (changed in " << versionList(row)
           << ")";
  outs() << "\n";
  if (!row.supported)
    return;
  if (!row.limits.empty())
    outs() << "not supported of it: " << row.limits << "\n";
  for (const auto &[operands, types] : info.types)
    outs() << "element types of " << operands << ": " << types << "\n";
  outs() << "compiled as: " << row.how << "\n";
  if (StringRef remark = remarkOn(info); !remark.empty())
    outs() << remark << "\n";
}

/// Shows the operator `wanted`. If the name has no domain and the default
/// domain has no such operator, shows the operators of this name in all other
/// domains. If there are none, reports an error.
static int showOperator(StringRef wanted, ArrayRef<OperatorRow> rows,
                        Diagnostics &diagnostics) {
  auto showAll = [&](auto isWanted) {
    bool any = false;
    for (const OperatorRow &row : rows)
      if (isWanted(StringRef(row.name))) {
        showRow(row);
        any = true;
      }
    return any;
  };
  if (showAll([&](StringRef name) { return name == wanted; }) ||
      showAll(
          [&](StringRef name) { return name.rsplit('.').second == wanted; }))
    return Success;
  return reportUnknown(wanted, rows, diagnostics);
}

int opsCommand(Arguments &arguments, Diagnostics &diagnostics) {
  std::vector<OperatorRow> rows = operatorRows();
  if (!arguments.positional.empty() &&
      !refuseUnused(arguments, {"markdown"}, "on a single operator",
                    diagnostics))
    return diagnostics.exitCode();
  if (!arguments.positional.empty())
    return showOperator(arguments.positional.front(), rows, diagnostics);
  if (arguments.markdown) {
    printMarkdown(rows, outs());
    return Success;
  }
  for (const OperatorRow &row : rows)
    outs() << left_justify(row.name, 34) << " " << row.how
           << (row.limits.empty() ? "" : "; not supported: " + row.limits)
           << "\n";
  outs() << llvm::count_if(rows, [](auto &row) { return row.supported; })
         << " of " << rows.size() << " operators\n";
  return Success;
}

/// Returns the instruction sets that the functions of a target may use, as in
/// the target pragma around them; none if the target's compiler flags name a
/// processor instead.
static SmallVector<StringRef> featuresOf(const TargetDescription &target) {
  StringRef list = target.openText.split("target(\"").second.split('"').first;
  SmallVector<StringRef> features;
  if (list.consume_front("arch="))
    list.split(features, '+');
  else if (!list.empty())
    list.split(features, ',');
  return features;
}

static StringRef howItRuns(const TargetDescription &target) {
  return target.runsOnThisHost && target.runsOnThisHost() ? "natively"
         : !installedCommand(target.emulator).empty()     ? "emulated"
                                                          : "not";
}

/// Prints the targets as JSON, for scripts that build generated code.
static void printTargetsAsJson() {
  json::OStream json(outs(), 2);
  auto strings = [&](StringRef name, ArrayRef<StringRef> values) {
    json.attributeArray(name, [&] {
      for (StringRef value : values)
        json.value(value);
    });
  };
  json.array([&] {
    for (const TargetDescription &target : allTargets())
      json.object([&] {
        json.attribute("name", target.name);
        json.attribute("summary", target.summary);
        strings("features", featuresOf(target));
        json.attribute("runs_here", howItRuns(target));
        strings("compilers", target.compilers);
        strings("flags", target.compilerFlags);
        json.attribute("linker", target.linker);
        strings("link_flags", target.linkFlags);
        json.attribute("program_text", target.programText);
        json.attribute("library_text", target.libraryText);
        json.attribute("emulator", target.emulator);
      });
  });
  outs() << "\n";
}

void printTargetTable(raw_ostream &os) {
  os << "| target | description | compilers |\n|---|---|---|\n";
  for (const TargetDescription &target : allTargets())
    os << "| `" << target.name << "` | " << target.summary << " | "
       << join(target.compilers, ", ") << " |\n";
}

int targetsCommand(Arguments &arguments, Diagnostics &) {
  if (arguments.json) {
    printTargetsAsJson();
    return Success;
  }
  const TargetDescription *native = lookupTarget("native");
  for (const TargetDescription &target : allTargets()) {
    StringRef runs = howItRuns(target);
    outs() << left_justify(target.name, 14) << " " << target.summary;
    if (&target == native)
      outs() << " (native)";
    else if (runs == "emulated")
      outs() << " (emulated on this machine)";
    else if (runs == "not")
      outs() << " (does not run on this machine)";
    outs() << "\n";
  }
  outs() << "\ncores, for --tune-for\n";
  for (const Core &core : allCores())
    outs() << left_justify(core.name, 14) << " " << core.summary << " ("
           << core.family << ")\n";
  return Success;
}

} // namespace ingot
