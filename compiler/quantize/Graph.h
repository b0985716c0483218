// The main graph of an ONNX model, as a quantizer looks at it.
//
// Quantizing gives an ONNX model again, and what it does not touch has to stay
// as the user wrote it; so it works on the protobuf. This view answers who
// makes a tensor, who reads it, and what is in a constant.

#ifndef INGOT_COMPILER_QUANTIZE_GRAPH_H
#define INGOT_COMPILER_QUANTIZE_GRAPH_H

#include "compiler/import/ModelFile.h"
#include "compiler/quantize/Scratch.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace ingot::quantize {

using Shape = llvm::SmallVector<int64_t, 4>;

/// Takes the data of large constants out of a graph, of which ONNX's own passes over the
/// model make copies, and gives it back.
class SetAside {
public:
  explicit SetAside(onnx::GraphProto &graph);
  /// `graph` is the same or what a pass made of it.
  void giveBack(onnx::GraphProto &graph);

private:
  llvm::StringMap<onnx::TensorProto> tensors;
};

class Graph {
public:
  /// `file` resolves external data. Both have to outlive this.
  Graph(ModelFile &file, mlir::MLIRContext &context);

  onnx::ModelProto &model() { return file.model(); }
  const onnx::ModelProto &model() const { return file.model(); }
  onnx::GraphProto &proto() { return *file.model().mutable_graph(); }
  const onnx::GraphProto &proto() const { return file.model().graph(); }
  mlir::MLIRContext &context() const { return mlirContext; }

  /// Converts the model to an opset that is not older; false with a diagnostic if
  /// ONNX cannot.
  bool raiseOpset(int opset, Diagnostics &diagnostics);
  /// Makes constants of initializers that are inputs too, as compiling does.
  void bindDefaults();
  /// Looks at the graph again, after nodes or initializers came or went.
  void refresh();

  const onnx::NodeProto &node(int index) const { return proto().node(index); }
  /// Returns the index of the node that makes a tensor; -1 if none does.
  int producer(llvm::StringRef tensor) const;
  /// Returns the indices of the nodes that read a tensor, each once.
  llvm::ArrayRef<int> readers(llvm::StringRef tensor) const;
  /// Whether something beside those nodes reads the tensor: the caller, as an
  /// output, or the body of an If or Loop.
  bool escapes(llvm::StringRef tensor) const { return escaping.count(tensor); }
  bool isInput(llvm::StringRef tensor) const { return inputs.count(tensor); }
  /// Returns an initializer that is a constant; null if the name is another's.
  const onnx::TensorProto *constant(llvm::StringRef tensor) const;

  /// Whether the name is that of a float32 constant.
  bool isFloatConstant(llvm::StringRef tensor) const;
  Shape shape(llvm::StringRef constant) const;
  std::vector<float> floats(llvm::StringRef constant) const;
  std::vector<int64_t> integers(llvm::StringRef constant) const;
  /// Gives a float constant other values, of the same shape.
  void setFloats(llvm::StringRef constant, llvm::ArrayRef<float> values);
  /// Adds a constant; `bytes` as in raw_data.
  void addConstant(llvm::StringRef name, int32_t dataType,
                   llvm::ArrayRef<int64_t> shape, llvm::StringRef bytes);

  /// Puts large constants of floats out of memory; they are read from there.
  void park(Scratch &scratch);
  void unpark();

  /// Returns a name that nothing in the model has yet.
  std::string fresh(const llvm::Twine &base);

private:
  ModelFile &file;
  mlir::MLIRContext &mlirContext;
  Scratch *scratch = nullptr;
  llvm::StringMap<int> producers, constants;
  llvm::StringMap<llvm::SmallVector<int, 2>> readersOf;
  llvm::StringSet<> escaping, inputs, names;
};

/// Returns an attribute's integer; `otherwise` if the node has none.
int64_t integerOf(const onnx::NodeProto &node, llvm::StringRef name,
                  int64_t otherwise);
std::vector<int64_t> integersOf(const onnx::NodeProto &node,
                                llvm::StringRef name);
float floatOf(const onnx::NodeProto &node, llvm::StringRef name,
              float otherwise);
/// Whether the node is an operator of ONNX's own domain.
bool isOperator(const onnx::NodeProto &node, llvm::StringRef type);

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
/// Adds a node of ONNX's own domain, named as its one output.
onnx::NodeProto &addNode(Nodes &nodes, const char *type,
                         llvm::ArrayRef<std::string> inputs,
                         const std::string &output);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_GRAPH_H
