#include "passes/schedule/tiles/ColumnTiles.h"

#include "dialects/graph/ops/Window.h"
#include "passes/schedule/tiles/CursorTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

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
               body(named(first, "column"), std::nullopt, width);
               return {};
             });
      at += tiles * width;
    }
  }
}

Exprs rowPosition(KernelBuilder &b, Expr row, ArrayRef<int64_t> shape) {
  Exprs position = b.delinearize(row, shape.drop_back(2));
  for (auto [axis, i] : llvm::enumerate(position))
    named(i, imageAxisName(axis, shape.size()));
  // Rows of several images are counted through.
  named(row, "row_of_all");
  return position;
}

SmallVector<WindowAxis> windowAxes(ConvOp conv) {
  ArrayRef<int64_t> x = shapeOf(conv.getX()), w = shapeOf(conv.getW()),
                    y = shapeOf(conv.getResult());
  SmallVector<WindowAxis> axes;
  for (size_t i = 0; i + 2 < x.size(); ++i)
    axes.push_back({x[1 + i], y[1 + i], w[i], conv.getStrides()[i],
                    conv.getDilations()[i], conv.getLow()[i]});
  return axes;
}

namespace {

using KernelBody =
    llvm::function_ref<Exprs(Expr, ArrayRef<Expr>, ArrayRef<Expr>)>;

/// The axes from the i-th on.
Exprs overKernelFrom(KernelBuilder &b, ArrayRef<WindowAxis> axes,
                     ArrayRef<Expr> outer, size_t i, Expr kernel, Exprs at,
                     ArrayRef<Expr> sums, KernelBody body, bool alike) {
  if (i == axes.size())
    return body(kernel, at, sums);
  const WindowAxis &axis = axes[i];
  // The last axis of the image is not among `axes`.
  std::string name = spatialAxisName(i, axes.size() + 1);
  Expr start = alike
                   ? shifted(b, scaled(b, outer[1 + i], axis.stride), -axis.low)
                   : outer[1 + i] * double(axis.stride) - double(axis.low);
  named(start, "first_input_" + name);
  auto inner = [&](Expr k, ArrayRef<Expr> carried) {
    named(k, "kernel_" + name);
    Exprs next(at);
    next.push_back(named(start + k * double(axis.dilation), "input_" + name));
    return overKernelFrom(
        b, axes, outer, i + 1,
        named(kernel * double(axis.kernel) + k, "kernel_position"), next,
        carried, body, alike);
  };
  if (!alike && axis.isInterior(0, axis.output))
    return b.loop(axis.kernel, sums, inner);
  auto [lo, hi] = insideWindow(start, axis.kernel, axis.dilation, axis.input);
  named(lo, "first_kernel_" + name);
  named(hi, "end_kernel_" + name);
  return b.loop(lo, hi, 1, sums, inner);
}

} // namespace

Exprs overKernel(KernelBuilder &b, ArrayRef<WindowAxis> axes,
                 ArrayRef<Expr> outer, ArrayRef<Expr> sums, KernelBody body,
                 bool alike) {
  return overKernelFrom(b, axes, outer, 0, b.index(0), {outer[0]}, sums, body,
                        alike);
}

} // namespace ingot::schedule
