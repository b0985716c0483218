// Replaces functions of sums of integers by piecewise linear tables.

#ifndef INGOT_PASSES_DECIDE_SUMTABLES_H
#define INGOT_PASSES_DECIDE_SUMTABLES_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Replaces a quantization to 8 bits of a function of a sum of integers
/// (readSum). Returns false if it is not such a function, or if linear
/// interpolation is not accurate enough.
bool formSumTable(graph::QuantizeOp op);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_SUMTABLES_H
