// Imports Slice, Split and Concat.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the size `x` clamped to [low, high]: one of the three sizes. Returns
/// nullopt if the values of dynamic sizes determine which one.
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
/// The elements that a slice takes along one axis: `count` elements from
/// `first` on, at distance `step`.
struct SlicedAxis {
  Dim first, count;
  int64_t step;
};
} // namespace

/// Returns the elements that a slice from `start` to `end` takes along an axis
/// of size `size`; nullopt if the values of dynamic sizes determine them.
static std::optional<SlicedAxis> sliceOfAxis(const Dim &size, Dim start,
                                             Dim end, int64_t step) {
  // Exporters write INT64_MAX for the end of the axis, so start and end are
  // clamped to avoid overflow. All steps that are longer than the axis are
  // equivalent, so the step is clamped, too.
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

/// Gathers the elements that the slice `part` takes along `axis`. The first
/// position of the slice is known only at run time.
static Value gatherFrom(OnnxNode &node, Value x, int64_t axis,
                        const SlicedAxis &part) {
  RunTimeInts ints(node);
  constexpr int64_t fewPlaces = 64;
  Value indices;
  if (part.count.known().value_or(INT64_MAX) <= fewPlaces) {
    Dims places;
    for (int64_t i = 0; i < *part.count.known(); ++i)
      places.push_back(part.first + i * part.step);
    indices = ints.sizes(places);
  } else {
    Value first = node.build<SizesOp>(
        RankedTensorType::get({}, node.i64()),
        kernel::sizesAttr(part.first, node.builder.getContext()));
    indices = node.countTo(part.count);
    if (part.step != 1)
      indices = node.mul(indices, part.step);
    indices = node.add(indices, first);
  }
  return node.build<GatherOp>(x, indices, axis, /*in_range=*/true);
}

static ImportResult importSlice(OnnxNode &node) {
  for (unsigned i = 1; node.opset >= 10 && i < node.numInputs(); ++i)
    if (node.hasInput(i) && !(i < 3 ? node.isKnown(i) : node.isConstant(i)))
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
    return node.invalid(
        "starts, ends, axes and steps must have the same length");
  auto normal = normalizeAxes(node, *axes, sizes.size());
  if (failed(normal))
    return failure();
  for (auto [axis, start, end, step] :
       llvm::zip(*normal, *starts, *ends, *steps)) {
    if (step == 0)
      return node.invalid("a step is 0, but must be positive or negative");
    auto part = sliceOfAxis(sizes[axis], start, end, step);
    // If the values of dynamic sizes determine the elements of the slice, the
    // generated program computes their positions.
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
  return one(node.builder.createOrFold<SliceOp>(node.loc, x, from, by,
                                                ArrayRef(sizes)));
}

/// Returns the lengths of the parts of a Split node without `split`. All parts
/// are equal, but since opset 18 the last one may be smaller.
static FailureOr<Dims> evenParts(OnnxNode &node, int64_t axis, int64_t parts) {
  Dim size = dimsOf(node.input(0))[axis];
  if (!size.known() && size.divisor() % parts != 0 && node.opset >= 18) {
    if (parts == 2)
      return Dims{size - size.floorDiv(2), size.floorDiv(2)};
    Dims split(parts, (size + (parts - 1)).floorDiv(parts));
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

/// Returns the lengths of the parts that `split` specifies; an empty list if
/// the node has no `split`. Requires that the lengths are not negative and add
/// up to the size of the axis.
static FailureOr<Dims> givenParts(OnnxNode &node, int64_t axis) {
  auto split = sizesFromAttrOrInput(node, "split", 0, 1);
  if (failed(split) || split->empty())
    return split;
  for (size_t i = 0; i < split->size(); ++i) {
    Dim length = (*split)[i];
    if (length.most() < 0)
      return node.invalid(
          "the entries of split do not add up to the size of the axis");
    // The lengths are read again, since requireAtLeast may have replaced
    // symbols in them.
    if (length.least() < 0 && node.requireAtLeast(length, 0))
      split = sizesFromAttrOrInput(node, "split", 0, 1);
  }
  Dim all = 0;
  for (const Dim &length : *split)
    all += length;
  if (failed(node.requireEqual(dimsOf(node.input(0))[axis], all,
                               "the size of the axis, and the sum of split")))
    return failure();
  split = sizesFromAttrOrInput(node, "split", 0, 1);
  if (failed(checkSizes(node, *split)))
    return failure();
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
    return node.invalid(
        "num_outputs must be the number of outputs of the node");
  if (split->empty())
    if (split = evenParts(node, *axis, parts); failed(split))
      return failure();
  if (static_cast<int64_t>(split->size()) != parts)
    return node.invalid("split has " + Twine(split->size()) + " entries for " +
                        Twine(parts) + " outputs");
  SmallVector<Value> results;
  Dim start = 0;
  for (const Dim &length : *split) {
    results.push_back(start.known()
                          ? node.slice(x, *axis, *start.known(), length)
                          : gatherFrom(node, x, *axis, {start, length, 1}));
    start += length;
  }
  return results;
}

/// Returns `part`, an input of Concat, with the sizes of the input `first`
/// along all axes except `axis`. If two sizes cannot be assumed to be equal,
/// the generated program checks that they are.
static Value joinable(OnnxNode &node, Value part, Value first, size_t axis) {
  for (size_t i = 0; i < shapeOf(part).size(); ++i) {
    Dim own = dimsOf(part)[i], other = dimsOf(first)[i];
    // Sizes that differ in every run are an error, which the caller reports.
    if (i != axis && surelyDiffer(own, other))
      return part;
    if (i == axis || own == other || node.takeEqual(own, other))
      continue;
    node.checkEqual(own, other);
    part = resizedAlong(node, part, i, other);
  }
  return part;
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
    return node.invalid("the shapes of the inputs may differ only along axis " +
                        Twine(*axis));
  return one(node.concat(inputs, *axis));
}

void registerPartsImports(OnnxRegistry &registry) {
  registry.add("Slice", importSlice);
  registry.add("Split", importSplit);
  registry.add("Concat", importConcat);
}

} // namespace ingot::graph
