// Sums of products of bytes in words of 32 bits.

#ifndef INGOT_PASSES_SIMPLIFY_WORDSUMS_H
#define INGOT_PASSES_SIMPLIFY_WORDSUMS_H

#include "mlir/IR/Builders.h"

namespace ingot::simplify {

/// Whether 32 bits hold any sum of `terms` products of bytes.
bool fitsWord(int64_t terms);

/// A constant f32 bias in si32, if that holds any sum of `terms` products of bytes and
/// the bias; null if it is none of whole numbers.
mlir::Value biasInWords(mlir::OpBuilder &builder, mlir::Value bias,
                        int64_t terms);

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_WORDSUMS_H
