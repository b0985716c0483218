// Finds contractions of ui8 by constant si8 whose pairs of products fit into 16
// bits, so that kernels can use an instruction that saturates their sums:
//
//   conv(x: ui8, w: si8)  ->  conv(x, w) {graph.short_sums = 2}
//
// if twice the largest sum of the magnitudes of two weights of one column, in
// adjacent K steps and of the same sign, times 255 is less than 2^15. Weights of
// 7 bits always allow one pair. This applies if the target has such an
// instruction and no int8 dot products.
//
// Weights of 8 bits of trained networks allow it for most groups of K steps, but
// not for all. Then graph.short_share says for how many, and kernels select the
// instruction group by group.

#ifndef INGOT_PASSES_DECIDE_MARKSHORTSUMS_H
#define INGOT_PASSES_DECIDE_MARKSHORTSUMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/TargetDescription.h"

namespace ingot::decide {

/// Marks the contractions of `function`, whose weights have their final values
/// and signedness, by graph.short_sums.
void markShortSums(mlir::func::FuncOp function,
                   const TargetDescription &target);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_MARKSHORTSUMS_H
