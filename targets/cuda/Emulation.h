#ifndef INGOT_TARGETS_CUDA_EMULATION_H
#define INGOT_TARGETS_CUDA_EMULATION_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// Returns how a generated .cu is built as a host program: with
/// emulation/cuda_runtime.h, a header that implements those functions of the
/// CUDA runtime that generated code calls.
Emulation cudaEmulation();

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_EMULATION_H
