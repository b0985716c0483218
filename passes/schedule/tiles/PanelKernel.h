// Register tiles of matrix products.
//
// This is the inner kernel of convolutions and matrix products. A tile of
// `rows` x (vectors of) columns stays in registers during the reduction. Each K
// step (index of the reduction) loads one vector of weights for each vector of
// columns, and broadcasts one element of the left operand for each row.
//
// Constant weights are packed into panels, each with some of the columns. In a
// panel, the columns of each K step are contiguous, so that a panel is read
// sequentially.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H
#define INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H

#include "passes/schedule/KernelBuilder.h"
#include "passes/schedule/tiles/TileChoice.h"

#include <functional>

namespace ingot::schedule {

/// The vectors that cover `columns` columns, with the number of lanes of each.
/// Lanes after the first `columns` ones are not used.
struct ColumnVectors {
  llvm::SmallVector<int64_t> lanes;
  int64_t columns = 0;

  /// Returns full vectors and, for the remaining columns, the narrowest vector
  /// that holds them if `padded`, else narrower vectors that fit exactly (for
  /// operands beyond which memory must not be read).
  static ColumnVectors cover(int64_t columns, const TargetDescription &target,
                             mlir::Type type, bool padded);
  /// Returns the total number of lanes, at least `columns`.
  int64_t width() const;
};

/// Estimates the cycles that a tile with `sums` sums takes besides its K steps.
/// `isMeasured` is false for cores without measurements: those that lack
/// vectors, or whose multiply-adds take a lane of a vector as factor.
double cyclesBesideSteps(int64_t sums, bool isMeasured,
                         const TargetDescription &target);

/// The cost model of register tiles for a matrix product of `rows` x `columns`
/// with `steps` K steps. It counts multiply-adds and loads per K step, their
/// latency, and the remaining rows and columns. Targets that prefer small code
/// use CursorTile.h instead.
class TileModel {
public:
  /// `rowBytes` is the distance in bytes between rows of the left operand, or 0
  /// if it is unknown.
  TileModel(int64_t rows, int64_t columns, int64_t steps,
            const TargetDescription &target, mlir::Type type,
            int64_t rowBytes = 0);
  /// Tells the model that the elements of a row of the left operand are loaded
  /// one by one, since they are not adjacent.
  void loadSingly() { factors = 1; }
  /// Estimates the cycles of the product.
  double cycles(const TileChoice &tile) const;
  /// Returns the tiles that fit the registers, best first.
  std::vector<TileChoice> ranked() const;

private:
  int64_t mostRows(int64_t vectors) const;
  int64_t splitsOf(int64_t rows, int64_t vectors) const;
  /// Whether `rows` rows of the left operand evict each other from the L1 cache
  /// because their lines map to few of its sets. If so, each K step reloads the
  /// line of each row.
  bool evictEachOther(int64_t rows) const;

  int64_t rows, vectorsNeeded, wholeVectors, steps, factors, rowBytes,
      vectorBytes;
  bool isScalar;
  /// Whether multiply-adds take a lane of a vector as factor.
  bool isByLane;
  const TargetDescription &target;
};

/// Returns those of `tiles` that have `vectors` vectors; if there are none, a
/// tile of one row with `vectors` vectors.
std::vector<TileChoice> withVectors(int64_t vectors,
                                    std::vector<TileChoice> tiles);
/// Returns those of `tiles` that are as wide as the panels of the weights, in
/// vectors of `lanes` lanes. Returns all tiles if the weights are not packed
/// yet (`packed` is null).
std::vector<TileChoice> fittingPanels(std::vector<TileChoice> tiles,
                                      graph::UnpackPanelsOp packed,
                                      int64_t columns, int64_t lanes);
/// Returns the number of columns of a panel: that of the packed weights if they
/// are already packed, else the width of the tile.
int64_t panelOf(graph::UnpackPanelsOp packed, const TileChoice &tile,
                int64_t lanes);

/// Returns the tile that a plan with the entries columns, rows and splits
/// describes.
TileChoice tileOf(const Plan &plan, int64_t lanes);
/// Returns why a tile of this shape is rejected; empty if it is accepted.
/// `steps` is the number of K steps. With `isStrict`, sums must not be split
/// into partial sums, because that changes the order of terms.
std::string refuseTile(const TileChoice &tile, int64_t steps, bool isStrict);

/// The accumulators of a tile, in row-major order.
struct Tile {
  int64_t rows;
  ColumnVectors columns;
  graph::Exprs sums;

  graph::Expr &at(int64_t row, size_t vector) {
    return sums[row * columns.lanes.size() + vector];
  }
  /// Returns a name for the sum at `row` and `vector` in the generated code,
  /// such as "sum_2_1" for the stem "sum". A tile with a single row or vector
  /// omits that number.
  std::string nameAt(llvm::StringRef stem, int64_t row, size_t vector) const;
};

/// Returns a tile whose sums are zeros.
Tile zeroTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              mlir::Type type);
/// Returns a tile each of whose rows is the bias from `firstColumn` on. The
/// bias must have an element for each lane.
Tile biasTile(KernelBuilder &b, int64_t rows, const ColumnVectors &columns,
              mlir::Value bias, graph::Expr firstColumn);

/// Splits a loop over K steps into chunks of equal length. `begin` emits code
/// before each chunk.
struct StepChunks {
  /// K steps per chunk; 0 for a loop without chunks.
  int64_t steps = 0;
  std::function<void(graph::Expr chunk)> begin;
};

