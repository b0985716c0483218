//===- OpsCommand.cpp - ingot ops, ingot targets --------------------------===//
//
// What can be compiled, and for what, from the tables that the compiler itself
// uses.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Schema.h"
#include "compiler/tools/ingot/Commands.h"
#include "dialects/graph/OnnxImport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace ingot {

namespace {
struct OperatorRow {
  std::string name, how, limits;
};
} // namespace

/// ai.onnx's operators that the importer resolves itself.
static constexpr StringLiteral resolved[] = {"Constant", "Identity", "If",
                                             "Shape", "Size"};

static std::vector<OperatorRow> operatorRows() {
  std::vector<OperatorRow> rows;
  const graph::OnnxRegistry &registry = graph::OnnxRegistry::get();
  for (const graph::OnnxOperator *op : registry.all())
    rows.push_back(
        {(op->domain.empty() ? "" : op->domain + ".") + op->name,
         op->graphOperator.empty() ? "own import" : op->graphOperator,
         op->limits});
  for (const OperatorInfo &info : standardOperators()) {
    if (registry.lookup(info.domain, info.name))
      continue;
    OperatorRow row{(info.domain.empty() ? "" : info.domain + ".") + info.name,
                    "", ""};
    if (info.domain.empty() && is_contained(resolved, info.name))
      row.how = "resolved on import";
    else if (info.isFunction)
      row.how = "ONNX's function body";
    else
      row.how = "not supported";
    if (info.name == "If")
      row.limits = "conditions that are only known at run time";
    rows.push_back(std::move(row));
  }
  llvm::sort(rows, [](const OperatorRow &a, const OperatorRow &b) {
    return a.name < b.name;
  });
  return rows;
}

static void printMarkdown(ArrayRef<OperatorRow> rows) {
  outs() << "| operator | as | not supported |\n|---|---|---|\n";
  for (const OperatorRow &row : rows)
    outs() << "| " << row.name << " | " << row.how << " | " << row.limits
           << " |\n";
}

int opsCommand(Arguments &arguments, Diagnostics &diagnostics) {
  std::vector<OperatorRow> rows = operatorRows();
  if (arguments.positional.size() > 1) {
    diagnostics.report(DiagnosticId::BadOption,
                       "`ingot ops` takes at most one operator");
    return InvalidInput;
  }
  if (!arguments.positional.empty()) {
    StringRef wanted = arguments.positional.front();
    auto row = llvm::find_if(
        rows, [&](const OperatorRow &row) { return row.name == wanted; });
    if (row == rows.end()) {
      std::vector<std::string> names;
      for (const OperatorRow &row : rows)
        names.push_back(row.name);
      std::vector<std::string> close = suggestions(wanted, names);
      diagnostics.report(
          DiagnosticId::UnknownOperator,
          "there is no operator `" + printable(wanted) + "`",
          close.empty() ? "" : "did you mean `" + join(close, "`, `") + "`?");
      return InvalidInput;
    }
    outs() << row->name << ": " << row->how << "\n";
    if (int64_t first =
            firstOpset(StringRef(row->name).contains('.')
                           ? StringRef(row->name).rsplit('.').first
                           : "",
                       StringRef(row->name).rsplit('.').second.empty()
                           ? StringRef(row->name)
                           : StringRef(row->name).rsplit('.').second))
      outs() << "since opset " << first << "\n";
    if (!row->limits.empty())
      outs() << "not supported: " << row->limits << "\n";
    return Success;
  }
  if (arguments.markdown) {
    printMarkdown(rows);
    return Success;
  }
  size_t supported = 0;
  for (const OperatorRow &row : rows) {
    supported += row.how != "not supported";
    outs() << left_justify(row.name, 34) << " " << row.how
           << (row.limits.empty() ? "" : "; not supported: " + row.limits)
           << "\n";
  }
  outs() << supported << " of " << rows.size() << " operators\n";
  return Success;
}

int targetsCommand(Arguments &, Diagnostics &) {
  const TargetDescription *native = lookupTarget("native");
  for (const TargetDescription &target : allTargets()) {
    bool runs = target.runsOnThisHost && target.runsOnThisHost();
    outs() << left_justify(target.name, 14) << " " << target.summary
           << (&target == native ? " (native)"
               : runs            ? ""
                                 : " (does not run on this machine)")
           << "\n";
  }
  return Success;
}

} // namespace ingot
