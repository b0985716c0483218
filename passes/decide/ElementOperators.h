// The operators of single elements through which a value goes to a result.

#ifndef INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H
#define INGOT_PASSES_DECIDE_ELEMENTOPERATORS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace ingot::decide {

/// Found from the result on, against the order in which they are computed.
class ElementOperators {
public:
  /// For a result of that many elements along each axis.
  explicit ElementOperators(llvm::ArrayRef<int64_t> shape) : shape(shape) {}

  /// Goes back through an operator; false if it is no function of single elements.
  bool enter(mlir::Operation *op);
  /// Goes back through what computes one of `open`, the last one, so that all that reads it
  /// is there; false if nothing does that `takes` allows, or if that is too far.
  bool enterNext(llvm::function_ref<bool(mlir::Operation *)> takes =
                     [](mlir::Operation *) { return true; });
  /// What they read and none of them computes, but single numbers.
  llvm::SetVector<mlir::Value> open;

  bool contains(mlir::Operation *op) const { return operators.contains(op); }
  /// Copies of them in the order of the block, which compute as many results along the last
  /// axis as there are `samples` in the place of `operand`.
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
