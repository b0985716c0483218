#ifndef INGOT_TARGETS_CUDA_EMULATION_H
#define INGOT_TARGETS_CUDA_EMULATION_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Returns how a .cu becomes a host program: with a header
/// (emulation/cuda_runtime.h) that implements the functions of the CUDA runtime
/// that generated code calls.
Emulation cudaEmulation();

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_EMULATION_H
