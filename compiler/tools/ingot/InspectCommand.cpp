//===- InspectCommand.cpp - ingot inspect MODEL ---------------------------===//
//
// What the file says, what each fusion group becomes, and what it all costs.
// For a model that cannot be compiled: what the file says, and why not.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/Summary.h"
#include "compiler/import/TensorData.h"
#include "compiler/tools/ingot/Commands.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace ingot {

namespace {

/// One kernel call.
struct GroupRow {
  std::string strategy, result;
  std::vector<std::string> nodes;
  int64_t macs = 0, parameters = 0, weightBytes = 0, bytes = 0;
};

struct Totals {
  int64_t macs = 0, parameters = 0, weightBytes = 0;
  int64_t arena = 0, lowerBound = 0, kernels = 0;
};

} // namespace

static int64_t storedBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

/// Multiply-adds of the operators that have them: each element of the result
/// takes as many as the contracted part of the weights.
static int64_t macsOf(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() < 2)
    return 0;
  int64_t outputs = graph::tensorType(op->getResult(0)).getNumElements();
  StringRef name = op->getName().stripDialect();
  ArrayRef<int64_t> x = graph::shapeOf(op->getOperand(0)),
                    w = graph::shapeOf(op->getOperand(1));
  if (name == "conv" && !w.empty() && w.back() > 0)
    return outputs *
           (graph::tensorType(op->getOperand(1)).getNumElements() / w.back());
  if (name == "conv_transpose" && !x.empty() && x.back() > 0 && !w.empty())
    return graph::tensorType(op->getOperand(0)).getNumElements() / x.back() *
           graph::tensorType(op->getOperand(1)).getNumElements();
  if (name.starts_with("matmul") || name == "gemm")
    return x.empty() ? 0 : outputs * x.back();
  return 0;
}

/// The ONNX nodes that a location names.
static void collectNodes(Location loc, llvm::SetVector<StringRef> &names) {
  loc->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName().getValue());
    return WalkResult::advance();
  });
}

static GroupRow rowOf(graph::GroupOp group) {
  GroupRow row;
  row.strategy = group.getStrategy().str();
  llvm::SetVector<StringRef> names;
  for (Operation &op : *group.getBody().begin()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    collectNodes(op.getLoc(), names);
    row.macs += macsOf(&op);
  }
  for (StringRef name : names)
    row.nodes.push_back(name.str());
  for (Value input : group.getInputs()) {
    row.bytes += storedBytes(input.getType());
    if (!input.getDefiningOp<graph::ConstantOp>())
      continue;
    row.parameters += graph::tensorType(input).getNumElements();
    row.weightBytes += storedBytes(input.getType());
  }
  SmallVector<std::string> results;
  for (Value output : group.getOutputs()) {
    row.bytes += storedBytes(output.getType());
    results.push_back(describe(output.getType()));
  }
  row.result = llvm::join(results, " ");
  return row;
}

/// 12345678 as "12.3 M".
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

static void printRows(ArrayRef<GroupRow> rows, const Totals &totals) {
  llvm::raw_ostream &os = llvm::outs();
  os << "\n"
     << llvm::left_justify("strategy", 18) << " "
     << llvm::left_justify("result", 24) << " "
     << llvm::right_justify("MACs", 8) << " "
     << llvm::right_justify("params", 8) << " "
     << llvm::right_justify("bytes", 8) << "  nodes\n";
  for (const GroupRow &row : rows) {
    std::vector<std::string> shown(row.nodes.begin(),
                                   row.nodes.begin() +
                                       std::min<size_t>(row.nodes.size(), 4));
    os << llvm::left_justify(row.strategy, 18) << " "
       << llvm::left_justify(row.result, 24) << " "
       << llvm::right_justify(shortNumber(row.macs), 8) << " "
       << llvm::right_justify(shortNumber(row.parameters), 8) << " "
       << llvm::right_justify(shortNumber(row.bytes), 8) << "  "
       << llvm::join(shown, " ")
       << (row.nodes.size() > 4 ? " +" + std::to_string(row.nodes.size() - 4)
                                : "")
       << "\n";
  }
  os << "\n"
     << rows.size() << " kernel calls of " << totals.kernels << " kernels, "
     << shortNumber(totals.macs) << " MACs, " << shortNumber(totals.parameters)
     << " parameters\narena " << totals.arena << " bytes (lower bound "
     << totals.lowerBound << "), weights " << totals.weightBytes << " bytes\n";
}

static void printJson(const ModelSummary &summary, ArrayRef<GroupRow> rows,
                      const Totals &totals, StringRef target,
                      const Diagnostics &diagnostics) {
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
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
    json.attribute("target", target);
    json.attribute("compiles", diagnostics.empty());
    if (diagnostics.empty()) {
      json.attributeArray("groups", [&] {
        for (const GroupRow &row : rows)
          json.object([&] {
            json.attribute("strategy", row.strategy);
            json.attribute("result", row.result);
            json.attribute("macs", row.macs);
            json.attribute("parameters", row.parameters);
            json.attribute("bytes", row.bytes);
            json.attributeArray("nodes", [&] {
              for (const std::string &node : row.nodes)
                json.value(text(node));
            });
          });
      });
      json.attribute("kernels", totals.kernels);
      json.attribute("macs", totals.macs);
      json.attribute("parameters", totals.parameters);
      json.attribute("weight_bytes", totals.weightBytes);
      json.attribute("arena_bytes", totals.arena);
      json.attribute("arena_lower_bound", totals.lowerBound);
    }
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &d : diagnostics.list())
        json.object([&] {
          json.attribute("id", infoOf(d.id).name);
          json.attribute("message", text(d.message));
          if (!d.nodeName.empty())
            json.attribute("node", text(d.nodeName));
        });
    });
  });
  llvm::outs() << "\n";
}

static int64_t integerAttr(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 0;
}

int inspectCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.positional.size() != 1) {
    diagnostics.report(DiagnosticId::BadOption,
                       "`ingot inspect` takes one model");
    return InvalidInput;
  }
  arguments.compile.model = arguments.positional[0];
  auto context = makeContext();
  // One compilation stops where the groups are visible, the other has the
  // memory plan.
  Compilation groups(arguments.compile, *context, diagnostics);
  ModelFile *file = groups.open();
  if (!file)
    return diagnostics.exitCode();
  ModelSummary summary = summarize(file->model());
  std::vector<GroupRow> rows;
  Totals totals;
  if (groups.advance(Stage::Decide)) {
    groups.module().walk(
        [&](graph::GroupOp group) { rows.push_back(rowOf(group)); });
    for (const GroupRow &row : rows) {
      totals.macs += row.macs;
      totals.parameters += row.parameters;
      totals.weightBytes += row.weightBytes;
    }
    Compilation planned(arguments.compile, *context, diagnostics);
    if (planned.advance(Stage::Plan)) {
      totals.arena = integerAttr(planned.module(), "ingot.arena_bytes");
      totals.lowerBound =
          integerAttr(planned.module(), "ingot.arena_lower_bound");
      for (auto function : planned.module().getOps<func::FuncOp>())
        totals.kernels += function.isPrivate();
    }
  }
  if (arguments.json) {
    printJson(summary, rows, totals, arguments.compile.target->name,
              diagnostics);
    arguments.json = false; // the diagnostics are part of it
    return diagnostics.exitCode();
  }
  llvm::outs() << printable(arguments.compile.model, 400) << " for "
               << arguments.compile.target->name << "\n";
  printSummary(summary);
  if (diagnostics.empty())
    printRows(rows, totals);
  return diagnostics.exitCode();
}

} // namespace ingot
