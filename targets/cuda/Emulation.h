#ifndef INGOT_TARGETS_CUDA_EMULATION_H
#define INGOT_TARGETS_CUDA_EMULATION_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// How a .cu becomes a program of the host: with a header (emulation/cuda_runtime.h)
/// that has the functions of CUDA's run-time interface which generated code calls.
Emulation cudaEmulation();

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_EMULATION_H
