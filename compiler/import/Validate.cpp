#include "compiler/import/Validate.h"

#include "compiler/import/Schema.h"
#include "compiler/import/operators/OnnxImport.h"
#include "compiler/report/Suggest.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

#include <queue>

using namespace mlir;

namespace ingot {

OpsetImports
opsetImports(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>
                 &imports) {
  OpsetImports opsets;
  for (const auto &import : imports)
    opsets[canonicalDomain(import.domain())] = import.version();
  return opsets;
}

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  // The names have been checked and cannot contain a newline, so a newline can
  // separate them in the key.
  return (canonicalDomain(domain) + "\n" + name + "\n" + overload).str();
}

void setNode(Diagnostic &diagnostic, const onnx::NodeProto &node, int64_t index,
             int64_t opset) {
  std::string &text = diagnostic.node;
  text = "node #" + std::to_string(index);
  // A node without a name is identified by its first output.
  StringRef name = node.name();
  if (name.empty())
    for (const std::string &output : node.output())
      if (name.empty())
        name = output;
  diagnostic.nodeIndex = index;
  diagnostic.nodeName = name.str();
  diagnostic.operatorName = node.op_type();
  text += (node.name().empty() ? " with output `" : " `") + printable(name) +
          "` (`" + printable(node.op_type(), 60) + "`";
  if (!canonicalDomain(node.domain()).empty())
    text += " of " + printable(node.domain(), 60);
  if (opset > 0)
    text += ", opset " + std::to_string(opset);
  text += ")";
}

using VisitName = llvm::function_ref<void(const std::string &)>;

/// Returns the names that a graph defines. Such a name hides an equal name of
/// an enclosing graph, regardless of the order of nodes.
static llvm::StringSet<> definedIn(const onnx::GraphProto &graph) {
  llvm::StringSet<> names;
  for (const auto &input : graph.input())
    names.insert(input.name());
  for (const auto &tensor : graph.initializer())
    names.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    names.insert(tensor.values().name());
  for (const auto &node : graph.node())
    for (const std::string &output : node.output())
      names.insert(output);
  return names;
}

/// Calls `visit` with each name that a node uses from its graph, including uses
/// in subgraphs of the node.
static void forEachRead(const onnx::NodeProto &node, VisitName visit) {
  for (const std::string &input : node.input())
    if (!input.empty())
      visit(input);
  auto inGraph = [&](const onnx::GraphProto &graph) {
    llvm::StringSet<> own = definedIn(graph);
    for (const auto &inner : graph.node())
      forEachRead(inner, [&](const std::string &name) {
        if (!own.contains(name))
          visit(name);
      });
    for (const auto &output : graph.output())
      if (!own.contains(output.name()))
        visit(output.name());
  };
  for (const auto &attr : node.attribute()) {
    if (attr.has_g())
      inGraph(attr.g());
    for (const auto &graph : attr.graphs())
      inGraph(graph);
  }
}

SmallVector<int> topologicalOrder(const NodeList &nodes) {
  llvm::StringMap<int> producer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producer[output] = i;
  std::vector<SmallVector<int, 4>> users(nodes.size());
  std::vector<int> waiting(nodes.size());
  for (int i = 0; i < nodes.size(); ++i)
    forEachRead(nodes[i], [&](const std::string &name) {
      auto it = producer.find(name);
      if (it == producer.end())
        return;
      users[it->second].push_back(i);
      ++waiting[i];
    });
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (!waiting[i])
      ready.push(i);
  SmallVector<int> order;
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int user : users[i])
      if (!--waiting[user])
        ready.push(user);
  }
  return order;
}

namespace {

/// The names that are visible in a graph, including those of enclosing graphs.
struct NameScope {
  const NameScope *outer = nullptr;
  llvm::StringSet<> names;
  bool has(StringRef name) const {
    return names.contains(name) || (outer && outer->has(name));
  }
};

class Validator {
public:
  Validator(const onnx::ModelProto &model, Diagnostics &diagnostics)
      : model(model), diagnostics(diagnostics) {}
  bool run();

private:
  struct Place {
    const OpsetImports &opsets;
    std::string inside; // such as ", inside `then_branch` of `if`"
  };

