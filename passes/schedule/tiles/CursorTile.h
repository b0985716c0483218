// Register tiles whose operands are read through cursors: the inner loop for
// in-order cores with little code memory.
//
// A tile has one cursor (a pointer that advances with each load) for each row
// and one for the weights. Only the tile itself is unrolled. For example, an
// iteration of two K steps with 4 x 4 sums:
//
//     for (k = 0; k < 32; ++k) {
//       load two elements of row 0, ... two elements of row 3
//       load four weights, 16 multiply-adds
//       load four weights, 16 multiply-adds
//     }
//
// The target's instruction costs determine the rows and columns of a tile and
// how many elements of a row are loaded at once. For narrow integers, a dot
// product takes a group of K steps at once: four int8 elements in a register,
// or a single element.

#ifndef INGOT_PASSES_SCHEDULE_TILES_CURSORTILE_H
#define INGOT_PASSES_SCHEDULE_TILES_CURSORTILE_H

#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "passes/schedule/tiles/TileChoice.h"

namespace ingot::schedule {

/// The element types that a tile multiplies: floats of one type, or narrow
/// integers.
struct CursorTerms {
  /// Element types of the rows, of the weights and of the sums.
  mlir::Type x, w, sum;
  /// How the target computes dot products of the integers, with scalar results;
  /// nothing for floats.
  std::optional<DotForm> form;

  static CursorTerms of(graph::ConvOp conv, const TargetDescription &target);
  static CursorTerms of(graph::MatMulOp product,
                        const TargetDescription &target);
  /// Whether tiles can multiply operands of these types: floats, or integers in
  /// core registers.
  bool arePossible() const;
  /// Whether a tile's columns are vector lanes.
  bool inVectors(const TargetDescription &target) const;
};

/// Estimates the cycles of `work` in scalar tiles of shape `tile`, with a
/// penalty for code size; infinite if the tile does not fit the registers, or
/// if tiles with this number of rows cannot cover `work`.
double cursorTileCost(const TileWork &work, const TargetDescription &target,
                      const CursorTerms &terms, const CursorTileChoice &tile);
/// Returns the scalar tiles that fit the registers, best first; but first of
/// all the tile that most kernels use, if it is almost as good as the best one.
/// If `panelWidth` is not 0, all have `panelWidth` columns.
std::vector<CursorTileChoice> rankCursorTiles(const TileWork &work,
                                              const TargetDescription &target,
                                              const CursorTerms &terms,
                                              int64_t panelWidth = 0);

/// Returns the tiles that fit the registers, best first: vector tiles if
/// `terms.inVectors(target)`, scalar tiles otherwise. If `panelWidth` is not 0,
/// all have `panelWidth` columns, in vector tiles rounded up to whole vectors.
std::vector<CursorTileChoice> rankCompactTiles(const TileWork &work,
                                               const TargetDescription &target,
                                               const CursorTerms &terms,
                                               int64_t panelWidth = 0);
double compactTileCost(const TileWork &work, const TargetDescription &target,
                       const CursorTerms &terms, const CursorTileChoice &tile);

// The following functions do not simplify special cases (loops with one
// iteration, factors of 1, terms of 0). Kernels for different shapes then
// differ only in numbers, so that they can share code (passes/plan/share).

/// Emits `for i in [0, trips)` with carried values, which start as `init`.
graph::Exprs loopAlways(
    KernelBuilder &b, int64_t trips, llvm::ArrayRef<graph::Expr> init,
    llvm::function_ref<graph::Exprs(graph::Expr i, llvm::ArrayRef<graph::Expr>)>
        body);
void forAlways(KernelBuilder &b, int64_t trips,
               llvm::function_ref<void(graph::Expr)> body);
/// Return x * factor and x + term without folding special values.
graph::Expr scaled(KernelBuilder &b, graph::Expr x, int64_t factor);
graph::Expr shifted(KernelBuilder &b, graph::Expr x, int64_t term);

/// Calls `body(first)` in one loop of tiles that cover [0, positions). `rows`
/// is the number of positions of a tile, at most `positions`. If it does not
/// divide `positions`, the last tile begins earlier. `name` is the name of a
/// position in the generated code.
void forCoveringTiles(KernelBuilder &b, const graph::Dim &positions,
                      int64_t rows, llvm::StringRef name,
                      llvm::function_ref<void(graph::Expr first)> body);

/// Creates a cursor (a pointer that advances with each load) at element `index`
/// of `buffer`. If `inside` is given and false, the cursor points to the start
/// of `otherwise`.
mlir::Value cursorAt(KernelBuilder &b, mlir::Value buffer,
                     llvm::ArrayRef<graph::Expr> index, llvm::StringRef name,
                     mlir::Value inside = {}, mlir::Value otherwise = {});
graph::Expr loadNext(KernelBuilder &b, mlir::Value cursor, mlir::Type type,
                     int64_t lanes = 1);
/// Loads `count` elements at once into the registers that the target's multiple
/// load can write, from number `first` of these registers on.
graph::Exprs loadSeveral(KernelBuilder &b, mlir::Value cursor, mlir::Type type,
                         int64_t count, int64_t first);
/// Whether one instruction of the target can load `count` elements.
bool canLoadSeveral(const TargetDescription &target, mlir::Type type,
                    int64_t count);

/// Emits `for k in [0, steps): tile += (next element of each row) * (next
/// weights)`.
void accumulateNext(KernelBuilder &b, Tile &tile, const CursorTerms &terms,
                    int64_t steps, const CursorTileChoice &choice,
                    llvm::ArrayRef<mlir::Value> rows, mlir::Value weights);
/// Emits `trips` iterations of the inner loop, each of `choice.stepsOfTrip()` K
/// steps. The number of iterations is computed at run time.
void accumulateNext(KernelBuilder &b, Tile &tile, const CursorTerms &terms,
                    graph::Expr trips, const CursorTileChoice &choice,
                    llvm::ArrayRef<mlir::Value> rows, mlir::Value weights);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_CURSORTILE_H
