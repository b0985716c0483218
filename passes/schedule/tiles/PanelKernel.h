// Register tiles of matrix products.
//
// The inner kernel that convolutions and matrix products share: a tile of
// `rows` x (vectors of) columns stays in registers while the reduction runs.
// Per step one vector of weights per column vector is loaded and each row's
// scalar is broadcast.
//
// Weights that are known when compiling are packed into panels: the columns of
// one panel lie side by side for each step of the reduction, so that a panel is
// read front to back.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H
#define INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H

#include "passes/schedule/KernelBuilder.h"
#include "passes/schedule/tiles/TileChoice.h"

#include <functional>

namespace ingot::schedule {

/// The vectors that cover `columns` columns: their lanes, and how many lanes of
/// the last one count.
struct ColumnVectors {
  llvm::SmallVector<int64_t> lanes;
  int64_t columns = 0;

  /// Full vectors, then the narrowest that holds the rest (`padded`), or
  /// narrower ones that fit exactly (memory beyond must not be read).
  static ColumnVectors cover(int64_t columns, const TargetDescription &target,
                             mlir::Type type, bool padded);
  /// Sum of the lanes: at least `columns`.
  int64_t width() const;
};

/// Estimates what a tile of so many sums costs beside its steps. Cores that multiply by
/// lane, or without vectors, were not measured.
double cyclesBesideSteps(int64_t sums, bool isMeasured,
                         const TargetDescription &target);

/// Tiles for a product of `rows` x `columns`, by a model of the inner loop:
/// multiply-adds and loads per step, latency, and the rows and columns left over.
/// Cores with small code choose otherwise (CursorTile.h).
class TileModel {
public:
  /// `rowBytes`: how far rows are apart in memory; 0 where that is unknown.
  TileModel(int64_t rows, int64_t columns, int64_t steps,
            const TargetDescription &target, mlir::Type type,
            int64_t rowBytes = 0);
  /// Estimates the cycles of the product.
  double cycles(const TileChoice &tile) const;
  /// The tiles that fit into the registers, the best first.
  std::vector<TileChoice> ranked() const;

private:
  int64_t mostRows(int64_t vectors) const;
  int64_t splitsOf(int64_t rows, int64_t vectors) const;
  /// Whether so many rows evict one another from the first cache, since their lines are
  /// in few of its sets: then each step of each row loads its line again.
  bool evictEachOther(int64_t rows) const;

  int64_t rows, vectorsNeeded, wholeVectors, steps, factors, rowBytes,
      vectorBytes;
  bool isScalar;
  const TargetDescription &target;
};

/// Those of `tiles` that have so many vectors; one row of them if there is none.
std::vector<TileChoice> withVectors(int64_t vectors,
                                    std::vector<TileChoice> tiles);
/// Those of `tiles` that are as wide as the panels are in which the weights are
/// already, of vectors of `lanes`; all of them where they are in none yet.
std::vector<TileChoice> fittingPanels(std::vector<TileChoice> tiles,
                                      graph::UnpackPanelsOp packed,
                                      int64_t columns, int64_t lanes);
/// The columns of a panel: those that there are, or as wide as the tile.
int64_t panelOf(graph::UnpackPanelsOp packed, const TileChoice &tile,
                int64_t lanes);

/// The tile of a plan with columns, rows and splits.
TileChoice tileOf(const Plan &plan, int64_t lanes);
/// Says why no code should be, or can be, built for a tile of this shape; empty if
/// it can. Sums in parts are in another order than the terms'.
std::string refuseTile(const TileChoice &tile, int64_t steps, bool isStrict);

/// The tile's accumulators, row by row.
struct Tile {
  int64_t rows;
  ColumnVectors columns;
  graph::Exprs sums;

  graph::Expr &at(int64_t row, size_t vector) {
    return sums[row * columns.lanes.size() + vector];
  }
  /// Returns `stem` with the row and the vector, as far as there are several:
  /// "sum_2_1".
  std::string nameAt(llvm::StringRef stem, int64_t row, size_t vector) const;
};

/// A tile of zeros.
Tile zeroTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              mlir::Type type);
/// A tile whose rows are what `bias` has from `firstColumn` on. The bias has a column
/// for each lane.
Tile biasTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              mlir::Value bias, graph::Expr firstColumn);

