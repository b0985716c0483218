// Inputs and outputs of a model that consist of more than one tensor.
//
// The interface of generated code has only tensors. A sequence is passed as a
// matrix with one row per element of the sequence. Each element is stored in
// row-major order from the start of its row, and a row has space for the
// largest element, `most` numbers. If the type does not fix the shape of all
// elements, a table with the shape of each element is passed as well. An
// optional value is passed as its content and a boolean that says whether it is
// present:
//
//   x: sequence of float32[?]      x [count, most], x_shapes [count, 1]
//   x: optional float32[3]         x_present [], x [3]
//
// Files contain such values as SequenceProto and OptionalProto.

#ifndef INGOT_COMPILER_IMPORT_VALUEFILE_H
#define INGOT_COMPILER_IMPORT_VALUEFILE_H

#include "compiler/import/TensorFile.h"
#include "llvm/ADT/ArrayRef.h"

namespace onnx {
class TypeProto;
class TypeProto_Tensor;
} // namespace onnx

namespace ingot {

/// What one tensor of the generated interface holds of a model's input or
/// output: the value itself, the elements of a sequence, the table of their
/// shapes, or whether an optional value is present.
enum class Part { Whole, Elements, Shapes, Present };

/// Returns the name of the tensor that holds `part` of the value `name` in the
/// generated interface: "x", "x_shapes" or "x_present" for the value "x".
std::string partName(llvm::StringRef name, Part part);
/// Returns the parts of a value of type `type`, one for each tensor by which
/// the generated interface passes the value, in order; empty if the interface
/// does not support the type.
llvm::SmallVector<Part> partsOf(const onnx::TypeProto &type);
/// Returns the tensor type in `type`: `type` itself, or the type of the
/// elements of a sequence, or of the content of an optional value; null if
/// there is none.
const onnx::TypeProto_Tensor *tensorIn(const onnx::TypeProto &type);

/// A tensor, a sequence of tensors, or an absent value.
struct ModelValue {
  bool isSequence = false, isOptional = false, isPresent = true;
  std::vector<Tensor> tensors;

  /// Whether this value and `other` are both absent, or are both present, both
  /// sequences or both not, and consist of equally many tensors, so that these
  /// can be compared in pairs.
  bool matches(const ModelValue &other) const {
    return isPresent == other.isPresent &&
           (!isPresent || (isSequence == other.isSequence &&
                           tensors.size() == other.tensors.size()));
  }
};

/// Reads a value from a file. `like` determines whether the file must contain a
/// tensor, a sequence or an optional value. For an optional value, the file
/// determines whether it is present and whether it is a sequence. Returns
/// nullopt with the reason in `error` on failure.
std::optional<ModelValue> readValue(llvm::StringRef path,
                                    const ModelValue &like,
                                    mlir::MLIRContext *context,
                                    std::string &error);
bool writeValue(llvm::StringRef path, llvm::StringRef name,
                const ModelValue &value, std::string &error);

/// Returns a value of the kind that `type` describes (tensor, sequence or
/// optional value), which does not contain any tensors yet.
ModelValue emptyValue(const onnx::TypeProto &type);
/// Splits `value` into the tensors by which the generated interface passes it.
/// An absent value is passed as zeros in the smallest shape that `type` allows.
/// If `value` is not of type `type`, returns nullopt with the reason in
/// `error`.
std::optional<std::vector<Tensor>> splitValue(const ModelValue &value,
                                              const onnx::TypeProto &type,
                                              mlir::MLIRContext *context,
                                              std::string &error);
/// Reads a value of type `type` from a file, and returns the tensors by which
/// the generated interface passes it. On failure, returns nullopt with the
/// reason in `error`.
std::optional<std::vector<Tensor>> readParts(llvm::StringRef path,
                                             const onnx::TypeProto &type,
                                             mlir::MLIRContext *context,
                                             std::string &error);
/// Returns the sequence whose elements are stored in the rows of a matrix.
/// `shape` is the shape of all elements; without it, each row of `shapes` is
/// the shape of one element, ended by the first negative size.
ModelValue joinSequence(const Tensor &rows,
                        std::optional<llvm::ArrayRef<int64_t>> shape,
                        const Tensor *shapes);
/// Returns the matrix `rows` with each row padded with zeros (or empty strings)
/// to `width` elements, which must be at least the current width.
Tensor withRowsOf(const Tensor &rows, int64_t width);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_VALUEFILE_H
