//===- CompactDepthwise.h - depthwise in little code ------------*- C++ -*-===//

#ifndef INGOT_PASSES_KERNEL_COMPACTDEPTHWISE_H
#define INGOT_PASSES_KERNEL_COMPACTDEPTHWISE_H

#include "passes/kernel/Strategy.h"

namespace ingot::kernel {

/// Builds a convolution with one filter per channel for a scalar target whose
/// code has to be small; false if it has no form for it.
bool emitCompactDepthwise(KernelBuilder &b, graph::ConvOp conv);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_COMPACTDEPTHWISE_H
