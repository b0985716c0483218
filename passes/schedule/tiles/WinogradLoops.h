// The loops of Winograd's algorithm for convolutions, around its register
// tiles.

#ifndef INGOT_PASSES_SCHEDULE_TILES_WINOGRADLOOPS_H
#define INGOT_PASSES_SCHEDULE_TILES_WINOGRADLOOPS_H

#include "passes/schedule/Anchors.h"
#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Returns the operator that yields a convolution's weights from transformed
/// weights; null if the weights are not transformed.
inline graph::RestoreKernelOp sampledWeights(graph::ConvOp conv) {
  return conv.getW().getDefiningOp<graph::RestoreKernelOp>();
}

/// Builds the kernel of a group around a convolution with transformed weights,
/// by the plan of strategy "winograd" (strategies/Winograd.cpp).
void emitWinograd(KernelBuilder &b, ConvolutionAnchor anchor);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_WINOGRADLOOPS_H
