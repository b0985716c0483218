// What the sizes that a model leaves open are in given data.

#ifndef INGOT_COMPILER_RUN_RUNTIMESIZES_H
#define INGOT_COMPILER_RUN_RUNTIMESIZES_H

#include "codegen/files/Interface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Twine.h"

#include <optional>

namespace ingot {

/// Types of inputs and outputs as the caller has them. (In the program the elements
/// of some are one axis.)
llvm::SmallVector<mlir::RankedTensorType> inputTypesOf(mlir::func::FuncOp main);
llvm::SmallVector<mlir::RankedTensorType>
outputTypesOf(mlir::func::FuncOp main);

/// Whether a tensor of type `type` may be `data` at run time.
bool takes(mlir::RankedTensorType type, mlir::RankedTensorType data);

/// The values of `sizes`, in their order, where inputs of `types` are `data`;
/// none if these contradict each other, as `why` says. Sizes that the run makes have
/// the largest value.
std::optional<std::vector<int64_t>>
valuesOf(llvm::ArrayRef<InterfaceSize> sizes,
         llvm::ArrayRef<mlir::RankedTensorType> types,
         llvm::ArrayRef<mlir::RankedTensorType> data, std::string &why);

/// The values of `sizes` where each is as large as it can be.
std::vector<int64_t> largestValues(llvm::ArrayRef<InterfaceSize> sizes);

/// What the io struct has of `sizes`: values, and of those that the run makes where in
/// `values` it puts them.
std::vector<void *> fieldsOf(llvm::ArrayRef<InterfaceSize> sizes,
                             llvm::MutableArrayRef<int64_t> values);

/// `type` where `sizes` have these values.
mlir::RankedTensorType typeAt(mlir::RankedTensorType type,
                              llvm::ArrayRef<InterfaceSize> sizes,
                              llvm::ArrayRef<int64_t> values);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_RUNTIMESIZES_H
