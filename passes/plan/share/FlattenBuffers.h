// Shapes become arithmetic.

#ifndef INGOT_PASSES_PLAN_SHARE_FLATTENBUFFERS_H
#define INGOT_PASSES_PLAN_SHARE_FLATTENBUFFERS_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::plan {

/// Gives a kernel's arguments types without shapes; the strides stand in its
/// code. False, with the function half changed, where a buffer is used in a way
/// that has no such form.
bool flattenBuffers(kernel::FuncOp kernel);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_SHARE_FLATTENBUFFERS_H
