//===- CompactConvolution.h - convolutions in little code -------*- C++ -*-===//

#ifndef INGOT_PASSES_KERNEL_COMPACTCONVOLUTION_H
#define INGOT_PASSES_KERNEL_COMPACTCONVOLUTION_H

#include "passes/kernel/Strategy.h"

namespace ingot::kernel {

/// Builds a convolution and the pool after it (or null) for a target whose code
/// has to be small; false if it has no form for it.
bool emitCompactConvolution(KernelBuilder &b, graph::ConvOp conv,
                            mlir::Operation *pool);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_COMPACTCONVOLUTION_H
