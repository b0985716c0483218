// Quantized results that are narrowed together.
//
// One at a time, each vector of sums would need a minimum, a maximum and a
// truncation to int8, and a partial register store. Targets that narrow two
// registers into one saturate at the same time, so that several vectors need no
// clamp or truncation of their own and fill the stored register:
//
//   4 x i32 | 4 x i32 | 4 x i32 | 4 x i32      four vectors of 128 bits
//      8 x i16        |      8 x i16           kernel.narrow_signed
//                16 x ui8                      kernel.narrow_unsigned

#ifndef INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H
#define INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Returns how many adjacent vectors of a row, with sums in `lanes` lanes, the
/// target narrows together to the element type of the result; 1 if it cannot.
size_t narrowedTogether(KernelBuilder &b, llvm::ArrayRef<int64_t> lanes);

/// Narrows the results of several vectors into one; nothing if quantization is
/// not their last operation.
std::optional<graph::Expr> narrowed(KernelBuilder &b,
                                    llvm::ArrayRef<graph::Expr> results);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H
