// Output columns in tiles, borders apart.
//
// Convolutions compute several neighbouring output positions of a row together.
// Where a tile lies decides which kernel positions fall into the padding; tiles
// at the two ends are built for just that, the ones between share a loop.
//
// Of a row whose length is known only at run time, the last tile is that of the last
// positions: it may compute some again that the tile before has computed. Rows too
// short for both ends are computed position by position.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Where the first window of a tile begins, on the input: counted from its first
/// column, and from behind its last one. Empty for an end that no window of the tile
/// reaches.
struct TilePlace {
  std::optional<int64_t> fromStart, fromEnd;
  /// A single window that may lie anywhere.
  bool isAnywhere = false;
  /// One of several tiles of a loop at the same end: kernel position k of this tile lies
  /// where k - shift of the tile at the place does. Empty for a tile at the place.
  std::optional<graph::Expr> shift = std::nullopt;

  bool isBorder() const { return fromStart || fromEnd; }
};

/// Whether each tile in the padding has code of its own, or a loop has many of them.
enum class BorderTiles { Apart, InLoops };

/// One axis of a convolution.
struct WindowAxis {
  graph::Dim input, output;
  int64_t kernel, stride, dilation, low;

  /// From the first column of a window to the last one.
  int64_t reach() const { return (kernel - 1) * dilation; }
  /// The output positions [lo, hi) of a tile of `count` at which kernel position `k`
  /// reads inside the input.
  std::pair<int64_t, int64_t> inside(int64_t k, const TilePlace &place,
                                     int64_t count) const;
  /// The kernel positions [first, end) of a tile of `count` at which some of its windows,
  /// but not all, read inside the input, from a place at one end: continued as if the
  /// kernel had positions beyond its own.
  std::pair<int64_t, int64_t> partlyInside(const TilePlace &place,
                                           int64_t count) const;
  /// The place of the tile whose first output position is `first`, on an axis of a known
  /// size.
  TilePlace placeOf(int64_t first, int64_t count) const;
  /// Windows that begin in front of the input.
  int64_t leading() const { return llvm::divideCeilSigned(low, stride); }
  /// How many windows, from the first one on, end inside of the input: also of those
  /// behind the last one.
  graph::Dim inner() const {
    return (input + (low - reach() - 1 + stride)).floorDiv(stride);
  }
  /// Windows that end behind the input, at most.
  int64_t trailing() const {
    return std::max<int64_t>(0, (output - inner()).most());
  }
  /// Whether no window reaches into padding.
  bool hasNoBorders() const;
  /// Whether a tile may compute positions that another one has computed.
  bool mayOverlap() const {
    return !hasNoBorders() && !(input.known() && output.known());
  }
};

/// At most `width`: tiles that may overlap are the fewest, and not wider than these need.
/// One that is the whole row at its largest size is for that size alone.
int64_t evenColumnTile(const WindowAxis &axis, int64_t width);

/// Calls `body(first, place, count)` for tiles of `width` positions over the axis, and
/// fewer where that is all there is. With `InLoops`, `body` may get a place with a shift.
void forColumnTiles(
    KernelBuilder &b, const WindowAxis &axis, int64_t width,
    llvm::function_ref<void(graph::Expr first, TilePlace place, int64_t count)>
        body,
    BorderTiles borders = BorderTiles::Apart);

/// Returns the batch and the position on the spatial axes but the last of the
/// row number `row` of all rows of a result, which has `sizes`.
graph::Exprs rowPosition(KernelBuilder &b, graph::Expr row,
                         llvm::ArrayRef<graph::Dim> sizes);

/// Where a result has an element of column `column` of the tile that begins at `first`,
/// in the row of positions that begins with `outer`.
graph::Exprs tilePosition(llvm::ArrayRef<graph::Expr> outer, graph::Expr first,
                          int64_t column, graph::Expr channel);

/// All spatial axes of a convolution.
llvm::SmallVector<WindowAxis> windowAxes(graph::ConvOp conv);

/// Loops over the kernel's positions along `axes` that lie inside the input:
/// `body` gets the flat kernel position, batch and input positions, and the
/// carried sums. `outer` is the batch and the output's position on these axes.
/// `alike`: the same code for all shapes, bounds also where there is no
/// padding.
graph::Exprs
overKernel(KernelBuilder &b, llvm::ArrayRef<WindowAxis> axes,
           llvm::ArrayRef<graph::Expr> outer, llvm::ArrayRef<graph::Expr> sums,
           llvm::function_ref<graph::Exprs(graph::Expr kernel,
                                           llvm::ArrayRef<graph::Expr> at,
                                           llvm::ArrayRef<graph::Expr> sums)>
               body,
           bool alike = false);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H
