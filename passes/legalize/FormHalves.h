// The pattern that computes in f16 (FormHalves.cpp).

#ifndef INGOT_PASSES_LEGALIZE_FORMHALVES_H
#define INGOT_PASSES_LEGALIZE_FORMHALVES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace ingot {
struct TargetDescription;
} // namespace ingot

namespace ingot::legalize {

/// Computes in f16 what is computed in f32 and rounded to f16, where the target
/// has the instructions and the result is the same.
llvm::LogicalResult formHalves(mlir::arith::TruncFOp op,
                               const TargetDescription &target,
                               mlir::PatternRewriter &rewriter);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_FORMHALVES_H
