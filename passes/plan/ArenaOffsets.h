// Assigns arena offsets to buffers with live ranges.

#ifndef INGOT_PASSES_PLAN_ARENAOFFSETS_H
#define INGOT_PASSES_PLAN_ARENAOFFSETS_H

#include <cstdint>
#include <utility>
#include <vector>

namespace ingot::plan {

/// The bytes [begin, end) of a buffer, live from step `first` to step `last`,
/// both included.
struct LiveRange {
  int64_t begin, end, first, last;
};

/// A buffer of `bytes` (already a multiple of the alignment) that is live from
/// step `first` to step `last`, both included. If there are `liveRanges`, only
/// the bytes of these are live, each in its own range of steps: another buffer
/// may overlap bytes that have not been written yet or are no longer read.
struct ArenaRequest {
  int64_t bytes, first, last;
  std::vector<LiveRange> liveRanges = {};
};

struct ArenaPlan {
  std::vector<int64_t> offsets;
  /// The size of the arena (`bytes`), and the largest number of bytes that are
  /// live in one step (`lowerBound`).
  int64_t bytes = 0, lowerBound = 0;
};

/// Returns the number of bytes live at `step`.
int64_t aliveAt(const std::vector<ArenaRequest> &requests, int64_t step);

/// Returns a lower bound of the arena's size: the largest number of bytes live
/// in one step. Also returns that step.
std::pair<int64_t, int64_t>
lowerBound(const std::vector<ArenaRequest> &requests);

/// Returns offsets, multiples of `alignment`, such that no two bytes live at
/// the same step overlap. Tries first fit and least growth in several orders,
/// then placement from both ends of an arena as small as the lower bound. Then
/// improves the best plan by moving single buffers within the order, until the
/// lower bound or a fixed effort is reached. The result is deterministic.
ArenaPlan planArena(const std::vector<ArenaRequest> &requests,
                    int64_t alignment = 64);

} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_ARENAOFFSETS_H
