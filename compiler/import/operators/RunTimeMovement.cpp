// Imports operators that move elements, with shapes or positions that are known
// only at run time.

#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

/// Returns data-dependent sizes with the values `counts`. The upper bound of
/// each is the largest upper bound of the sizes in `from`.
static FailureOr<Dims> readSizesOf(OnnxNode &node, Value counts,
                                   ArrayRef<Dim> from) {
  int64_t most = 1;
  for (const Dim &size : from)
    most = std::max(most, size.most());
  return node.readSizes(
      counts, SmallVector<std::optional<int64_t>>(shapeOf(counts)[0], most));
}

/// Returns a vector with an element for each of `rank` axes: 1 for the axes
/// listed in `axes`, 0 for all others.
static Value maskOf(RunTimeInts &ints, Value axes, int64_t rank) {
  SmallVector<int64_t> zeros(rank, 0),
      ones(tensorType(axes).getNumElements(), 1);
  return ints.put(ints.numbers(zeros), axes, ints.numbers(ones));
}

ImportResult reshapeByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), shape = ints.input(1);
  Dims from = dimsOf(x);
  int64_t rank = shapeOf(shape)[0];
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value size = ints.part(shape, axis);
    if (!node.intAttr("allowzero", 0) && axis < int64_t(from.size()))
      size = node.where(node.equal(size, 0), ints.sizes(from[axis]), size);
    sizes.push_back(size);
  }
  if (sizes.empty())
    return one(reshapeAtRunTime(node, x, {}));
  Value all = ints.joined(sizes), minus = node.equal(all, -1);
  Value others = ints.product(node.where(minus, 1, all));
  all = node.where(minus, ints.div(ints.sizes(product(from)), others), all);
  auto to = readBoundedSizes(node, all);
  if (failed(to))
    return failure();
  return one(reshapeAtRunTime(node, x, *to));
}

ImportResult reshapeInferring(OnnxNode &node, Dims to,
                              std::optional<size_t> inferred) {
  Value x = node.input(0);
  if (inferred) {
    OpBuilder::InsertionGuard guard(node.builder);
    to[*inferred] = 1;
    node.leaveBodies(product(to) + product(dimsOf(x)));
    RunTimeInts ints(node);
    Value others = node.max(ints.sizes(product(to)), 1);
    auto size = readBoundedSizes(
        node, ints.div(ints.sizes(product(dimsOf(x))), others));
    if (failed(size))
      return failure();
    to[*inferred] = size->front();
  }
  return one(reshapeAtRunTime(node, x, to));
}

static ImportResult reshaped(OnnxNode &node, Value x, FailureOr<Dims> sizes) {
  if (failed(sizes))
    return failure();
  return one(reshapeAtRunTime(node, x, *sizes));
}

ImportResult squeezeByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), axes = ints.input(1);
  Dims from = dimsOf(x);
  int64_t rank = from.size(), left = rank - shapeOf(axes)[0];
  if (left < 0)
    return node.invalid("more axes are squeezed than the input has");
  if (left == 0)
    return one(reshapeAtRunTime(node, x, {}));
  Value sizes = ints.without(ints.sizes(from), maskOf(ints, axes, rank), left);
  return reshaped(node, x, readSizesOf(node, sizes, from));
}

ImportResult unsqueezeByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), axes = ints.input(1);
  Dims from = dimsOf(x);
  int64_t rank = from.size() + shapeOf(axes)[0];
  if (from.empty())
    return one(node.reshape(x, Dims(rank, 1)));
  Value added = maskOf(ints, axes, rank);
  Value old = ints.sums(node.sub(1, added), /*exclusive=*/true);
  Value sizes =
      node.where(node.equal(added, 1), 1, ints.take(ints.sizes(from), old));
  return reshaped(node, x, readSizesOf(node, sizes, from));
}

ImportResult expandByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), shape = ints.input(1);
  int64_t given = shapeOf(shape)[0],
          rank = std::max<int64_t>(given, shapeOf(x).size());
  Dims from(rank - shapeOf(x).size(), 1), to;
  llvm::append_range(from, dimsOf(x));
  // Whether Expand may enlarge an axis: its size is 1, or is dynamic and may be
  // 1.
  auto mayGrow = [&](int64_t axis) {
    return axis >= rank - given && from[axis].mayBe(1);
  };
  SmallVector<Value> open;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!mayGrow(axis))
      continue;
    Value size = ints.part(shape, axis - (rank - given));
    if (!from[axis].known())
      size = node.where(node.equal(ints.sizes(from[axis]), 1), size,
                        ints.sizes(from[axis]));
    open.push_back(size);
  }
  FailureOr<Dims> read = Dims();
  if (!open.empty())
    read = readBoundedSizes(node, ints.joined(open));
  if (failed(read))
    return failure();
  size_t next = 0;
  for (int64_t axis = 0; axis < rank; ++axis)
    to.push_back(mayGrow(axis) ? (*read)[next++] : from[axis]);
  for (int64_t axis = 0; axis < rank; ++axis)
    if (mayGrow(axis) && !from[axis].known()) {
      x = gatherAlong(
          node, node.reshape(x, from), axis,
          ints.modulo(node.countTo(to[axis]), ints.sizes(from[axis])));
      from = dimsOf(x);
    }
  return one(node.builder.createOrFold<ExpandOp>(node.loc, x, ArrayRef(to)));
}

