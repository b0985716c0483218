// Output columns in tiles, with borders.
//
// Convolutions compute several adjacent output positions of a row together. The
// position of a tile determines which kernel positions fall into the padding;
// tiles at the two ends are specialized for that, and the interior tiles share
// a loop.
//
// In a row of dynamic length, the last tile overlaps the previous one. Rows
// that are too short for both ends are computed position by position.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// The start of a tile's first window, relative to the input's first column and
/// to the end of the input. Empty for an end that no window of the tile
/// crosses.
struct TilePlace {
  std::optional<int64_t> fromStart, fromEnd;
  /// Whether this is a single window at an arbitrary position.
  bool isAnywhere = false;
  /// For one of several tiles of a loop at the same end: kernel position k of
  /// this tile corresponds to k - shift of the reference tile. Empty for a
  /// single tile.
  std::optional<graph::Expr> shift = std::nullopt;

  bool isBorder() const { return fromStart || fromEnd; }
};

/// Whether each border tile has its own code, or many share a loop.
enum class BorderTiles { Apart, InLoops };

/// A spatial axis of a convolution.
struct WindowAxis {
  graph::Dim input, output;
  int64_t kernel, stride, dilation, low;

  /// Returns the distance from the first to the last column of a window.
  int64_t reach() const { return (kernel - 1) * dilation; }
  /// Returns the output positions [lo, hi) of a tile of `count` at which kernel
  /// position `k` reads inside the input.
  std::pair<int64_t, int64_t> inside(int64_t k, const TilePlace &place,
                                     int64_t count) const;
  /// Returns the kernel positions [first, end) at which some windows of a tile
  /// of `count`, but not all, read inside the input, for a place at one end.
  /// The range is not clamped to the kernel.
  std::pair<int64_t, int64_t> partlyInside(const TilePlace &place,
                                           int64_t count) const;
  /// Returns the place of the tile whose first output position is `first`, on
  /// an axis of static size.
  TilePlace placeOf(int64_t first, int64_t count) const;
  /// Returns how many windows begin before the input.
  int64_t leading() const { return llvm::divideCeilSigned(low, stride); }
  /// Returns how many windows, from the first one on, end inside of the input;
  /// may exceed the number of windows.
  graph::Dim inner() const {
    return (input + (low - reach() - 1 + stride)).floorDiv(stride);
  }
  /// Returns the most windows that can end after the input.
  int64_t trailing() const {
    return std::max<int64_t>(0, (output - inner()).most());
  }
  /// Whether no window reaches into padding.
  bool hasNoBorders() const;
  /// Whether tiles may overlap, which recomputes some positions.
  bool mayOverlap() const {
    return !hasNoBorders() && !(input.known() && output.known());
  }
};

/// Returns the width of a row's tiles, at most `width`. If tiles may overlap,
/// it is the smallest width with which as few tiles as possible cover the
/// longest row. A single tile is used only for rows of the largest size.
int64_t evenColumnTile(const WindowAxis &axis, int64_t width);

/// Calls `body(first, place, count)` for tiles of `width` positions over the
/// axis; the last may have fewer. With `InLoops`, `body` may get a place with a
/// shift.
void forColumnTiles(
    KernelBuilder &b, const WindowAxis &axis, int64_t width,
    llvm::function_ref<void(graph::Expr first, TilePlace place, int64_t count)>
        body,
    BorderTiles borders = BorderTiles::Apart);

/// Returns the batch and spatial indices, except the last one, of number `row`
/// of all rows of a result with `sizes`.
graph::Exprs rowPosition(KernelBuilder &b, graph::Expr row,
                         llvm::ArrayRef<graph::Dim> sizes);

/// Returns the index of an element in column `column` of the tile that begins
/// at `first`, in the row with indices `outer`.
graph::Exprs tilePosition(llvm::ArrayRef<graph::Expr> outer, graph::Expr first,
                          int64_t column, graph::Expr channel);

/// Returns all spatial axes of a convolution.
llvm::SmallVector<WindowAxis> windowAxes(graph::ConvOp conv);

/// Emits loops over the kernel positions along `axes` that are inside of the
/// input. `body` gets the flat kernel position, the batch and input indices,
/// and the carried sums. `outer` is the batch and the output's indices on these
/// axes. `alike`: the code is the same for all shapes, with bounds even if
/// there is no padding.
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
