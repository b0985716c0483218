#ifndef INGOT_TARGETS_CUDA_OPENING_H
#define INGOT_TARGETS_CUDA_OPENING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot::targets {

/// The text before the kernels of a .cu: what they and the host program ask of the
/// device, as functions with names. `level` is the least compute capability that the
/// kernels need, 80 for 8.0.
std::string cudaOpening(unsigned level);

/// What it has from 9.0 (sm_90a) on: functions of instructions, and of the host.
struct WarpgroupText {
  std::string instructions, maps;
};
WarpgroupText warpgroupText();

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_OPENING_H
