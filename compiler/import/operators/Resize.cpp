// Imports Resize and Upsample.
//
// Resize becomes a table of positions and a table of weights for each resized
// axis. The tables are operands of a graph.gather if each result element copies
// one input element, else of a graph.resample. They are computed by operators,
// which are folded if scales and sizes are known when compiling.

#include "compiler/import/operators/Resize.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// The attributes of Resize.
struct ResizeMode {
  std::string interpolation, coordinates, nearest, policy;
  bool antialias, excludeOutside;
  double cubicA, extrapolation;

  static ResizeMode of(OnnxNode &node);
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// The axes to resize. Either `scales` or `sizes` is given: vectors with one
/// entry per axis in `axes`. `roi` has two entries per axis, or is null.
struct ResizeInputs {
  SmallVector<int64_t> axes;
  Value scales, sizes, roi;
  /// The elements of `scales`, `sizes` and `roi`, if they are known at compile
  /// time; else empty.
  SmallVector<double> knownScales;
  Dims knownSizes;
  SmallVector<double> knownRoi;

  /// Whether the roi of axes[i] is the whole axis, and whether it is within the
  /// axis.
  bool isWhole(size_t i) const {
    return knownRoi.empty()
               ? !roi
               : knownRoi[i] == 0 && knownRoi[axes.size() + i] == 1;
  }
  bool isInside(size_t i) const {
    auto isOnAxis = [](double at) { return at >= 0 && at <= 1; };
    return knownRoi.empty()
               ? !roi
               : isOnAxis(knownRoi[i]) && isOnAxis(knownRoi[axes.size() + i]);
  }
};

/// Computes the tables of one axis. All values are tensors of type `real`:
/// scalars, vectors with one element per result position, or tables with one
/// row per result position.
class ResizedAxis {
public:
  ResizedAxis(OnnxNode &node, const ResizeMode &mode, int64_t axis,
              const Dim &from, const Dim &to)
      : axis(axis), node(node), mode(mode), ints(node), from(from), to(to) {
    // Coordinates of mode nearest are computed in single precision, so that
    // ties are resolved as in ONNX Runtime.
    real = mode.interpolation == "nearest" ? node.f32() : node.f64();
    last = sizeOf(from - 1);
  }

  /// Set the scale of the axis: a number, a value of the run, or the quotient
  /// of the sizes. Then `compute` computes the tables.
  void scaleBy(double factor) {
    knownScale = factor;
    scale = number(factor);
  }
  void scaleBy(Value factor) { scale = node.cast(factor, real); }
  void scaleToSize();
  /// Sets the part of the axis, the roi, that is sampled. `isInside` is whether
  /// it is certainly within the axis.
  void crop(Value first, Value end, bool isInside) {
    start = node.cast(first, real);
    extent = node.sub(node.cast(end, real), start);
    mayLeave = !isInside;
  }
  void compute();

  Value gather(Value x) const;
  /// Returns `x`, the result of a Resize, after replacing by
  /// extrapolation_value each element whose coordinate along the axis is
  /// outside of the input.
  Value extrapolate(Value x) const;

  int64_t axis, taps = 1;
  /// The scale, if it is known when compiling.
  std::optional<double> knownScale;
  /// For each result position and each tap: the input position and its weight.
  Value positions, weights;

private:
  Value number(double value) { return node.scalarConstant(value, real); }
  Value sizeOf(const Dim &size) {
    return node.cast(node.reshape(ints.sizes(size), {}), real);
  }
  /// Returns x / y, rounded to the type `real`. The quotient is computed in
  /// double precision, since a division by a constant may become a
  /// multiplication by the reciprocal, which differs in single precision.
  Value div(Value x, Value y) {
    return node.cast(
        node.div(node.cast(x, node.f64()), node.cast(y, node.f64())), real);
  }
  /// Returns x if `length` is 1, else y.
  Value ifOne(Value length, Value x, Value y) {
    return node.where(node.equal(length, 1), x, y);
  }
  /// Returns the positions `x` clamped to the axis, as integers.
  Value positionsAt(Value x) {
    Value end = node.cast(last, elementOf(x));
    return node.cast(node.max(node.min(x, end), 0),
                     node.builder.getIntegerType(32, /*isSigned=*/true));
  }

