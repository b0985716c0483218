// Splits each row chain (several groups that ChainRows.cpp has fused, so that
// they are computed row by row) into its groups again.

#ifndef INGOT_PASSES_DECIDE_CHAINROWS_H
#define INGOT_PASSES_DECIDE_CHAINROWS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Moves the groups in the body of the group `chain` to before it, and erases
/// `chain`.
void separateStages(graph::GroupOp chain);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_CHAINROWS_H
