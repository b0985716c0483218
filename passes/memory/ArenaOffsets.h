//===- ArenaOffsets.h - offsets for buffers with lifetimes ------*- C++ -*-===//

#ifndef INGOT_PASSES_MEMORY_ARENAOFFSETS_H
#define INGOT_PASSES_MEMORY_ARENAOFFSETS_H

#include <cstdint>
#include <vector>

namespace ingot::memory {

/// A buffer of `bytes` (already a multiple of the alignment) that is alive from
/// step `first` to step `last`, both included.
struct ArenaRequest {
  int64_t bytes, first, last;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;
  /// Size of the arena, and the largest sum of bytes alive in one step.
  int64_t bytes = 0, lowerBound = 0;
};

/// Offsets such that no two buffers alive at the same step overlap. Tries
/// several orders of first fit, then both ends of an arena of the lower bound
/// in turn, and then improves the best by moving buffers in the order, until
/// the lower bound or a fixed effort is reached. Deterministic.
ArenaPlan planArena(const std::vector<ArenaRequest> &requests);

} // namespace ingot::memory

#endif // INGOT_PASSES_MEMORY_ARENAOFFSETS_H
