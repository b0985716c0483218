// What is computed once, before a model is quantized.

#ifndef INGOT_COMPILER_QUANTIZE_FOLD_H
#define INGOT_COMPILER_QUANTIZE_FOLD_H

#include "compiler/quantize/Graph.h"
#include "compiler/quantize/HostRun.h"

namespace ingot::quantize {

/// Turns what depends only on constants into initializers, and multiplies each
/// BatchNormalization into the Conv, ConvTranspose or Gemm before it, so that
/// weights are seen as they are used. False with diagnostics if that fails.
bool fold(Graph &graph, const Host &host);

/// Removes initializers that nothing reads.
void removeUnused(Graph &graph);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_FOLD_H
