// Converts ONNX tensors to MLIR attributes.
//
// Turns TensorProto and TypeProto into builtin types and element attributes.
// The data of large tensors is not copied: the attribute is a resource whose
// data stay in the protobuf or in a mapped file.

#ifndef INGOT_COMPILER_IMPORT_TENSORDATA_H
#define INGOT_COMPILER_IMPORT_TENSORDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace onnx {
class TensorProto;
class SparseTensorProto;
} // namespace onnx

namespace ingot {

class ModelFile;

/// Returns the MLIR type for a value of ONNX's enum TensorProto.DataType; null
/// if Ingot does not support it.
mlir::Type elementType(int64_t dataType, mlir::MLIRContext *context);
/// Returns the ONNX data type of an element type; 0 (UNDEFINED) if there is
/// none.
int64_t onnxDataType(mlir::Type type);
/// Returns ONNX's name of the data type, such as "float32"; empty if it is
/// unknown.
llvm::StringRef dataTypeName(int64_t dataType);
/// Returns the number of bits of an element in TensorProto.raw_data; 0 if the
/// type has no fixed size.
unsigned dataTypeBits(int64_t dataType);
/// Returns a type as diagnostics show it: "f32[1,64,20,20]".
std::string describe(mlir::Type type);

/// The largest accepted tensor, in bytes; a sanity limit.
constexpr int64_t maxTensorBytes = int64_t(1) << 40;
/// Returns the number of elements of a shape; nullopt if a dimension is
/// negative or a tensor of this shape with elements of `bits` bits exceeds
/// maxTensorBytes.
std::optional<int64_t> checkedElements(llvm::ArrayRef<int64_t> shape,
                                       unsigned bits);

/// Converts a tensor to an attribute; on failure the reason is in `error`. Up
/// to `inlineElements` elements become a dense attribute, larger tensors a
/// resource named `name`. `file` resolves external data and may be null.
mlir::FailureOr<mlir::ElementsAttr>
tensorAttr(const onnx::TensorProto &tensor, llvm::StringRef name,
           ModelFile *file, mlir::MLIRContext *context, std::string &error,
           int64_t inlineElements = 64);
/// Converts a tensor to an attribute like tensorAttr, but moves the data of a
/// large tensor into the resource, which then owns them. `tensor` keeps only
/// its name, type and shape.
mlir::FailureOr<mlir::ElementsAttr>
takeTensorAttr(onnx::TensorProto &tensor, llvm::StringRef name, ModelFile *file,
               mlir::MLIRContext *context, std::string &error,
               int64_t inlineElements = 64);
/// The strings of a tensor in row-major order.
struct StringTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<std::string> values;
};
/// Reads a string tensor. Fails with the reason in `error`, also if a string
/// contains a zero byte, at which a C string would end.
std::optional<StringTensor> stringsOf(const onnx::TensorProto &tensor,
                                      mlir::MLIRContext *context,
                                      std::string &error);
/// Converts a tensor of any size to a dense attribute; on failure the reason is
/// in `error`.
mlir::FailureOr<mlir::DenseElementsAttr>
denseTensorAttr(const onnx::TensorProto &tensor, ModelFile *file,
                mlir::MLIRContext *context, std::string &error);
/// Returns the elements of a tensor as raw bytes, without creating an
/// attribute, which would live as long as the context. On failure, returns
/// nullopt with the reason in `error`.
std::optional<std::vector<char>> tensorBytes(const onnx::TensorProto &tensor,
                                             ModelFile *file,
                                             mlir::MLIRContext *context,
                                             std::string &error);
/// Converts a sparse tensor to an attribute that contains all elements,
/// including zeros; on failure the reason is in `error`.
mlir::FailureOr<mlir::ElementsAttr>
sparseTensorAttr(const onnx::SparseTensorProto &tensor, ModelFile *file,
                 mlir::MLIRContext *context, std::string &error);

/// Returns a dense attribute with the elements of a resource or dense
/// attribute; null for other attributes.
mlir::DenseElementsAttr toDense(mlir::ElementsAttr attr);
/// Creates a dense attribute from contiguous elements, each in whole bytes
/// (bool and 4-bit types: one byte).
mlir::DenseElementsAttr denseFromBytes(mlir::RankedTensorType type,
                                       llvm::ArrayRef<char> bytes);
/// Returns the elements of `attr` as contiguous bytes, each element in whole
/// bytes (bool and 4-bit types: one byte).
std::vector<char> bytesOf(mlir::DenseElementsAttr attr);
/// Returns the number of bytes in which an element is stored (bool and 4-bit
/// types: one).
unsigned elementBytes(mlir::Type type);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_TENSORDATA_H
