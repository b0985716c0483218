// Splits chains of groups.

#ifndef INGOT_PASSES_DECIDE_CHAINROWS_H
#define INGOT_PASSES_DECIDE_CHAINROWS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Turns the stages of a chain into separate groups again.
void separateStages(graph::GroupOp chain);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_CHAINROWS_H