/// Strips of equally many steps, each with something in front of it.
struct StepStrips {
  /// 0: the steps are one loop.
  int64_t steps = 0;
  std::function<void(graph::Expr strip)> begin;
};

/// for trip in [0, trips): sums = body(trip, sums), in `strips` of so many trips.
graph::Exprs loopInStrips(
    KernelBuilder &b, const graph::Dim &trips, llvm::ArrayRef<graph::Expr> sums,
    const StepStrips &strips,
    llvm::function_ref<graph::Exprs(graph::Expr, llvm::ArrayRef<graph::Expr>)>
        body);

/// for k in [0, steps): tile += x(row, k) * w(k, vector), for the rows in
/// [firstRow, lastRow). `splits` > 1 sums in as many interleaved parts. x is
/// called in the builder's lanes: then for the steps from k on. `stepName` is
/// what a step is called in the code. Steps one by one may come in `strips`.
void accumulate(KernelBuilder &b, Tile &tile, int64_t firstRow, int64_t lastRow,
                const graph::Dim &steps, int64_t splits,
                llvm::function_ref<graph::Expr(int64_t row, graph::Expr k)> x,
                llvm::function_ref<graph::Expr(graph::Expr k, size_t vector)> w,
                llvm::StringRef stepName = "step",
                const StepStrips &strips = {});

/// `lanes` lanes of a vector from `offset` on.
graph::Expr lanesOf(KernelBuilder &b, graph::Expr vector, int64_t offset,
                    int64_t lanes);

/// Says why weights cannot be read in panels of so many columns, whose vectors have
/// `width` lanes together: they are packed otherwise (or null), or more would be read
/// than there is. Empty if they can.
std::string refusePanels(int64_t columns, int64_t width,
                         graph::UnpackPanelsOp weights);

/// Gives a group the operand `input` where `use` reads an argument of it: in the place
/// of that argument, if nothing else reads it. Returns the argument for `input`.
mlir::BlockArgument replaceInput(graph::GroupOp group, mlir::OpOperand &use,
                                 mlir::Value input);

/// Puts constant weights in front of the group into panels, with `steps` steps side
/// by side along the last `axes` axes of the steps, and has the anchor read them
/// through unpack_panels.
void packPanels(graph::GroupOp group, mlir::OpOperand &weights, int64_t panel,
                int64_t tail, int64_t steps, int64_t axes = 1);

/// The same for weights that are known to be constant when all is folded.
void putInPanels(graph::GroupOp group, mlir::OpOperand &weights, int64_t panel,
                 int64_t tail, int64_t steps, int64_t axes = 1);

/// Packed weights: where panel `panel` (or the tail, if that is null) starts.
struct PackedPanels {
  mlir::Value buffer;
  mlir::Type type;
  int64_t steps = 0, columns = 0;
  int64_t panelWidth = 0, fullPanels = 0, tailWidth = 0;
  /// Steps that lie side by side for each column; `steps` counts such groups.
  int64_t group = 1;

  /// Of the operand `w` of an anchor: it must be an unpacking of panels.
  static std::optional<PackedPanels> of(KernelBuilder &b, mlir::Value w);
  /// The vector at (group of) step k of a panel, `offset` columns in: `lanes`
  /// columns, each with its group.
  graph::Expr load(KernelBuilder &b, std::optional<graph::Expr> panel,
                   graph::Expr step, int64_t offset, int64_t lanes) const;
  /// The columns that a panel has room for, or the tail.
  int64_t width(bool isFull) const { return isFull ? panelWidth : tailWidth; }
  /// Where (the group of) step k of a panel begins.
  graph::Expr start(KernelBuilder &b, std::optional<graph::Expr> panel,
                    graph::Expr step) const;
  /// Fetches a step of weights in front of each strip of the `count` steps that are
  /// multiplied by a tile of rows, so that all of as many steps from step `first` of the
  /// panel on, which may be the next panel's, are on their way when the last of `tiles`
  /// tiles begins. No strips where lines are not fetched one by one, or where the weights
  /// are as few as those of several kernels that stay in the second cache.
  StepStrips fetchAhead(KernelBuilder &b, std::optional<graph::Expr> panel,
                        graph::Expr first, int64_t count, graph::Expr tile,
                        int64_t tiles) const;
  /// Has the panel behind `panel` fetched, where the target is told ranges to fetch.
  void prefetchNext(KernelBuilder &b, graph::Expr panel) const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H
