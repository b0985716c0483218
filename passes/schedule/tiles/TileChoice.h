// The work of register tiles, the choice of tiles, and their ranking.

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILECHOICE_H
#define INGOT_PASSES_SCHEDULE_TILES_TILECHOICE_H

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace ingot::schedule {

/// The shape of a register tile of a matrix product.
struct TileChoice {
  int64_t rows = 1;    // of a tile
  int64_t vectors = 1; // full vectors of a panel
  int64_t splits =
      1; // independent partial sums, for tiles too small to hide latency
};

/// The work that tiles must cover.
struct TileWork {
  /// Positions that tiles can cover together, and columns of the result.
  int64_t positions, columns;
  /// Steps that read a row and the weights sequentially without a break (a
  /// "stretch"), and the number of these stretches.
  int64_t steps, stretches = 1;
  /// A tile's rows must be a multiple of this number (the width of a fused
  /// pool's window) or divide it.
  int64_t multiple = 1;
  /// Whether tiles must not recompute positions, because results may overwrite
  /// operands.
  bool exact = false;
};

struct CursorTileChoice {
  int64_t rows = 1, columns = 1;
  /// Elements of a row that are loaded at once.
  int64_t together = 1;
  /// Groups of `together` elements per loop iteration.
  int64_t groups = 1;

  int64_t stepsOfTrip() const { return together * groups; }
  bool operator==(const CursorTileChoice &o) const {
    return rows == o.rows && columns == o.columns && together == o.together &&
           groups == o.groups;
  }
};

/// Sorts choices by cost. The first one is the choice that was added first
/// among those within `tolerance` of the best.
template <typename Choice> class Ranking {
public:
  explicit Ranking(double tolerance = 0) : tolerance(tolerance) {}

  void add(const Choice &choice, double cost) {
    if (!std::isfinite(cost))
      return;
    if (entries.empty() || cost < entries[first].cost * (1 - tolerance))
      first = entries.size();
    entries.push_back({choice, cost, entries.size()});
  }
  double leastCost() const {
    return entries.empty() ? INFINITY : entries[first].cost;
  }
  /// Returns all choices, best first; `otherwise` if there is none.
  std::vector<Choice> ranked(const Choice &otherwise) && {
    llvm::sort(entries, [&](const Entry &a, const Entry &b) {
      return std::make_tuple(a.order != first, a.cost, a.order) <
             std::make_tuple(b.order != first, b.cost, b.order);
    });
    std::vector<Choice> choices;
    for (const Entry &entry : entries)
      choices.push_back(entry.choice);
    if (choices.empty())
      choices.push_back(otherwise);
    return choices;
  }

private:
  struct Entry {
    Choice choice;
    double cost;
    size_t order;
  };
  double tolerance;
  size_t first = 0;
  std::vector<Entry> entries;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILECHOICE_H
