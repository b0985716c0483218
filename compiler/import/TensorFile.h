// Reads and writes tensors in .pb and .npy files.
//
// The files contain inputs and outputs of models, as ONNX's serialized
// TensorProto or in NumPy's array format.

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

/// A tensor whose elements are stored in whole bytes, as generated code reads
/// them.
struct Tensor {
  mlir::RankedTensorType type;
  std::vector<char> bytes;

  int64_t elements() const { return type.getNumElements(); }
  /// Whether the elements are strings, stored as pointers that `intern`
  /// returned.
  bool isOfStrings() const;
  /// Returns element `i` as a number, whatever its type.
  double number(int64_t i) const;
  /// Returns element `i` as text for output: an integer, a float with nine
  /// significant digits, or a quoted string.
  std::string text(int64_t i) const;
  /// Replaces the pointers of a string tensor, which generated code may have
  /// set, by pointers that `intern` returns.
  void internStrings();
};

/// Returns a copy of a string that is never freed; equal strings have equal
/// addresses.
const char *intern(llvm::StringRef string);

/// A tensor that is passed to the generated function: an input of the model, or
/// one of the tensors that represent a sequence or optional input
/// (ValueFile.h).
struct GraphInput {
  std::string name;
  /// Null if the input is not a tensor or its element type is unsupported.
  mlir::Type elementType;
  /// Whether the model fixes the rank and all sizes of the input.
  bool hasShape = false;
  /// The index, the name and the declared type of the model input that this
  /// tensor belongs to.
  size_t value = 0;
  std::string valueName;
  const onnx::TypeProto *type = nullptr;
};
/// Returns the tensors that are passed to the generated function: those of the
/// model's inputs without an initializer.
std::vector<GraphInput> fedInputs(const onnx::ModelProto &model,
                                  mlir::MLIRContext *context);
std::vector<std::string> outputNames(const onnx::ModelProto &model);

/// Reads a tensor from a file with a serialized TensorProto. On failure,
/// returns nullopt with the reason in `error`.
std::optional<Tensor> readTensorProto(llvm::StringRef path,
                                      mlir::MLIRContext *context,
                                      std::string &error);
bool writeTensorProto(llvm::StringRef path, llvm::StringRef name,
                      const Tensor &tensor, std::string &error);

/// Convert a TensorProto to a tensor and back. tensorFrom returns nullopt with
/// the reason in `error` on failure.
std::optional<Tensor> tensorFrom(const onnx::TensorProto &proto,
                                 mlir::MLIRContext *context,
                                 std::string &error);
onnx::TensorProto protoOf(llvm::StringRef name, const Tensor &tensor);
/// Parses a file as a message of the type of `proto`. Returns false with the
/// reason in `error`, which is empty if the file does not contain such a
/// message.
bool parseFile(llvm::StringRef path, google::protobuf::MessageLite &proto,
               std::string &error);
bool writeProto(llvm::StringRef path,
                const google::protobuf::MessageLite &proto, std::string &error);

/// Reads a .npy file with elements of type `elementType`. Elements of types
/// that NumPy lacks (bfloat16, float8) are stored as unsigned integers or raw
/// bytes. On failure, for example if the file has another element type, returns
/// nullopt with the reason in `error`.
std::optional<Tensor> readNpy(llvm::StringRef path, mlir::Type elementType,
                              std::string &error);
/// Parses the contents of a .npy file, as readNpy does; error messages call the
/// file `what`.
std::optional<Tensor> parseNpy(llvm::StringRef bytes, llvm::StringRef what,
                               mlir::Type elementType, std::string &error);
bool writeNpy(llvm::StringRef path, const Tensor &tensor, std::string &error);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_TENSORFILE_H
