// Chains of groups as one kernel, and back.

#ifndef INGOT_PASSES_DECIDE_CHAINROWS_H
#define INGOT_PASSES_DECIDE_CHAINROWS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Makes the stages of a chain groups of their own again.
void separateStages(graph::GroupOp chain);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_CHAINROWS_H
