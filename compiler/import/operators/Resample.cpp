// Imports operators that interpolate.
//
// Resize becomes a table of positions and a table of weights for each resized
// axis. The tables are operands of a graph.gather if each result element copies
// one input element, else of a graph.resample.

#include "compiler/import/operators/RunTimeResize.h"
#include "compiler/import/operators/WindowGeometry.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

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

namespace {
/// The parameters by which Resize changes one axis and, for each result
/// position along the axis, the input positions and their weights.
struct ResizedAxis {
  int64_t axis, from, to;
  double scale, roiStart, roiEnd;
  /// For each of `to` result positions and each tap: the input position and its
  /// weight, as [to, taps], flattened.
  SmallVector<int64_t> positions;
  SmallVector<double> weights;
  SmallVector<bool> extrapolated;

  bool isIdentity(const ResizeMode &mode) const {
    return from == to && std::abs(scale - 1) < 1e-9 &&
           !(mode.crops() && (roiStart != 0 || roiEnd != 1));
  }
  int64_t taps() const { return to == 0 ? 0 : positions.size() / to; }

  /// Returns the input coordinate of result position `i`. For mode nearest,
  /// `Real` is float, so that ties are resolved as in ONNX Runtime.
  template <typename Real>
  Real coordinate(const ResizeMode &mode, Real i) const {
    Real by = static_cast<Real>(scale), last = static_cast<Real>(from - 1),
         half = 0.5;
    Real length = by * static_cast<Real>(from);
    StringRef kind = mode.coordinates;
    if (kind == "align_corners")
      return length == 1 ? 0 : i * last / (length - 1);
    if (kind == "asymmetric")
      return i / by;
    if (kind == "tf_half_pixel_for_nn")
      return (i + half) / by;
    if (kind == "tf_crop_and_resize") {
      Real start = static_cast<Real>(roiStart),
           extent = static_cast<Real>(roiEnd) - start;
      return (length == 1 ? extent * last / 2
                          : i * extent * last / (length - 1)) +
             start * last;
    }
    if (kind == "pytorch_half_pixel" && length == 1)
      return 0;
    Real x = (i + half) / by - half;
    if (kind == "half_pixel_symmetric")
      x += static_cast<Real>(from) / 2 * (1 - static_cast<Real>(to) / length);
    return x;
  }

  static double nearest(StringRef mode, double x) {
    if (mode == "floor")
      return std::floor(x);
    if (mode == "ceil")
      return std::ceil(x);
    return mode == "round_prefer_ceil" ? std::floor(x + 0.5)
                                       : std::ceil(x - 0.5);
  }

  /// Returns the weight of an input element at `distance` from the sampled
  /// coordinate, in units of the coarser of the input and result grids.
  static double kernel(const ResizeMode &mode, double distance) {
    double d = std::abs(distance), a = mode.cubicA;
    if (mode.interpolation == "linear")
      return std::max(0.0, 1 - d);
    if (d <= 1)
      return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  }

  void compute(const ResizeMode &mode) {
    // With antialiasing, the kernel is widened to the distance between the
    // result elements.
    double squeeze = mode.antialias ? std::min(scale, 1.0) : 1.0;
    double radius = mode.interpolation == "cubic" ? 2 : 1;
    int64_t first = static_cast<int64_t>(std::floor(-radius / squeeze)) + 1,
            last = 1 - first;
    for (int64_t i = 0; i < to; ++i) {
      double x = mode.interpolation == "nearest"
                     ? coordinate<float>(mode, static_cast<float>(i))
                     : coordinate<double>(mode, static_cast<double>(i));
      extrapolated.push_back(mode.crops() &&
                             (x < 0 || x > static_cast<double>(from - 1)));
      auto clampPosition = [&](double at) {
        return static_cast<int64_t>(
            std::clamp(at, 0.0, static_cast<double>(from - 1)));
      };
      if (mode.interpolation == "nearest") {
        positions.push_back(clampPosition(nearest(mode.nearest, x)));
        continue;
      }
      double base = std::floor(x), total = 0;
      for (int64_t k = first; k <= last; ++k) {
        double at = base + static_cast<double>(k);
        double weight = kernel(mode, (at - x) * squeeze);
        if (mode.excludeOutside &&
            (at < 0 || at > static_cast<double>(from - 1)))
          weight = 0;
        positions.push_back(clampPosition(at));
        weights.push_back(weight);
        total += weight;
      }
      // Without antialias and exclude_outside, the weights add up to 1 already.
      if ((mode.antialias || mode.excludeOutside) && total != 0)
        for (double &weight :
             MutableArrayRef(weights).take_back(last - first + 1))
          weight /= total;
    }
  }
};
} // namespace

static Value positionTable(OnnxNode &node, const ResizedAxis &axis,
                           ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(
      shape, node.builder.getIntegerType(32, /*isSigned=*/true));
  SmallVector<int32_t> positions(axis.positions.begin(), axis.positions.end());
  return node.constant(DenseElementsAttr::get(type, ArrayRef(positions)));
}

