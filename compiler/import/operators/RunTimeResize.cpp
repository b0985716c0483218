#include "compiler/import/operators/RunTimeResize.h"

#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// Resizes one axis at run time. All values are tensors of type `real`:
/// scalars, vectors with one element per result position, or tables with one
/// row per result position.
class AxisOfRun {
public:
  AxisOfRun(OnnxNode &node, const ResizeMode &mode, int64_t axis,
            const Dim &from, const Dim &to)
      : node(node), mode(mode), ints(node), axis(axis), from(from), to(to) {
    // Coordinates of mode nearest are computed in single precision, so that
    // ties are resolved as in ONNX Runtime.
    Builder &b = node.builder;
    real = mode.interpolation == "nearest" ? b.getF32Type() : b.getF64Type();
    last = sizeOf(from - 1);
  }

  /// Set the scale of the axis (scaleBy, scaleTo), and the part of the axis,
  /// the roi, that is sampled (crop).
  void scaleBy(Value factor) { scale = node.cast(factor, real); }
  void scaleTo(const Dim &size) { scale = div(sizeOf(size), sizeOf(from)); }
  void crop(Value first, Value end) {
    start = node.cast(first, real);
    extent = node.sub(node.cast(end, real), start);
  }

  Value apply(Value x);

private:
  Value number(double value) { return node.scalarConstant(value, real); }
  Value sizeOf(const Dim &size) {
    return node.cast(node.reshape(ints.sizes(size), {}), real);
  }
  /// Returns x / y, rounded to the type `real`. The quotient is computed in
  /// double precision, since a division by a constant may become a
  /// multiplication by the reciprocal, which differs in single precision.
  Value div(Value x, Value y) {
    Type f64 = node.f64();
    return node.cast(node.div(node.cast(x, f64), node.cast(y, f64)), real);
  }
  /// Returns x if `length` is 1, else y.
  Value ifOne(Value length, Value x, Value y) {
    return node.where(node.equal(length, 1), x, y);
  }
  Value clamped(Value x) { return node.max(node.min(x, last), 0); }

  Value coordinates();
  Value nearestTo(Value x);
  Value kernel(Value distance);
  Value resampled(Value x, Value at);

  OnnxNode &node;
  const ResizeMode &mode;
  RunTimeInts ints;
  int64_t axis;
  Dim from, to;
  Type real;
  Value last, scale, start, extent;
};

} // namespace

/// Returns the input coordinate of each result position.
Value AxisOfRun::coordinates() {
  Value i = node.cast(node.countTo(to), real),
        length = node.mul(scale, sizeOf(from));
  Value steps = node.sub(length, 1);
  StringRef kind = mode.coordinates;
  if (kind == "align_corners")
    return ifOne(length, number(0), div(node.mul(i, last), steps));
  if (kind == "asymmetric")
    return div(i, scale);
  if (kind == "tf_crop_and_resize") {
    Value whole = node.mul(extent, last);
    return node.add(
        ifOne(length, node.mul(whole, 0.5), div(node.mul(i, whole), steps)),
        node.mul(start, last));
  }
  if (kind == "tf_half_pixel_for_nn")
    return div(node.add(i, 0.5), scale);
  Value half = number(0.5), x = node.sub(div(node.add(i, half), scale), half);
  if (kind == "pytorch_half_pixel")
    return ifOne(length, number(0), x);
  if (kind == "half_pixel_symmetric")
    x = node.add(x, node.mul(node.mul(sizeOf(from), half),
                             node.sub(1, div(sizeOf(to), length))));
  return x;
}

Value AxisOfRun::nearestTo(Value x) {
  if (mode.nearest == "floor")
    return node.build<FloorOp>(x);
  if (mode.nearest == "ceil")
    return node.build<CeilOp>(x);
  return mode.nearest == "round_prefer_ceil"
             ? node.build<FloorOp>(node.add(x, 0.5))
             : node.build<CeilOp>(node.sub(x, 0.5));
}

/// Returns the weights of input elements at the given distances from the
/// sampled coordinates, in units of the coarser of the input and result grids.
Value AxisOfRun::kernel(Value distance) {
  Value d = node.build<AbsOp>(distance);
  if (mode.interpolation == "linear")
    return node.max(0, node.sub(1, d));
  double a = mode.cubicA;
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value sum = node.add(node.mul(c3, d), c2);
    sum = node.add(node.mul(sum, d), c1);
    return node.add(node.mul(sum, d), c0);
  };
  Value inner = polynomial(a + 2, -(a + 3), 0, 1),
        outer = polynomial(a, -5 * a, 8 * a, -4 * a);
  Value isOuter = node.less(1, d), isIn = node.less(d, 2);
  return node.where(isOuter, node.where(isIn, outer, 0), inner);
}

