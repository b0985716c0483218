// Output columns in tiles, borders apart.
//
// Convolutions compute several neighbouring output positions of a row together.
// Where a tile lies decides which kernel positions fall into the padding; tiles
// at the two ends are built for just that, the ones between share a loop.

#ifndef INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H
#define INGOT_PASSES_SCHEDULE_TILES_COLUMNTILES_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// One axis of a convolution.
struct WindowAxis {
  int64_t input, output, kernel, stride, dilation, low;

  /// The output positions [lo, hi) of [first, first + count), relative to
  /// first, at which kernel position `k` reads inside the input.
  std::pair<int64_t, int64_t> inside(int64_t k, int64_t first,
                                     int64_t count) const {
    auto valid = [&](int64_t o) {
      int64_t at = (first + o) * stride - low + k * dilation;
      return at >= 0 && at < input;
    };
    int64_t lo = 0, hi = count;
    while (lo < hi && !valid(lo))
      ++lo;
    while (hi > lo && !valid(hi - 1))
      --hi;
    return {lo, hi};
  }
  bool isInterior(int64_t first, int64_t count) const {
    for (int64_t k = 0; k < kernel; ++k)
      if (inside(k, first, count) != std::make_pair(int64_t(0), count))
        return false;
    return true;
  }
};

/// Calls `body(first, known, count)` for tiles of `width` positions over the
/// axis: `known` is the first position where it is a constant (tiles that touch
/// the padding), and empty in the loop over interior tiles.
void forColumnTiles(
    KernelBuilder &b, const WindowAxis &axis, int64_t width,
    llvm::function_ref<void(graph::Expr first, std::optional<int64_t> known,
                            int64_t count)>
        body);

/// Returns the batch and the position on the spatial axes but the last of the
/// row number `row` of all rows of a result, which is of `shape`.
graph::Exprs rowPosition(KernelBuilder &b, graph::Expr row,
                         llvm::ArrayRef<int64_t> shape);

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
