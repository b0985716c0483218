// Evaluates constant subgraphs.
//
// Operators have no second implementation for constants: this compiles the
// subgraph with the stages that generate code for a model, and runs the
// resulting kernels in the compiler.

#ifndef INGOT_PASSES_EVALUATE_EVALUATE_H
#define INGOT_PASSES_EVALUATE_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace ingot {

/// Returns the values of tensors that depend on graph.constant only, all
/// computed by one compiled module. Fails, with a diagnostic, only on an
/// internal error. `consumed` is called for each resource after the last kernel
/// that reads it, while other kernels have yet to run, so that its data can be
/// freed.
mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>> evaluate(
    llvm::ArrayRef<mlir::Value> values,
    llvm::function_ref<void(mlir::DenseResourceElementsHandle)> consumed = {});

/// Whether `value` depends on constants only, through pure operators without
/// dynamic sizes.
bool isComputable(mlir::Value value);

/// Lowers a module with @main of graph operators for a target without vectors,
/// up to launches of kernels on buffers with planned addresses. The compiler's
/// pipeline sets this function once.
using EvaluationLowering = mlir::LogicalResult (*)(mlir::ModuleOp module);
void setEvaluationLowering(EvaluationLowering lowering);

} // namespace ingot

#endif // INGOT_PASSES_EVALUATE_EVALUATE_H
