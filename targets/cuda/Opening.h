#ifndef INGOT_TARGETS_CUDA_OPENING_H
#define INGOT_TARGETS_CUDA_OPENING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot::targets {

/// The text before the kernels of a .cu: what they and the host program ask of the
/// device, as functions with names. `level` is the least compute capability that the
/// kernels need, 80 for 8.0.
std::string cudaOpening(unsigned level);

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_OPENING_H
