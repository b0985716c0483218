// Inputs and outputs of a model that are more than one tensor.
//
// The interface of generated code has tensors only. A sequence is a matrix with a row
// for each element, which lies at the beginning of its row, in row-major order; and,
// unless the type says the shape of all elements, a table with the shape of each. An
// optional value is a truth value, whether it is there, and what it then is:
//
//     x: sequence of float32[?]      x [count, most], x_shapes [count, 1]
//     x: optional float32[3]         x_present [], x [3]
//
// Files have them as ONNX does, as SequenceProto and OptionalProto.

#ifndef INGOT_COMPILER_IMPORT_VALUEFILE_H
#define INGOT_COMPILER_IMPORT_VALUEFILE_H

#include "compiler/import/TensorFile.h"
#include "llvm/ADT/ArrayRef.h"

namespace onnx {
class TypeProto;
class TypeProto_Tensor;
} // namespace onnx

namespace ingot {

/// What a tensor of the interface is of an input or output of the model.
enum class Part { Whole, Elements, Shapes, Present };

/// The name of a part of the value `name`: "x", "x_shapes", "x_present".
std::string partName(llvm::StringRef name, Part part);
/// The parts of a value of this type, in order; none if the interface cannot have it.
llvm::SmallVector<Part> partsOf(const onnx::TypeProto &type);
/// The type of the tensors in a value of this type; null where there are none.
const onnx::TypeProto_Tensor *tensorIn(const onnx::TypeProto &type);

/// A tensor, a list of tensors, or nothing.
struct ModelValue {
  bool isSequence = false, isOptional = false, isPresent = true;
  std::vector<Tensor> tensors;

  /// Whether both are there or neither, and have tensors that can be compared.
  bool matches(const ModelValue &other) const {
    return isPresent == other.isPresent &&
           (!isPresent || (isSequence == other.isSequence &&
                           tensors.size() == other.tensors.size()));
  }
};

/// Reads a value of the kind of `like`: of an optional value the file says whether it
/// is there, and a sequence. nullopt with the reason in `error`.
std::optional<ModelValue> readValue(llvm::StringRef path,
                                    const ModelValue &like,
                                    mlir::MLIRContext *context,
                                    std::string &error);
bool writeValue(llvm::StringRef path, llvm::StringRef name,
                const ModelValue &value, std::string &error);

/// A value with nothing in it yet, of the kind that `type` says.
ModelValue emptyValue(const onnx::TypeProto &type);
/// The parts of `value`; nullopt with the reason if it is no value of this type. What is
/// not there has tensors of zeros, as small as the type allows.
std::optional<std::vector<Tensor>> splitValue(const ModelValue &value,
                                              const onnx::TypeProto &type,
                                              mlir::MLIRContext *context,
                                              std::string &error);
/// Reads the parts of a value of this type.
std::optional<std::vector<Tensor>> readParts(llvm::StringRef path,
                                             const onnx::TypeProto &type,
                                             mlir::MLIRContext *context,
                                             std::string &error);
/// The sequence with these rows. `shape` is that of all elements; without it each row of
/// `shapes` is one, which ends at the first negative size.
ModelValue joinSequence(const Tensor &rows,
                        std::optional<llvm::ArrayRef<int64_t>> shape,
                        const Tensor *shapes);
/// The matrix with rows of `width` elements, which are no shorter.
Tensor withRowsOf(const Tensor &rows, int64_t width);

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_VALUEFILE_H