/// Returns the weighted sum of the elements of `x` around each of the
/// coordinates `at` along the resized axis.
Value AxisOfRun::resampled(Value x, Value at) {
  int64_t radius = mode.interpolation == "cubic" ? 2 : 1;
  Value squeeze;
  // With antialiasing, the kernel is widened to the distance between the result
  // elements, which is at most the size of the input.
  if (mode.antialias) {
    squeeze = node.min(scale, 1);
    radius *= std::max<int64_t>(from.most(), 1);
  }
  SmallVector<int64_t> offsets =
      llvm::to_vector(llvm::seq<int64_t>(1 - radius, radius + 1));
  int64_t taps = offsets.size();
  Value column = node.reshape(at, {to, 1});
  Value places =
      node.add(node.build<FloorOp>(column),
               node.cast(node.reshape(ints.numbers(offsets), {1, taps}), real));
  Value distance = node.sub(places, column);
  Value weights = kernel(squeeze ? node.mul(distance, squeeze) : distance);
  if (mode.excludeOutside) {
    Value outside = node.either(node.less(places, 0), node.less(last, places));
    weights = node.where(outside, 0, weights);
  }
  if (mode.antialias || mode.excludeOutside) {
    Value total = node.build<ReduceSumOp>(weights, ArrayRef<int64_t>{1});
    weights = div(weights, node.where(node.equal(total, 0), 1, total));
  }
  Builder &b = node.builder;
  Type sums = elementOf(x).isF64() ? elementOf(x) : Type(b.getF32Type());
  return node.build<ResampleOp>(
      x, ValueRange{node.cast(clamped(places), b.getIntegerType(32, true))},
      ValueRange{node.cast(weights, sums)}, ArrayRef<int64_t>{axis});
}

Value AxisOfRun::apply(Value x) {
  Value at = coordinates();
  Value y = mode.interpolation == "nearest"
                ? gatherAlong(node, x, axis,
                              node.cast(clamped(nearestTo(at)), node.i64()))
                : resampled(x, at);
  if (!mode.crops())
    return y;
  Value outside = node.either(node.less(at, 0), node.less(last, at));
  return node.where(node.alignAt(outside, axis, shapeOf(x).size()),
                    mode.extrapolation, y);
}

/// Returns `size` times `scale`, rounded down; nullopt if the product cannot be
/// an expression of sizes.
static std::optional<Dim> scaled(const Dim &size, double scale) {
  constexpr int64_t mostDivisor = 64;
  if (auto number = size.known())
    return Dim(static_cast<int64_t>(
        std::floor(static_cast<float>(*number) * static_cast<float>(scale))));
  for (int64_t divisor = 1; divisor <= mostDivisor; divisor *= 2)
    if (double times = scale * static_cast<double>(divisor);
        times == std::floor(times) && times > 0 && times < 1024)
      return (size * static_cast<int64_t>(times)).floorDiv(divisor);
  return std::nullopt;
}

/// Returns the sizes of the resized axes. If the attribute
/// keep_aspect_ratio_policy requires one scale for all axes, stores this scale
/// in `scales`.
static FailureOr<Dims> sizesOfResult(OnnxNode &node, const ResizeMode &mode,
                                     const ResizeInputs &in, Dims from,
                                     Value &scales) {
  RunTimeInts ints(node);
  if (in.scales) {
    Dims to;
    for (auto [size, scale] : llvm::zip(from, in.knownScales))
      if (auto known = scaled(size, scale))
        to.push_back(*known);
    if (to.size() == from.size())
      return to;
    Type f32 = node.f32();
    Value lengths =
        node.mul(node.cast(ints.sizes(from), f32), node.cast(in.scales, f32));
    if (!lengths)
      return failure();
    return readBoundedSizes(node, ints.vector(node.build<FloorOp>(lengths)));
  }
  if (mode.policy == "stretch")
    return in.knownSizes.empty() ? readBoundedSizes(node, in.sizes)
                                 : FailureOr<Dims>(in.knownSizes);
  // With the policies not_larger and not_smaller, all axes have one scale: the
  // largest with which the result fits into the given sizes, or the smallest
  // with which it covers them.
  Type f64 = node.f64();
  Value own = node.cast(ints.sizes(from), f64);
  Value ratios = node.div(node.cast(in.sizes, f64), own);
  if (!ratios)
    return failure();
  Value one =
      mode.policy == "not_larger"
          ? Value(node.build<ReduceMinOp>(ratios, ArrayRef<int64_t>{0}))
          : Value(node.build<ReduceMaxOp>(ratios, ArrayRef<int64_t>{0}));
  scales = node.expand(one, dimsOf(in.sizes));
  Value lengths = node.add(node.mul(own, scales), 0.5);
  return readBoundedSizes(node, ints.vector(node.build<FloorOp>(lengths)));
}

