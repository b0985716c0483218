// Depthwise in little code.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COMPACTDEPTHWISE_H
#define INGOT_PASSES_SCHEDULE_TILES_COMPACTDEPTHWISE_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Builds a convolution with one filter per channel for a scalar target whose
/// code has to be small; false if it has no form for it.
bool emitCompactDepthwise(KernelBuilder &b, graph::ConvOp conv);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_COMPACTDEPTHWISE_H
