// Rows of a matrix product's left operand (f32 or f16), packed so that a load
// fetches the elements of several rows at one K step.
//
// If a multiply-add takes a lane of a vector as factor, a tile that reads the
// left operand in place holds one vector for each of its rows, with as many K
// steps as lanes. If the rows are packed, a vector has the elements of as many
// rows as lanes, and the tile needs only those of the current K step:
//
//   a0 a1 a2 a3       a0 b0 c0 d0
//   b0 b1 b2 b3  ->   a1 b1 c1 d1
//   c0 c1 c2 c3       a2 b2 c2 d2
//   d0 d1 d2 d3       a3 b3 c3 d3
//
// With 32 registers, tiles of 8 x 3 or 12 x 2 vectors of sums fit instead of
// 6 x 3 or 8 x 2, and adjacent vectors of packed rows are loaded in pairs, so
// that fewer loads and loop instructions accompany each multiply-add. Packing
// pays if the rows are multiplied by enough columns.

#ifndef INGOT_PASSES_SCHEDULE_TILES_PACKEDROWS_H
#define INGOT_PASSES_SCHEDULE_TILES_PACKEDROWS_H

#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/PanelKernel.h"

namespace ingot::schedule {

/// Makes compilers unroll the innermost loop at the insertion point, which has
/// `trips` iterations of K steps and emits its body now, if the target has
/// registers for it. Does nothing outside of loops. With `byClangOnly`, only clang
/// unrolls, since the values of the loop just fit the registers and g++ 12 would
/// spill (kClangUnrollCountAttr).
void unrollSteps(KernelBuilder &b, const graph::Dim &trips,
                 bool byClangOnly = false);

/// How a matrix product with packed rows is computed: in tiles of `tile.rows`
/// rows and `tile.vectors` vectors of columns. `block` rows are packed before
/// they are multiplied by all columns, in each of `parts` parts (the shares of
/// threads).
struct PackedChoice {
  TileChoice tile;
  int64_t block = 0, parts = 1;

  /// Returns the number of scratch elements for `steps` K steps.
  int64_t elements(int64_t steps) const { return parts * block * steps; }
};

/// A product of `rows` x `steps` by `steps` x `columns`.
struct PackedWork {
  int64_t rows, columns, steps;
  mlir::Type type;
};

/// Returns the best choice if packing takes fewer instructions than the tile
/// `inPlace`, which reads rows in place; nothing otherwise. `panel` is the width
/// of panels if the weights are already packed, else 0. `divides` tells that
/// threads divide the work.
std::optional<PackedChoice> packedChoice(const PackedWork &work,
                                         const TileChoice &inPlace,
                                         int64_t panel, bool divides,
                                         const TargetDescription &target);
/// Returns why rows cannot be packed in blocks of `block` rows and tiles of
/// `tile`; empty if they can.
std::string refusePacked(const PackedWork &work, const TileChoice &tile,
                         int64_t block, const TargetDescription &target);

/// Returns the first plan of `strategy` whose scratch memory takes at most
/// `bytes`, if its first plan packs rows; nothing if there is no such plan.
std::optional<Plan> packedPlanWithin(const Strategy &strategy,
                                     GroupOnTarget group, int64_t bytes);

/// Scratch memory for packed rows, and the index of the part that the current
/// thread uses.
struct PackedMemory {
  mlir::Value buffer;
  graph::Expr own;
};

/// Emits products with packed rows.
class PackedRows {
public:
  /// Loads the elements of `row` at as many K steps, from `step` on, as the
  /// builder has lanes.
  using Load =
      llvm::function_ref<graph::Expr(graph::Expr row, graph::Expr step)>;
  /// Emits the tile with `count` rows from `first` on. The packed rows begin at
  /// element `start` of their scratch memory.
  using Body = llvm::function_ref<void(graph::Expr first, int64_t count,
                                       graph::Expr start)>;
  using ForTiles = llvm::function_ref<void(Body)>;

  PackedRows(KernelBuilder &b, const PackedWork &work,
             const PackedChoice &choice, const PackedMemory &memory = {});

  /// Packs the rows of each block and calls `ofBlock` for it, which calls its
  /// argument for each panel of columns.
  void emit(Load load, llvm::function_ref<void(ForTiles)> ofBlock);
  /// Packs `count` rows from `first` on, at element `start` of the memory.
  void pack(graph::Expr first, int64_t count, graph::Expr start, Load load);
  /// Loads the elements at K step `k` of group number `group` of as many packed
  /// rows as a vector has lanes, from a tile of `rows` rows that is packed from
  /// `start` on.
  graph::Expr load(graph::Expr start, int64_t rows, graph::Expr k,
                   int64_t group);
  /// Emits `tile += packed rows * w(k, vector)`, for packed rows from `start`
  /// on.
  void
  accumulate(Tile &tile, graph::Expr start,
             llvm::function_ref<graph::Expr(graph::Expr k, size_t vector)> w,
             llvm::StringRef stepName);

private:
  void block(graph::Expr number, Load load,
             llvm::function_ref<void(ForTiles)> ofBlock);
  void overTiles(graph::Expr number,
                 llvm::function_ref<void(graph::Expr, int64_t)> tile);
  graph::Expr startOf(graph::Expr number, graph::Expr first);

  KernelBuilder &b;
  PackedWork work;
  PackedChoice choice;
  int64_t lanes;
  PackedMemory memory;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_PACKEDROWS_H