ImportResult resizeByInput(OnnxNode &node, const ResizeMode &mode,
                           const ResizeInputs &in) {
  RunTimeInts ints(node);
  Value x = node.input(0), scales = in.scales;
  Dims from;
  for (int64_t axis : in.axes)
    from.push_back(dimsOf(x)[axis]);
  auto to = sizesOfResult(node, mode, in, from, scales);
  if (failed(to))
    return failure();
  Type type = elementOf(x);
  if (mode.interpolation != "nearest" && !isa<FloatType>(type))
    x = node.cast(x, node.f32());
  for (auto [i, axis] : llvm::enumerate(in.axes)) {
    bool isScaled = i < in.knownScales.size() && in.knownScales[i] != 1;
    bool isOpen = scales && in.knownScales.empty();
    if (!isScaled && !isOpen && from[i] == (*to)[i] && !in.roi)
      continue;
    AxisOfRun run(node, mode, axis, from[i], (*to)[i]);
    auto element = [&](Value vector, size_t k) {
      return node.reshape(ints.part(vector, k), {});
    };
    if (scales)
      run.scaleBy(element(scales, i));
    else
      run.scaleTo((*to)[i]);
    if (in.roi)
      run.crop(element(in.roi, i), element(in.roi, in.axes.size() + i));
    x = run.apply(x);
  }
  if (elementOf(x) != type)
    x = node.cast(node.build<RoundOp>(x), type);
  return one(x);
}

/// Returns `count` equidistant coordinates in [-1, 1]: from -1 to 1 inclusive
/// if `corners` is set, else the centres of `count` intervals of equal length.
static Value gridPositions(OnnxNode &node, const Dim &count, bool corners) {
  RunTimeInts ints(node);
  Type f64 = node.f64();
  Value twice = node.mul(node.countTo(count), 2);
  if (!corners)
    twice = node.add(twice, 1);
  Dim steps = corners ? count - 1 : count;
  // If `corners` is set and `count` is 1, `steps` is 0. A division by 1 instead
  // of 0 gives the coordinate -1.
  Value length = node.max(node.reshape(ints.sizes(steps), {}), 1);
  return node.sub(node.div(node.cast(twice, f64), node.cast(length, f64)), 1);
}

/// The identity grid has coordinates in [-1, 1]; each position is multiplied by
/// theta. Column k of theta is the factor of coordinate k, the last column is
/// added.
ImportResult importAffineGrid(OnnxNode &node) {
  Value theta = node.input(0);
  if (shapeOf(theta).size() != 3 || shapeOf(node.input(1)).size() != 1)
    return node.invalid(
        "theta must have one matrix for each batch entry of `size`");
  auto length = dimsOf(node.input(1))[0].known();
  if (!length || (*length != 4 && *length != 5))
    return node.invalid("`size` must have four or five entries");
  int64_t spatial = *length - 2;
  if (failed(node.requireEqual(
          dimsOf(theta)[1], spatial,
          "the number of rows of theta, and of spatial axes")) ||
      failed(node.requireEqual(
          dimsOf(theta)[2], spatial + 1,
          "the number of columns of theta, and of spatial axes + 1")))
    return failure();
  auto sizes = sizesOfInput(node, 1, "size");
  if (failed(sizes))
    return failure();
  theta = node.input(0);
  Dim batch = dimsOf(theta)[0];
  if (surelyDiffer(batch, (*sizes)[0]))
    return node.invalid(
        "theta must have one matrix for each batch entry of `size`");
  if (!node.takeEqual(batch, (*sizes)[0])) {
    node.checkEqual((*sizes)[0], batch);
    theta = resizedAlong(node, theta, 0, (*sizes)[0]);
  }
  // Reads input 1 again, since requiring that sizes are equal may have replaced
  // symbols.
  if (node.isKnown(1))
    sizes = node.requireSizes(1, "size");
  if (failed(sizes))
    return failure();
  batch = dimsOf(theta)[0];
  bool corners = node.intAttr("align_corners", 0) != 0;
  auto column = [&](int64_t k) {
    Dims shape(spatial + 2, 1);
    shape[0] = batch;
    shape.back() = spatial;
    return node.reshape(node.slice(theta, 2, k, 1), shape);
  };
  Value sum;
  for (int64_t k = 0; k < spatial; ++k) {
    // The coordinates of a grid position are listed from the innermost spatial
    // axis to the outermost.
    Dim count = (*sizes)[1 + spatial - k];
    Value at = node.cast(gridPositions(node, count, corners), elementOf(theta));
    Value part =
        node.mul(column(k), node.alignAt(at, spatial - k, spatial + 2));
    sum = sum ? node.add(sum, part) : part;
  }
  return one(node.add(sum, column(spatial)));
}

} // namespace ingot::graph