/// Emits `for trip in [0, trips): sums = body(trip, sums)`, divided into
/// `chunks`. Returns the final sums.
graph::Exprs loopInChunks(
    KernelBuilder &b, const graph::Dim &trips, llvm::ArrayRef<graph::Expr> sums,
    const StepChunks &chunks,
    llvm::function_ref<graph::Exprs(graph::Expr, llvm::ArrayRef<graph::Expr>)>
        body);

/// Emits `for k in [0, steps): tile += x(row, k) * w(k, vector)` for the rows
/// in [firstRow, lastRow). If `splits` is greater than 1, accumulates that many
/// interleaved partial sums. If the builder has several lanes when `x` is
/// called, `x` must return the elements of as many K steps, from k on.
/// `stepName` is the name of a K step in the generated code. `chunks` applies
/// only to loops with one K step per iteration.
void accumulate(KernelBuilder &b, Tile &tile, int64_t firstRow, int64_t lastRow,
                const graph::Dim &steps, int64_t splits,
                llvm::function_ref<graph::Expr(int64_t row, graph::Expr k)> x,
                llvm::function_ref<graph::Expr(graph::Expr k, size_t vector)> w,
                llvm::StringRef stepName = "step",
                const StepChunks &chunks = {});

/// Returns the lanes [offset, offset + lanes) of a vector.
graph::Expr lanesOf(KernelBuilder &b, graph::Expr vector, int64_t offset,
                    int64_t lanes);

/// Returns why the kernel cannot read `weights` in panels of `columns` columns;
/// empty if it can. `width` is the total number of lanes that cover a panel.
/// There are two reasons: the weights are already packed in panels of another
/// width, or they are not packed yet (`weights` is null) and `columns` does not
/// fill the vectors.
std::string refusePanels(int64_t columns, int64_t width,
                         graph::UnpackPanelsOp weights);

/// Replaces the group's operand that `use` reads by `input`. Adds a new operand
/// to the group if something else reads the old one as well. Returns the block
/// argument for `input`.
mlir::BlockArgument replaceInput(graph::GroupOp group, mlir::OpOperand &use,
                                 mlir::Value input);

/// Packs constant weights of a group into panels of `panel` columns, by a
/// pack_panels before the group; the anchor reads them through unpack_panels.
/// Does nothing if the weights are packed already or are not constant. For each
/// column, `steps` K steps are contiguous; they are adjacent along the last
/// `axes` axes of the K dimension, taken as one axis. `tail` is the width of
/// the last panel.
void packPanels(graph::GroupOp group, mlir::OpOperand &weights, int64_t panel,
                int64_t tail, int64_t steps, int64_t axes = 1);

/// Appends bytes to the packed weights of a group, one for each panel and each
/// group of K steps: 1 if sums of products by these weights may not fit into 16
/// bits (graph.short_share). Does nothing if the weights are not packed, or have
/// these bytes already.
void appendWideGroups(graph::GroupOp group, mlir::Value weights);

/// Like packPanels, for weights that only constant folding will turn into a
/// constant.
void putInPanels(graph::GroupOp group, mlir::OpOperand &weights, int64_t panel,
                 int64_t tail, int64_t steps, int64_t axes = 1);

/// Packed weights in memory. Methods take the number of a panel; no number
/// means the tail, the columns after the last full panel.
struct PackedPanels {
  mlir::Value buffer;
  mlir::Type type;
  int64_t steps = 0, columns = 0;
  int64_t panelWidth = 0, fullPanels = 0, tailWidth = 0;
  /// The number of K steps that are contiguous for each column. `steps` counts
  /// such groups of K steps.
  int64_t group = 1;

  /// Returns the packed panels of the weights `w`, an operand of the anchor;
  /// nothing unless `w` is the result of unpack_panels. With `isMixed`, the
  /// bytes of appendWideGroups follow the weights.
  static std::optional<PackedPanels> of(KernelBuilder &b, mlir::Value w,
                                        bool isMixed = false);
  /// Returns whether products by the weights of a panel at group of K steps
  /// `step` need more than 16 bits (appendWideGroups).
  graph::Expr isWide(KernelBuilder &b, std::optional<graph::Expr> panel,
                     graph::Expr step) const;
  /// Loads weights of a panel at K step (or group of K steps) `step`: those of
  /// `lanes` columns from column `offset` of the panel on.
  graph::Expr load(KernelBuilder &b, std::optional<graph::Expr> panel,
                   graph::Expr step, int64_t offset, int64_t lanes) const;
  /// Returns the width, in columns, of a full panel, or of the tail: the
  /// columns after the last full panel.
  int64_t width(bool isFull) const { return isFull ? panelWidth : tailWidth; }
  /// Returns the index in `buffer` at which K step (or group of K steps) `step`
  /// of a panel begins.
  graph::Expr start(KernelBuilder &b, std::optional<graph::Expr> panel,
                    graph::Expr step) const;
  /// Returns chunks for the loop over the `count` K steps of a tile, each of
  /// which first prefetches the weights of one later K step. The weights to
  /// prefetch are those of `count` K steps, from K step `first` of the panel
  /// on, possibly of the next panel. Several tiles share this work: `tile` is
  /// the number of the current tile among `tiles` tiles, and all of these
  /// weights have been requested when the last tile ends. Returns no chunks if
  /// the target does not prefetch single lines, or if the weights are so small
  /// that those of several kernels stay in the L2 cache.
  StepChunks fetchAhead(KernelBuilder &b, std::optional<graph::Expr> panel,
                        graph::Expr first, int64_t count, graph::Expr tile,
                        int64_t tiles) const;
  /// Prefetches the panel of weights after `panel`, on targets that prefetch
  /// memory ranges.
  void prefetchNext(KernelBuilder &b, graph::Expr panel) const;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PANELKERNEL_H