  Value coordinates();
  Value nearestTo(Value x);
  Value kernel(Value distance);
  void computeTaps(Value at);

  OnnxNode &node;
  const ResizeMode &mode;
  RunTimeInts ints;
  Dim from, to;
  Type real;
  Value last, scale, start, extent;
  bool mayLeave = false;
  /// Whether each coordinate is outside of the input; null if none is.
  Value outside;
};

} // namespace

ResizeMode ResizeMode::of(OnnxNode &node) {
  bool old = node.opset < 11;
  return {node.stringAttr("mode", "nearest"),
          node.stringAttr("coordinate_transformation_mode",
                          old ? "asymmetric" : "half_pixel"),
          node.stringAttr("nearest_mode", old ? "floor" : "round_prefer_floor"),
          node.stringAttr("keep_aspect_ratio_policy", "stretch"),
          node.intAttr("antialias", 0) != 0,
          node.intAttr("exclude_outside", 0) != 0,
          node.floatAttr("cubic_coeff_a", -0.75),
          node.floatAttr("extrapolation_value", 0)};
}

void ResizedAxis::scaleToSize() {
  scale = div(sizeOf(to), sizeOf(from));
  if (from.known() && to.known())
    knownScale =
        static_cast<double>(*to.known()) / static_cast<double>(*from.known());
}

