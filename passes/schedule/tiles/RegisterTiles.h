// Sums in registers that hold small matrices (kernel.multiply_tiles).
//
// A block of rows x columns of the result is a few tiles of such registers for as long as
// the reduction runs. Each of its steps loads some rows of the left operand, read in place,
// and of the right one, which is in panels whose columns have four bytes of steps side by
// side, as products of vectors read them (DotTile.h).
//
//   2 x 2 tiles of sums     left: 32 rows x 64 bytes     right: 64 bytes x 32 columns
//     0 1                     4                            6 7
//     2 3                     5
//
// Steps of a run are cut into equal chunks, so that tiles keep their shapes. Sums leave
// through memory of the stack, from which rows are finished as those of any other tile.

#ifndef INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// How a target's tiles multiply numbers of two types, `steps` of which follow each other.
struct TileForm {
  mlir::Type left, right;
  /// Steps of four bytes, which panels have side by side; those of one product of tiles;
  /// and how many products a run takes.
  int64_t group = 0, chunk = 0, chunks = 0;
  /// Columns of a tile of sums.
  int64_t lanes = 0;

  /// Nothing where the target has no such product, or where steps are no whole groups.
  static std::optional<TileForm> of(mlir::Type left, mlir::Type right,
                                    int64_t steps,
                                    const TargetDescription &target);
  /// The vectors that cover so many columns of a panel.
  ColumnVectors cover(int64_t columns) const;
};

/// Plans for products of `rows` x `columns` whose steps come in `runs` runs.
class RegisterTileModel {
public:
  RegisterTileModel(const TileForm &form, int64_t rows, int64_t columns,
                    int64_t runs, const TargetDescription &target)
      : form(form), rows(rows), columns(columns), runs(runs), target(target) {}

  /// Estimates the cycles of the product in blocks of so many rows, and vectors of columns.
  double cycles(const TileChoice &block) const;
  /// The blocks that fit into the registers, the best first.
  std::vector<TileChoice> ranked() const;

private:
  double cyclesOfBlock(int64_t ofRows, int64_t ofColumns) const;

  TileForm form;
  int64_t rows, columns, runs;
  const TargetDescription &target;
};

/// Says why a block of so many rows and vectors of columns cannot be in tiles; empty if it
/// can.
std::string refuseBlock(int64_t rows, int64_t vectors,
                        const TargetDescription &target);

/// Where an operand has its elements: `at` is the index of a row and a step in `buffer`,
/// rows being `pitch` bytes apart.
struct TileOperand {
  mlir::Value buffer;
  llvm::function_ref<graph::Exprs(graph::Expr row, graph::Expr step)> at;
  int64_t pitch;
};

/// The bytes from one row of a buffer to the next one, its last axis being the steps.
int64_t pitchOfRows(mlir::Value buffer);

/// A block while its code is built.
class RegisterTiles {
public:
  RegisterTiles(KernelBuilder &b, const TileForm &form, int64_t rows,
                const ColumnVectors &columns);

  /// Gives the tiles the shapes of the block; once for blocks alike that follow.
  void shape();
  void clear();
  /// Adds the products of a run: of the rows of `left`, by the groups of `panels` from
  /// `firstGroup` on.
  void multiply(const TileOperand &left, const PackedPanels &panels,
                std::optional<graph::Expr> panel, graph::Expr firstGroup);
  /// Calls `finish` for the sums of each few rows, of up to `mostTogether`: `tile` has them
  /// from row `first` of the block on.
  void store(mlir::Type sumType, int64_t mostTogether,
             llvm::function_ref<void(Tile &tile, graph::Expr first)> finish);
  /// Behind the last block of a part.
  static void release(KernelBuilder &b);

private:
  int64_t down() const;
  int64_t across() const;
  int64_t rowsOfTile(int64_t i) const;
  int64_t sums(int64_t i, int64_t j) const { return i * across() + j; }
  int64_t left(int64_t i) const { return down() * across() + i; }
  int64_t right(int64_t j) const { return left(down()) + j; }

  KernelBuilder &b;
  TileForm form;
  int64_t rows;
  ColumnVectors columns;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H
