// What the patterns that raise composites share.

#ifndef INGOT_PASSES_SIMPLIFY_RAISECOMPOSITES_H
#define INGOT_PASSES_SIMPLIFY_RAISECOMPOSITES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot::simplify {

void populateActivationPatterns(mlir::RewritePatternSet &patterns);
void populateNormalizationPatterns(mlir::RewritePatternSet &patterns);
void populateSoftmaxPatterns(mlir::RewritePatternSet &patterns);

/// The operators that one composite consists of, as far as they are found.
class Matched {
public:
  /// Takes the operator that computes `v` in, if it is an `OpT`; else null.
  template <typename OpT> OpT take(mlir::Value v) {
    auto op = v ? v.getDefiningOp<OpT>() : OpT();
    if (op)
      operations.insert(op);
    return op;
  }
  void add(mlir::Operation *op) { operations.insert(op); }
  /// Whether nobody else reads what is computed on the way to `root`.
  bool isPrivateTo(mlir::Operation *root) const;
  /// The places in the model that all of it comes from.
  mlir::Location location(mlir::OpBuilder &builder) const;

private:
  llvm::SetVector<mlir::Operation *> operations;
};

/// Returns the operand of the binary `op` that is not operand `i`.
inline mlir::Value otherOperand(mlir::Operation *op, unsigned i) {
  return op->getOperand(1 - i);
}

/// Whether the constant `v` is about `number`: as near as its type can be.
bool isAbout(mlir::Value v, double number);
/// The same for a number that was computed in the type of `like`.
bool isAbout(double value, double number, mlir::Value like);

/// Returns x if `v` is x * x or x to the power of 2, else null.
mlir::Value squareOf(mlir::Value v, Matched &matched);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_RAISECOMPOSITES_H
