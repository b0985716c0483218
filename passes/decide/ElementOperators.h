// Collects the elementwise operators between a value and a result.

#ifndef INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H
#define INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::decide {

/// Elementwise operators that compute a result, collected from the result
/// backwards.
class ElementOperators {
public:
  /// `shape` is the shape of the result, which all operators must have.
  explicit ElementOperators(llvm::ArrayRef<int64_t> shape) : shape(shape) {}

  /// Adds `op`, and its operands to `open`; returns false if `op` is not
  /// elementwise.
  bool enter(mlir::Operation *op);
  /// Adds the operator that computes the last value of `open` in program order.
  /// Returns false if no operator computes it, `takes` rejects the operator, or
  /// the limit of operators is reached.
  bool enterNext(llvm::function_ref<bool(mlir::Operation *)> takes =
                     [](mlir::Operation *) { return true; });
  /// Operands of the collected operators that no collected operator computes,
  /// except scalar constants.
  llvm::SetVector<mlir::Value> open;

  bool contains(mlir::Operation *op) const { return operators.contains(op); }
  /// Clones the operators in program order, with `samples` in place of
  /// `operand`; their results get the shape of `samples`.
  llvm::SmallVector<mlir::Operation *> copyFor(mlir::OpBuilder &builder,
                                               mlir::Value operand,
                                               mlir::Value samples) const;

private:
  static constexpr size_t most = 64;

  llvm::ArrayRef<int64_t> shape;
  llvm::SetVector<mlir::Operation *> operators;
};

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H
