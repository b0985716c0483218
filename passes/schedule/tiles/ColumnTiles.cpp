#include "passes/schedule/tiles/ColumnTiles.h"

#include "dialects/graph/ops/Window.h"
#include "passes/schedule/tiles/CursorTile.h"
#include "passes/schedule/tiles/RowTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

std::pair<int64_t, int64_t>
WindowAxis::inside(int64_t k, const TilePlace &place, int64_t count) const {
  auto isInside = [&](int64_t position) {
    int64_t at = position * stride + k * dilation;
    return (!place.fromStart || *place.fromStart + at >= 0) &&
           (!place.fromEnd || *place.fromEnd + at < 0);
  };
  int64_t lo = 0, hi = count;
  while (lo < hi && !isInside(lo))
    ++lo;
  while (hi > lo && !isInside(hi - 1))
    --hi;
  return {lo, hi};
}

std::pair<int64_t, int64_t> WindowAxis::partlyInside(const TilePlace &place,
                                                     int64_t count) const {
  // As the kernel position k grows, the position that a window reads moves to
  // the right: at the start of the input, from the padding into the input; at
  // the end of the input, from the input into the padding. In either case, the
  // last window of the tile crosses the border first.
  int64_t last = (count - 1) * stride;
  if (place.fromStart)
    return {llvm::divideCeilSigned(-*place.fromStart - last, dilation),
            llvm::divideCeilSigned(-*place.fromStart, dilation)};
  return {llvm::divideCeilSigned(-*place.fromEnd - last, dilation),
          llvm::divideCeilSigned(-*place.fromEnd, dilation)};
}

TilePlace WindowAxis::placeOf(int64_t first, int64_t count) const {
  int64_t start = first * stride - low;
  TilePlace place{start, start - input.most()};
  for (int64_t k = 0; k < kernel; ++k)
    if (inside(k, place, count) != std::make_pair(int64_t(0), count))
      return place;
  return {};
}

bool WindowAxis::hasNoBorders() const {
  return graph::hasNoBorders(input, output, kernel, stride, dilation, low);
}

namespace {

using TileBody = llvm::function_ref<void(Expr, TilePlace, int64_t)>;

/// Emits the tiles of a row of dynamic length.
class OpenColumns {
public:
  OpenColumns(KernelBuilder &b, const WindowAxis &axis, int64_t width)
      : b(b), axis(axis), width(width), leading(axis.leading()),
        trailing(axis.trailing()),
        excess(axis.output * axis.stride - axis.low - axis.input) {}

  void emit(TileBody body) {
    // If one tile can cover the longest row, emit a special case for rows of
    // that size.
    int64_t most = axis.output.most();
    if (width < most)
      return overRow(body);
    Expr isLongest = equal(b.size(axis.input), double(axis.input.most())) &
                     equal(b.size(axis.output), double(most));
    b.branch(
        named(isLongest, "is_longest"),
        [&] {
          WindowAxis longest = axis;
          longest.input = axis.input.most();
          body(b.index(0), longest.placeOf(0, most), most);
        },
        [&] {
          OpenColumns(b, axis,
                      evenColumnTile(axis, std::max<int64_t>(1, most - 1)))
              .overRow(body);
        });
  }

private:
  void overRow(TileBody body) {
    // At each end of the row, a single tile must cover all windows that reach
    // into the padding. The tile at the right end is emitted once for each
    // offset from the input's end that it can have, of which there must be at
    // most `stride`. If one of these conditions does not hold, compute position
    // by position.
    if (leading > width || trailing > width ||
        excess.most() - excess.least() >= axis.stride)
      return overPositions(body);
    Expr end = b.size(trailing == 0 ? axis.output : axis.inner());
    if (trailing > 0 && (axis.output - axis.inner()).least() < 0)
      end = min(end, b.size(axis.output));
    named(end, "end_of_inner");
    b.branch(
        end >= double(width + leading), [&] { overTiles(end, body); },
        [&] { overPositions(body); });
  }

