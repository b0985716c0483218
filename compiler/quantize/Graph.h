// A view of an ONNX model's main graph for the quantizer.
//
// Quantization returns an ONNX model, in which the parts that it does not
// change stay as the user wrote them. So the quantizer changes the protobuf of
// the model directly. This view finds the producer and the readers of a tensor,
// and reads constants.

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

/// Removes the data of large constants from a graph while ONNX's own passes,
/// which copy the model, run; restores it afterwards. Sparse constants, which
/// the passes do not know, are dense constants without data meanwhile.
class SetAside {
public:
  explicit SetAside(onnx::GraphProto &graph);
  /// Restores the data. `graph` is the graph of the constructor, or the result
  /// of a pass on it.
  void giveBack(onnx::GraphProto &graph);

private:
  llvm::StringMap<onnx::TensorProto> tensors;
  google::protobuf::RepeatedPtrField<onnx::SparseTensorProto> sparse;
};

/// Returns the bytes that the elements of a tensor take, wherever they are
/// stored; 0 for strings.
uint64_t storedBytes(const onnx::TensorProto &tensor);

class Graph {
public:
  /// `file` contains the model and resolves external data. `file` and `context`
  /// must outlive the graph.
  Graph(ModelFile &file, mlir::MLIRContext &context);

  onnx::ModelProto &model() { return file.model(); }
  const onnx::ModelProto &model() const { return file.model(); }
  onnx::GraphProto &proto() { return *file.model().mutable_graph(); }
  const onnx::GraphProto &proto() const { return file.model().graph(); }
  mlir::MLIRContext &context() const { return mlirContext; }

  /// Converts the model to at least this opset; false with a diagnostic `id` if
  /// ONNX cannot convert it.
  bool raiseOpset(int opset, DiagnosticId id, Diagnostics &diagnostics);
  /// Removes the inputs that have an initializer as default value, so that the
  /// initializers are constants, as when the model is compiled.
  void bindDefaults();
  /// Copies all external data into the model, since the result may be written
  /// to another folder; false with diagnostics if data cannot be read or if the
  /// model becomes larger than an ONNX file can be.
  bool embedData(Diagnostics &diagnostics);
  /// Sets the known element types of tensors, as numbers of
  /// TensorProto.DataType.
  void setTypes(llvm::StringMap<int32_t> given) { types = std::move(given); }
  /// Whether the tensor is float32, or has an unknown type.
  bool mayBeFloat(llvm::StringRef tensor) const {
    int32_t type = types.lookup(tensor);
    return type == 0 || type == onnx::TensorProto::FLOAT;
  }
  /// Rebuilds the view after nodes or initializers were added or removed.
  void refresh();

  const onnx::NodeProto &node(int index) const { return proto().node(index); }
  /// Returns the index of the node that computes a tensor; -1 if there is none.
  int producer(llvm::StringRef tensor) const;
  /// Returns the indices of the nodes that read a tensor, without duplicates.
  llvm::ArrayRef<int> readers(llvm::StringRef tensor) const;
  /// Whether the tensor is also read by the caller, as an output, or by the
  /// subgraph of an If or Loop.
  bool escapes(llvm::StringRef tensor) const { return escaping.count(tensor); }
  bool isInput(llvm::StringRef tensor) const { return inputs.count(tensor); }
  /// Returns the initializer of this name; null if the tensor is not a
  /// constant.
  const onnx::TensorProto *constant(llvm::StringRef tensor) const;

  /// Whether the tensor is a float32 constant.
  bool isFloatConstant(llvm::StringRef tensor) const;
  Shape shape(llvm::StringRef constant) const;
  std::vector<float> floats(llvm::StringRef constant) const;
  std::vector<int64_t> integers(llvm::StringRef constant) const;
  /// Replaces the values of a float constant; the shape stays.
  void setFloats(llvm::StringRef constant, llvm::ArrayRef<float> values);
  /// Adds a constant; `bytes` are its elements as in TensorProto.raw_data.
  void addConstant(llvm::StringRef name, int32_t dataType,
                   llvm::ArrayRef<int64_t> shape, llvm::StringRef bytes);

  /// Moves large float constants from memory to a file; they are read from the
  /// file afterwards.
  void park(Scratch &scratch);
  void unpark();

  /// Returns a name that does not occur in the model.
  std::string fresh(const llvm::Twine &base);

private:
  ModelFile &file;
  mlir::MLIRContext &mlirContext;
  Scratch *scratch = nullptr;
  llvm::StringMap<int> producers, constants;
  llvm::StringMap<llvm::SmallVector<int, 2>> readersOf;
  llvm::StringSet<> escaping, inputs, names;
  llvm::StringMap<int32_t> types;
};

/// Returns an integer attribute; `otherwise` if the node lacks it.
int64_t integerOf(const onnx::NodeProto &node, llvm::StringRef name,
                  int64_t otherwise);
std::vector<int64_t> integersOf(const onnx::NodeProto &node,
                                llvm::StringRef name);
float floatOf(const onnx::NodeProto &node, llvm::StringRef name,
              float otherwise);
/// Whether the node is an operator of ONNX's own domain.
bool isOperator(const onnx::NodeProto &node, llvm::StringRef type);

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
/// Adds a node of ONNX's own domain, named after its only output.
onnx::NodeProto &addNode(Nodes &nodes, const char *type,
                         llvm::ArrayRef<std::string> inputs,
                         const std::string &output);
/// Adds an integer attribute, which the node must not have.
void setInteger(onnx::NodeProto &node, const char *name, int64_t value);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_GRAPH_H
