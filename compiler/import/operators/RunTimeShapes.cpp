#include "compiler/import/operators/RunTimeShapes.h"

#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;

namespace ingot::graph {

Value RunTimeInts::sizes(ArrayRef<Dim> sizes) {
  bool isKnown = llvm::all_of(
      sizes, [](const Dim &size) { return size.known().has_value(); });
  if (isKnown)
    return numbers(llvm::map_to_vector(
        sizes, [](const Dim &size) { return *size.known(); }));
  return node.build<SizesOp>(
      RankedTensorType::get({int64_t(sizes.size())}, node.i64()),
      kernel::sizesAttr(sizes, node.builder.getContext()));
}

Value RunTimeInts::vector(Value value) {
  return node.reshape(node.cast(value, node.i64()),
                      graph::product(dimsOf(value)));
}

Value RunTimeInts::input(unsigned i) {
  Value value = node.input(i);
  // Longer lists are rejected: no tensor has that many axes, and no node that
  // many outputs.
  constexpr int64_t mostListed = 4096;
  int64_t count = tensorType(value).getNumElements();
  if (!hasDynamicSizes(value.getType()) && count <= mostListed)
    return vector(value);
  (void)node.unsupported(
      count > mostListed ? "a list of " + std::to_string(count) +
                               " sizes, axes or positions that is known only "
                               "at run time is not supported"
                         : "a list of sizes, axes or positions whose length is "
                           "known only at run time is not supported");
  return numbers(SmallVector<int64_t>(std::min(count, mostListed), 0));
}

Value RunTimeInts::part(Value vector, int64_t first, int64_t count) {
  return node.slice(vector, 0, first, count);
}

Value RunTimeInts::joined(ArrayRef<Value> vectors) {
  return vectors.size() == 1 ? vectors.front() : node.concat(vectors, 0);
}

Value RunTimeInts::last(Value counts, const Dim &size) {
  if (auto known = size.known())
    return part(counts, *known - 1);
  return node.build<ReduceMaxOp>(joined({numbers({0}), counts}),
                                 ArrayRef<int64_t>{0});
}

/// Treats division by 0 as division by 1. A run with such operands fails in a
/// check of the sizes.
Value RunTimeInts::div(Value x, const OnnxNode::Operand &y) {
  if (!y.value)
    return node.div(x, y);
  return node.div(x, node.where(node.equal(y, 0), 1, y));
}

Value RunTimeInts::modulo(Value x, Value y) {
  Value rest = node.sub(x, node.mul(div(x, y), y));
  return node.where(node.less(rest, 0), node.add(rest, y), rest);
}

Value RunTimeInts::productsBehind(Value vector) {
  return node.build<CumProdOp>(vector, /*axis=*/0, /*exclusive=*/true,
                               /*reverse=*/true);
}

Value RunTimeInts::product(Value vector) {
  if (tensorType(vector).getNumElements() == 0)
    return numbers({1});
  return node.build<ReduceProdOp>(vector, ArrayRef<int64_t>{0});
}

Value RunTimeInts::sums(Value vector, bool exclusive) {
  return node.build<CumSumOp>(vector, /*axis=*/0, exclusive,
                              /*reverse=*/false);
}

Value RunTimeInts::put(Value vector, Value at, Value values) {
  if (tensorType(at).getNumElements() == 0)
    return vector;
  return node.build<ScatterElementsOp>(vector, at, values, "none", 0);
}

Value RunTimeInts::without(Value vector, Value mask, int64_t left) {
  // Moves the remaining elements to the front and all others to the end, where
  // they are cut off.
  Value to = node.where(node.equal(mask, 1), left,
                        sums(node.sub(1, mask), /*exclusive=*/true));
  return part(put(numbers(SmallVector<int64_t>(left + 1, 1)), to, vector), 0,
              left);
}

Value RunTimeInts::take(Value vector, Value at) {
  return gatherAlong(node, vector, 0, at);
}

Value extendedAlong(OnnxNode &node, Value x, int64_t axis, int64_t count) {
  if (count <= 0)
    return x;
  Value filler = isString(elementOf(x))
                     ? buildStrings(node.builder, node.loc, {}, {std::string()})
                     : node.scalarConstant(0, elementOf(x));
  SmallVector<int64_t> low(shapeOf(x).size(), 0), high(low);
  high[axis] = count;
  return node.builder.createOrFold<PadOp>(node.loc, x, filler, low, high);
}

Value gatherAlong(OnnxNode &node, Value x, int64_t axis, Value positions) {
  // If the axis is always empty, no position is read, but the number of
  // positions may be dynamic. A padding element keeps the gather valid.
  if (dimsOf(x)[axis].most() == 0)
    x = extendedAlong(node, x, axis, 1);
  return node.build<GatherOp>(x, positions, axis, /*in_range=*/false);
}

Value resizedAlong(OnnxNode &node, Value x, int64_t axis, const Dim &size) {
  Dim own = dimsOf(x)[axis];
  if (own == size)
    return x;
  // Operators may read the elements after the old end of the axis, so these
  // elements are set to 0 or the empty string.
  x = extendedAlong(node, x, axis, size.most() - own.least());
  return node.slice(x, axis, 0, size);
}

Value resizedFlat(OnnxNode &node, Value flat, const Dim &count) {
  return resizedAlong(node, flat, 0, count);
}

Value reshapeAtRunTime(OnnxNode &node, Value x, ArrayRef<Dim> sizes) {
  Dims from = dimsOf(x);
  Dim before = product(from), after = product(sizes);
  Value flat = node.reshape(x, {before});
  if (!(before == after))
    node.checkEqual(before, after);
  return node.reshape(resizedFlat(node, flat, after), sizes);
}

FailureOr<Dim> checkedSize(OnnxNode &node, const Dim &size) {
  OpBuilder::InsertionGuard guard(node.builder);
  node.leaveBodies(size);
  auto read = node.readSizes(RunTimeInts(node).sizes(size), {size.most()});
  if (failed(read))
    return failure();
  return read->front();
}

FailureOr<Dims> readBoundedSizes(OnnxNode &node, Value counts) {
  // Expressions with more data-dependent sizes take long to compute, and no
  // network needs them.
  constexpr int64_t mostAxes = 64;
  int64_t count = shapeOf(counts)[0];
  if (count > mostAxes)
    return node.unsupported(
        std::to_string(count) +
        " sizes that are known only at run time are not supported");
  SmallVector<std::optional<int64_t>> most(count);
  return node.readSizes(counts, most);
}

LogicalResult requireLength(OnnxNode &node, Value x, int64_t axis,
                            const Dim &size) {
  Dim more = dimsOf(x)[axis] - size;
  if (more.least() >= 0 ||
      (size.known() && node.requireAtLeast(dimsOf(x)[axis], *size.known())))
    return success();
  if (more.most() < 0)
    return failure();
  return checkedSize(node, more);
}

LogicalResult checkSizes(OnnxNode &node, MutableArrayRef<Dim> sizes) {
  for (Dim &size : sizes) {
    if (size.least() >= 0 || size.most() < 0)
      continue;
    auto checked = checkedSize(node, size);
    if (failed(checked))
      return failure();
    size = *checked;
  }
  return success();
}

FailureOr<Dims> sizesOfInput(OnnxNode &node, unsigned i, StringRef what,
                             std::optional<int64_t> most) {
  if (node.isKnown(i))
    return node.requireSizes(i, what);
  Value given = RunTimeInts(node).input(i);
  if (!most)
    return readBoundedSizes(node, given);
  return node.readSizes(
      given, SmallVector<std::optional<int64_t>>(shapeOf(given)[0], most));
}

FailureOr<Value> positionsOfInput(OnnxNode &node, unsigned i) {
  if (!node.isConstant(i)) {
    Value x = node.flat(node.input(i));
    return positionsOf(node, elementOf(x).isInteger(1)
                                 ? x
                                 : node.elementwise<NotOp>({node.equal(x, 0)}));
  }
  auto values = node.requireFloats(i, "elements");
  if (failed(values))
    return failure();
  SmallVector<int64_t> found;
  for (auto [place, value] : llvm::enumerate(*values))
    if (value != 0)
      found.push_back(place);
  return node.integers(found);
}

FailureOr<Value> positionsOf(OnnxNode &node, Value truths) {
  RunTimeInts ints(node);
  Dim all = dimsOf(truths)[0];
  if (all == 0)
    return ints.numbers({});
  // Scatters the position of the k-th true element to index k, and the
  // positions of false elements to the index after all others.
  Value holds = ints.vector(truths);
  Value number = ints.sums(holds, /*exclusive=*/false);
  Value last = ints.sizes(all);
  Value to = node.where(truths, node.sub(number, 1), last);
  Value places = node.expand(ints.number(0), {all + 1});
  places =
      node.build<ScatterElementsOp>(places, to, node.countTo(all), "none", 0);
  Value count = ints.last(number, all);
  auto found = node.readSizes(count, {all.most()});
  if (failed(found))
    return failure();
  return resizedFlat(node, places, found->front());
}

} // namespace ingot::graph
