#include "compiler/import/ModelNodes.h"

#include "compiler/import/Schema.h"
#include "compiler/report/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

namespace {

using Names = llvm::StringSet<>;

/// The names of two sets of values that a graph can read: values that are
/// constant, and values that depend only on the sizes of tensors.
struct Values {
  Names constant, ofSizes;
};

/// Whether an operator draws random numbers, so that its inputs do not
/// determine its results.
bool isRandom(StringRef op) {
  return op.starts_with("Random") || op == "Multinomial" || op == "Bernoulli";
}

/// Calls `use` for each subgraph of a node, with the name of the attribute that
/// contains the subgraph.
template <typename Use>
void forEachSubgraph(const onnx::NodeProto &node, const Use &use) {
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      use(attribute.name(), attribute.g());
    for (const auto &graph : attribute.graphs())
      use(attribute.name(), graph);
  }
}

/// Inserts into `reads` the names of all values that a node and its subgraphs
/// read.
void addReads(const onnx::NodeProto &node, Names &reads) {
  for (const std::string &input : node.input())
    reads.insert(input);
  forEachSubgraph(node,
                  [&](const std::string &, const onnx::GraphProto &graph) {
                    for (const auto &inner : graph.node())
                      addReads(inner, reads);
                    for (const auto &output : graph.output())
                      reads.insert(output.name());
                  });
}

class NodeList {
public:
  void add(const onnx::GraphProto &graph, const std::string &path,
           Values values) {
    for (const auto &tensor : graph.initializer())
      values.constant.insert(tensor.name());
    for (const auto &tensor : graph.sparse_initializer())
      values.constant.insert(tensor.values().name());

    // Marks the nodes that outputs depend on, going from the last node to the
    // first.
    std::vector<bool> used(graph.node_size());
    Names needed;
    for (const auto &output : graph.output())
      needed.insert(output.name());
    for (int i = graph.node_size(); i-- > 0;) {
      const onnx::NodeProto &node = graph.node(i);
      used[i] = llvm::any_of(node.output(), [&](const std::string &output) {
        return needed.contains(output);
      });
      if (used[i])
        addReads(node, needed);
    }

    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto &node = graph.node(i);
      ModelNode &listed = nodes.emplace_back();
      listed.graph = path;
      listed.index = i;
      listed.name = node.name().empty()
                        ? "#" + std::to_string(i) + " " + node.op_type()
                        : node.name();
      listed.name = printable(listed.name);
      StringRef domain = canonicalDomain(node.domain());
      listed.op = (domain.empty() ? "" : printable(domain) + ".") +
                  printable(node.op_type());
      for (const std::string &input : node.input())
        listed.inputs.push_back(input);
      for (const std::string &output : node.output())
        listed.outputs.push_back(output);
      listed.isUsed = used[i];
      Names reads;
      addReads(node, reads);
      auto areAll = [&](auto is) {
        return llvm::all_of(reads.keys(), [&](StringRef name) {
          return name.empty() || is(name);
        });
      };
      auto isConstant = [&](StringRef name) {
        return values.constant.contains(name);
      };
      bool hasSubgraph = false;
      forEachSubgraph(node, [&](const std::string &, const onnx::GraphProto &) {
        hasSubgraph = true;
      });
      listed.isConstant =
          !hasSubgraph && !isRandom(node.op_type()) && areAll(isConstant);
      listed.isOfSizes =
          !listed.isConstant && !hasSubgraph &&
          (node.op_type() == "Shape" || node.op_type() == "Size" ||
           areAll([&](StringRef name) {
             return isConstant(name) || values.ofSizes.contains(name);
           }));
      for (const std::string &output : node.output()) {
        if (listed.isConstant)
          values.constant.insert(output);
        if (listed.isOfSizes)
          values.ofSizes.insert(output);
      }
      std::string name = listed.name;
      forEachSubgraph(node, [&](const std::string &attribute,
                                const onnx::GraphProto &inner) {
        add(inner,
            (path.empty() ? "" : path + "/") + name + "/" +
                printable(attribute),
            values);
      });
    }
  }

  std::vector<ModelNode> nodes;
};

} // namespace

std::vector<ModelNode> modelNodes(const onnx::ModelProto &model) {
  NodeList list;
  list.add(model.graph(), "", {});
  return std::move(list.nodes);
}

} // namespace ingot
