// Imports Slice, Split and Concat.

#include "compiler/import/operators/AxisVectors.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Whether `count` elements from `first` on, at distance `step`, are on an axis
/// of size `size` in every run.
static bool isInside(const Dim &size, const Dim &first, const Dim &count,
                     int64_t step) {
  Dim last = (count - 1) * step + first;
  const Dim &low = step < 0 ? last : first, &high = step < 0 ? first : last;
  return count == 0 || (low.least() >= 0 && (size - 1 - high).least() >= 0);
}

/// Gathers `count` elements of `x` along an axis, from `first` on, at distance
/// `step`. Unless `inRange` is set, positions outside of the axis are clamped.
static Value gatherFrom(OnnxNode &node, Value x, int64_t axis, const Dim &first,
                        const Dim &count, int64_t step, bool inRange) {
  RunTimeInts ints(node);
  constexpr int64_t fewPlaces = 64;
  Value indices;
  if (count.known().value_or(INT64_MAX) <= fewPlaces) {
    Dims places;
    for (int64_t i = 0; i < *count.known(); ++i)
      places.push_back(first + i * step);
    indices = ints.sizes(places);
  } else {
    indices = node.countTo(count);
    if (step != 1)
      indices = node.mul(indices, step);
    Value start = node.build<SizesOp>(
        RankedTensorType::get({}, node.i64()),
        kernel::sizesAttr(first, node.builder.getContext()));
    indices = node.add(indices, start);
  }
  return inRange ? node.build<GatherOp>(x, indices, axis, /*in_range=*/true)
                 : gatherAlong(node, x, axis, indices);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// The elements that a slice takes along each axis: counts[k] elements from
/// first[k] on, at distance step[k].
struct SliceParts {
  Value first, step;
  Dims counts;
};
} // namespace

/// Returns the elements that a slice of a tensor of sizes `from` takes; `start`,
/// `end` and `step` are vectors with one element per axis.
static FailureOr<SliceParts> partsOfSlice(OnnxNode &node, ArrayRef<Dim> from,
                                          Value start, Value end, Value step) {
  RunTimeInts ints(node);
  Value size = ints.sizes(from);
  // All steps that are longer than the axis are equivalent, so steps are
  // clamped to avoid overflow.
  Value most = ints.numbers(llvm::map_to_vector(
      from, [](const Dim &each) { return each.most() + 1; }));
  step = node.max(node.min(step, most), node.sub(0, most));
  // Converts start and end to non-negative positions and clamps them to [0,
  // size], or to [-1, size - 1] for a negative step.
  Value backwards = node.less(step, 0);
  Value low = node.where(backwards, -1, ints.number(0)),
        high = node.add(size, low);
  auto limited = [&](Value at, Value least) {
    at = node.where(node.less(at, 0), node.add(at, size), at);
    return node.min(node.max(at, least), high);
  };
  Value first = limited(start, node.min(0, high)), last = limited(end, low);
  Value distance = node.sub(last, first),
        away = node.where(backwards, 1, ints.number(-1));
  Value counts =
      node.max(0, ints.div(node.add(distance, node.add(step, away)), step));
  auto sizes =
      node.readSizes(counts, llvm::map_to_vector(from, [](const Dim &each) {
                       return std::optional<int64_t>(each.most());
                     }));
  if (failed(sizes))
    return failure();
  return SliceParts{first, step, *sizes};
}

/// Builds a slice of `x`. Along an axis on which the values of a run determine
/// the positions of the elements, they are gathered.
static Value buildSlice(OnnxNode &node, Value x, const SliceParts &parts) {
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> starts(sizes.size(), 0), by(sizes.size(), 1);
  auto firsts = node.elementsIn(parts.first),
       steps = node.elementsIn(parts.step);
  for (auto [axis, count] : llvm::enumerate(parts.counts)) {
    const std::optional<Dim> &first = firsts[axis];
    auto step = steps[axis] ? steps[axis]->known() : std::nullopt;
    if (first && step && first->known() &&
        isInside(sizes[axis], *first, count, *step)) {
      starts[axis] = count == 0 ? 0 : *first->known();
      by[axis] = count == 0 ? 1 : *step;
    } else if (first && step) {
      x = gatherFrom(node, x, axis, *first, count, *step, /*inRange=*/true);
    } else {
      Value places = node.countTo(count);
      if (step != 1)
        places = node.mul(places, elementAt(node, parts.step, axis));
      places = node.add(places, elementAt(node, parts.first, axis));
      x = gatherAlong(node, x, axis, places);
    }
    sizes[axis] = count;
  }
  return node.builder.createOrFold<SliceOp>(node.loc, x, starts, by,
                                            ArrayRef(sizes));
}

