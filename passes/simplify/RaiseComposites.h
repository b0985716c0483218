// Declares the patterns that raise decomposed operators, and their helpers.

#ifndef INGOT_PASSES_SIMPLIFY_RAISECOMPOSITES_H
#define INGOT_PASSES_SIMPLIFY_RAISECOMPOSITES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::simplify {

void populateActivationPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
void populateSoftmaxPatterns(mlir::RewritePatternSet &patterns);

/// The operations that a pattern has matched so far as parts of one composite.
class Matched {
public:
  /// Adds the operation that defines `v` and returns it if it is an `OpT`;
  /// returns null otherwise.
  template <typename OpT> OpT take(mlir::Value v) {
    auto op = v ? v.getDefiningOp<OpT>() : OpT();
    if (op)
      operations.insert(op);
    return op;
  }
  void add(mlir::Operation *op) { operations.insert(op); }
  /// Whether the results of all matched operations, except those of `root`, are
  /// used only by `root` and other matched operations.
  bool isPrivateTo(mlir::Operation *root) const;
  /// Returns the fused location of all matched operations.
  mlir::Location location(mlir::OpBuilder &builder) const;

private:
  llvm::SetVector<mlir::Operation *> operations;
};

/// Returns the operand of the binary `op` that is not operand `i`.
inline mlir::Value otherOperand(mlir::Operation *op, unsigned i) {
  return op->getOperand(1 - i);
}

/// Whether all elements of the constant `v` equal `number` within the precision
/// of their type.
bool isAbout(mlir::Value v, double number);
/// Whether `value` equals `number` within the precision of the element type of
/// `like`.
bool isAbout(double value, double number, mlir::Value like);

/// Whether an f32 attribute represents `number` well enough for an operator on
/// tensors of the type of `like`: for f64, it must be exactly `number`.
bool fitsAttribute(double number, mlir::Value like);

/// Returns x if `v` is x * x or x to the power of 2; null otherwise.
mlir::Value squareOf(mlir::Value v, Matched &matched);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_RAISECOMPOSITES_H
