// Replaces shapes of buffers by explicit index arithmetic.

#ifndef INGOT_PASSES_PLAN_SHARE_FLATTENBUFFERS_H
#define INGOT_PASSES_PLAN_SHARE_FLATTENBUFFERS_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::plan {

/// Makes the arguments of `kernel` one-dimensional buffers of dynamic size;
/// accesses then compute an index from strides. Returns false, and leaves the
/// kernel partly changed, if a buffer is used in a way that cannot be
/// rewritten.
bool flattenBuffers(kernel::FuncOp kernel);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_SHARE_FLATTENBUFFERS_H