ImportResult tileByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), repeats = ints.input(1);
  Dims from = dimsOf(x);
  if (shapeOf(repeats)[0] != int64_t(from.size()))
    return node.invalid("repeats must have one count for each axis");
  if (from.empty())
    return one(x);
  auto to = readBoundedSizes(node, node.mul(repeats, ints.sizes(from)));
  if (failed(to))
    return failure();
  for (auto [axis, size] : llvm::enumerate(*to))
    x = gatherAlong(node, x, axis,
                    ints.modulo(node.countTo(size), ints.sizes(from[axis])));
  return one(x);
}

/// Returns the elements at positions first, first + step, ... along each axis
/// of `x`. `first` and `step` are vectors with one element per axis. If `step`
/// is null, all steps are 1.
static Value strided(OnnxNode &node, Value x, ArrayRef<Dim> sizes, Value first,
                     Value step) {
  RunTimeInts ints(node);
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    Value places = node.countTo(size);
    if (step)
      places = node.mul(places, ints.part(step, axis));
    x = gatherAlong(node, x, axis, node.add(places, ints.part(first, axis)));
  }
  return x;
}

ImportResult sliceByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0);
  Dims from = dimsOf(x);
  int64_t rank = from.size();
  auto given = [&](unsigned i, StringRef name) -> Value {
    if (node.opset < 10)
      return node.hasAttr(name) ? ints.numbers(node.intsAttr(name)) : Value();
    return node.hasInput(i) ? ints.input(i) : Value();
  };
  Value starts = given(1, "starts"), ends = given(2, "ends"),
        axes = given(3, "axes");
  if (!starts || !ends)
    return node.invalid("the inputs starts and ends are required");
  int64_t count = shapeOf(starts)[0];
  if (!axes)
    axes = ints.numbers(llvm::to_vector(llvm::seq<int64_t>(0, count)));
  if (shapeOf(ends)[0] != count || shapeOf(axes)[0] != count ||
      (node.hasInput(4) && shapeOf(ints.input(4))[0] != count) || rank == 0)
    return node.invalid(
        "starts, ends, axes and steps must have the same length");
  Value size = ints.sizes(from), zero = ints.number(0), one = ints.number(1);
  auto everywhere = [&](int64_t value, Value given) {
    return ints.put(ints.numbers(SmallVector<int64_t>(rank, value)), axes,
                    given);
  };
  Value step = node.hasInput(4) ? everywhere(1, ints.input(4))
                                : ints.numbers(SmallVector<int64_t>(rank, 1));
  // All steps that are longer than the axis are equivalent, so steps are
  // clamped to avoid overflow.
  Value most = node.add(size, one);
  step = node.max(node.min(step, most), node.sub(zero, most));
  Value start = everywhere(0, starts), end = ints.put(size, axes, ends);
  Value backwards = node.less(step, zero);
  // Converts start and end to non-negative positions and clamps them to [0,
  // size], or to [-1, size - 1] for a negative step.
  Value low = node.where(backwards, -1, zero), high = node.add(size, low);
  auto limited = [&](Value at, Value least) {
    at = node.where(node.less(at, zero), node.add(at, size), at);
    return node.min(node.max(at, least), high);
  };
  Value first = limited(start, node.min(zero, high)), last = limited(end, low);
  Value distance = node.sub(last, first);
  Value away = node.where(backwards, one, -1);
  Value found =
      node.max(zero, ints.div(node.add(distance, node.add(step, away)), step));
  auto sizes =
      node.readSizes(found, llvm::map_to_vector(from, [](const Dim &each) {
                       return std::optional<int64_t>(each.most());
                     }));
  if (failed(sizes))
    return failure();
  return graph::one(strided(node, x, *sizes, first, step));
}

ImportResult splitByInput(OnnxNode &node, int64_t axis) {
  return splitToLengths(node, axis, node.numOutputs());
}

ImportResult splitToLengths(OnnxNode &node, int64_t axis, int64_t parts) {
  RunTimeInts ints(node);
  Value x = node.input(0), split = ints.input(1);
  Dim size = dimsOf(x)[axis];
  if (shapeOf(split)[0] != parts)
    return node.invalid("split has " + Twine(shapeOf(split)[0]) +
                        " entries for " + Twine(parts) + " outputs");
  auto lengths = node.readSizes(
      split, SmallVector<std::optional<int64_t>>(parts, size.most()));
  if (failed(lengths))
    return failure();
  Dim all = 0;
  for (const Dim &length : *lengths)
    all += length;
  node.checkEqual(all, size);
  Value starts = ints.sums(split, /*exclusive=*/true);
  SmallVector<Value> results;
  for (auto [i, length] : llvm::enumerate(*lengths))
    results.push_back(gatherAlong(
        node, x, axis, node.add(node.countTo(length), ints.part(starts, i))));
  return results;
}

