// Determines the values of dynamic sizes from data.

#ifndef INGOT_COMPILER_RUN_DYNAMICSIZES_H
#define INGOT_COMPILER_RUN_DYNAMICSIZES_H

#include "codegen/files/Interface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Twine.h"

#include <optional>

namespace ingot {

/// Return the types of inputs and outputs as the caller passes them. (In the
/// program, some tensors are flattened to one axis.)
llvm::SmallVector<mlir::RankedTensorType> inputTypesOf(mlir::func::FuncOp main);
llvm::SmallVector<mlir::RankedTensorType>
outputTypesOf(mlir::func::FuncOp main);

/// Whether `data` is a valid value for a tensor of type `type`.
bool takes(mlir::RankedTensorType type, mlir::RankedTensorType data);

/// Returns the values of `sizes`, in order, if inputs of `types` are `data`;
/// nothing if these contradict each other, with the reason in `why`.
/// Data-dependent sizes get their largest value.
std::optional<std::vector<int64_t>>
valuesOf(llvm::ArrayRef<InterfaceSize> sizes,
         llvm::ArrayRef<mlir::RankedTensorType> types,
         llvm::ArrayRef<mlir::RankedTensorType> data, std::string &why);

/// Returns the largest values of `sizes`.
std::vector<int64_t> largestValues(llvm::ArrayRef<InterfaceSize> sizes);

/// Returns the fields of the io struct for `sizes`: values, and for
/// data-dependent sizes pointers into `values`, to which the run writes them.
std::vector<void *> fieldsOf(llvm::ArrayRef<InterfaceSize> sizes,
                             llvm::MutableArrayRef<int64_t> values);

/// Returns a tensor type in which the dynamic sizes `sizes` are replaced by the
/// values `values`.
mlir::RankedTensorType typeAt(mlir::RankedTensorType type,
                              llvm::ArrayRef<InterfaceSize> sizes,
                              llvm::ArrayRef<int64_t> values);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_DYNAMICSIZES_H
