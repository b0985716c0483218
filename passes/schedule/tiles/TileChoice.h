// What a register tile has to cover, and the tile that is chosen for it.

#ifndef INGOT_PASSES_SCHEDULE_TILES_TILECHOICE_H
#define INGOT_PASSES_SCHEDULE_TILES_TILECHOICE_H

#include <cstdint>

namespace ingot::schedule {

/// What a tile has to cover.
struct TileWork {
  /// Positions that tiles may take together, and columns of the result.
  int64_t positions, columns;
  /// Steps that read a row and the weights front to back, and how many such
  /// stretches follow one another.
  int64_t steps, stretches = 1;
  /// A tile's rows are a multiple of this, or divide it.
  int64_t multiple = 1;
  /// A tile must not compute a position that another one has computed.
  bool exact = false;
};

struct CursorTileChoice {
  int64_t rows = 1, columns = 1;
  /// Elements of a row that are loaded at once.
  int64_t together = 1;
  /// How many such groups one trip of the loop computes.
  int64_t groups = 1;

  int64_t stepsOfTrip() const { return together * groups; }
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_TILECHOICE_H