Value padAlong(OnnxNode &node, Value x, int64_t axis, Value low,
               const Dim &size, StringRef mode, Value value) {
  RunTimeInts ints(node);
  Dim from = dimsOf(x)[axis];
  Value zero = ints.number(0), length = ints.sizes(from),
        last = ints.sizes(from - 1), first;
  // The modes wrap and reflect repeat only elements that negative padding does
  // not remove: `length` elements of the axis, from `first` on.
  if (mode == "wrap" || mode == "reflect") {
    Value high = node.sub(node.sub(ints.sizes(size), length), low);
    first = node.max(zero, node.sub(zero, low));
    length = node.add(node.sub(length, first), node.min(zero, high));
    last = node.sub(length, 1);
    low = node.max(zero, low);
  }
  Value at = node.sub(node.countTo(size), low);
  Value inside = node.both(node.less(-1, at), node.less(at, length));
  if (mode == "wrap")
    at = ints.modulo(at, length);
  if (mode == "reflect") {
    Value twice = node.mul(last, 2);
    at = ints.modulo(at, node.max(twice, 1));
    at = node.min(at, node.sub(twice, at));
  }
  at = node.max(zero, node.min(at, last));
  if (first)
    at = node.add(at, first);
  Value y = gatherAlong(node, x, axis, at);
  if (mode != "constant")
    return y;
  inside = node.alignAt(inside, axis, shapeOf(x).size());
  return node.where(inside, y, value);
}

/// Returns the sizes `from` plus the pads in input 1, which must be numbers or
/// expressions of sizes.
static FailureOr<Dims> paddedSizes(OnnxNode &node, ArrayRef<Dim> from) {
  auto pads = node.requireSizes(1, "pads");
  if (failed(pads))
    return failure();
  Dims to(from);
  for (auto [axis, size] : llvm::enumerate(to)) {
    size = size + (*pads)[axis] + (*pads)[from.size() + axis];
    if (size.most() < 0)
      return node.invalid(
          "negative pads remove more elements than there are along axis " +
          Twine(axis));
  }
  if (failed(checkSizes(node, to)))
    return failure();
  return to;
}

ImportResult padByInput(OnnxNode &node, StringRef mode, Value value) {
  RunTimeInts ints(node);
  Value x = node.input(0), pads = ints.input(1);
  Dims from = dimsOf(x);
  int64_t rank = from.size(), count = shapeOf(pads)[0] / 2;
  bool hasAxes = node.opset >= 18 && node.hasInput(3);
  if (shapeOf(pads)[0] != 2 * count || (!hasAxes && count != rank) || rank == 0)
    return node.invalid("pads must have two entries for each axis");
  Value low = ints.part(pads, 0, count), high = ints.part(pads, count, count);
  if (hasAxes) {
    Value none = ints.numbers(SmallVector<int64_t>(rank, 0)),
          axes = ints.input(3);
    if (shapeOf(axes)[0] != count)
      return node.invalid("pads must have two entries for each axis");
    low = ints.put(none, axes, low);
    high = ints.put(none, axes, high);
  }
  FailureOr<Dims> to =
      node.isKnown(1) && !hasAxes
          ? paddedSizes(node, from)
          : readBoundedSizes(node,
                             node.add(ints.sizes(from), node.add(low, high)));
  if (failed(to))
    return failure();
  SmallVector<std::optional<Dim>> before = node.elementsIn(low);
  SmallVector<int64_t> known(rank, 0), behind(rank, 0);
  for (auto [axis, size] : llvm::enumerate(*to)) {
    auto first = before[axis] ? before[axis]->known() : std::nullopt;
    if (mode == "constant" && first && *first >= 0) {
      // Pads the end of the axis by the largest possible amount. The slice at
      // the end of this function selects the elements that are used, and only
      // these are computed.
      known[axis] = *first;
      behind[axis] =
          std::max<int64_t>(0, size.most() - from[axis].least() - *first);
    } else {
      x = padAlong(node, x, axis, ints.part(low, axis), size, mode, value);
    }
  }
  x = node.builder.createOrFold<PadOp>(node.loc, x, value, known, behind);
  return one(node.cut(x, *to));
}

ImportResult centerCropPadByInput(OnnxNode &node, ArrayRef<int64_t> axes) {
  RunTimeInts ints(node);
  Value x = node.input(0), shape = ints.input(1);
  if (int64_t(axes.size()) != shapeOf(shape)[0] || axes.empty())
    return node.invalid("shape must have one entry for each axis");
  auto to = readBoundedSizes(node, shape);
  if (failed(to))
    return failure();
  Value zero = node.scalarConstant(0, elementOf(x));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    // The division rounds towards zero. So if the number of elements to add or
    // remove is odd, one more is added or removed at the end than at the start.
    Value change = node.sub(ints.part(shape, i), ints.sizes(dimsOf(x)[axis]));
    x = padAlong(node, x, axis, ints.div(change, 2), (*to)[i], "constant",
                 zero);
  }
  return one(x);
}

} // namespace ingot::graph
