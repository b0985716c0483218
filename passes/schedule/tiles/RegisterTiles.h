// Sums in registers that hold two-dimensional tiles of a matrix
// (kernel.multiply_tiles).
//
// A block of rows x columns of the result occupies a few tile registers during
// the reduction. Each iteration loads tiles of the left operand, which is read
// in place, and of the right operand. The right operand is packed in panels, in
// which four bytes of K steps are contiguous for each column, as for vector dot
// products (DotTile.h). The numbers of the tile registers of a block, for
// example:
//
//   2 x 2 tiles of sums  left: 32 rows x 64 bytes  right: 64 bytes x 32 columns
//     0 1                  4                         6 7
//     2 3                  5
//
// A run is a range of K steps that are contiguous in the left operand, for
// example a kernel row. The K steps of a run are divided into equal chunks, so
// that all tiles keep their shapes. At the end, the sums are stored to the
// stack; from there, their rows are finished like those of other register
// tiles.

#ifndef INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_REGISTERTILES_H

#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// How a target's tile registers multiply elements of the types `left` and
/// `right`.
struct TileForm {
  mlir::Type left, right;
  /// `group` is the number of K steps in four bytes, which are contiguous in
  /// panels for each column. `chunk` is the number of K steps of one tile
  /// multiplication, and `chunks` the number of tile multiplications for a run
  /// of contiguous K steps.
  int64_t group = 0, chunk = 0, chunks = 0;
  /// The number of columns of a tile of sums.
  int64_t lanes = 0;

  /// Returns the TileForm for runs of `steps` contiguous K steps. Returns
  /// nothing if the target cannot multiply such tiles or if `steps` is not a
  /// multiple of the group.
  static std::optional<TileForm> of(mlir::Type left, mlir::Type right,
                                    int64_t steps,
                                    const TargetDescription &target);
  /// Returns the vectors that cover `columns` columns of a panel of weights.
  ColumnVectors cover(int64_t columns) const;
};

/// The cost model of matrix products of `rows` x `columns` in tile registers.
/// The K steps are divided into `runs` runs, whose K steps are contiguous in
/// the left operand.
class RegisterTileModel {
public:
  RegisterTileModel(const TileForm &form, int64_t rows, int64_t columns,
                    int64_t runs, const TargetDescription &target)
      : form(form), rows(rows), columns(columns), runs(runs), target(target) {}

  /// Estimates the cycles of the product if it is computed in blocks of
  /// `block.rows` rows and `block.vectors` vectors of columns.
  double cycles(const TileChoice &block) const;
  /// Returns the blocks that fit the tile registers, best first.
  std::vector<TileChoice> ranked() const;

private:
  double cyclesOfBlock(int64_t ofRows, int64_t ofColumns) const;

  TileForm form;
  int64_t rows, columns, runs;
  const TargetDescription &target;
};

/// Returns why a block of `rows` rows and `vectors` vectors of columns does not
/// fit the tile registers; empty if it does.
std::string refuseBlock(int64_t rows, int64_t vectors,
                        const TargetDescription &target);

/// The location of the left operand in memory. `at` returns the index in
/// `buffer` of a row and a K step. Adjacent rows are `pitch` bytes apart.
struct TileOperand {
  mlir::Value buffer;
  llvm::function_ref<graph::Exprs(graph::Expr row, graph::Expr step)> at;
  int64_t pitch;
};

/// Returns the distance in bytes from one row of a buffer to the next. The
/// buffer's last axis must be the K dimension.
int64_t pitchOfRows(mlir::Value buffer);

/// Emits the code of one block of tiles.
class RegisterTiles {
public:
  RegisterTiles(KernelBuilder &b, const TileForm &form, int64_t rows,
                const ColumnVectors &columns);

  /// Configures the tile shapes for the block. Needed only once for consecutive
  /// blocks of the same shape.
  void shape();
  void clear();
  /// Adds the products of a run of contiguous K steps to the sums: the rows of
  /// `left` times the weights of `panel`, from its group of K steps
  /// `firstGroup` on.
  void multiply(const TileOperand &left, const PackedPanels &panels,
                std::optional<graph::Expr> panel, graph::Expr firstGroup);
  /// Calls `finish` for the sums of up to `mostTogether` rows at a time. `tile`
  /// has these rows, and `first` is the index of the first one in the block.
  void store(mlir::Type sumType, int64_t mostTogether,
             llvm::function_ref<void(Tile &tile, graph::Expr first)> finish);
  /// Emits the release of the tile registers. To be called after the last block
  /// of a work item.
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
