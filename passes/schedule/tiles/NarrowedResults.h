// Quantized results that are narrowed together.
//
// One by one, vectors of sums become bytes by a minimum, a maximum and a truncation
// each, and are stored as parts of a register. Targets that narrow two registers into
// one saturate on the way, so that several vectors need neither bound nor truncation
// of their own, and fill the register that is stored:
//
//   4 x i32 | 4 x i32 | 4 x i32 | 4 x i32        one vector of each, 128 bits
//      8 x i16        |      8 x i16             kernel.narrow_signed
//                16 x ui8                        kernel.narrow_unsigned

#ifndef INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H
#define INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// How many of the neighbouring vectors of a row whose sums have these lanes the target
/// narrows together to the element type of the result; 1 if it has no way to.
size_t narrowedTogether(KernelBuilder &b, llvm::ArrayRef<int64_t> lanes);

/// The results of so many vectors as one; nothing where they are not quantized last.
std::optional<graph::Expr> narrowed(KernelBuilder &b,
                                    llvm::ArrayRef<graph::Expr> results);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_NARROWEDRESULTS_H
