// Sums in registers that hold matrix tiles (kernel.multiply_tiles).
//
// A block of rows x columns of the result occupies a few tile registers during
// the reduction. Each iteration loads some rows of the left operand, read in
// place, and of the right one, which is packed in panels with four bytes of
// steps contiguous in each column, as for vector dot products (DotTile.h).
//
//   2 x 2 tiles of sums  left: 32 rows x 64 bytes  right: 64 bytes x 32 columns
//     0 1                  4                         6 7
//     2 3                  5
//
// A run is a part of the reduction whose steps are contiguous in the left
// operand. Its steps are divided into equal chunks, so that tiles keep their
// shapes. Sums are stored to the stack, from which rows are finished like those
// of other tiles.

#ifndef INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// How a target's tile registers multiply elements of two types, for runs of
/// `steps` contiguous steps.
struct TileForm {
  mlir::Type left, right;
  /// Steps of four bytes, which are contiguous in panels; steps of one tile
  /// multiplication; and tile multiplications per run.
  int64_t group = 0, chunk = 0, chunks = 0;
  /// Columns of a tile of sums.
  int64_t lanes = 0;

  /// Returns the form; nothing if the target cannot multiply such tiles or if
  /// `steps` is not a multiple of the group.
  static std::optional<TileForm> of(mlir::Type left, mlir::Type right,
                                    int64_t steps,
                                    const TargetDescription &target);
  /// Returns the vectors that cover `columns` columns of a panel.
  ColumnVectors cover(int64_t columns) const;
};

/// The cost model of products of `rows` x `columns` whose steps are divided
/// into `runs` runs.
class RegisterTileModel {
public:
  RegisterTileModel(const TileForm &form, int64_t rows, int64_t columns,
                    int64_t runs, const TargetDescription &target)
      : form(form), rows(rows), columns(columns), runs(runs), target(target) {}

  /// Estimates the cycles of the product in blocks of this size (rows, and
  /// vectors of columns).
  double cycles(const TileChoice &block) const;
  /// Returns the blocks that fit the registers, best first.
  std::vector<TileChoice> ranked() const;

private:
  double cyclesOfBlock(int64_t ofRows, int64_t ofColumns) const;

  TileForm form;
  int64_t rows, columns, runs;
  const TargetDescription &target;
};

/// Returns why a block of these rows and column vectors does not fit the
/// tile registers; empty if it does.
std::string refuseBlock(int64_t rows, int64_t vectors,
                        const TargetDescription &target);

/// The location of an operand: `at` is the index of a row and a step in
/// `buffer`, whose rows are `pitch` bytes apart.
struct TileOperand {
  mlir::Value buffer;
  llvm::function_ref<graph::Exprs(graph::Expr row, graph::Expr step)> at;
  int64_t pitch;
};

/// Returns the bytes from one row of a buffer to the next; its last axis must
/// be the steps.
int64_t pitchOfRows(mlir::Value buffer);

/// Emits the code of a block.
class RegisterTiles {
public:
  RegisterTiles(KernelBuilder &b, const TileForm &form, int64_t rows,
                const ColumnVectors &columns);

  /// Configures the tile shapes for the block; once for consecutive blocks of
  /// the same shape.
  void shape();
  void clear();
  /// Adds the products of a run: the rows of `left` times the groups of
  /// `panels` from `firstGroup` on.
  void multiply(const TileOperand &left, const PackedPanels &panels,
                std::optional<graph::Expr> panel, graph::Expr firstGroup);
  /// Calls `finish` for the sums of up to `mostTogether` rows at a time; `tile`
  /// has the rows from `first` of the block on.
  void store(mlir::Type sumType, int64_t mostTogether,
             llvm::function_ref<void(Tile &tile, graph::Expr first)> finish);
  /// Emits the release of the tile registers; after the last block of a work
  /// item.
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
