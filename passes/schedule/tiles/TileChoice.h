// The shapes of register tiles, the work that they cover, and their ranking by
// cost.

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
  int64_t rows = 1;    // rows of a tile
  int64_t vectors = 1; // vectors of columns of a panel
  int64_t splits =
      1; // independent partial sums, for tiles too small to hide latency
};

/// The work that the tiles of a matrix product or convolution must cover.
struct TileWork {
  /// The number of rows that tiles cover (positions of an image or rows of a
  /// matrix), and the number of columns of the result.
  int64_t positions, columns;
  /// A "stretch" is a range of K steps that reads a row and the weights
  /// sequentially. `steps` is the number of K steps of a stretch, `stretches`
  /// the number of stretches of each sum.
  int64_t steps, stretches = 1;
  /// The number of rows of a tile must be a multiple or a divisor of this
  /// number, which is the width of a fused pool's window.
  int64_t multiple = 1;
  /// Whether tiles must not recompute positions, because results may overwrite
  /// operands.
  bool exact = false;
};

struct CursorTileChoice {
  int64_t rows = 1, columns = 1;
  /// Elements of a row that are loaded at once.
  int64_t together = 1;
  /// Groups of `together` elements that each iteration of the inner loop
  /// multiplies.
  int64_t groups = 1;

  int64_t stepsOfTrip() const { return together * groups; }
  bool operator==(const CursorTileChoice &o) const {
    return rows == o.rows && columns == o.columns && together == o.together &&
           groups == o.groups;
  }
};

/// Sorts choices by cost, except for the first place: among the choices whose
/// cost is within `tolerance` (a fraction) of the lowest cost, the choice that
/// was added first comes first.
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
  /// Returns all choices, best first. If there is none, returns only
  /// `otherwise`.
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
