#include "compiler/evidence/CodeMap.h"

#include "codegen/files/Interface.h"
#include "codegen/files/NodeNames.h"
#include "codegen/files/Weights.h"
#include "compiler/import/ModelFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

using namespace mlir;

namespace ingot {

bool CodeMap::read() {
  if (!readNodes())
    return false;
  readSource();
  readFunctions();
  explainNodes();
  return true;
}

bool CodeMap::readNodes() {
  const CompileOptions &given = compilation.options;
  auto addNodes = [&](StringRef entry, const ModelFile *model) {
    if (!model)
      return false;
    for (ModelNode &node : modelNodes(model->model())) {
      nodeNames.insert(node.name);
      nodes.push_back({entry.str(), std::move(node), {}, {}, "", {}});
    }
    return true;
  };
  // Without --entry, reads the model that the compilation has opened: opening
  // it again would need memory for a second copy.
  if (given.entries.empty())
    return addNodes("", compilation.open());
  auto add = [&](StringRef entry, StringRef path) {
    std::unique_ptr<ModelFile> model =
        path.empty() && given.makeModel
            ? given.makeModel()
            : ModelFile::open(path.empty() ? given.model : path,
                              compilation.getDiagnostics());
    return addNodes(entry, model.get());
  };
  return llvm::all_of(given.entries, [&](const EntryPoint &entry) {
    return add(entry.name, entry.model);
  });
}

/// Prints the generated source once more: the printer returns the same text as
/// in the file, and records the position of each operation in it.
void CodeMap::readSource() {
  llvm::raw_string_ostream os(text);
  printSource(variant, options, os, &map);
  lineStarts.push_back(0);
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n')
      lineStarts.push_back(i + 1);
}

size_t CodeMap::lineOf(size_t offset) const {
  return llvm::upper_bound(lineStarts, offset) - lineStarts.begin();
}

const Function *CodeMap::functionOf(Operation *op) const {
  for (const auto &function : functions)
    if (function->op == op || function->op->isAncestor(op))
      return function.get();
  return nullptr;
}

void CodeMap::readFunctions() {
  SymbolTable symbols(module);
  llvm::DenseMap<Operation *, Function *> known;
  for (const SourceMap::Site &site : map.sites) {
    if (site.kind != SourceMap::Kind::Function)
      continue;
    auto function = std::make_unique<Function>();
    function->op = site.op;
    function->kind = isa<kernel::FuncOp>(site.op)      ? "kernel"
                     : isa<kernel::ProgramOp>(site.op) ? "program"
                                                       : "helper";
    StringRef symbol = SymbolTable::getSymbolName(site.op);
    auto name = map.functions.find(symbol);
    function->name = name != map.functions.end() ? name->second : "run";
    function->firstLine = lineOf(site.begin);
    function->lastLine = lastLineOf(site.end);
    known[site.op] = function.get();
    functions.push_back(std::move(function));
  }
  for (const Interface &interface :
       interfacesOf(variant, options, Weights(variant)))
    if (Function *entry = known.lookup(interface.main))
      entry->name = interface.localName();
  auto add = [&](Function *function, Location location) {
    for (StringRef name : nodesOf(location))
      if (nodeNames.contains(name))
        function->nodes.insert(name);
  };
  module.walk([&](kernel::LaunchOp launch) {
    Function *callee = known.lookup(symbols.lookup(launch.getCallee()));
    if (callee)
      add(callee, launch.getLoc());
  });
  for (const auto &function : functions) {
    if (isa<kernel::FuncOp>(function->op))
      add(function.get(), function->op->getLoc());
    else if (isa<kernel::ProgramOp>(function->op))
      for (Operation &op :
           *cast<kernel::ProgramOp>(function->op).getBody().begin())
        add(function.get(), op.getLoc());
  }
  // A helper computes a part of the nodes of its callers. Helpers are printed
  // before the functions that call them, so in reverse order each function has
  // all its nodes before they are added to the helpers it calls.
  for (const auto &caller : llvm::reverse(functions))
    caller->op->walk([&](func::CallOp call) {
      Function *callee = known.lookup(symbols.lookup(call.getCallee()));
      if (callee && callee != caller.get())
        callee->nodes.insert_range(caller->nodes);
    });
}

/// Whether an operator only copies, repeats or converts elements of its
/// operands.
static bool isMovement(StringRef op) {
  return llvm::is_contained({"Reshape", "Flatten", "Squeeze", "Unsqueeze",
                             "Identity", "Dropout", "Transpose", "Concat",
                             "Split", "Slice", "Cast", "Expand", "Pad"},
                            op);
}

void CodeMap::explainNodes() {
  llvm::StringMap<std::vector<const Function *>> computing;
  llvm::StringMap<std::vector<std::pair<size_t, size_t>>> launching;
  for (const auto &function : functions)
    for (StringRef name : function->nodes)
      if (!isa<kernel::ProgramOp>(function->op))
        computing[name].push_back(function.get());
  for (const SourceMap::Site &site : map.sites)
    if (site.kind == SourceMap::Kind::Statement && site.begin != site.end &&
        isa<kernel::LaunchOp, kernel::IfOp, kernel::LoopOp>(site.op))
      for (StringRef name : nodesOf(site.op->getLoc()))
        launching[name].push_back({lineOf(site.begin), lastLineOf(site.end)});
  // The nodes that produce and consume each value of a graph.
  std::map<std::string, std::vector<Node *>> producers, consumers;
  auto key = [](const Node &node, const std::string &value) {
    return node.entry + "\n" + node.node.graph + "\n" + value;
  };
  for (Node &node : nodes) {
    node.functions = computing.lookup(node.node.name);
    node.launches = launching.lookup(node.node.name);
    for (const std::string &input : node.node.inputs)
      consumers[key(node, input)].push_back(&node);
    for (const std::string &output : node.node.outputs)
      producers[key(node, output)].push_back(&node);
  }
  for (Node &node : nodes) {
    if (!node.functions.empty() || !node.launches.empty())
      continue;
    const ModelNode &given = node.node;
    if (!given.isUsed)
      node.reason = "unused: no output of its graph depends on it";
    else if (given.isConstant)
      node.reason = "computed at compile time: its inputs are constants";
    else if (given.isOfSizes)
      node.reason =
          "computed at compile time or from the sizes that the caller "
          "gives: it depends on sizes only";
    else if (isMovement(given.op))
      node.reason = "no code of its own: the kernels of its neighbours read or "
                    "write the elements where they are";
    else
      node.reason = "merged: the kernels of its neighbours compute it with "
                    "other operations";
    // Finds the nearest nodes before or after `node` that have code, and adds
    // their kernels to `neighbours`.
    auto visit = [&](bool forward) {
      std::set<const Node *> seen{&node};
      std::vector<const Node *> now{&node};
      for (size_t i = 0; i < now.size(); ++i) {
        const Node &from = *now[i];
        auto &edges = forward ? consumers : producers;
        for (const std::string &value :
             forward ? from.node.outputs : from.node.inputs) {
          if (value.empty())
            continue;
          for (Node *next : edges[key(from, value)]) {
            if (!seen.insert(next).second)
              continue;
            if (next->functions.empty())
              now.push_back(next);
            for (const Function *function : next->functions)
              if (isa<kernel::FuncOp>(function->op))
                node.neighbours.insert(function);
          }
        }
      }
    };
    if (given.isUsed) {
      visit(/*forward=*/false);
      visit(/*forward=*/true);
    }
  }
}

} // namespace ingot