  void overTiles(Expr end, TileBody body) {
    Expr first = b.index(0);
    if (leading > 0) {
      body(first, {-axis.low, std::nullopt}, width);
      first = b.index(width);
    }
    Expr covered =
        named(end - (end - first) % double(width), "end_of_whole_tiles");
    b.loop(first, covered, width, {},
           [&](Expr column, ArrayRef<Expr>) -> Exprs {
             body(named(column, "column"), {}, width);
             return {};
           });
    Expr last = named(b.size(axis.output) - double(width), "last_column_tile");
    // Another tile fills the gap, if there is one, between the whole tiles and
    // the last tile.
    if (trailing > 1)
      b.when(covered < last,
             [&] { body(named(end - double(width), "column"), {}, width); });
    b.when(covered < b.size(axis.output), [&] {
      if (trailing == 0)
        return body(last, {}, width);
      for (int64_t at = excess.least(); at <= excess.most(); ++at) {
        auto tile = [&] {
          body(last, {std::nullopt, at - width * axis.stride}, width);
        };
        if (excess.known())
          tile();
        else
          b.when(equal(b.size(excess), double(at)), tile);
      }
    });
  }

  void overPositions(TileBody body) {
    TilePlace anywhere;
    anywhere.isAnywhere = true;
    b.forRange(b.index(0), b.size(axis.output), [&](Expr column) {
      body(named(column, "column"), anywhere, 1);
    });
  }

  KernelBuilder &b;
  const WindowAxis &axis;
  int64_t width, leading, trailing;
  /// The start of the window after the last one of the row, relative to the end
  /// of the input.
  Dim excess;
};

/// Consecutive tiles of `width` positions, from position `first` on, that reach
/// into the padding at the same end of the input and can share a loop. For each
/// tile, partlyInside gives the range of kernel positions at which some
/// windows, but not all, are inside of the input. A tile belongs to the loop
/// only if this range lies within [0, kernel). The code of two such tiles then
/// differs only in a shift of the range.
struct BorderLoop {
  int64_t tiles = 0;
  /// The place of the tile next to the interior, relative to which the other
  /// tiles are shifted, and the first output position of that tile.
  TilePlace place;
  int64_t at = 0;

  BorderLoop() = default;
  BorderLoop(const WindowAxis &axis, int64_t first, int64_t width) {
    if (axis.stride % axis.dilation != 0)
      return;
    std::optional<bool> isStart;
    for (int64_t next = first; next + width <= *axis.output.known();
         next += width, ++tiles) {
      std::optional<TilePlace> here = endOf(axis, next, width);
      if (!here || (isStart && *isStart != here->fromStart.has_value()))
        break;
      isStart = here->fromStart.has_value();
      if (*isStart || tiles == 0) {
        place = *here;
        at = next;
      }
    }
  }

private:
  /// Returns the place of the tile that begins at output position `first`, if
  /// the tile reaches into the padding at one end only, and if the kernel
  /// contains all kernel positions that WindowAxis::partlyInside returns for
  /// the tile. Returns nothing for other tiles.
  static std::optional<TilePlace> endOf(const WindowAxis &axis, int64_t first,
                                        int64_t width) {
    TilePlace whole = axis.placeOf(first, width);
    if (!whole.isBorder())
      return std::nullopt;
    int64_t last = (width - 1) * axis.stride;
    bool atStart = *whole.fromStart < 0,
         atEnd = *whole.fromEnd + last + axis.reach() >= 0;
    if (atStart == atEnd)
      return std::nullopt;
    TilePlace place = atStart ? TilePlace{whole.fromStart, std::nullopt}
                              : TilePlace{std::nullopt, whole.fromEnd};
    auto [from, end] = axis.partlyInside(place, width);
    return from >= 0 && end <= axis.kernel ? std::optional(place)
                                           : std::nullopt;
  }
};

} // namespace

int64_t evenColumnTile(const WindowAxis &axis, int64_t width) {
  if (!axis.mayOverlap())
    return width;
  int64_t all = axis.output.most();
  if (all <= width)
    return all;
  // Limit the width so that at least one tile of the longest row does not reach
  // into the padding.
  int64_t widest = std::max<int64_t>(1, all - axis.leading() - axis.trailing());
  return llvm::divideCeil(all, llvm::divideCeil(all, std::min(width, widest)));
}

