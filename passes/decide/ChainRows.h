// Splits row chains, which ChainRows.cpp forms, into groups again.

#ifndef INGOT_PASSES_DECIDE_CHAINROWS_H
#define INGOT_PASSES_DECIDE_CHAINROWS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::decide {

/// Replaces a row chain by the groups in its body.
void separateStages(graph::GroupOp chain);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_CHAINROWS_H
