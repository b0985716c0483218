// Builds Fourier transforms and mel weights if lengths, axes or frames are
// known only at run time, or tensors have dynamic sizes.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESIGNAL_H
#define INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESIGNAL_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Imports DFT along `axis` or, if that is nullopt, along the axis that input 2
/// specifies.
ImportResult dftAtRunTime(OnnxNode &node, std::optional<int64_t> axis);
/// Returns the frames of the signal of STFT, times the window: [batch, frames,
/// frame length, parts].
mlir::FailureOr<mlir::Value> framesOf(OnnxNode &node);
ImportResult importMelWeightMatrix(OnnxNode &node);
/// Returns the Fourier transform of length `length` along `axis` of x [...,
/// parts], where the last axis has the real and the imaginary part, or only the
/// real part.
mlir::Value transformAtRunTime(OnnxNode &node, mlir::Value x, int64_t axis,
                               const Dim &length, bool inverse, bool onesided);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESIGNAL_H
