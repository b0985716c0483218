// Register tiles of matrix products.
//
// The inner kernel of convolutions and matrix products: a tile of `rows` x
// (vectors of) columns stays in registers during the reduction. Each step loads
// one vector of weights for each column vector and broadcasts the scalar of
// each row.
//
// Constant weights are packed into panels: the columns of a panel are
// contiguous for each step of the reduction, so that a panel is read
// sequentially.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H
#define INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H

#include "passes/schedule/KernelBuilder.h"
#include "passes/schedule/tiles/TileChoice.h"

#include <functional>

namespace ingot::schedule {

/// The vectors that cover `columns` columns: the lanes of each. Only `columns`
/// lanes in total are used.
struct ColumnVectors {
  llvm::SmallVector<int64_t> lanes;
  int64_t columns = 0;

  /// Returns full vectors, followed by the narrowest that holds the remaining
  /// columns (`padded`), or by narrower ones that fit exactly if memory beyond
  /// them must not be read.
  static ColumnVectors cover(int64_t columns, const TargetDescription &target,
                             mlir::Type type, bool padded);
  /// Returns the sum of the lanes, at least `columns`.
  int64_t width() const;
};

/// Estimates the cycles of a tile with `sums` sums besides its steps.
/// `isMeasured` is false for cores that multiply by lane or lack vectors, which
/// were not measured.
double cyclesBesideSteps(int64_t sums, bool isMeasured,
                         const TargetDescription &target);

/// The cost model of tiles for a matrix product of `rows` x `columns`:
/// multiply-adds and loads per step, latency, and the remaining rows and
/// columns. Targets that prefer small code use CursorTile.h instead.
class TileModel {
public:
  /// `rowBytes` is the distance in bytes between rows of the left operand; 0 if
  /// unknown.
  TileModel(int64_t rows, int64_t columns, int64_t steps,
            const TargetDescription &target, mlir::Type type,
            int64_t rowBytes = 0);
  /// Estimates the cycles of the product.
  double cycles(const TileChoice &tile) const;
  /// Returns the tiles that fit the registers, best first.
  std::vector<TileChoice> ranked() const;

private:
  int64_t mostRows(int64_t vectors) const;
  int64_t splitsOf(int64_t rows, int64_t vectors) const;
  /// Whether `rows` rows evict each other from the L1 cache because their lines
  /// map to few of its sets, so that each step reloads the line of each row.
  bool evictEachOther(int64_t rows) const;

  int64_t rows, vectorsNeeded, wholeVectors, steps, factors, rowBytes,
      vectorBytes;
  bool isScalar;
  const TargetDescription &target;
};

/// Returns those of `tiles` with `vectors` vectors; a tile of one row if there
/// is none.
std::vector<TileChoice> withVectors(int64_t vectors,
                                    std::vector<TileChoice> tiles);
/// Returns those of `tiles` whose width is that of the existing panels of the
/// weights, in vectors of `lanes` lanes; all of them if the weights are not
/// packed yet.
std::vector<TileChoice> fittingPanels(std::vector<TileChoice> tiles,
                                      graph::UnpackPanelsOp packed,
                                      int64_t columns, int64_t lanes);
/// Returns the columns of a panel: those of the packed weights, or the width of
/// the tile.
int64_t panelOf(graph::UnpackPanelsOp packed, const TileChoice &tile,
                int64_t lanes);

/// Returns the tile of a plan with columns, rows and splits.
TileChoice tileOf(const Plan &plan, int64_t lanes);
/// Returns why no code can or should be built for a tile of this shape; empty
/// if it can. Sums split into parts change the order of terms.
std::string refuseTile(const TileChoice &tile, int64_t steps, bool isStrict);

/// The accumulators of a tile, in row-major order.
struct Tile {
  int64_t rows;
  ColumnVectors columns;
  graph::Exprs sums;

  graph::Expr &at(int64_t row, size_t vector) {
    return sums[row * columns.lanes.size() + vector];
  }
  /// Returns `stem` with the row and the vector if there are several:
  /// "sum_2_1".
  std::string nameAt(llvm::StringRef stem, int64_t row, size_t vector) const;
};

/// Returns a tile of zeros.
Tile zeroTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              mlir::Type type);
/// Returns a tile whose rows are the bias from `firstColumn` on. The bias must
/// have an element for each lane.
Tile biasTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              mlir::Value bias, graph::Expr firstColumn);

/// Splits a loop over steps into chunks of equal length, with code before each.
struct StepChunks {
  /// Steps per chunk; 0 for a single loop.
  int64_t steps = 0;
  std::function<void(graph::Expr chunk)> begin;
};

