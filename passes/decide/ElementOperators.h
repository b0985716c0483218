// Collects the elementwise operators between a value and a result.

#ifndef INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H
#define INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::decide {

/// Collects operators backwards, from the result to its operands.
class ElementOperators {
public:
  /// `shape` is the shape of the result.
  explicit ElementOperators(llvm::ArrayRef<int64_t> shape) : shape(shape) {}

  /// Adds `op` and its operands; returns false if `op` is not elementwise.
  bool enter(mlir::Operation *op);
  /// Adds the producer of the last value in `open` whose users are all
  /// contained. Returns false if there is none that `takes` accepts, or if the
  /// limit is reached.
  bool enterNext(llvm::function_ref<bool(mlir::Operation *)> takes =
                     [](mlir::Operation *) { return true; });
  /// Operands of contained operators that no contained operator computes,
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
