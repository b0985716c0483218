// Definitions of operators that interpolate.

#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the sum of term(0), ..., term(count - 1). Emits a loop if `count` is
/// large, otherwise unrolled code.
static Expr sum(ElementBuilder &b, int64_t count, Expr zero,
                llvm::function_ref<Expr(Expr)> term) {
  if (count > 4)
    return b.reduce(count, zero,
                    [&](Expr i, Expr acc) { return acc + term(i); });
  Expr total;
  for (int64_t i = 0; i < count; ++i) {
    Expr next = term(b.index(i));
    total = total ? total + next : next;
  }
  return total ? total : zero;
}

//===----------------------------------------------------------------------===//
// Resample
//===----------------------------------------------------------------------===//

LogicalResult ResampleOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims sizes = dimsOf(op.getX());
  if (op.getPositions().size() != op.getAxes().size() ||
      op.getWeights().size() != op.getAxes().size())
    return rule.refuse("needs positions and weights for each axis");
  for (auto [axis, positions, weights] :
       llvm::zip(op.getAxes(), op.getPositions(), op.getWeights())) {
    if (failed(rule.axis(axis, op.getX())) ||
        failed(rule.shape(weights, dimsOf(positions), "weights")))
      return failure();
    if (shapeOf(positions).size() != 2 || !dimsOf(positions)[1].known())
      return rule.refuse("has a table that is not [size, taps]");
    sizes[axis] = dimsOf(positions)[0];
  }
  return rule.result(sizes, elementOf(op.getX()));
}

Expr ResampleOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Type real = realType(getX());
  Exprs at(idx);
  std::function<Expr(size_t)> along = [&](size_t k) -> Expr {
    if (k == getAxes().size())
      return convert(b.load(getX(), at), real);
    int64_t axis = getAxes()[k];
    Expr zero = b.broadcast(b.constant(0, real), b.lanes());
    return sum(b, shapeOf(getWeights()[k])[1], zero, [&](Expr tap) {
      Expr weight = b.loadScalar(getWeights()[k], {idx[axis], tap});
      at[axis] = convert(b.loadScalar(getPositions()[k], {idx[axis], tap}),
                         b.builder.getIndexType());
      return along(k + 1) * weight;
    });
  };
  return convert(along(0), elementOf(getResult()));
}

bool ResampleOp::passesLanes() {
  return !llvm::is_contained(getAxes(), getType().getRank() - 1);
}
bool ResampleOp::isCheap() { return false; }

Operation *ResampleOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                     ValueRange operands) {
  auto copy = cast<ResampleOp>(builder.clone(**this));
  copy->setOperands(operands);
  SmallVector<int64_t> axes;
  for (int64_t axis : getAxes())
    axes.push_back(permutedAxis(axis, perm));
  copy.setAxes(axes);
  copy.getResult().setType(
      tensorOf(permuted(dimsOf(getType()), perm), getType().getElementType()));
  return copy;
}

bool ResampleOp::permutesOperand(unsigned i) { return i == 0; }

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

/// Returns size + `more` as a value of the float type `real`.
static Expr realSize(ElementBuilder &b, const Dim &size, double more,
                     Type real) {
  if (auto known = size.known())
    return b.constant(static_cast<double>(*known) + more, real);
  Type i64 = IntegerType::get(b.builder.getContext(), 64, IntegerType::Signed);
  return convert(convert(b.size(size), i64), real) + more;
}

namespace {
/// One spatial axis of the input of graph.grid_sample, with the operator's
/// modes.
struct SampledAxis {
  ElementBuilder &b;
  Dim size;
  StringRef mode, padding;
  bool alignCorners;

  double low() const { return alignCorners ? 0 : -0.5; }
  Expr sized(double more, Expr like) const {
    return realSize(b, size, more, like.type);
  }
  Expr high(Expr like) const {
    return sized(alignCorners ? low() - 1 : low(), like);
  }

  /// Reflects the coordinate `x` at both borders until it is in [low(),
  /// high()].
  Expr reflect(Expr x) const {
    Expr lowest = x * 0.0 + low(), range = sized(alignCorners ? -1 : 0, x);
    if (alignCorners && size == 1)
      return lowest;
    Expr distance = abs(x - low());
    Expr times = floor(distance / range);
    Expr rest = distance - times * range;
    Expr even = equal(floor(times * 0.5) * 2.0, times);
    Expr inside = select(even, low() + rest, high(x) - rest);
    return alignCorners && size.least() <= 1
               ? select(equal(range, 0.0), lowest, inside)
               : inside;
  }

