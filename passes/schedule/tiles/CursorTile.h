// Register tiles read through cursors.
//
// The inner loop for cores that finish one instruction after the other and
// whose code has to be small. A tile has one cursor for each row and one for
// the weights; nothing is unrolled but the tile itself:
//
//     for (k = 0; k < 32; ++k) {           two steps, 4 x 4 sums
//       load two of row 0, ... two of row 3
//       load four weights, 16 multiply-adds
//       load four weights, 16 multiply-adds
//     }
//
// How many rows and columns a tile has, and how many elements of a row are
// loaded at once, follows from what the target's instructions cost.
//
// Of narrow integers a step is what one product takes: four bytes in a register, or
// one element.

#ifndef INGOT_PASSES_SCHEDULE_TILES_CURSORTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_CURSORTILE_H

#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/TileChoice.h"

namespace ingot::schedule {

/// What a tile multiplies: floats, which are of one type, or narrow integers.
struct CursorTerms {
  /// Elements of the rows, of the weights, and of the sums.
  mlir::Type x, w, sum;
  /// How the target multiplies integers; their products are of one lane.
  std::optional<DotForm> form;

  static CursorTerms of(graph::ConvOp conv, const TargetDescription &target);
  static CursorTerms of(graph::MatMulOp product,
                        const TargetDescription &target);
  /// Whether tiles multiply these: floats, or integers in core registers.
  bool arePossible() const;
  /// Whether a tile's columns are lanes of vectors.
  bool inVectors(const TargetDescription &target) const;
};

/// Estimates the cycles of the work in tiles of this shape, and what its code is
/// worth; infinite if the shape does not fit.
double cursorTileCost(const TileWork &work, const TargetDescription &target,
                      const CursorTerms &terms, const CursorTileChoice &tile);
/// The tiles that fit, the best first; with `panelWidth` columns if that is not 0.
std::vector<CursorTileChoice> rankCursorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              const CursorTerms &terms,
                                              int64_t panelWidth = 0);

/// The same for whatever registers the target has: scalars or vectors.
std::vector<CursorTileChoice> rankCompactTiles(const TileWork &work,
                                               const TargetDescription &target,
                                               const CursorTerms &terms,
                                               int64_t panelWidth = 0);
double compactTileCost(const TileWork &work, const TargetDescription &target,
                       const CursorTerms &terms, const CursorTileChoice &tile);

// What differs between shapes is left in the code as it is, so that kernels are
// alike but for numbers and can be one (passes/plan/share): loops of one trip,
// products with 1, sums with 0.

/// for i in [0, trips), carrying values.
graph::Exprs loopAlways(
    KernelBuilder &b, int64_t trips, llvm::ArrayRef<graph::Expr> init,
    llvm::function_ref<graph::Exprs(graph::Expr i, llvm::ArrayRef<graph::Expr>)>
        body);
void forAlways(KernelBuilder &b, int64_t trips,
               llvm::function_ref<void(graph::Expr)> body);
/// x * factor + term, whatever these are.
graph::Expr scaled(KernelBuilder &b, graph::Expr x, int64_t factor);
graph::Expr shifted(KernelBuilder &b, graph::Expr x, int64_t term);

/// Calls `body(first)` in one loop of tiles that cover [0, positions), rows
/// being at most positions. If they do not come out even, the last one begins
/// earlier. `name` is what a position is called in the code.
void forCoveringTiles(KernelBuilder &b, int64_t positions, int64_t rows,
                      llvm::StringRef name,
                      llvm::function_ref<void(graph::Expr first)> body);

/// A cursor at an element; with `inside`, at the start of `otherwise` where
/// that does not hold.
mlir::Value cursorAt(KernelBuilder &b, mlir::Value buffer,
                     llvm::ArrayRef<graph::Expr> index, llvm::StringRef name,
                     mlir::Value inside = {}, mlir::Value otherwise = {});
graph::Expr loadNext(KernelBuilder &b, mlir::Value cursor, mlir::Type type,
                     int64_t lanes = 1);
/// `count` elements at once, to the target's load registers from `first` on.
graph::Exprs loadSeveral(KernelBuilder &b, mlir::Value cursor, mlir::Type type,
                         int64_t count, int64_t first);
/// Whether the target can load so many at once.
bool canLoadSeveral(const TargetDescription &target, mlir::Type type,
                    int64_t count);

/// for k in [0, steps): tile += next of each row * next of the weights.
void accumulateNext(KernelBuilder &b, Tile &tile, const CursorTerms &terms,
                    int64_t steps, const CursorTileChoice &choice,
                    llvm::ArrayRef<mlir::Value> rows, mlir::Value weights);
/// The same where the code computes the number of trips.
void accumulateNext(KernelBuilder &b, Tile &tile, const CursorTerms &terms,
                    graph::Expr trips, const CursorTileChoice &choice,
                    llvm::ArrayRef<mlir::Value> rows, mlir::Value weights);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CURSORTILE_H
