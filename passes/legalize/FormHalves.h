// The pattern that replaces arithmetic in f32 by arithmetic in f16
// (FormHalves.cpp).

#ifndef INGOT_PASSES_LEGALIZE_FORMHALVES_H
#define INGOT_PASSES_LEGALIZE_FORMHALVES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::legalize {

/// `op` rounds f32 to f16. Computes its operand in f16 instead of f32, if the
/// target has the instructions and the result is the same.
llvm::LogicalResult formHalves(mlir::arith::TruncFOp op,
                               const TargetDescription &target,
                               mlir::PatternRewriter &rewriter);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_FORMHALVES_H
