// Checks that 32 bits hold sums of products of 8-bit integers.

#ifndef INGOT_PASSES_SIMPLIFY_WORDSUMS_H
#define INGOT_PASSES_SIMPLIFY_WORDSUMS_H

#include "mlir/IR/Builders.h"

namespace ingot::simplify {

/// Whether every sum of `terms` products of two 8-bit integers fits 32 bits.
bool fitsWord(int64_t terms);

/// Returns a constant f32 bias as si32, if all its elements are integers and
/// every sum of `terms` products of two 8-bit integers plus the bias fits 32
/// bits. Returns null otherwise.
mlir::Value biasInWords(mlir::OpBuilder &builder, mlir::Value bias,
                        int64_t terms);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_WORDSUMS_H
