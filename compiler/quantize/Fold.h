// Simplifications before a model is quantized.

#ifndef INGOT_COMPILER_QUANTIZE_FOLD_H
#define INGOT_COMPILER_QUANTIZE_FOLD_H

#include "compiler/quantize/Graph.h"
#include "compiler/quantize/HostRun.h"

namespace ingot::quantize {

/// Turns nodes that depend only on constants into initializers, and folds each
/// BatchNormalization into the preceding Conv, ConvTranspose or Gemm, so that
/// the final weights are quantized. False with diagnostics on failure.
bool fold(Graph &graph, const Host &host);

/// Removes initializers without readers.
void removeUnused(Graph &graph);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_FOLD_H
