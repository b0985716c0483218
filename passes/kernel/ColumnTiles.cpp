//===- ColumnTiles.cpp ----------------------------------------------------===//

#include "passes/kernel/ColumnTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::kernel {

void forColumnTiles(
    KernelBuilder &b, const WindowAxis &axis, int64_t width,
    llvm::function_ref<void(Expr, std::optional<int64_t>, int64_t)> body) {
  for (int64_t at = 0; at < axis.output;) {
    int64_t count = std::min(width, axis.output - at);
    // As many interior tiles of this width as follow one another.
    int64_t tiles = 0;
    while (count == width && at + (tiles + 1) * width <= axis.output &&
           axis.isInterior(at + tiles * width, width))
      ++tiles;
    if (tiles == 0) {
      bool interior = axis.isInterior(at, count);
      body(b.index(at), interior ? std::nullopt : std::optional<int64_t>(at),
           count);
      at += count;
    } else if (tiles == 1) {
      body(b.index(at), std::nullopt, width);
      at += width;
    } else {
      b.loop(b.index(at), b.index(at + tiles * width), width, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               body(first, std::nullopt, width);
               return {};
             });
      at += tiles * width;
    }
  }
}

} // namespace ingot::kernel
