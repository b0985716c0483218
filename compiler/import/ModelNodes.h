// Lists all nodes of an ONNX model, for reports that have an entry per node.

#ifndef INGOT_COMPILER_IMPORT_MODELNODES_H
#define INGOT_COMPILER_IMPORT_MODELNODES_H

#include <cstdint>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
} // namespace onnx

namespace ingot {

struct ModelNode {
  /// The graph that contains the node: empty for the main graph, "loop/body"
  /// for the attribute `body` of the node `loop`.
  std::string graph;
  int64_t index = 0; ///< position in its graph
  /// The name of the node in the locations of the IR.
  std::string name;
  std::string op; ///< operator, with its domain unless that is ONNX's own
  std::vector<std::string> inputs, outputs;
  /// Whether an output of the model (or of the subgraph) depends on the node.
  bool isUsed = false;
  /// Whether the results are constant: all inputs are constants, and the node
  /// has no subgraph and draws no random numbers.
  bool isConstant = false;
  /// Whether the results depend only on the sizes of tensors, not on their
  /// elements.
  bool isOfSizes = false;
};

/// Returns the nodes of the main graph and of its subgraphs, in order. The nodes
/// of a model's functions are not listed: code that is generated for them
/// belongs to the node that calls the function.
std::vector<ModelNode> modelNodes(const onnx::ModelProto &model);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_MODELNODES_H
