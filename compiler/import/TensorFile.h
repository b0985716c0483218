// Tensors in .pb and .npy files.
//
// The data that models are run on: ONNX's serialized TensorProto, and NumPy's
// array format.

#ifndef INGOT_COMPILER_IMPORT_TENSORFILE_H
#define INGOT_COMPILER_IMPORT_TENSORFILE_H

#include "compiler/report/Diagnostics.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace google::protobuf {
class MessageLite;
} // namespace google::protobuf
namespace onnx {
class ModelProto;
class TensorProto;
class TypeProto;
} // namespace onnx

namespace ingot {

/// Elements in whole bytes, as generated code reads them.
struct Tensor {
  mlir::RankedTensorType type;
  std::vector<char> bytes;

  int64_t elements() const { return type.getNumElements(); }
  /// Whether the elements are strings: addresses that `intern` returned.
  bool isOfStrings() const;
  /// Element `i` as a number, whatever its type.
  double number(int64_t i) const;
  /// The same as a text to show: nine digits, or a string in quotes.
  std::string text(int64_t i) const;
  /// Interns the strings, which generated code has put elsewhere.
  void internStrings();
};

/// A copy of a string that is never freed; equal strings have one address.
const char *intern(llvm::StringRef string);

/// A tensor that a caller feeds: an input, or a part of one (ValueFile.h).
struct GraphInput {
  std::string name;
  /// Null if it is no tensor of a type that Ingot has.
  mlir::Type elementType;
  /// Whether the model says its rank and all its sizes.
  bool hasShape = false;
  /// Which of the inputs it is of, what that is called, and what the model says of it.
  size_t value = 0;
  std::string valueName;
  const onnx::TypeProto *type = nullptr;
};
/// The tensors of the inputs that a caller feeds (those without an initializer).
std::vector<GraphInput> fedInputs(const onnx::ModelProto &model,
                                  mlir::MLIRContext *context);
std::vector<std::string> outputNames(const onnx::ModelProto &model);

/// nullopt with the reason in `error`.
std::optional<Tensor> readTensorProto(llvm::StringRef path,
                                      mlir::MLIRContext *context,
                                      std::string &error);
bool writeTensorProto(llvm::StringRef path, llvm::StringRef name,
                      const Tensor &tensor, std::string &error);

/// As messages. nullopt with what is wrong with the tensor.
std::optional<Tensor> tensorFrom(const onnx::TensorProto &proto,
                                 mlir::MLIRContext *context,
                                 std::string &error);
onnx::TensorProto protoOf(llvm::StringRef name, const Tensor &tensor);
/// False with the reason, which is empty if the file is no such message.
bool parseFile(llvm::StringRef path, google::protobuf::MessageLite &proto,
               std::string &error);
bool writeProto(llvm::StringRef path,
                const google::protobuf::MessageLite &proto, std::string &error);

/// `elementType` tells types apart that NumPy lacks (bfloat16, float8: their
/// bits as unsigned integers or raw bytes).
std::optional<Tensor> readNpy(llvm::StringRef path, mlir::Type elementType,
                              std::string &error);
/// The same for the bytes of such a file; `what` names it in errors.
std::optional<Tensor> parseNpy(llvm::StringRef bytes, llvm::StringRef what,
                               mlir::Type elementType, std::string &error);
bool writeNpy(llvm::StringRef path, const Tensor &tensor, std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_TENSORFILE_H
