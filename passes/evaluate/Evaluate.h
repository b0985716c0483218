// Values of constant subgraphs.
//
// There is no second implementation of any operator for constants: the
// subgraph goes through the stages that generate code, and that code runs here.

#ifndef INGOT_PASSES_EVALUATE_EVALUATE_H
#define INGOT_PASSES_EVALUATE_EVALUATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace ingot {

/// The values of tensors that depend on graph.constant only, together in one
/// compilation. Fails (with a diagnostic) only by a fault of ours. `consumed`
/// is called for each resource that no kernel will read any more, while others
/// are still to run: its bytes may go.
mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>> evaluate(
    llvm::ArrayRef<mlir::Value> values,
    llvm::function_ref<void(mlir::DenseResourceElementsHandle)> consumed = {});

/// Whether `value` depends on constants only.
bool isComputable(mlir::Value value);

/// What brings a module with @main of graph operators into planned form, for a
/// scalar target; set once by the compiler's pipeline.
using EvaluationLowering = mlir::LogicalResult (*)(mlir::ModuleOp module);
void setEvaluationLowering(EvaluationLowering lowering);

} // namespace ingot

#endif // INGOT_PASSES_EVALUATE_EVALUATE_H
