#include "compiler/import/AcceptedForms.h"

#include "compiler/import/Schema.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {

using llvm::StringRef;
using llvm::Twine;

using VisitNode = llvm::function_ref<void(onnx::NodeProto &)>;
using VisitName = llvm::function_ref<void(std::string &)>;

/// Calls `visit` for each node of a list and, recursively, for the nodes of the
/// graphs that are attributes of these nodes.
template <typename Nodes>
static void forEachNode(Nodes &nodes, VisitNode visit) {
  for (onnx::NodeProto &node : nodes) {
    visit(node);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        forEachNode(*attribute.mutable_g()->mutable_node(), visit);
      for (onnx::GraphProto &graph : *attribute.mutable_graphs())
        forEachNode(*graph.mutable_node(), visit);
    }
  }
}

static void forEachName(onnx::GraphProto &graph, VisitName visit);

template <typename Nodes>
static void forEachNameInNodes(Nodes &nodes, VisitName visit) {
  for (onnx::NodeProto &node : nodes) {
    if (node.has_name())
      visit(*node.mutable_name());
    for (std::string &name : *node.mutable_input())
      visit(name);
    for (std::string &name : *node.mutable_output())
      visit(name);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        forEachName(*attribute.mutable_g(), visit);
      for (onnx::GraphProto &graph : *attribute.mutable_graphs())
        forEachName(graph, visit);
    }
  }
}

/// Calls `visit` for the name of each value, node and symbolic dimension of a
/// graph and of the graphs nested in it.
static void forEachName(onnx::GraphProto &graph, VisitName visit) {
  auto ofValues = [&](auto &values) {
    for (onnx::ValueInfoProto &value : values) {
      visit(*value.mutable_name());
      if (!value.type().has_tensor_type() ||
          !value.type().tensor_type().has_shape())
        continue;
      for (auto &dim : *value.mutable_type()
                            ->mutable_tensor_type()
                            ->mutable_shape()
                            ->mutable_dim())
        if (dim.has_dim_param())
          visit(*dim.mutable_dim_param());
    }
  };
  ofValues(*graph.mutable_input());
  ofValues(*graph.mutable_output());
  ofValues(*graph.mutable_value_info());
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    visit(*tensor.mutable_name());
  for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
    visit(*tensor.mutable_values()->mutable_name());
  forEachNameInNodes(*graph.mutable_node(), visit);
}

static void forEachName(onnx::ModelProto &model, VisitName visit) {
  forEachName(*model.mutable_graph(), visit);
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    for (std::string &name : *function.mutable_input())
      visit(name);
    for (std::string &name : *function.mutable_output())
      visit(name);
    forEachNameInNodes(*function.mutable_node(), visit);
  }
}

static bool hasControlCharacter(StringRef name) {
  return llvm::any_of(name,
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// Escapes control characters in the names of values, nodes and dimensions.
/// Equal names stay equal, and different names stay different.
static void escapeNames(onnx::ModelProto &model) {
  bool any = false;
  forEachName(model,
              [&](std::string &name) { any |= hasControlCharacter(name); });
  if (!any)
    return;
  llvm::StringSet<> taken;
  forEachName(model, [&](std::string &name) { taken.insert(name); });
  llvm::StringMap<std::string> escaped;
  forEachName(model, [&](std::string &name) {
    if (!hasControlCharacter(name))
      return;
    auto [known, isNew] = escaped.try_emplace(name);
    if (isNew) {
      std::string text = printable(name, name.size() + 1);
      known->second = text;
      for (int n = 2; !taken.insert(known->second).second; ++n)
        known->second = text + "_" + std::to_string(n);
    }
    name = known->second;
  });
}

namespace {
/// The opset imports of the model or of one function.
class Imports {
public:
  Imports(google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list,
          Diagnostics &diagnostics)
      : list(list), diagnostics(diagnostics) {
    for (const onnx::OperatorSetIdProto &entry : list)
      versions[canonicalDomain(entry.domain())] = entry.version();
  }

  void accept(const onnx::NodeProto &node) {
    StringRef domain = canonicalDomain(node.domain());
    if (domain == "com.microsoft" && !versions.count(domain)) {
      onnx::OperatorSetIdProto *entry = list.Add();
      entry->set_domain(domain.str());
      entry->set_version(1);
      versions[domain] = 1;
      diagnostics.report(
          DiagnosticId::AssumedOpset,
          "the model imports no opset of the domain com.microsoft, to which `" +
              Twine(printable(node.op_type(), 60)) +
              "` belongs; version 1 is assumed");
    }
    constexpr int64_t added = 17;
    int64_t opset = versions.lookup("");
    if (domain.empty() && node.op_type() == "LayerNormalization" && opset > 0 &&
        opset < added && !warned) {
      warned = true;
      diagnostics.report(
          DiagnosticId::AssumedOpset,
          "ONNX defines `LayerNormalization` since opset " + Twine(added) +
              ", but the model imports opset " + Twine(opset) +
              "; the node is read with the definition of opset " +
              Twine(added) + ", as ONNX Runtime's optimizer writes it");
    }
  }

private:
  google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list;
  Diagnostics &diagnostics;
  llvm::StringMap<int64_t> versions;
  bool warned = false;
};
} // namespace

void acceptForms(onnx::ModelProto &model, Diagnostics &diagnostics) {
  if (!model.has_graph())
    return;
  Imports imports(*model.mutable_opset_import(), diagnostics);
  forEachNode(*model.mutable_graph()->mutable_node(),
              [&](onnx::NodeProto &node) { imports.accept(node); });
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    // A function without opset imports uses the opset imports of the model.
    Imports own(*function.mutable_opset_import(), diagnostics);
    bool hasOwn = function.opset_import_size() > 0;
    forEachNode(*function.mutable_node(), [&](onnx::NodeProto &node) {
      (hasOwn ? own : imports).accept(node);
    });
  }
  escapeNames(model);
}

} // namespace ingot