/// Returns the input coordinate of each result position.
Value ResizedAxis::coordinates() {
  Value i = node.cast(node.countTo(to), real),
        length = node.mul(scale, sizeOf(from));
  Value steps = node.sub(length, 1);
  StringRef kind = mode.coordinates;
  if (kind == "align_corners")
    return ifOne(length, number(0), div(node.mul(i, last), steps));
  if (kind == "asymmetric")
    return div(i, scale);
  if (kind == "tf_crop_and_resize") {
    Value moved = node.mul(node.mul(i, extent), last),
          middle = node.mul(node.mul(extent, last), 0.5);
    return node.add(ifOne(length, middle, div(moved, steps)),
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

/// Returns the positions nearest to the coordinates `x`.
Value ResizedAxis::nearestTo(Value x) {
  if (mode.nearest == "floor")
    return node.build<FloorOp>(x);
  if (mode.nearest == "ceil")
    return node.build<CeilOp>(x);
  // In single precision, the sum with 0.5 may be rounded up.
  x = node.cast(x, node.f64());
  return mode.nearest == "round_prefer_ceil"
             ? node.build<FloorOp>(node.add(x, 0.5))
             : node.build<CeilOp>(node.sub(x, 0.5));
}

/// Returns the weights of input elements at the given distances from the
/// sampled coordinates, in units of the coarser of the input and result grids.
Value ResizedAxis::kernel(Value distance) {
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

void ResizedAxis::computeTaps(Value at) {
  // With antialiasing, the kernel is widened to the distance between the result
  // elements, which is at most the size of the input.
  double widest = 1;
  if (mode.antialias) {
    // The order of the operands makes a scale of NaN (an empty axis) harmless.
    widest = static_cast<double>(std::max<int64_t>(from.most(), 1));
    if (knownScale)
      widest = std::min(widest, 1 / std::min(1.0, *knownScale));
  }
  auto radius = static_cast<int64_t>(
      std::ceil((mode.interpolation == "cubic" ? 2 : 1) * widest));
  taps = 2 * radius;
  Value offsets =
      ints.numbers(llvm::to_vector(llvm::seq<int64_t>(1 - radius, radius + 1)));
  Value column = node.reshape(at, {to, 1});
  Value places = node.add(node.build<FloorOp>(column),
                          node.cast(node.reshape(offsets, {1, taps}), real));
  Value distance = node.sub(places, column);
  weights = kernel(mode.antialias ? node.mul(distance, node.min(scale, 1))
                                  : distance);
  if (mode.excludeOutside)
    weights = node.where(
        node.either(node.less(places, 0), node.less(last, places)), 0, weights);
  if (mode.antialias || mode.excludeOutside) {
    Value total = node.build<ReduceSumOp>(weights, ArrayRef<int64_t>{1});
    weights = div(weights, node.where(node.equal(total, 0), 1, total));
  }
  positions = positionsAt(places);
}

void ResizedAxis::compute() {
  Value at = coordinates();
  if (mode.interpolation == "nearest")
    positions = positionsAt(nearestTo(at));
  else
    computeTaps(at);
  if (mayLeave)
    outside = node.either(node.less(at, 0), node.less(last, at));
}

Value ResizedAxis::gather(Value x) const {
  // Positions are clamped, but a scale of the run may be NaN, and the axis may
  // be empty.
  return knownScale && from.least() > 0
             ? node.build<GatherOp>(x, positions, axis, /*in_range=*/true)
             : gatherAlong(node, x, axis, positions);
}

Value ResizedAxis::extrapolate(Value x) const {
  return outside ? node.where(node.alignAt(outside, axis, shapeOf(x).size()),
                              mode.extrapolation, x)
                 : x;
}

/// Resamples `x` along all of `axes` in one pass.
static Value resample(OnnxNode &node, Value x,
                      ArrayRef<const ResizedAxis *> axes) {
  Type sums = elementOf(x).isF64() ? elementOf(x) : Type(node.f32());
  SmallVector<Value> positions, weights;
  SmallVector<int64_t> numbers;
  for (const ResizedAxis *axis : axes) {
    positions.push_back(axis->positions);
    weights.push_back(node.cast(axis->weights, sums));
    numbers.push_back(axis->axis);
  }
  return node.build<ResampleOp>(x, positions, weights, numbers);
}

/// Resizes `x` by linear or cubic interpolation along `axes`.
static Value interpolate(OnnxNode &node, Value x,
                         SmallVector<const ResizedAxis *> axes) {
  Type type = elementOf(x);
  if (!isa<FloatType>(type))
    x = node.cast(x, node.f32());
  // If each result element is computed from few input elements (taps), all axes
  // are resampled in one pass; else one axis after the other, starting with the
  // axis that shrinks most.
  int64_t taps = 1;
  bool isKnown = true;
  for (const ResizedAxis *axis : axes) {
    taps *= axis->taps;
    isKnown &= axis->knownScale.has_value();
  }
  if (taps <= 8 && isKnown) {
    x = resample(node, x, axes);
  } else {
    if (isKnown)
      llvm::sort(axes, [](const ResizedAxis *a, const ResizedAxis *b) {
        return std::tie(*a->knownScale, a->axis) <
               std::tie(*b->knownScale, b->axis);
      });
    for (const ResizedAxis *axis : axes)
      x = resample(node, x, {axis});
  }
  for (const ResizedAxis *axis : axes)
    x = axis->extrapolate(x);
  return isa<FloatType>(type) ? x : node.cast(node.build<RoundOp>(x), type);
}

/// Reads the scales or sizes from input `byInput`, and the roi from input 1.
/// Fails, with a diagnostic, if one of them has another length than required.
static FailureOr<ResizeInputs> readInputs(OnnxNode &node,
                                          const ResizeMode &mode,
                                          ArrayRef<int64_t> axes,
                                          unsigned byInput) {
  bool bySizes = byInput == 3;
  StringRef what = bySizes ? "sizes" : "scales";
  if (!node.hasInput(byInput))
    return node.invalid("the input that contains its " + what + " is missing");
  if (mode.crops() && !node.hasInput(1))
    return node.invalid("tf_crop_and_resize requires the input roi");
  Value roi = mode.crops() ? node.input(1) : Value();
  for (auto [vector, length] : {std::pair(node.input(byInput), axes.size()),
                                std::pair(roi, 2 * axes.size())}) {
    if (vector && shapeOf(vector).size() != 1)
      return node.invalid("scales, sizes and roi must be vectors");
    if (vector && failed(node.requireEqual(
                      dimsOf(vector)[0], length,
                      "the number of entries of scales and sizes (one for each "
                      "axis) or of roi (two for each axis)")))
      return failure();
  }
  ResizeInputs in{llvm::to_vector(axes), {}, {}, roi, {}, {}, {}};
  (bySizes ? in.sizes : in.scales) = node.input(byInput);
  bool isKnown = node.isKnown(byInput),
       isConstant = isKnown && node.constantInput(byInput);
  if (bySizes && (isConstant || (isKnown && mode.policy == "stretch"))) {
    auto sizes = node.requireSizes(byInput, what);
    if (failed(sizes))
      return failure();
    in.knownSizes = *sizes;
  }
  for (auto [known, i, to] :
       {std::tuple(!bySizes && isConstant, byInput, &in.knownScales),
        std::tuple(roi && node.isConstant(1), 1u, &in.knownRoi)}) {
    if (!known)
      continue;
    auto numbers = node.requireFloats(i, what);
    if (failed(numbers))
      return failure();
    *to = *numbers;
  }
  return in;
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

/// Returns the scale that all axes have because of keep_aspect_ratio_policy, if
/// it is known when compiling.
static std::optional<double> commonScale(const ResizeMode &mode,
                                         const ResizeInputs &in,
                                         ArrayRef<Dim> from) {
  std::optional<double> scale;
  if (mode.policy == "stretch" || in.scales)
    return scale;
  for (auto [own, size] : llvm::zip(from, in.knownSizes)) {
    if (!own.known() || *own.known() == 0 || !size.known())
      return std::nullopt;
    double each =
        static_cast<double>(*size.known()) / static_cast<double>(*own.known());
    if (!scale || (each < *scale) == (mode.policy == "not_larger"))
      scale = each;
  }
  return scale;
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
  if (mode.policy == "stretch") {
    if (in.knownSizes.empty())
      return readBoundedSizes(node, in.sizes);
    Dims to = in.knownSizes;
    if (failed(checkSizes(node, to)))
      return failure();
    return to;
  }
  // With the policies not_larger and not_smaller, all axes have one scale: the
  // largest with which the result fits into the given sizes, or the smallest
  // with which it covers them.
  if (auto scale = commonScale(mode, in, from))
    return llvm::map_to_vector(from, [&](const Dim &own) {
      return Dim(static_cast<int64_t>(
          std::floor(static_cast<double>(*own.known()) * *scale + 0.5)));
    });
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

/// Whether Resize does not change an axis: its size stays `from`, its scale is
/// 1, and the whole axis is sampled.
static bool isIdentity(const ResizeInputs &in, size_t i, const Dim &from,
                       const Dim &to, bool hasScales) {
  if (!(from == to) || !in.isWhole(i))
    return false;
  return in.knownScales.empty() ? !hasScales
                                : std::abs(in.knownScales[i] - 1) < 1e-9;
}

/// Resizes input 0.
static ImportResult resizeBy(OnnxNode &node, const ResizeMode &mode,
                             ResizeInputs in) {
  RunTimeInts ints(node);
  Value x = node.input(0), scales = in.scales;
  if (llvm::any_of(in.knownScales, [](double scale) { return !(scale > 0); }))
    return node.invalid("each scale and size must be positive");
  Dims from = llvm::map_to_vector(
      in.axes, [&](int64_t axis) { return dimsOf(x)[axis]; });
  for (auto [own, size] : llvm::zip(from, in.knownSizes))
    if (size.most() < 0 || (size == 0 && own.known() && !(own == 0)))
      return node.invalid("each scale and size must be positive");
  auto to = sizesOfResult(node, mode, in, from, scales);
  if (failed(to))
    return failure();
  if (auto scale = commonScale(mode, in, from))
    in.knownScales.assign(in.axes.size(), *scale);
  SmallVector<ResizedAxis> changed;
  auto element = [&](Value vector, size_t k) {
    return node.reshape(ints.part(vector, k), {});
  };
  for (auto [i, axis] : llvm::enumerate(in.axes)) {
    if (from[i] == 0 && (*to)[i].least() > 0)
      return node.invalid("an axis of size 0 cannot be resized");
    if (isIdentity(in, i, from[i], (*to)[i], bool(scales)))
      continue;
    ResizedAxis &resized =
        changed.emplace_back(node, mode, axis, from[i], (*to)[i]);
    if (!in.knownScales.empty())
      resized.scaleBy(in.knownScales[i]);
    else if (scales)
      resized.scaleBy(element(scales, i));
    else
      resized.scaleToSize();
    if (in.roi) {
      size_t end = in.axes.size() + i;
      auto edge = [&](size_t k) {
        return in.knownRoi.empty()
                   ? element(in.roi, k)
                   : node.scalarConstant(in.knownRoi[k], node.f64());
      };
      resized.crop(edge(i), edge(end), in.isInside(i));
    }
    resized.compute();
  }
  if (changed.empty())
    return one(x);
  if (mode.interpolation != "nearest")
    return one(interpolate(
        node, x, llvm::map_to_vector(changed, [](const ResizedAxis &axis) {
          return static_cast<const ResizedAxis *>(&axis);
        })));
  for (const ResizedAxis &axis : changed)
    x = axis.extrapolate(axis.gather(x));
  return one(x);
}

/// Warns that implementations differ if align_corners is used with scales and
/// size * scale is not an integer. ONNX's tests divide positions by size *
/// scale - 1. ONNX Runtime and PyTorch divide them by the length of the result
/// minus 1, and the length is size * scale rounded to an integer.
static void warnOfScales(OnnxNode &node, const ResizeMode &mode,
                         ArrayRef<int64_t> axes, unsigned scalesInput) {
  if (mode.coordinates != "align_corners" || !node.constantInput(scalesInput))
    return;
  auto scales = node.requireFloats(scalesInput, "scales");
  if (failed(scales) || scales->size() != axes.size())
    return;
  Dims sizes = dimsOf(node.input(0));
  for (auto [axis, scale] : llvm::zip(axes, *scales)) {
    const Dim &size = sizes[axis];
    // The product of a dynamic size and the scale is an integer for all values
    // of the size only if the scale is an integer.
    double length =
        size.known() ? scale * static_cast<double>(*size.known()) : scale;
    if (length == std::floor(length) || size == 1)
      continue;
    node.warnOfReadings("the length " + kernel::sizeText(size) + " of axis " +
                            Twine(axis) +
                            " times its scale is not an integer: ONNX divides "
                            "positions by this product minus 1, ONNX Runtime "
                            "and PyTorch by the length of the result minus 1",
                        "give `sizes` instead of `scales`: their meaning is "
                        "the same everywhere");
    return;
  }
}

/// Imports Resize. The inputs are X and scales in opset 10, and X, roi, scales
/// and sizes since opset 11.
ImportResult importResize(OnnxNode &node) {
  int64_t rank = shapeOf(node.input(0)).size();
  ResizeMode mode = ResizeMode::of(node);
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, mode.interpolation))
    return node.invalid("unknown mode `" + mode.interpolation + "`");
  if (!llvm::is_contained({"half_pixel", "half_pixel_symmetric",
                           "pytorch_half_pixel", "align_corners", "asymmetric",
                           "tf_crop_and_resize", "tf_half_pixel_for_nn"},
                          mode.coordinates))
    return node.unsupported("coordinate_transformation_mode `" +
                            mode.coordinates + "` is not supported");

  SmallVector<int64_t> axes = node.intsAttr("axes");
  if (axes.empty())
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  for (int64_t &axis : axes) {
    auto normal = node.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    axis = *normal;
  }
  auto isGiven = [&](unsigned i) {
    return node.hasInput(i) && tensorType(node.input(i)).getNumElements() != 0;
  };
  unsigned scalesInput = node.opset < 11 ? 1 : 2;
  unsigned byInput = node.opset >= 11 && isGiven(3) ? 3 : scalesInput;
  if (byInput == scalesInput && node.hasInput(byInput))
    warnOfScales(node, mode, axes, scalesInput);
  auto in = readInputs(node, mode, axes, byInput);
  if (failed(in))
    return failure();
  return resizeBy(node, mode, *in);
}

/// Imports Upsample, the predecessor of Resize.
ImportResult importUpsample(OnnxNode &node) {
  ArrayRef<int64_t> shape = shapeOf(node.input(0));
  SmallVector<double> scales = node.floatsAttr("scales");
  if (node.opset < 7)
    scales = {1, 1, node.floatAttr("height_scale", 1),
              node.floatAttr("width_scale", 1)};
  ResizeMode mode{node.stringAttr("mode", "nearest"),
                  "asymmetric",
                  "floor",
                  "stretch",
                  false,
                  false,
                  0,
                  0};
  if (mode.interpolation == "bilinear")
    mode.interpolation = "linear";
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  if (node.opset >= 9 && node.hasInput(1)) {
    auto in = readInputs(node, mode, axes, 1);
    if (failed(in))
      return failure();
    return resizeBy(node, mode, *in);
  }
  if (scales.size() != shape.size())
    return node.invalid("scales must have one entry for each axis");
  Value vector =
      floatConstant(node, {int64_t(shape.size())}, scales, node.f32());
  return resizeBy(node, mode, {axes, vector, {}, {}, scales, {}, {}});
}

} // namespace ingot::graph