  void checkOpsets(const OpsetImports &opsets, StringRef where);
  void checkGraph(const onnx::GraphProto &graph, const Place &place,
                  const NameScope *outer);
  void checkNodes(const NodeList &nodes, const Place &place, NameScope &scope);
  void checkNode(const onnx::NodeProto &node, int index, const Place &place,
                 const NameScope &scope);
  void checkOperator(const onnx::NodeProto &node, int index,
                     const Place &place);
  void unknownOperator(const onnx::NodeProto &node, int index, int64_t opset,
                       const Place &place);
  void checkCycle(const NodeList &nodes, const Place &place);
  void define(StringRef name, NameScope &scope, StringRef what,
              const Place &place);
  bool checkName(StringRef name, StringRef what, const Place &place);
  void reportNode(DiagnosticId id, const Twine &message,
                  const onnx::NodeProto &node, int index, const Place &place,
                  std::string supported = "", std::string hint = "");
  void report(DiagnosticId id, const Twine &message, const Twine &hint = "") {
    diagnostics.report(id, message, hint);
  }

  const onnx::ModelProto &model;
  Diagnostics &diagnostics;
  llvm::StringMap<const onnx::FunctionProto *> functions;
  llvm::StringSet<> functionDomains;
};

} // namespace

void Validator::reportNode(DiagnosticId id, const Twine &message,
                           const onnx::NodeProto &node, int index,
                           const Place &place, std::string supported,
                           std::string hint) {
  Diagnostic diagnostic;
  diagnostic.id = id;
  diagnostic.message = message.str();
  setNode(diagnostic, node, index,
          place.opsets.lookup(canonicalDomain(node.domain())));
  diagnostic.node += place.inside;
  diagnostic.supported = std::move(supported);
  if (!hint.empty())
    diagnostic.hints.push_back(std::move(hint));
  diagnostics.report(std::move(diagnostic));
}

