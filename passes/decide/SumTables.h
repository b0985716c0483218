// Replaces functions of sums of integers by piecewise linear tables.

#ifndef INGOT_PASSES_DECIDE_SUMTABLES_H
#define INGOT_PASSES_DECIDE_SUMTABLES_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Replaces the operators between a sum of integers (readSum) and the 8-bit
/// quantization `op` by a table. Returns false if they are not a function of
/// such a sum, or if linear interpolation is not accurate enough.
bool formSumTable(graph::QuantizeOp op);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_SUMTABLES_H
