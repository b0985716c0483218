// Replaces functions of sums of integers by piecewise linear tables.

#ifndef INGOT_PASSES_DECIDE_SUMTABLES_H
#define INGOT_PASSES_DECIDE_SUMTABLES_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Replaces an 8-bit quantization whose operand is a function of a sum of
/// integers (readSum). Returns false if the operand is not such a function, or
/// if linear interpolation is not accurate enough.
bool formSumTable(graph::QuantizeOp op);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_SUMTABLES_H