bool Validator::checkName(StringRef name, StringRef what, const Place &place) {
  constexpr size_t longest = 4096;
  std::string problem;
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(name.begin());
  if (name.empty())
    problem = "is empty";
  else if (name.size() > longest)
    problem = "has " + std::to_string(name.size()) + " bytes";
  else if (llvm::any_of(name,
                        [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    problem = "contains control characters";
  else if (!llvm::isLegalUTF8String(
               &begin, reinterpret_cast<const llvm::UTF8 *>(name.end())))
    problem = "is not valid UTF-8";
  if (problem.empty())
    return true;
  report(DiagnosticId::InvalidName, "the name `" + printable(name) + "` of " +
                                        what + place.inside + " " + problem);
  return false;
}

void Validator::define(StringRef name, NameScope &scope, StringRef what,
                       const Place &place) {
  checkName(name, what, place);
  if (!scope.names.insert(name).second)
    report(DiagnosticId::DuplicateName,
           "two values" + place.inside + " have the name `" + printable(name) +
               "`; the second is " + what);
}

void Validator::checkOpsets(const OpsetImports &opsets, StringRef where) {
  for (const auto &entry : opsets) {
    StringRef domain = entry.first();
    int64_t newest = newestOpset(domain), version = entry.second;
    std::string shown = domain.empty() ? "ai.onnx" : printable(domain);
    if (newest && version > newest)
      report(DiagnosticId::FutureOpset,
             "the " + where + " imports opset " + Twine(version) + " of " +
                 shown + "; the newest supported opset is " + Twine(newest),
             "export the model with opset " + Twine(newest) + " or older");
    else if (version < 1)
      report(DiagnosticId::MissingOpset, "the " + where +
                                             " imports the invalid opset " +
                                             Twine(version) + " of " + shown);
  }
}

void Validator::unknownOperator(const onnx::NodeProto &node, int index,
                                int64_t opset, const Place &place) {
  StringRef domain = canonicalDomain(node.domain());
  std::string shown = "`" + printable(node.op_type(), 60) + "`";
  if (int64_t first = firstOpset(domain, node.op_type()); first > opset)
    return reportNode(DiagnosticId::UnknownOperator,
                      "the operator " + shown +
                          " does not exist before opset " + Twine(first),
                      node, index, place, "",
                      "the model imports opset " + std::to_string(opset) +
                          "; export it with opset " + std::to_string(first) +
                          " or newer");
  std::vector<std::string> names = operatorNames(domain);
  bool known =
      newestOpset(domain) || !names.empty() || functionDomains.contains(domain);
  if (isVendorDomain(domain))
    return; // the model is valid: the importer reports the operator together
            // with all others that are unsupported
  for (const auto &function : model.functions())
    if (canonicalDomain(function.domain()) == domain)
      names.push_back(function.name());
  std::string close = didYouMean(node.op_type(), names);
  if (known)
    return reportNode(DiagnosticId::UnknownOperator,
                      "unknown operator " + shown, node, index, place, "",
                      close.empty() ? "`ingot ops` lists the operators; "
                                      "--custom declares others"
                                    : close);
  reportNode(
      DiagnosticId::UnknownDomain,
      "unknown operator " + shown + " from the custom domain `" +
          printable(domain, 60) +
          "`; Ingot supports ai.onnx, ai.onnx.ml and com.microsoft",
      node, index, place, "",
      firstOpset("", node.op_type())
          ? shown + " is an operator of ai.onnx; leave the node's domain empty"
          : "export the model with standard operators, define " + shown +
                " as a function in the model, or declare it in a file "
                "(--custom)");
}

void Validator::checkOperator(const onnx::NodeProto &node, int index,
                              const Place &place) {
  StringRef domain = canonicalDomain(node.domain());
  if (functions.contains(functionKey(domain, node.op_type(), node.overload())))
    return;
  auto opset = place.opsets.find(domain);
  if (opset == place.opsets.end()) {
    bool known = newestOpset(domain) || isVendorDomain(domain);
    if (!known)
      return unknownOperator(node, index, 0, place);
    return reportNode(DiagnosticId::MissingOpset,
                      "the model imports no opset of " +
                          (domain.empty() ? "ai.onnx" : printable(domain)),
                      node, index, place);
  }
  const onnx::OpSchema *schema =
      lookupSchema(domain, node.op_type(), opset->second);
  if (!schema) {
    if (!graph::OnnxRegistry::get().lookup(domain, node.op_type()) ||
        domain.empty())
      unknownOperator(node, index, opset->second, place);
    return;
  }
  // The GroupNormalization of opset 18 is deprecated in favor of the operator
  // of the same name in opset 21; the importer supports both.
  bool isKept = node.op_type() == "GroupNormalization";
  if (schema->Deprecated() && !isKept)
    return reportNode(DiagnosticId::UnknownOperator,
                      "the operator `" + node.op_type() +
                          "` was removed in opset " +
                          Twine(schema->SinceVersion()),
                      node, index, place);
  if (auto error = checkForm(node, *schema))
    reportNode(error->id, error->message, node, index, place, error->supported);
}

void Validator::checkNode(const onnx::NodeProto &node, int index,
                          const Place &place, const NameScope &scope) {
  checkOperator(node, index, place);
  if (!node.name().empty())
    checkName(node.name(), "a node", place);
  for (const std::string &input : node.input()) {
    if (input.empty() || scope.has(input))
      continue;
    std::vector<std::string> names;
    for (const auto &entry : scope.names)
      names.push_back(entry.first().str());
    llvm::sort(names);
    reportNode(DiagnosticId::UndefinedValue,
               "nothing produces the input `" + printable(input) + "`", node,
               index, place, "", didYouMean(input, names));
  }
  for (const auto &attr : node.attribute()) {
    auto inside = [&](const onnx::GraphProto &graph) {
      Diagnostic at;
      setNode(at, node, index, 0);
      checkGraph(graph,
                 {place.opsets, ", inside `" + printable(attr.name(), 60) +
                                    "` of " + at.node + place.inside},
                 &scope);
    };
    if (attr.has_g())
      inside(attr.g());
    for (const auto &graph : attr.graphs())
      inside(graph);
  }
}

void Validator::checkCycle(const NodeList &nodes, const Place &place) {
  SmallVector<int> order = topologicalOrder(nodes);
  if (int(order.size()) == nodes.size())
    return;
  llvm::SmallSet<int, 16> done(order.begin(), order.end());
  llvm::StringMap<int> producer;
  int start = -1;
  for (int i = 0; i < nodes.size(); ++i) {
    if (done.contains(i))
      continue;
    start = start < 0 ? i : start;
    for (const std::string &output : nodes[i].output())
      producer[output] = i;
  }
  // A node that could not be ordered depends on another such node, which `next`
  // returns. Following these dependencies leads into a cycle.
  auto next = [&](int i) {
    int found = -1;
    forEachRead(nodes[i], [&](const std::string &name) {
      if (auto it = producer.find(name); it != producer.end() && found < 0)
        found = it->second;
    });
    return found;
  };
  llvm::SmallSet<int, 16> seen;
  while (start >= 0 && seen.insert(start).second)
    start = next(start);
  if (start < 0)
    return;
  std::vector<std::string> names;
  int i = start;
  do {
    Diagnostic at;
    setNode(at, nodes[i], i, 0);
    names.push_back("#" + std::to_string(i) + " `" + printable(at.nodeName) +
                    "`");
    i = next(i);
  } while (i != start && names.size() < 12);
  reportNode(DiagnosticId::Cycle,
             "nodes depend on each other in a cycle: " +
                 llvm::join(names, " <- "),
             nodes[start], start, place);
}

void Validator::checkNodes(const NodeList &nodes, const Place &place,
                           NameScope &scope) {
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty()) {
        Diagnostic at;
        setNode(at, nodes[i], i, 0);
        define(output, scope, "an output of " + at.node, place);
      }
  for (int i = 0; i < nodes.size(); ++i)
    checkNode(nodes[i], i, place, scope);
  checkCycle(nodes, place);
}

void Validator::checkGraph(const onnx::GraphProto &graph, const Place &place,
                           const NameScope *outer) {
  NameScope scope;
  scope.outer = outer;
  for (const auto &input : graph.input())
    define(input.name(), scope, "an input", place);
  llvm::StringSet<> constants;
  auto constant = [&](StringRef name) {
    checkName(name, "an initializer", place);
    // An initializer may have the name of an input, as the input's default
    // value.
    scope.names.insert(name);
    if (!constants.insert(name).second)
      report(DiagnosticId::DuplicateName, "two initializers" + place.inside +
                                              " have the name `" +
                                              printable(name) + "`");
  };
  for (const auto &tensor : graph.initializer())
    constant(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    constant(tensor.values().name());
  checkNodes(graph.node(), place, scope);
  for (const auto &output : graph.output())
    if (!scope.has(output.name()))
      report(DiagnosticId::UndefinedValue,
             "nothing produces the graph's output `" +
                 printable(output.name()) + "`" + place.inside);
}

bool Validator::run() {
  if (!model.has_graph() || model.graph().output_size() == 0) {
    report(DiagnosticId::NoGraph, model.has_graph()
                                      ? "the model's graph has no outputs"
                                      : "the model has no graph");
    return false;
  }
  OpsetImports opsets = opsetImports(model.opset_import());
  checkOpsets(opsets, "model");
  if (!diagnostics.empty())
    return false;
  for (const auto &function : model.functions()) {
    functionDomains.insert(canonicalDomain(function.domain()));
    if (!functions
             .try_emplace(functionKey(function.domain(), function.name(),
                                      function.overload()),
                          &function)
             .second)
      report(DiagnosticId::DuplicateName, "two functions have the name `" +
                                              printable(function.name()) + "`");
  }
  checkGraph(model.graph(), {opsets, ""}, nullptr);
  for (const auto &function : model.functions()) {
    OpsetImports own = opsetImports(function.opset_import());
    if (own.empty())
      own = opsets;
    checkOpsets(own, "function `" + printable(function.name()) + "`");
    NameScope scope;
    Place place{own,
                ", in the function `" + printable(function.name(), 60) + "`"};
    for (const std::string &input : function.input())
      define(input, scope, "an input", place);
    checkNodes(function.node(), place, scope);
    for (const std::string &output : function.output())
      if (!scope.has(output))
        report(DiagnosticId::UndefinedValue, "nothing produces the output `" +
                                                 printable(output) + "`" +
                                                 place.inside);
  }
  return diagnostics.empty();
}

bool validate(const onnx::ModelProto &model, Diagnostics &diagnostics) {
  return Validator(model, diagnostics).run();
}

} // namespace ingot
