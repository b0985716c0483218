// Collects the elementwise operators by which a result is computed from a
// value.

#ifndef INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H
#define INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::decide {

/// A set of elementwise operators that together compute one result. It grows
/// from the operator of the result towards the operands.
class ElementOperators {
public:
  /// `shape` is the shape of the result, which all operators must have.
  explicit ElementOperators(llvm::ArrayRef<int64_t> shape) : shape(shape) {}

  /// Adds `op` to the set, and adds its operands, except scalar constants, to
  /// `open`. Returns false and does not add `op` if it is not elementwise or if
  /// its result or an operand does not have the shape `shape`.
  bool enter(mlir::Operation *op);
  /// Removes from `open` the value that is computed last in program order, and
  /// adds the operator that computes it. Returns false if the value has no
  /// defining operator, if `takes` or `enter` rejects the operator, or if the
  /// set contains `most` operators already.
  bool enterNext(llvm::function_ref<bool(mlir::Operation *)> takes =
                     [](mlir::Operation *) { return true; });
  /// Operands of the collected operators that no collected operator computes,
  /// except scalar constants.
  llvm::SetVector<mlir::Value> open;

  bool contains(mlir::Operation *op) const { return operators.contains(op); }
  /// Clones the operators in program order and returns the clones. The clones
  /// read `samples` instead of `operand`, and their results have the shape of
  /// `samples`.
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
