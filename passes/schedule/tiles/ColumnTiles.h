// Division of output columns into tiles, with special tiles at the borders.
//
// Convolutions compute several adjacent output positions of a row together, as
// a tile. The position of a tile determines which kernel positions fall into
// the padding. The tiles at the two ends are specialized for that, and the
// interior tiles share a loop.
//
// In a row of dynamic length, the last tile overlaps the previous one. Rows
// that are too short for both ends are computed position by position.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// The position of a tile's first window relative to the input: the window's
/// start minus the input's first column (`fromStart`), and minus the end of the
/// input (`fromEnd`). Both are empty if all windows of the tile lie inside the
/// input. If windows reach into the padding at only one end of the input, the
/// number for the other end may be empty.
struct TilePlace {
  std::optional<int64_t> fromStart, fromEnd;
  /// Whether the tile is a single window at an arbitrary position.
  bool isAnywhere = false;
  /// Set if several tiles at the same end of the row share a loop. `fromStart`
  /// and `fromEnd` are then those of the tile next to the interior, and kernel
  /// position k of this tile corresponds to kernel position k - shift of the
  /// tile next to the interior.
  std::optional<graph::Expr> shift = std::nullopt;

  bool isBorder() const { return fromStart || fromEnd; }
};

/// Whether each border tile has its own code, or many border tiles share a
/// loop.
enum class BorderTiles { Apart, InLoops };

/// A spatial axis of a convolution: the input and output sizes, the kernel's
/// size, stride and dilation, and the padding before the input (`low`).
struct WindowAxis {
  graph::Dim input, output;
  int64_t kernel, stride, dilation, low;

  /// Returns the distance in input columns from the first to the last column of
  /// a window.
  int64_t reach() const { return (kernel - 1) * dilation; }
  /// Returns the output positions [lo, hi) at which kernel position `k` reads
  /// inside the input, counted from the start of a tile of `count` positions at
  /// `place`.
  std::pair<int64_t, int64_t> inside(int64_t k, const TilePlace &place,
                                     int64_t count) const;
  /// Returns the kernel positions [first, end) at which some windows, but not
  /// all, of a tile of `count` positions read inside the input. `place` is at
  /// one end of the input. The range is not clamped to the kernel.
  std::pair<int64_t, int64_t> partlyInside(const TilePlace &place,
                                           int64_t count) const;
  /// Returns the place of the tile of `count` positions that begins at output
  /// position `first`, on an axis of static size.
  TilePlace placeOf(int64_t first, int64_t count) const;
  /// Returns how many windows begin before the input.
  int64_t leading() const { return llvm::divideCeilSigned(low, stride); }
  /// Returns how many windows, from the first one on, end inside of the input;
  /// may exceed the number of windows.
  graph::Dim inner() const {
    return (input + (low - reach() - 1 + stride)).floorDiv(stride);
  }
  /// Returns the maximum number of windows that end after the end of the input.
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

/// Returns the width of a row's tiles, at most `width`; this is `width` itself
/// unless tiles may overlap (mayOverlap). If they may, it is the size of the
/// longest row if one tile can cover that row. Otherwise, it is the smallest
/// width with which the fewest possible tiles cover the longest row, such that
/// at least one of them does not reach into the padding.
int64_t evenColumnTile(const WindowAxis &axis, int64_t width);

/// Calls `body(first, place, count)` for tiles of `width` positions over the
/// axis; the last may have fewer. With BorderTiles::InLoops, `body` may get a
/// place with TilePlace::shift.
void forColumnTiles(
    KernelBuilder &b, const WindowAxis &axis, int64_t width,
    llvm::function_ref<void(graph::Expr first, TilePlace place, int64_t count)>
        body,
    BorderTiles borders = BorderTiles::Apart);

/// Returns the batch and spatial indices, without the last spatial one, of the
/// result row with number `row`; the rows of all images are numbered
/// consecutively. `sizes` is the shape of the result.
graph::Exprs rowPosition(KernelBuilder &b, graph::Expr row,
                         llvm::ArrayRef<graph::Dim> sizes);

/// Returns the index of the result element at channel `channel` and at position
/// `column` of the tile that begins at position `first`. `outer` holds the
/// batch index and the indices on the other spatial axes.
graph::Exprs tilePosition(llvm::ArrayRef<graph::Expr> outer, graph::Expr first,
                          int64_t column, graph::Expr channel);

/// Returns all spatial axes of a convolution.
llvm::SmallVector<WindowAxis> windowAxes(graph::ConvOp conv);

/// Emits loops over the kernel positions along `axes` that are inside of the
/// input. `body` gets the flat kernel position, the batch and input indices,
/// and the carried sums. `outer` holds the batch index and the output's indices
/// on these axes. With `alike`, the code is the same for all shapes: it has
/// loop bounds even if there is no padding.
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
