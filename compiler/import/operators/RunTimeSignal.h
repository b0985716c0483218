// Transforms whose lengths, axes or frames are tensors of the run, or whose sizes are
// known only at run time.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESIGNAL_H
#define INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESIGNAL_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// DFT along `axis`; along the one that input 2 names where it is none.
ImportResult dftAtRunTime(OnnxNode &node, std::optional<int64_t> axis);
ImportResult stftAtRunTime(OnnxNode &node);
/// MelWeightMatrix, in `type`.
ImportResult melWeightsAtRunTime(OnnxNode &node, mlir::FloatType type);
/// Transforms `axis` of x [..., parts] to a length.
mlir::FailureOr<mlir::Value> transformAtRunTime(OnnxNode &node, mlir::Value x,
                                                int64_t axis, const Dim &length,
                                                bool inverse, bool onesided);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESIGNAL_H
