// Offsets for buffers with lifetimes.

#ifndef INGOT_PASSES_PLAN_ARENAOFFSETS_H
#define INGOT_PASSES_PLAN_ARENAOFFSETS_H

#include <cstdint>
#include <utility>
#include <vector>

namespace ingot::plan {

/// The bytes [begin, end) of a buffer, alive from step `first` to step `last`,
/// both included.
struct ArenaPiece {
  int64_t begin, end, first, last;
};

/// A buffer of `bytes` (already a multiple of the alignment) that is alive from
/// step `first` to step `last`, both included. With `pieces`, only these are,
/// each in its own time: a buffer may lie over the pieces of another that are
/// not written yet, or not read any more.
struct ArenaRequest {
  int64_t bytes, first, last;
  std::vector<ArenaPiece> pieces = {};
};

struct ArenaPlan {
  std::vector<int64_t> offsets;
  /// Size of the arena, and the largest sum of bytes alive in one step.
  int64_t bytes = 0, lowerBound = 0;
};

/// The bytes alive at `step`.
int64_t aliveAt(const std::vector<ArenaRequest> &requests, int64_t step);

/// The largest sum of bytes alive in one step, and that step.
std::pair<int64_t, int64_t>
lowerBound(const std::vector<ArenaRequest> &requests);

/// Offsets, multiples of `alignment`, such that no two bytes alive at the same
/// step overlap. Tries several orders of first fit and of least growth, then
/// both ends of an arena of the lower bound in turn, and then improves the best
/// by moving buffers in the order, until the lower bound or a fixed effort is
/// reached. Deterministic.
ArenaPlan planArena(const std::vector<ArenaRequest> &requests,
                    int64_t alignment = 64);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_ARENAOFFSETS_H
