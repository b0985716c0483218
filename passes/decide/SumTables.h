// Functions of sums of integers as tables with straight lines between their entries.

#ifndef INGOT_PASSES_DECIDE_SUMTABLES_H
#define INGOT_PASSES_DECIDE_SUMTABLES_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Replaces a quantization to bytes of a function of a sum of integers (readSum); returns
/// false where it is none, or where straight lines are too far away from it.
bool formSumTable(graph::QuantizeOp op);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_SUMTABLES_H