/// Emits `for trip in [0, trips): sums = body(trip, sums)`, divided into
/// `chunks`.
graph::Exprs loopInChunks(
    KernelBuilder &b, const graph::Dim &trips, llvm::ArrayRef<graph::Expr> sums,
    const StepChunks &chunks,
    llvm::function_ref<graph::Exprs(graph::Expr, llvm::ArrayRef<graph::Expr>)>
        body);

/// Emits `for k in [0, steps): tile += x(row, k) * w(k, vector)` for the rows
/// in [firstRow, lastRow). With `splits` > 1, accumulates that many interleaved
/// partial sums. If the builder has lanes when x is called, x returns the
/// elements of the steps from k on. `stepName` is the name of a step. `chunks`
/// applies to loops of single steps only.
void accumulate(KernelBuilder &b, Tile &tile, int64_t firstRow, int64_t lastRow,
                const graph::Dim &steps, int64_t splits,
                llvm::function_ref<graph::Expr(int64_t row, graph::Expr k)> x,
                llvm::function_ref<graph::Expr(graph::Expr k, size_t vector)> w,
                llvm::StringRef stepName = "step",
                const StepChunks &chunks = {});

/// Returns `lanes` lanes of a vector from `offset` on.
graph::Expr lanesOf(KernelBuilder &b, graph::Expr vector, int64_t offset,
                    int64_t lanes);

/// Returns why weights cannot be read in panels of `columns` columns, whose
/// vectors have `width` lanes together: they are packed in other panels, or
/// unpacked (`weights` is null) and the vectors would read too much. Empty if
/// they can.
std::string refusePanels(int64_t columns, int64_t width,
                         graph::UnpackPanelsOp weights);

/// Replaces the group's operand that `use` reads by `input`, in place if
/// nothing else reads that operand, else by a new operand. Returns the argument
/// for `input`.
mlir::BlockArgument replaceInput(graph::GroupOp group, mlir::OpOperand &use,
                                 mlir::Value input);

/// Packs constant weights of a group into panels, before the group, with
/// `steps` steps contiguous along the last `axes` axes of the steps; the anchor
/// reads them through unpack_panels.
void packPanels(graph::GroupOp group, mlir::OpOperand &weights, int64_t panel,
                int64_t tail, int64_t steps, int64_t axes = 1);

/// Like packPanels, for weights that constant folding will make constant.
void putInPanels(graph::GroupOp group, mlir::OpOperand &weights, int64_t panel,
                 int64_t tail, int64_t steps, int64_t axes = 1);

/// Packed weights in memory. A panel is given by its number, or null for the
/// tail.
struct PackedPanels {
  mlir::Value buffer;
  mlir::Type type;
  int64_t steps = 0, columns = 0;
  int64_t panelWidth = 0, fullPanels = 0, tailWidth = 0;
  /// Steps that are contiguous for each column; `steps` counts such groups.
  int64_t group = 1;

  /// Returns the panels of an anchor's operand `w`; nothing unless `w` is an
  /// unpacking of panels.
  static std::optional<PackedPanels> of(KernelBuilder &b, mlir::Value w);
  /// Loads the vector at step (or group) `step` of a panel: `lanes` columns
  /// from `offset` on, each with its group.
  graph::Expr load(KernelBuilder &b, std::optional<graph::Expr> panel,
                   graph::Expr step, int64_t offset, int64_t lanes) const;
  /// Returns the width of a full panel, or of the tail.
  int64_t width(bool isFull) const { return isFull ? panelWidth : tailWidth; }
  /// Returns where step (or group) `step` of a panel begins.
  graph::Expr start(KernelBuilder &b, std::optional<graph::Expr> panel,
                    graph::Expr step) const;
  /// Prefetches one step of weights before each chunk of the `count` steps that
  /// a tile of rows multiplies. When the last of `tiles` tiles begins, all of
  /// the `count` steps from step `first` of the panel on, which may reach into
  /// the next panel, have been requested. Returns no chunks if the target does
  /// not prefetch single lines, or if the weights are so small that those of
  /// several kernels stay in the L2 cache.
  StepChunks fetchAhead(KernelBuilder &b, std::optional<graph::Expr> panel,
                        graph::Expr first, int64_t count, graph::Expr tile,
                        int64_t tiles) const;
  /// Prefetches the panel after `panel` on targets that prefetch memory ranges.
  void prefetchNext(KernelBuilder &b, graph::Expr panel) const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H
