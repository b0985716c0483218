// Imports operators that move elements, with shapes or positions that are known
// only at run time.

#include "compiler/import/operators/AxisVectors.h"
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

/// Returns the sizes `from` plus the pads, which are numbers or expressions of
/// sizes.
static FailureOr<Dims> paddedSizes(OnnxNode &node, Dims sizes,
                                   ArrayRef<std::optional<Dim>> before,
                                   ArrayRef<std::optional<Dim>> after) {
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    size = size + *before[axis] + *after[axis];
    if (size.most() < 0)
      return node.invalid(
          "negative pads remove more elements than there are along axis " +
          Twine(axis));
  }
  if (failed(checkSizes(node, sizes)))
    return failure();
  return sizes;
}

ImportResult padByInput(OnnxNode &node, Value low, Value high, StringRef mode,
                        Value value) {
  RunTimeInts ints(node);
  Value x = node.input(0);
  Dims from = dimsOf(x);
  auto before = node.elementsIn(low), after = node.elementsIn(high);
  bool isKnown = llvm::all_of(llvm::concat<std::optional<Dim>>(before, after),
                              [](const auto &pad) { return pad.has_value(); });
  FailureOr<Dims> to =
      isKnown ? paddedSizes(node, from, before, after)
              : readBoundedSizes(
                    node, node.add(ints.sizes(from), node.add(low, high)));
  if (failed(to))
    return failure();
  SmallVector<int64_t> known(from.size(), 0), behind(known);
  for (auto [axis, size] : llvm::enumerate(*to)) {
    auto first = before[axis] ? before[axis]->known() : std::nullopt;
    if (size == from[axis] && first == 0)
      continue;
    if (mode == "constant" && first && *first >= 0) {
      // Pads the end of the axis by the largest possible amount. The slice at
      // the end of this function selects the elements that are used, and only
      // these are computed.
      known[axis] = *first;
      behind[axis] =
          std::max<int64_t>(0, size.most() - from[axis].least() - *first);
    } else {
      x = padAlong(node, x, axis, elementAt(node, low, axis), size, mode,
                   value);
    }
  }
  x = node.builder.createOrFold<PadOp>(node.loc, x, value, known, behind);
  return one(node.cut(x, *to));
}

} // namespace ingot::graph