  /// Converts a coordinate of the grid in [-1, 1] to a position along the axis,
  /// in elements. A position outside is moved inside if the padding mode is
  /// `border` or `reflection` (see below for an exception).
  Expr coordinate(Expr normalized) const {
    Expr n = sized(0, normalized), last = sized(-1, normalized);
    Expr x = alignCorners ? (normalized + 1.0) * 0.5 * last
                          : ((normalized + 1.0) * n - 1.0) * 0.5;
    if (mode == "nearest")
      x = round(x);
    // In these cases, tap() handles positions outside: for `zeros`, it tells
    // whether the element is inside; for cubic interpolation with `border`, the
    // index of each element is clamped instead of this position.
    if (padding == "zeros" || (padding == "border" && mode == "cubic"))
      return x;
    Expr inside = (x >= low()) & (x <= high(x));
    return select(inside, x,
                  padding == "border" ? clampTo(x, last) : reflect(x));
  }

  static Expr clampTo(Expr x, Expr last) {
    return select(x > last, last, select(x >= 0.0, x, 0.0));
  }

  struct Tap {
    Expr position, inside, weight;
  };

  /// Returns the tap (an input element and its weight in the interpolation) at
  /// the integer `x`. The index of the element is moved inside the input
  /// according to the padding mode. For the mode `zeros`, the tap also states
  /// whether `x` itself is inside.
  Tap tap(Expr x, Expr weight) const {
    Expr last = sized(-1, x);
    Expr inside;
    if (padding == "zeros")
      inside = (x >= 0.0) & (x <= last);
    else if (padding == "reflection")
      x = trunc(reflect(x));
    x = clampTo(x, last);
    Type i64 =
        IntegerType::get(b.builder.getContext(), 64, IntegerType::Signed);
    return {convert(convert(x, i64), b.builder.getIndexType()), inside, weight};
  }

  SmallVector<Tap> taps(Expr x) const {
    if (mode == "nearest")
      return {tap(x, {})};
    Expr first = floor(x), t = x - first;
    if (mode == "linear")
      return {tap(first, 1.0 - t), tap(first + 1.0, t)};
    const double a = -0.75;
    auto inner = [&](Expr d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
    auto outer = [&](Expr d) {
      return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    };
    return {tap(first - 1.0, outer(t + 1.0)), tap(first, inner(t)),
            tap(first + 1.0, inner(1.0 - t)), tap(first + 2.0, outer(2.0 - t))};
  }
};
} // namespace

LogicalResult GridSampleOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), grid = dimsOf(op.getGrid());
  if (from.size() < 3 || grid.size() != from.size() ||
      mayDiffer(grid[0], from[0]) ||
      mayDiffer(grid.back(), static_cast<int64_t>(from.size()) - 2))
    return rule.refuse("the grid does not have a position for each axis");
  return rule.result(windowShape(ArrayRef(from),
                                 ArrayRef(grid).drop_front().drop_back(),
                                 from.back()),
                     elementOf(op.getX()));
}

Expr GridSampleOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Dims sizes = dimsOf(getX());
  size_t spatial = sizes.size() - 2;
  Type real = realType(getX());
  Exprs from(idx.drop_back());
  from.push_back({});
  SmallVector<SmallVector<SampledAxis::Tap>> taps;
  for (size_t axis = 0; axis < spatial; ++axis) {
    from.back() = b.index(spatial - 1 - axis);
    Expr normalized = b.loadScalar(getGrid(), from);
    normalized = convert(normalized, realType(getGrid()));
    SampledAxis sampled{b, sizes[axis + 1], getMode(), getPaddingMode(),
                        getAlignCorners()};
    taps.push_back(sampled.taps(sampled.coordinate(normalized)));
    for (SampledAxis::Tap &tap : taps.back())
      if (tap.weight)
        tap.weight = convert(tap.weight, real);
  }
  Exprs at = {idx[0]};
  std::function<Expr(size_t, Expr)> along = [&](size_t axis,
                                                Expr inside) -> Expr {
    if (axis == spatial) {
      at.push_back(idx.back());
      auto load = [&] {
        return b.broadcast(convert(b.load(getX(), at), real), b.lanes());
      };
      Expr value =
          inside ? b.ifElse(inside, load, [&] { return b.constant(0, real); })
                 : load();
      at.pop_back();
      return value;
    }
    Expr total;
    for (const SampledAxis::Tap &tap : taps[axis]) {
      at.push_back(tap.position);
      Expr value = along(axis + 1, inside && tap.inside ? inside & tap.inside
                                   : tap.inside         ? tap.inside
                                                        : inside);
      at.pop_back();
      if (tap.weight)
        value = value * tap.weight;
      total = total ? total + value : value;
    }
    return total;
  };
  return convert(along(0, {}), elementOf(getResult()));
}

bool GridSampleOp::passesLanes() { return true; }
bool GridSampleOp::isCheap() { return false; }

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

