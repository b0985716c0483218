// ONNX tensors as MLIR attributes.
//
// Turns TensorProto and TypeProto into builtin types and element attributes.
// The bytes of large tensors stay where they are (in the protobuf or a mapped
// file): their attribute is a resource that points there, or owns them.

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

/// ONNX's TensorProto.DataType as an element type; null if it has none here.
mlir::Type elementType(int64_t dataType, mlir::MLIRContext *context);
/// The other way; 0 (UNDEFINED) if there is none.
int64_t onnxDataType(mlir::Type type);
/// ONNX's name of the data type, as "float32"; empty if it is none.
llvm::StringRef dataTypeName(int64_t dataType);
/// Bits of one element in raw_data; 0 if it has no fixed size.
unsigned dataTypeBits(int64_t dataType);
/// "f32[1,64,20,20]", as diagnostics show types.
std::string describe(mlir::Type type);

/// The largest tensor that is taken seriously, in bytes.
constexpr int64_t maxTensorBytes = int64_t(1) << 40;
/// Elements of a shape; nullopt if a dimension is negative or the bytes pass
/// maxTensorBytes.
std::optional<int64_t> checkedElements(llvm::ArrayRef<int64_t> shape,
                                       unsigned bits);

/// Fails with the reason in `error`. Up to `inlineElements` elements become a
/// dense attribute, more a resource named `name`. `file` resolves external data
/// and may be null.
mlir::FailureOr<mlir::ElementsAttr>
tensorAttr(const onnx::TensorProto &tensor, llvm::StringRef name,
           ModelFile *file, mlir::MLIRContext *context, std::string &error,
           int64_t inlineElements = 64);
/// The same, but the resource takes the bytes out of `tensor`, of which the
/// name, the type and the shape are left: they are freed with the resource.
mlir::FailureOr<mlir::ElementsAttr>
takeTensorAttr(onnx::TensorProto &tensor, llvm::StringRef name, ModelFile *file,
               mlir::MLIRContext *context, std::string &error,
               int64_t inlineElements = 64);
/// The strings of a tensor, row by row.
struct StringTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<std::string> values;
};
/// Fails with the reason in `error`, also for strings that have a zero inside, where they
/// would end.
std::optional<StringTensor> stringsOf(const onnx::TensorProto &tensor,
                                      mlir::MLIRContext *context,
                                      std::string &error);
/// Always dense.
mlir::FailureOr<mlir::DenseElementsAttr>
denseTensorAttr(const onnx::TensorProto &tensor, ModelFile *file,
                mlir::MLIRContext *context, std::string &error);
/// The same elements as bytes, which no attribute keeps.
std::optional<std::vector<char>> tensorBytes(const onnx::TensorProto &tensor,
                                             ModelFile *file,
                                             mlir::MLIRContext *context,
                                             std::string &error);
/// A sparse tensor, made dense.
mlir::FailureOr<mlir::ElementsAttr>
sparseTensorAttr(const onnx::SparseTensorProto &tensor, ModelFile *file,
                 mlir::MLIRContext *context, std::string &error);

/// A dense copy of resources and splats' like; null if it is none of these.
mlir::DenseElementsAttr toDense(mlir::ElementsAttr attr);
/// A dense attribute of elements that lie one after the other, in whole bytes
/// each (bool: one byte, four-bit types: one byte).
mlir::DenseElementsAttr denseFromBytes(mlir::RankedTensorType type,
                                       llvm::ArrayRef<char> bytes);
/// The elements of `attr` as such bytes.
std::vector<char> bytesOf(mlir::DenseElementsAttr attr);
/// Bytes of one element in this form.
unsigned elementBytes(mlir::Type type);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_TENSORDATA_H
