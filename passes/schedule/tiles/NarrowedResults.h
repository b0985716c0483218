// Narrowing of several vectors of quantized results together.
//
// Each vector of sums by itself would need a minimum, a maximum, a truncation
// to int8 and a store of a partial register. Some targets narrow two registers
// into one and saturate at the same time. Then several vectors need no clamp or
// truncation, and together they fill the stored register:
//
//   4 x i32 | 4 x i32 | 4 x i32 | 4 x i32      four vectors of 128 bits
//      8 x i16        |      8 x i16           kernel.narrow_signed
//                16 x ui8                      kernel.narrow_unsigned

#ifndef INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H
#define INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Returns how many adjacent vectors of a row the target narrows together to
/// the element type of the group's result; 1 if it cannot. `lanes` has the
/// lanes of each of the row's vectors of sums.
size_t narrowedTogether(KernelBuilder &b, llvm::ArrayRef<int64_t> lanes);

/// Narrows several vectors of results into one vector. Returns nothing unless
/// quantization (a saturating conversion) is the last operation of each of
/// them.
std::optional<graph::Expr> narrowed(KernelBuilder &b,
                                    llvm::ArrayRef<graph::Expr> results);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H
