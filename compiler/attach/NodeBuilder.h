// Appends ONNX nodes to a list, and their constants to a graph.

#ifndef INGOT_COMPILER_ATTACH_NODEBUILDER_H
#define INGOT_COMPILER_ATTACH_NODEBUILDER_H

#include "compiler/quantize/Graph.h"

#include <variant>

namespace ingot::attach {

/// The value of a node's attribute.
using Setting = std::variant<int64_t, std::vector<int64_t>, std::string>;

class NodeBuilder {
public:
  /// The names of the new tensors begin with `prefix` and a slash. `nodes`
  /// receives the nodes, `graph` the constants.
  NodeBuilder(quantize::Graph &graph, quantize::Nodes &nodes,
              llvm::StringRef prefix, int64_t opset)
      : graph(graph), nodes(nodes), prefix(prefix.str()), opset(opset) {}

  /// Adds a node with one output, and returns the name of the output.
  std::string
  add(const char *type, llvm::ArrayRef<std::string> inputs,
      llvm::StringRef name,
      std::initializer_list<std::pair<const char *, Setting>> settings = {});
  /// Lets the last node write `output` instead of a new tensor.
  void writeTo(const std::string &output);
  /// Adds an output to the last node, and returns its name.
  std::string secondOutput(llvm::StringRef name);

  /// Returns an int64 constant vector. Equal vectors share one constant.
  std::string ints(llvm::ArrayRef<int64_t> values);
  /// Returns a float32 constant scalar.
  std::string number(double value, llvm::StringRef name);
  std::string floats(llvm::ArrayRef<float> values,
                     llvm::ArrayRef<int64_t> shape, llvm::StringRef name);

  std::string cast(const std::string &x, int32_t type, llvm::StringRef name) {
    return add("Cast", {x}, name, {{"to", int64_t(type)}});
  }
  std::string reshape(const std::string &x, llvm::ArrayRef<int64_t> shape,
                      llvm::StringRef name) {
    return add("Reshape", {x, ints(shape)}, name);
  }
  /// Returns the elements [first, last) along an axis.
  std::string slice(const std::string &x, int64_t axis, int64_t first,
                    int64_t last, llvm::StringRef name) {
    return add("Slice", {x, ints({first}), ints({last}), ints({axis})}, name);
  }
  /// Returns the maximum along an axis, which the result keeps with size 1.
  std::string maximum(const std::string &x, int64_t axis, llvm::StringRef name);

private:
  quantize::Graph &graph;
  quantize::Nodes &nodes;
  std::string prefix;
  int64_t opset;
  std::map<std::vector<int64_t>, std::string> known;
};

} // namespace ingot::attach

#endif // INGOT_COMPILER_ATTACH_NODEBUILDER_H
