// Determines the values of dynamic sizes from data.

#ifndef INGOT_COMPILER_RUN_DYNAMICSIZES_H
#define INGOT_COMPILER_RUN_DYNAMICSIZES_H

#include "codegen/files/Interface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Twine.h"

#include <optional>

namespace ingot {

/// Return the types of a model's inputs and outputs as a caller passes them.
/// (In the kernel.program, some tensors are flattened to one axis.)
llvm::SmallVector<mlir::RankedTensorType> inputTypesOf(mlir::func::FuncOp main);
llvm::SmallVector<mlir::RankedTensorType>
outputTypesOf(mlir::func::FuncOp main);

/// Whether a tensor of type `data` can be passed for an input of type `type`,
/// which may have dynamic sizes.
bool takes(mlir::RankedTensorType type, mlir::RankedTensorType data);

/// Returns the values of the dynamic sizes `sizes`, in order, if tensors of the
/// types `data` are passed for inputs of the types `types`. Data-dependent
/// sizes get their largest value. Returns nothing, with the reason in `why`, if
/// the inputs give one size two values, or a size does not equal the expression
/// that it must equal.
std::optional<std::vector<int64_t>>
valuesOf(llvm::ArrayRef<InterfaceSize> sizes,
         llvm::ArrayRef<mlir::RankedTensorType> types,
         llvm::ArrayRef<mlir::RankedTensorType> data, std::string &why);

/// Returns the largest values of `sizes`.
std::vector<int64_t> largestValues(llvm::ArrayRef<InterfaceSize> sizes);

/// Returns the fields of the io struct that hold `sizes`. They precede the
/// pointers to inputs and outputs. The field of a data-dependent size is a
/// pointer to its element of `values`, to which the run writes the size; the
/// field of any other size is its value.
std::vector<void *> fieldsOf(llvm::ArrayRef<InterfaceSize> sizes,
                             llvm::MutableArrayRef<int64_t> values);

/// Returns a tensor type in which the dynamic sizes `sizes` are replaced by the
/// values `values`.
mlir::RankedTensorType typeAt(mlir::RankedTensorType type,
                              llvm::ArrayRef<InterfaceSize> sizes,
                              llvm::ArrayRef<int64_t> values);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_DYNAMICSIZES_H