static Value resample(OnnxNode &node, Value x,
                      ArrayRef<ResizedAxis *> resized) {
  SmallVector<Value> positions, weights;
  SmallVector<int64_t> axes;
  for (ResizedAxis *axis : resized) {
    positions.push_back(positionTable(node, *axis, {axis->to, axis->taps()}));
    weights.push_back(
        floatConstant(node, {axis->to, axis->taps()}, axis->weights,
                      elementOf(x).isF64() ? elementOf(x) : node.f32()));
    axes.push_back(axis->axis);
  }
  return node.build<ResampleOp>(x, positions, weights, axes);
}

/// Returns `x`, the result of a Resize, after replacing by `value` each element
/// whose coordinate along `axis` is outside of the input.
static Value extrapolate(OnnxNode &node, Value x, const ResizedAxis &axis,
                         double value) {
  if (!llvm::is_contained(axis.extrapolated, true))
    return x;
  SmallVector<int64_t> shape(shapeOf(x).size(), 1);
  shape[axis.axis] = axis.to;
  auto type = RankedTensorType::get(shape, node.builder.getI1Type());
  Value outside = node.constant(
      DenseElementsAttr::get(type, ArrayRef<bool>(axis.extrapolated)));
  return node.where(outside, value, x);
}

static Value resize(OnnxNode &node, const ResizeMode &mode,
                    MutableArrayRef<ResizedAxis> all) {
  Value x = node.input(0);
  SmallVector<ResizedAxis *> changed;
  for (ResizedAxis &axis : all) {
    axis.compute(mode);
    if (!axis.isIdentity(mode))
      changed.push_back(&axis);
  }
  if (changed.empty())
    return x;
  if (mode.interpolation == "nearest") {
    for (ResizedAxis *axis : changed) {
      Value positions = positionTable(node, *axis, {axis->to});
      x = node.build<GatherOp>(x, positions, axis->axis, /*inRange=*/true);
      x = extrapolate(node, x, *axis, mode.extrapolation);
    }
    return x;
  }
  Type type = elementOf(x);
  if (!isa<FloatType>(type))
    x = node.cast(x, node.f32());
  // If each result element is computed from few input elements (taps), all axes
  // are resampled in one pass; else one axis after the other, starting with the
  // axis that shrinks most.
  int64_t taps = 1;
  for (ResizedAxis *axis : changed)
    taps *= axis->taps();
  if (taps <= 8) {
    x = resample(node, x, changed);
  } else {
    llvm::sort(changed, [](const ResizedAxis *a, const ResizedAxis *b) {
      return std::tie(a->scale, a->axis) < std::tie(b->scale, b->axis);
    });
    for (ResizedAxis *axis : changed)
      x = resample(node, x, {axis});
  }
  for (ResizedAxis *axis : changed)
    x = extrapolate(node, x, *axis, mode.extrapolation);
  if (!isa<FloatType>(type)) {
    x = node.build<RoundOp>(x);
    x = node.cast(x, type);
  }
  return x;
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

/// Returns the axes to resize, if their sizes and `in` are known at compile
/// time.
static FailureOr<SmallVector<ResizedAxis>>
resizedAxes(OnnxNode &node, const ResizeMode &mode, const ResizeInputs &in) {
  ArrayRef<int64_t> shape = shapeOf(node.input(0));
  SmallVector<ResizedAxis> resized;
  for (auto [i, axis] : llvm::enumerate(in.axes)) {
    ResizedAxis r{axis, shape[axis], 0, 1, 0, 1, {}, {}, {}};
    if (in.roi) {
      r.roiStart = in.knownRoi[i];
      r.roiEnd = in.knownRoi[in.axes.size() + i];
    }
    if (!in.knownScales.empty()) {
      r.scale = in.knownScales[i];
      // Computes the result size in single precision, like ONNX's shape
      // inference.
      r.to = static_cast<int64_t>(
          std::floor(static_cast<float>(r.from) * static_cast<float>(r.scale)));
    } else {
      r.to = *in.knownSizes[i].known();
      r.scale = static_cast<double>(r.to) / static_cast<double>(r.from);
    }
    if (r.scale <= 0 || r.to < 0)
      return node.invalid("each scale and size must be positive");
    if (r.from == 0 && r.to != 0)
      return node.invalid("an axis of size 0 cannot be resized");
    resized.push_back(std::move(r));
  }
  if (in.knownScales.empty() && mode.policy != "stretch") {
    double scale = resized[0].scale;
    for (const ResizedAxis &r : resized)
      scale = mode.policy == "not_larger" ? std::min(scale, r.scale)
                                          : std::max(scale, r.scale);
    for (ResizedAxis &r : resized) {
      r.scale = scale;
      r.to = std::llround(scale * static_cast<double>(r.from));
    }
  }
  return resized;
}

/// Resizes input 0: by tables if all sizes are numbers that are known at compile
/// time, else by positions that the generated program computes.
static ImportResult resizeBy(OnnxNode &node, const ResizeMode &mode,
                             const ResizeInputs &in) {
  if (llvm::any_of(in.knownScales, [](double scale) { return !(scale > 0); }))
    return node.invalid("each scale and size must be positive");
  bool hasSizes =
      !in.knownSizes.empty() &&
      llvm::all_of(in.knownSizes, [](const Dim &size) { return size.known(); });
  if (hasDynamicSizes(node.input(0).getType()) ||
      (in.knownScales.empty() && !hasSizes) || (in.roi && in.knownRoi.empty()))
    return resizeByInput(node, mode, in);
  auto axes = resizedAxes(node, mode, in);
  if (failed(axes))
    return failure();
  return one(resize(node, mode, *axes));
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
static ImportResult importResize(OnnxNode &node) {
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
static ImportResult importUpsample(OnnxNode &node) {
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

//===----------------------------------------------------------------------===//
// Operators that sample at data-dependent positions
//===----------------------------------------------------------------------===//

static ImportResult importGridSample(OnnxNode &node) {
  Value x = node.input(0), grid = node.input(1);
  size_t spatial = shapeOf(x).size() - 2;
  if (shapeOf(x).size() >= 3 && shapeOf(grid).size() == shapeOf(x).size() &&
      (failed(node.requireEqual(dimsOf(grid)[0], dimsOf(x)[0],
                                "the batch sizes of the input and the grid")) ||
       failed(node.requireEqual(dimsOf(grid).back(), spatial,
                                "the length of a position in the grid, and the "
                                "number of spatial axes"))))
    return failure();
  ArrayRef<int64_t> from = shapeOf(x), to = shapeOf(grid);
  if (from.size() < 3 || to.size() != from.size() || to[0] != from[0] ||
      to.back() != static_cast<int64_t>(spatial))
    return node.invalid(
        "the grid must have the rank and the batch size of the input, and "
        "positions with one coordinate for each spatial axis");
  std::string mode =
      node.stringAttr("mode", node.opset < 20 ? "bilinear" : "linear");
  if (mode == "bilinear" || mode == "bicubic")
    mode = StringRef(mode).drop_front(2).str();
  std::string padding = node.stringAttr("padding_mode", "zeros");
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, mode) ||
      !llvm::is_contained({"zeros", "border", "reflection"}, padding))
    return node.invalid("unknown mode `" + mode + "` or padding_mode `" +
                        padding + "`");
  if (product(from.drop_front(2)) == 0 && product(to.drop_back()) != 0 &&
      from[1] != 0)
    return node.invalid(
        "the input has a spatial axis of size 0, which cannot be sampled");
  Value result =
      node.build<GridSampleOp>(toChannelsLast(node, x), grid, mode, padding,
                               node.intAttr("align_corners", 0) != 0);
  return one(toChannelsFirst(node, result));
}

static ImportResult importRoiAlign(OnnxNode &node) {
  Value x = node.input(0), rois = node.input(1), batch = node.input(2);
  if (shapeOf(rois).size() == 2 && shapeOf(batch).size() == 1 &&
      (failed(node.requireEqual(dimsOf(rois)[1], 4,
                                "the number of coordinates of a region")) ||
       failed(
           node.requireEqual(dimsOf(batch)[0], dimsOf(rois)[0],
                             "the number of regions, and of batch indices"))))
    return failure();
  if (shapeOf(x).size() != 4 || shapeOf(rois).size() != 2 ||
      shapeOf(rois)[1] != 4 || shapeOf(batch) != shapeOf(rois).take_front())
    return node.invalid(
        "the input must have rank 4, the regions the shape [regions, 4], and "
        "the batch indices the shape [regions]");
  std::string mode = node.stringAttr("mode", "avg");
  if (mode != "avg" && mode != "max")
    return node.invalid("unknown mode `" + mode + "`");
  bool centred =
      node.stringAttr("coordinate_transformation_mode",
                      node.opset < 16 ? "output_half_pixel" : "half_pixel") ==
      "half_pixel";
  Dims sizes = {dimsOf(rois)[0], node.intAttr("output_height", 1),
                node.intAttr("output_width", 1), dimsOf(x)[1]};
  auto type = tensorOf(sizes, elementOf(x));
  Builder &b = node.builder;
  Value result = node.build<RoiAlignOp>(
      type, toChannelsLast(node, x), rois, batch,
      mode == "max" ? b.getUnitAttr() : UnitAttr(),
      b.getF64FloatAttr(node.floatAttr("spatial_scale", 1)),
      b.getF64FloatAttr(centred ? 0.5 : 0),
      b.getI64IntegerAttr(node.intAttr("sampling_ratio", 0)));
  return one(toChannelsFirst(node, result));
}

void registerResampleImports(OnnxRegistry &registry) {
  const char *bound = "data-dependent scales or sizes without an upper bound";
  registry.add("Resize", importResize, bound);
  registry.add("Upsample", importUpsample, bound);
  registry.add("GridSample", importGridSample);
  registry.add("RoiAlign", importRoiAlign);
  registry.add("AffineGrid", importAffineGrid,
               "a data-dependent size without an upper bound");
}

} // namespace ingot::graph
