// ONNX operators that move elements.
//
// Builds the operators of Movement.td from ONNX nodes: resolves negative axes,
// defaults and bounds that reach outside, which Movement.td does not know.

#include "dialects/graph/ops/Movement.h"
#include "compiler/import/operators/RunTimeShapes.h"

using namespace mlir;

namespace ingot::graph {

/// Ints from attribute `name` in opsets before `sinceInput`, from input `i`
/// afterwards; `otherwise` if absent.
static FailureOr<SmallVector<int64_t>>
attrOrInput(OnnxNode &node, StringRef name, int64_t sinceInput, unsigned i,
            ArrayRef<int64_t> otherwise = {}) {
  if (node.opset < sinceInput)
    return node.intsAttr(name, otherwise);
  if (!node.hasInput(i))
    return SmallVector<int64_t>(otherwise);
  return node.requireInts(i, name);
}

/// The same with expressions of sizes that are known only at run time.
static FailureOr<Dims> sizesFromAttrOrInput(OnnxNode &node, StringRef name,
                                            int64_t sinceInput, unsigned i) {
  if (node.opset >= sinceInput && node.hasInput(i))
    return node.requireSizes(i, name);
  SmallVector<int64_t> numbers = node.intsAttr(name);
  return Dims(numbers.begin(), numbers.end());
}

static FailureOr<SmallVector<int64_t>>
normalizeAxes(OnnxNode &node, ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  for (int64_t axis : axes) {
    FailureOr<int64_t> normal = node.normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(result, *normal))
      return node.invalid("axis " + Twine(*normal) + " is named twice");
    result.push_back(*normal);
  }
  return result;
}