LogicalResult RoiAlignOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), rois = dimsOf(op.getRois()),
       to = rule.statedDims();
  if (from.size() != 4 || to.size() != 4 || rois.size() != 2 ||
      mayDiffer(rois[1], 4))
    return rule.refuse("needs images [N, H, W, C] and regions [R, 4]");
  if (failed(rule.shape(op.getBatch(), ArrayRef(rois[0]), "a batch")))
    return failure();
  return rule.result(Dims{rois[0], to[1], to[2], from[3]},
                     elementOf(op.getX()));
}

Expr RoiAlignOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Dims sizes = dimsOf(getX());
  ArrayRef<int64_t> out = shapeOf(getResult());
  Type real = realType(getX()), indexType = b.builder.getIndexType();
  Type i64 = IntegerType::get(getContext(), 64, IntegerType::Signed);
  double scale = getScale().convertToDouble(),
         offset = getOffset().convertToDouble();
  Expr image = wrapIndex(b, b.loadScalar(getBatch(), {idx[0]}), sizes[0]);
  auto toReal = [&](Expr i) { return convert(convert(i, i64), real); };
  auto toIndex = [&](Expr x) { return convert(convert(x, i64), indexType); };

  // RoiAlign divides a region into bins, one for each output position, and
  // takes the mean or maximum of samples of the input in each bin. For each
  // axis (y, x): the start of the bin, its size, and the number of samples.
  struct Bin {
    Expr start, size, count, countReal;
  } bins[2];
  for (int64_t axis : {0, 1}) {
    auto corner = [&](int64_t k) {
      return convert(b.loadScalar(getRois(), {idx[0], b.index(k)}), real) *
                 scale -
             offset;
    };
    Expr start = corner(1 - axis), extent = corner(3 - axis) - start;
    if (offset == 0)
      extent = max(extent, 1.0);
    Expr size = extent / static_cast<double>(out[axis + 1]);
    Expr count = getSamples() > 0 ? b.index(getSamples())
                                  : max(toIndex(ceil(size)), b.index(0));
    bins[axis] = {start + toReal(idx[axis + 1]) * size, size, count,
                  toReal(count)};
  }

  struct Side {
    Expr low, high, weightLow, weightHigh, inside;
  };
  auto side = [&](int64_t axis, Expr i) -> Side {
    Dim size = sizes[axis + 1];
    Expr last = realSize(b, size, -1, real);
    const Bin &bin = bins[axis];
    Expr at = bin.start + (toReal(i) + 0.5) * bin.size / bin.countReal;
    Expr inside = (at >= -1.0) & (at <= realSize(b, size, 0, real));
    at = select(at > last, last, select(at >= 0.0, at, 0.0));
    Expr low = floor(at), weight = at - low;
    Expr lowIndex = toIndex(low);
    return {lowIndex, min(lowIndex + 1.0, b.size(size - 1)), 1.0 - weight,
            weight, inside};
  };

  Expr any = haveElements(b, ArrayRef(sizes).drop_back());
  Expr zero = b.broadcast(b.constant(0, real), b.lanes());
  Expr first =
      getMaximum() ? b.broadcast(b.constant(-INFINITY, real), b.lanes()) : zero;
  auto samplesOfRow = [&](Expr row, Expr acc) -> Expr {
    Side y = side(0, row);
    return b.loop(
        b.index(0), bins[1].count, 1, {acc},
        [&](Expr column, ArrayRef<Expr> carried) -> Exprs {
          Side x = side(1, column);
          auto corner = [&](Expr yAt, Expr xAt, Expr weight) {
            return convert(b.load(getX(), {image, yAt, xAt, idx[3]}), real) *
                   weight;
          };
          auto sample = [&]() -> Expr {
            Expr parts[] = {
                corner(y.low, x.low, y.weightLow * x.weightLow),
                corner(y.low, x.high, y.weightLow * x.weightHigh),
                corner(y.high, x.low, y.weightHigh * x.weightLow),
                corner(y.high, x.high, y.weightHigh * x.weightHigh)};
            return getMaximum()
                       ? max(max(parts[0], parts[1]), max(parts[2], parts[3]))
                       : (parts[0] + parts[1]) + (parts[2] + parts[3]);
          };
          Expr inside = y.inside & x.inside;
          Expr value = b.ifElse(any ? inside & any : inside, sample,
                                [&] { return zero; });
          return {getMaximum() ? max(carried[0], value) : carried[0] + value};
        })[0];
  };
  Expr total = b.loop(b.index(0), bins[0].count, 1, {first},
                      [&](Expr row, ArrayRef<Expr> carried) -> Exprs {
                        return {samplesOfRow(row, carried[0])};
                      })[0];
  Expr count = bins[0].count * bins[1].count;
  if (getMaximum())
    total = select(equal(count, 0.0), zero, total);
  else
    total = total / toReal(max(count, b.index(1)));
  return convert(total, elementOf(getResult()));
}

bool RoiAlignOp::passesLanes() { return true; }
bool RoiAlignOp::isCheap() { return false; }

} // namespace ingot::graph