void forColumnTiles(KernelBuilder &b, const WindowAxis &axis, int64_t width,
                    TileBody body, BorderTiles borders) {
  // Border tiles share a loop if there are at least this many. Fewer tiles take
  // less code if each has its own, since a shared loop needs extra loops over
  // kernel positions. Common image networks have fewer border tiles.
  constexpr int64_t leastInLoop = 4;
  if (axis.mayOverlap())
    return OpenColumns(b, axis, width).emit(body);
  if (!axis.output.known())
    return forRowTiles(b, axis.output, width, [&](Expr first, int64_t count) {
      body(named(first, "column"), {}, count);
    });
  int64_t output = axis.output.most();
  for (int64_t at = 0; at < output;) {
    int64_t count = std::min(width, output - at);
    // Count the consecutive interior tiles of this width.
    auto isInner = [&](int64_t first) {
      TilePlace place = axis.placeOf(first, width);
      return !place.fromStart && !place.fromEnd;
    };
    int64_t tiles = 0;
    while (count == width && at + (tiles + 1) * width <= output &&
           isInner(at + tiles * width))
      ++tiles;
    // If the target prefers small code, kernels that differ only in trip counts
    // share code: emit a loop between the two ends of a row even if it never
    // runs.
    bool isShared = b.target.smallCode,
         isBetween = at == width && count == width;
    if (tiles == 1 && !isShared) {
      body(b.index(at), {}, width);
    } else if (tiles > 0 || (isShared && isBetween)) {
      b.loop(b.index(at), b.index(at + tiles * width), width, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               body(named(first, "column"), {}, width);
               return {};
             });
    }
    at += tiles * width;
    if (tiles > 0)
      continue;
    BorderLoop border = borders == BorderTiles::InLoops
                            ? BorderLoop(axis, at, width)
                            : BorderLoop();
    if (border.tiles >= leastInLoop) {
      b.loop(b.index(at), b.index(at + border.tiles * width), width, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               named(first, "column");
               TilePlace place = border.place;
               place.shift = named((b.index(border.at) - first) *
                                       double(axis.stride / axis.dilation),
                                   "kernel_shift");
               body(first, place, width);
               return {};
             });
      at += border.tiles * width;
      continue;
    }
    body(b.index(at), axis.placeOf(at, count), count);
    at += count;
  }
}

Exprs rowPosition(KernelBuilder &b, Expr row, ArrayRef<Dim> sizes) {
  Exprs position = b.delinearize(row, sizes.drop_back(2));
  for (auto [axis, i] : llvm::enumerate(position))
    named(i, imageAxisName(axis, sizes.size()));
  // Rows of all images are numbered consecutively.
  named(row, "row_of_all");
  return position;
}

Exprs tilePosition(ArrayRef<Expr> outer, Expr first, int64_t column,
                   Expr channel) {
  Exprs at(outer.begin(), outer.end());
  at.push_back(named(first + double(column), "column_" + Twine(column)));
  at.push_back(channel);
  return at;
}

SmallVector<WindowAxis> windowAxes(ConvOp conv) {
  Dims x = dimsOf(conv.getX()), y = dimsOf(conv.getResult());
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  SmallVector<WindowAxis> axes;
  for (size_t i = 0; i + 2 < x.size(); ++i)
    axes.push_back({x[1 + i], y[1 + i], w[i], conv.getStrides()[i],
                    conv.getDilations()[i], conv.getLow()[i]});
  return axes;
}

namespace {

using KernelBody =
    llvm::function_ref<Exprs(Expr, ArrayRef<Expr>, ArrayRef<Expr>)>;

/// Emits the loops of overKernel over axis `i` and the axes after it.
Exprs overKernelFrom(KernelBuilder &b, ArrayRef<WindowAxis> axes,
                     ArrayRef<Expr> outer, size_t i, Expr kernel, Exprs at,
                     ArrayRef<Expr> sums, KernelBody body, bool alike) {
  if (i == axes.size())
    return body(kernel, at, sums);
  const WindowAxis &axis = axes[i];
  // `axes` lacks the last spatial axis.
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
  if (!alike && axis.hasNoBorders())
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
