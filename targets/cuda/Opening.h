#ifndef INGOT_TARGETS_CUDA_OPENING_H
#define INGOT_TARGETS_CUDA_OPENING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot::targets {

/// Returns the prologue of a .cu, before the kernels: all instructions and
/// driver calls that kernels and the host program use, as named functions.
/// `level` is the lowest compute capability that the kernels need, 80 for 8.0.
std::string cudaOpening(unsigned level);

/// The part of the prologue for 9.0 (sm_90a): functions for instructions of
/// kernels, and functions of the host that create tensor maps and launch
/// clusters.
struct WarpgroupText {
  std::string instructions, maps;
};
WarpgroupText warpgroupText();

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_OPENING_H
