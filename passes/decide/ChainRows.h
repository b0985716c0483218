// Splits row chains (groups that ChainRows.cpp fused to compute them row by
// row) into their groups again.

#ifndef INGOT_PASSES_DECIDE_CHAINROWS_H
#define INGOT_PASSES_DECIDE_CHAINROWS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Moves the groups in the body of the group `chain` to before it, and erases
/// `chain`.
void separateStages(graph::GroupOp chain);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_CHAINROWS_H
