// Ranges of 32-bit sums of products of 8-bit integers.

#ifndef INGOT_PASSES_SIMPLIFY_WORDSUMS_H
#define INGOT_PASSES_SIMPLIFY_WORDSUMS_H

#include "mlir/IR/Builders.h"

namespace ingot::simplify {

/// Whether 32 bits hold any sum of `terms` products of 8-bit integers.
bool fitsWord(int64_t terms);

/// Returns a constant f32 bias as si32, if all its elements are integers and 32
/// bits hold any sum of `terms` products plus the bias; else null.
mlir::Value biasInWords(mlir::OpBuilder &builder, mlir::Value bias,
                        int64_t terms);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_WORDSUMS_H
