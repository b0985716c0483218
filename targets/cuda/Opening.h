#ifndef INGOT_TARGETS_CUDA_OPENING_H
#define INGOT_TARGETS_CUDA_OPENING_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot::targets {

/// Return the text of a generated .cu before its namespace, and the functions
/// inside it that precede the kernels: one with a name for each instruction and
/// each driver call that kernels and the host program use. `level` is the lowest
/// compute capability that the kernels support, 80 for 8.0.
std::string cudaOpening(unsigned level);
std::string cudaFunctions(unsigned level);

/// What precedes the kernels of a generated .cu in addition for compute
/// capability 9.0 (sm_90a): functions for instructions in kernels, and host
/// functions that create tensor maps and launch clusters.
struct WarpgroupText {
  std::string instructions, maps;
};
WarpgroupText warpgroupText();

} // namespace ingot::targets

#endif // INGOT_TARGETS_CUDA_OPENING_H