static SmallVector<int64_t> iota(int64_t count) {
  SmallVector<int64_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

static ImportResult reshaped(OnnxNode &node, ArrayRef<Dim> sizes) {
  return SmallVector<Value>{node.reshape(node.input(0), sizes)};
}

Value slice(OpBuilder &builder, Location loc, Value x, int64_t axis,
            int64_t start, int64_t size, int64_t step) {
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
  starts[axis] = start;
  steps[axis] = step;
  sizes[axis] = size;
  return builder.createOrFold<SliceOp>(loc, x, starts, steps, ArrayRef(sizes));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// How often `divisor` goes into `count`: evenly, or both are numbers, or 0.
static Dim quotient(const Dim &count, const Dim &divisor) {
  auto known = divisor.known();
  if (known && *known && count.known())
    return count.floorDiv(*known);
  return count.dividedBy(divisor).value_or(0);
}

/// Where `count` is a product that `divisor`, a number, does not divide evenly, takes the
/// last of its symbols that could be to be a multiple of what is missing. Returns whether
/// sizes have changed.
static bool makeDivisible(OnnxNode &node, const Dim &count,
                          const Dim &divisor) {
  // Factors in common cancel.
  Dim rest = divisor;
  for (kernel::SymbolAttr symbol : count.symbols())
    if (auto less = rest.dividedBy(Dim(symbol)))
      rest = *less;
  auto number = rest.known();
  if (!number || *number < 1 || count.known())
    return false;
  int64_t missing =
      *number / std::gcd(*number, std::max<int64_t>(count.divisor(), 1));
  if (missing == 1)
    return false;
  for (kernel::SymbolAttr symbol : llvm::reverse(count.symbols()))
    if (count.dividedBy(Dim(symbol)) &&
        node.requireMultiple(Dim(symbol), missing))
      return true;
  return false;
}

static ImportResult importReshape(OnnxNode &node) {
  if (node.opset >= 5 && !node.isKnown(1))
    return reshapeByInput(node);
  Dims from = dimsOf(node.input(0)), to;
  auto shape = sizesFromAttrOrInput(node, "shape", 5, 1);
  if (failed(shape))
    return failure();
  bool allowZero = node.intAttr("allowzero", 0) != 0;
  std::optional<size_t> inferred;
  for (auto [axis, size] : llvm::enumerate(*shape)) {
    if (size == 0 && !allowZero) {
      if (axis >= from.size())
        return node.invalid("shape copies axis " + Twine(axis) +
                            ", which the input does not have");
      to.push_back(from[axis]);
      continue;
    }
    bool isInferred = size == -1;
    if (size.least() < 0 && (!isInferred || inferred))
      return node.invalid(
          "shape has more than one -1 or another negative size");
    if (isInferred)
      inferred = axis;
    to.push_back(isInferred ? Dim(1) : size);
  }
  if (inferred && makeDivisible(node, product(from), product(to))) {
    // The sizes that `from` has now; those that were copied are among them.
    from = dimsOf(node.input(0));
    for (auto [axis, size] : llvm::enumerate(*shape))
      if (size == 0 && !allowZero)
        to[axis] = from[axis];
  }
  Dim count = product(from);
  if (inferred)
    to[*inferred] = quotient(count, product(to));
  // Sizes that only the run can compare.
  bool isKnown = count.known() && (inferred || product(to).known());
  if (product(to) != count && !isKnown)
    return reshapeInferring(node, to, inferred);
  if (product(to) != count)
    return node.invalid("shape has " + kernel::sizeText(product(to)) +
                        " elements, the input " + kernel::sizeText(count));
  return reshaped(node, to);
}

/// Of Squeeze and Unsqueeze.
static FailureOr<SmallVector<int64_t>> axesOfSqueeze(OnnxNode &node) {
  auto axes = attrOrInput(node, "axes", 13, 1);
  if (succeeded(axes) && node.opset < 11 &&
      llvm::any_of(*axes, [](int64_t axis) { return axis < 0; }))
    return node.invalid("negative axes exist since opset 11");
  return axes;
}

static ImportResult importSqueeze(OnnxNode &node) {
  if (node.opset >= 13 && node.hasInput(1) && !node.isKnown(1))
    return squeezeByInput(node);
  ArrayRef<int64_t> from = shapeOf(node.input(0));
  bool given = node.opset < 13 ? node.hasAttr("axes") : node.hasInput(1);
  auto axes = axesOfSqueeze(node);
  if (failed(axes))
    return failure();
  auto normal = normalizeAxes(node, *axes, from.size());
  if (failed(normal))
    return failure();
  Dims shape;
  for (auto [axis, size] : llvm::enumerate(dimsOf(node.input(0)))) {
    bool dropped = given ? llvm::is_contained(*normal, axis) : size == 1;
    if (dropped && !size.known())
      (void)node.requireEqual(size, 1, "the size of a squeezed axis");
    if (dropped && dimsOf(node.input(0))[axis] != 1)
      return node.invalid("axis " + Twine(axis) + " has size " +
                          kernel::sizeText(size) + ", not 1");
    if (!dropped)
      shape.push_back(size);
  }
  return reshaped(node, shape);
}

static ImportResult importUnsqueeze(OnnxNode &node) {
  if (node.opset >= 13 && !node.isKnown(1))
    return unsqueezeByInput(node);
  ArrayRef<int64_t> from = shapeOf(node.input(0));
  auto axes = axesOfSqueeze(node);
  if (failed(axes))
    return failure();
  int64_t rank = from.size() + axes->size();
  auto normal = normalizeAxes(node, *axes, rank);
  if (failed(normal))
    return failure();
  Dims sizes = dimsOf(node.input(0)), shape;
  size_t next = 0;
  for (int64_t axis = 0; axis < rank; ++axis)
    shape.push_back(llvm::is_contained(*normal, axis) ? Dim(1) : sizes[next++]);
  return reshaped(node, shape);
}

static ImportResult importFlatten(OnnxNode &node) {
  ArrayRef<int64_t> from = shapeOf(node.input(0));
  int64_t axis = node.intAttr("axis", 1), rank = from.size();
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    return node.invalid("axis is outside of the input's rank");
  Dims sizes = dimsOf(node.input(0));
  return reshaped(node, {product(ArrayRef(sizes).take_front(axis)),
                         product(ArrayRef(sizes).drop_front(axis))});
}

static ImportResult importTranspose(OnnxNode &node) {
  int64_t rank = shapeOf(node.input(0)).size();
  SmallVector<int64_t> reverse = llvm::to_vector(llvm::reverse(iota(rank)));
  auto perm = normalizeAxes(node, node.intsAttr("perm", reverse), rank);
  if (failed(perm))
    return failure();
  if (static_cast<int64_t>(perm->size()) != rank)
    return node.invalid("perm does not have one entry for each axis");
  return SmallVector<Value>{
      node.builder.createOrFold<TransposeOp>(node.loc, node.input(0), *perm)};
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Returns `x` limited to [low, high]; empty where that depends on a size that is
/// known only at run time.
static std::optional<Dim> clamped(const Dim &x, const Dim &low,
                                  const Dim &high) {
  if ((x - low).most() <= 0)
    return low;
  if ((high - x).most() <= 0)
    return high;
  return (x - low).least() >= 0 && (high - x).least() >= 0 ? std::optional(x)
                                                           : std::nullopt;
}

namespace {
/// What a slice takes of one axis.
struct SlicedAxis {
  Dim first, count;
  int64_t step;
};
} // namespace

/// What start, end and step take of an axis of `size`; empty where that depends on a
/// size that is known only at run time.
static std::optional<SlicedAxis> sliceOfAxis(const Dim &size, Dim start,
                                             Dim end, int64_t step) {
  // Exporters write the largest integer for the end; a step that leaves the axis at
  // once is as good as any larger one.
  constexpr int64_t most = int64_t(1) << 40;
  auto fromFront = [&](const Dim &x) -> std::optional<Dim> {
    Dim near = x;
    if (auto known = x.known())
      near = std::clamp(*known, -most, most);
    if (near.most() < 0)
      return near + size;
    return near.least() >= 0 ? std::optional(near) : std::nullopt;
  };
  step = std::clamp(step, -size.most() - 1, size.most() + 1);
  bool isForward = step > 0;
  auto front = fromFront(start), behind = fromFront(end);
  if (!front || !behind || (!isForward && !size.known() && size.least() < 1))
    return std::nullopt;
  Dim high = isForward ? size : size - 1;
  auto first = clamped(*front, size == 0 && !isForward ? -1 : 0, high),
       last = clamped(*behind, isForward ? 0 : -1, high);
  if (!first || !last)
    return std::nullopt;
  Dim distance = isForward ? *last - *first : *first - *last;
  if (distance.most() <= 0)
    return SlicedAxis{0, 0, 1};
  int64_t stride = std::abs(step);
  if (distance.least() < 0)
    return std::nullopt;
  return SlicedAxis{*first, (distance + (stride - 1)).floorDiv(stride), step};
}

/// The elements of `x` at `count` places of an axis, of which the first is known only
/// at run time.
static Value gatherFrom(OnnxNode &node, Value x, int64_t axis,
                        const SlicedAxis &part) {
  MLIRContext *context = node.builder.getContext();
  Type i64 = node.builder.getIntegerType(64, /*isSigned=*/true);
  constexpr int64_t fewPlaces = 64;
  Value indices;
  if (part.count.known().value_or(INT64_MAX) <= fewPlaces) {
    Dims places;
    for (int64_t i = 0; i < *part.count.known(); ++i)
      places.push_back(part.first + i * part.step);
    indices = node.build<SizesOp>(
        RankedTensorType::get({int64_t(places.size())}, i64),
        kernel::sizesAttr(places, context));
  } else {
    Value first = node.build<SizesOp>(RankedTensorType::get({}, i64),
                                      kernel::sizesAttr(part.first, context));
    Value places = node.countTo(part.count);
    if (part.step != 1)
      places = node.elementwise<MulOp>(
          {places, node.scalarConstant(double(part.step), i64)});
    indices = node.elementwise<AddOp>({places, first});
  }
  return node.build<GatherOp>(x, indices, axis, /*in_range=*/true);
}

static ImportResult importSlice(OnnxNode &node) {
  for (unsigned i = 1; node.opset >= 10 && i < node.numInputs(); ++i)
    if (node.hasInput(i) && !node.isKnown(i))
      return sliceByInput(node);
  Value x = node.input(0);
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> from(sizes.size(), 0), by(sizes.size(), 1);
  auto starts = sizesFromAttrOrInput(node, "starts", 10, 1);
  auto ends = sizesFromAttrOrInput(node, "ends", 10, 2);
  if (failed(starts) || failed(ends))
    return failure();
  auto axes = attrOrInput(node, "axes", 10, 3, iota(starts->size()));
  auto steps = attrOrInput(node, "steps", 10, 4,
                           SmallVector<int64_t>(starts->size(), 1));
  if (failed(axes) || failed(steps))
    return failure();
  if (ends->size() != starts->size() || axes->size() != starts->size() ||
      steps->size() != starts->size())
    return node.invalid("starts, ends, axes and steps differ in length");
  auto normal = normalizeAxes(node, *axes, sizes.size());
  if (failed(normal))
    return failure();
  for (auto [axis, start, end, step] :
       llvm::zip(*normal, *starts, *ends, *steps)) {
    if (step == 0)
      return node.invalid("a step is 0");
    auto part = sliceOfAxis(sizes[axis], start, end, step);
    // How many elements there are depends on sizes in more than one way.
    if (!part)
      return sliceByInput(node);
    if (auto first = part->first.known()) {
      sizes[axis] = part->count;
      from[axis] = part->count == 0 ? 0 : *first;
      by[axis] = part->step;
      continue;
    }
    x = gatherFrom(node, x, axis, *part);
    sizes[axis] = part->count;
  }
  return SmallVector<Value>{node.builder.createOrFold<SliceOp>(
      node.loc, x, from, by, ArrayRef(sizes))};
}

/// How an axis is split where the node does not say: into parts of one size, of which
/// the last one may be smaller; before opset 18 none is.
static FailureOr<Dims> evenParts(OnnxNode &node, int64_t axis, int64_t parts) {
  Dim size = dimsOf(node.input(0))[axis];
  if (!size.known() && size.divisor() % parts != 0 && node.opset >= 18) {
    Dims split(parts, (size + (parts - 1)).floorDiv(parts));
    if (parts == 2) {
      split.back() = size.floorDiv(2);
      return split;
    }
    auto last = checkedSize(node, size - split.front() * (parts - 1));
    if (failed(last))
      return failure();
    split.back() = *last;
    return split;
  }
  if (!size.known()) {
    if (!node.requireMultiple(size, parts))
      node.checkEqual(size.floorDiv(parts) * parts, size);
    return Dims(parts, dimsOf(node.input(0))[axis].floorDiv(parts));
  }
  int64_t each = (*size.known() + parts - 1) / parts, rest = *size.known();
  Dims split;
  for (int64_t i = 0; i < parts; ++i, rest -= *split.back().known())
    split.push_back(std::min(each, rest));
  return split;
}

/// The lengths of parts that a node gives. They add up to the axis, and none is negative.
static FailureOr<Dims> givenParts(OnnxNode &node, int64_t axis) {
  auto split = sizesFromAttrOrInput(node, "split", 0, 1);
  if (failed(split) || split->empty())
    return split;
  for (size_t i = 0; i < split->size(); ++i) {
    Dim length = (*split)[i];
    if (length.most() < 0)
      return node.invalid("split does not add up to the axis");
    // Symbols change where they are taken to be something else.
    if (length.least() < 0 && node.requireAtLeast(length, 0))
      split = sizesFromAttrOrInput(node, "split", 0, 1);
  }
  Dim all = 0;
  for (const Dim &length : *split)
    all += length;
  if (failed(node.requireEqual(dimsOf(node.input(0))[axis], all,
                               "split does not add up to the axis")))
    return failure();
  split = sizesFromAttrOrInput(node, "split", 0, 1);
  for (Dim &length : *split) {
    FailureOr<Dim> checked =
        length.least() < 0 ? checkedSize(node, length) : length;
    if (failed(checked))
      return failure();
    length = *checked;
  }
  return split;
}

static ImportResult importSplit(OnnxNode &node) {
  Value x = node.input(0);
  auto axis = node.axisAttr("axis", 0, shapeOf(x).size());
  if (succeeded(axis) && node.hasInput(1) && !node.isKnown(1))
    return splitByInput(node, *axis);
  if (failed(axis))
    return failure();
  auto split = givenParts(node, *axis);
  if (failed(split))
    return failure();
  int64_t parts = node.numOutputs();
  if (node.intAttr("num_outputs", parts) != parts)
    return node.invalid("num_outputs is not the number of outputs");
  if (split->empty())
    if (split = evenParts(node, *axis, parts); failed(split))
      return failure();
  if (static_cast<int64_t>(split->size()) != parts)
    return node.invalid("split has " + Twine(split->size()) + " entries for " +
                        Twine(parts) + " outputs");
  SmallVector<Value> results;
  Dim start = 0;
  for (const Dim &length : *split) {
    Dims sizes = dimsOf(x);
    SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
    sizes[*axis] = length;
    starts[*axis] = start.known().value_or(0);
    results.push_back(start.known()
                          ? node.builder.createOrFold<SliceOp>(
                                node.loc, x, starts, steps, ArrayRef(sizes))
                          : gatherFrom(node, x, *axis, {start, length, 1}));
    start += length;
  }
  return results;
}

/// `part` with the sizes of `first` along all axes but one. What cannot be taken to be
/// equal before the run is compared in it.
static Value joinable(OnnxNode &node, Value part, Value first, size_t axis) {
  bool isChecked = false;
  for (size_t i = 0; i < shapeOf(part).size(); ++i) {
    Dim own = dimsOf(part)[i], other = dimsOf(first)[i];
    if (i == axis || own == other || (own.known() && other.known()) ||
        node.takeEqual(own, other))
      continue;
    node.checkEqual(own, other);
    isChecked = true;
  }
  if (!isChecked)
    return part;
  Dims sizes = dimsOf(first);
  sizes[axis] = dimsOf(part)[axis];
  return reshapeAtRunTime(node, part, sizes);
}

static ImportResult importConcat(OnnxNode &node) {
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    inputs.push_back(node.input(i));
  int64_t rank = shapeOf(inputs[0]).size();
  auto axis = node.axisAttr("axis", 1, rank);
  if (failed(axis))
    return failure();
  for (Value &part : MutableArrayRef(inputs).drop_front())
    if (shapeOf(part).size() == size_t(rank))
      part = joinable(node, part, inputs[0], *axis);
  auto sizes =
      llvm::map_to_vector(inputs, [](Value part) { return dimsOf(part); });
  if (!concatenated(SmallVector<ArrayRef<Dim>>(sizes.begin(), sizes.end()),
                    *axis))
    return node.invalid("the inputs differ in another axis than " +
                        Twine(*axis));
  return SmallVector<Value>{
      node.builder.createOrFold<ConcatOp>(node.loc, inputs, *axis)};
}

//===----------------------------------------------------------------------===//
// Growing
//===----------------------------------------------------------------------===//

/// Pads by `low` and `high`, cropping where they are negative.
static Value padOrCrop(OnnxNode &node, Value x, Value value,
                       SmallVector<int64_t> low, SmallVector<int64_t> high,
                       StringRef mode) {
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
  for (auto [size, start, before, after] :
       llvm::zip(sizes, starts, low, high)) {
    start = std::max<int64_t>(0, -before);
    size = size - start - std::max<int64_t>(0, -after);
    if (size.known())
      size = std::max<int64_t>(0, *size.known());
    before = std::max<int64_t>(0, before);
    after = std::max<int64_t>(0, after);
  }
  x = node.builder.createOrFold<SliceOp>(node.loc, x, starts, steps,
                                         ArrayRef(sizes));
  // What is repeated depends on the size.
  for (size_t axis = 0; axis < sizes.size() && mode != "constant"; ++axis)
    if (!sizes[axis].known() && (low[axis] || high[axis])) {
      x = padAlong(node, x, axis, RunTimeInts(node).number(low[axis]),
                   sizes[axis] + (low[axis] + high[axis]), mode, value);
      low[axis] = high[axis] = 0;
    }
  return node.builder.createOrFold<PadOp>(node.loc, x, value, low, high, mode);
}

/// What constant padding consists of.
static Value paddingOf(OnnxNode &node) {
  if (node.opset >= 11 && node.hasInput(2))
    return node.reshape(node.input(2), {});
  return node.scalarConstant(node.opset < 11 ? node.floatAttr("value", 0) : 0,
                             elementOf(node.input(0)));
}

static ImportResult importPad(OnnxNode &node) {
  Value x = node.input(0);
  int64_t rank = shapeOf(x).size();
  std::string mode = node.stringAttr("mode", "constant");
  if (!llvm::is_contained({"constant", "reflect", "edge", "wrap"}, mode))
    return node.invalid("unknown mode `" + mode + "`");
  if (node.opset >= 11 &&
      (!node.isKnown(1) || !node.constantInput(1) ||
       (node.opset >= 18 && node.hasInput(3) && !node.isKnown(3))))
    return padByInput(node, mode, paddingOf(node));
  auto pads = node.opset < 2 ? node.intsAttr("paddings")
                             : attrOrInput(node, "pads", 11, 1);
  auto axes = attrOrInput(node, "axes", 18, 3, iota(rank));
  if (failed(pads) || failed(axes))
    return failure();
  if (node.opset < 18)
    *axes = iota(rank);
  auto normal = normalizeAxes(node, *axes, rank);
  if (failed(normal))
    return failure();
  size_t count = normal->size();
  if (pads->size() != 2 * count)
    return node.invalid("pads does not have two entries for each axis");
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [i, axis] : llvm::enumerate(*normal)) {
    low[axis] = (*pads)[i];
    high[axis] = (*pads)[count + i];
    if (mode != "constant" && shapeOf(x)[axis] == 0 &&
        (low[axis] > 0 || high[axis] > 0))
      return node.invalid("mode " + mode + " repeats axis " + Twine(axis) +
                          ", which is empty");
    if (shapeOf(x)[axis] + low[axis] + high[axis] < 0)
      return node.invalid("pads crop more than axis " + Twine(axis) + " has");
  }
  return SmallVector<Value>{
      padOrCrop(node, x, paddingOf(node), low, high, mode)};
}

static ImportResult importCenterCropPad(OnnxNode &node) {
  Value x = node.input(0);
  int64_t rank = shapeOf(x).size();
  auto axes = normalizeAxes(node, node.intsAttr("axes", iota(rank)), rank);
  if (succeeded(axes) && !node.isKnown(1))
    return centerCropPadByInput(node, *axes);
  auto target = node.requireInts(1, "shape");
  if (failed(axes) || failed(target))
    return failure();
  if (axes->size() != target->size())
    return node.invalid("shape does not have one entry for each axis");
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [axis, size] : llvm::zip(*axes, *target)) {
    // The odd element is added or dropped behind; rounding is towards zero.
    int64_t change = size - shapeOf(x)[axis];
    low[axis] = change / 2;
    high[axis] = change - low[axis];
  }
  return SmallVector<Value>{padOrCrop(
      node, x, node.scalarConstant(0, elementOf(x)), low, high, "constant")};
}

static ImportResult importExpand(OnnxNode &node) {
  if (!node.isKnown(1))
    return expandByInput(node);
  auto shape = node.requireSizes(1, "shape");
  if (failed(shape))
    return failure();
  Dims from = dimsOf(node.input(0)), to;
  size_t rank = std::max(from.size(), shape->size());
  for (size_t axis = rank; axis > 0; --axis) {
    Dims sizes;
    for (const Dims &each : {from, *shape})
      sizes.push_back(axis <= each.size() ? each.end()[-int64_t(axis)]
                                          : Dim(1));
    to.push_back(node.wholeSize(sizes));
    if (axis <= shape->size() && !sizes[1].known() && sizes[1] != to.back())
      node.checkOneOr(sizes[1], to.back());
  }
  Value result = node.broadcastTo(node.input(0), to);
  bool fits = llvm::all_of(
      llvm::zip(*shape, ArrayRef(to).take_back(shape->size())), [](auto pair) {
        auto [size, whole] = pair;
        return !size.known() || size == 1 || size == whole;
      });
  if (!result || !fits)
    return node.invalid("the input does not broadcast to the shape");
  return one(result);
}

static ImportResult importTile(OnnxNode &node) {
  Value x = node.input(0);
  if (node.opset >= 6 && !node.isKnown(1))
    return tileByInput(node);
  size_t rank = shapeOf(x).size();
  auto repeats = node.requireInts(1, node.opset < 6 ? "tiles" : "repeats");
  if (failed(repeats))
    return failure();
  if (node.opset < 6) {
    // One axis, one number.
    auto axes = node.requireInts(2, "axis");
    if (failed(axes))
      return failure();
    auto axis = normalizeAxes(node, *axes, rank);
    if (failed(axis))
      return failure();
    SmallVector<int64_t> all(rank, 1);
    all[axis->front()] = repeats->front();
    *repeats = all;
  }
  if (repeats->size() != rank ||
      llvm::any_of(*repeats, [](int64_t n) { return n < 0; }))
    return node.invalid("repeats does not have one count for each axis");
  return SmallVector<Value>{
      node.builder.createOrFold<TileOp>(node.loc, x, *repeats)};
}

void registerMovementImports(OnnxRegistry &registry) {
  registry.add("Reshape", importReshape);
  registry.add("Squeeze", importSqueeze);
  registry.add("Unsqueeze", importUnsqueeze);
  registry.add("Flatten", importFlatten);
  registry.add("Transpose", importTranspose);
  registry.add("Slice", importSlice);
  registry.add("Split", importSplit);
  registry.add("Concat", importConcat);
  registry.add("Pad", importPad);
  registry.add("CenterCropPad", importCenterCropPad);
  registry.add("Expand", importExpand);
  registry.add("Tile", importTile);
}

} // namespace ingot::graph