static ImportResult importSlice(OnnxNode &node) {
  RunTimeInts ints(node);
  auto starts = positionsFrom(node, "starts", 10, 1),
       ends = positionsFrom(node, "ends", 10, 2),
       axes = positionsFrom(node, "axes", 10, 3),
       steps = positionsFrom(node, "steps", 10, 4);
  if (failed(starts) || failed(ends) || failed(axes) || failed(steps))
    return failure();
  if (!*starts || !*ends)
    return node.invalid("the inputs starts and ends are required");
  Value x = node.input(0);
  Dims from = dimsOf(x);
  int64_t count = shapeOf(*starts)[0], rank = from.size();
  if (!*axes)
    axes = ints.numbers(iota(count));
  if (!*steps)
    steps = ints.numbers(SmallVector<int64_t>(count, 1));
  if (shapeOf(*ends)[0] != count || shapeOf(*axes)[0] != count ||
      shapeOf(*steps)[0] != count || (rank == 0 && count > 0))
    return node.invalid(
        "starts, ends, axes and steps must have the same length");
  for (const std::optional<Dim> &step : node.elementsIn(*steps))
    if (step && *step == 0)
      return node.invalid("a step is 0, but must be positive or negative");
  if (count == 0)
    return one(x);
  auto everywhere = [&](int64_t value) {
    return ints.numbers(SmallVector<int64_t>(rank, value));
  };
  starts = putOnAxes(node, everywhere(0), *axes, *starts);
  if (failed(starts))
    return failure();
  ends = putOnAxes(node, ints.sizes(from), *axes, *ends);
  steps = putOnAxes(node, everywhere(1), *axes, *steps);
  auto parts = partsOfSlice(node, from, *starts, *ends, *steps);
  if (failed(parts))
    return failure();
  return one(buildSlice(node, x, *parts));
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

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

/// Returns the parts of `x` along `axis` of the given lengths. Unless `inRange`
/// is set, a part may reach beyond the end of the axis; the elements there are
/// arbitrary.
static SmallVector<Value> partsOf(OnnxNode &node, Value x, int64_t axis,
                                  ArrayRef<Dim> lengths, bool inRange) {
  SmallVector<Value> results;
  Dim start = 0;
  for (const Dim &length : lengths) {
    results.push_back(
        start.known() && isInside(dimsOf(x)[axis], start, length, 1)
            ? node.slice(x, axis, *start.known(), length)
            : gatherFrom(node, x, axis, start, length, 1, inRange));
    start += length;
  }
  return results;
}

ImportResult splitToLengths(OnnxNode &node, int64_t axis, int64_t parts) {
  Value x = node.input(0), split = RunTimeInts(node).input(1);
  if (shapeOf(split)[0] != parts)
    return node.invalid("split has " + Twine(shapeOf(split)[0]) +
                        " entries for " + Twine(parts) + " outputs");
  Dim size = dimsOf(x)[axis], all = 0;
  auto lengths = node.readSizes(
      split, SmallVector<std::optional<int64_t>>(parts, size.most()));
  if (failed(lengths))
    return failure();
  for (const Dim &length : *lengths)
    all += length;
  node.checkEqual(all, size);
  return partsOf(node, x, axis, *lengths, /*inRange=*/false);
}

static ImportResult importSplit(OnnxNode &node) {
  auto axis = node.axisAttr("axis", 0, shapeOf(node.input(0)).size());
  if (failed(axis))
    return failure();
  int64_t parts = node.numOutputs();
  if (node.hasInput(1) && !node.isKnown(1))
    return splitToLengths(node, *axis, parts);
  auto split = givenParts(node, *axis);
  if (failed(split))
    return failure();
  if (node.intAttr("num_outputs", parts) != parts)
    return node.invalid(
        "num_outputs must be the number of outputs of the node");
  if (split->empty())
    if (split = evenParts(node, *axis, parts); failed(split))
      return failure();
  if (static_cast<int64_t>(split->size()) != parts)
    return node.invalid("split has " + Twine(split->size()) + " entries for " +
                        Twine(parts) + " outputs");
  return partsOf(node, node.input(0), *axis, *split, /*inRange=*/true);
}

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

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
