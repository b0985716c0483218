// Builds reductions along axes that are known only at run time.
//
// Each element is scattered to the position that it would have if its
// coordinates along the reduced axes were 0, and is combined there with the
// other elements scattered to this position. This works for any axes.

#include "compiler/import/operators/RunTimeShapes.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult RunTimeReduction::prepare() {
  RunTimeInts ints(node);
  Value x = node.input(0), axes = node.input(1);
  from = dimsOf(x);
  int64_t rank = from.size();
  bool keeps = node.intAttr("keepdims", 1) != 0;
  if (shapeOf(axes).size() != 1)
    return node.invalid("the axes must be a list");
  // If the reduced axes are kept, the rank of the result does not depend on the
  // number of axes, so this number may be dynamic.
  Dim given = dimsOf(axes)[0];
  bool isOpen = keeps && !given.known();
  axes = isOpen ? ints.vector(axes) : ints.input(1);
  int64_t count = shapeOf(axes)[0];
  if ((!isOpen && count > rank) || rank == 0)
    return node.invalid("more axes are given than the input has");
  SmallVector<int64_t> zeros(rank, 0);
  Value ones = isOpen ? Value(node.expand(ints.number(1), {given}))
                      : ints.numbers(SmallVector<int64_t>(count, 1));
  Value reduced = ints.put(ints.numbers(zeros), axes, ones);
  // If no axes are given, all are reduced.
  if (isOpen && node.intAttr("noop_with_empty_axes", 0) == 0)
    reduced = node.where(node.equal(ints.sizes(given), 0), 1, reduced);
  Value isReduced = node.equal(reduced, 1);
  Value size = ints.sizes(from);
  kept = node.where(isReduced, 1, size);
  Value strides = node.where(isReduced, 0, ints.productsBehind(kept));
  // The target position of an element is the sum over all axes of coordinate
  // times stride, where the strides of reduced axes are 0.
  Value place;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value along = node.mul(node.countTo(from[axis]), ints.part(strides, axis));
    along = node.alignAt(along, axis, rank);
    place = place ? node.add(place, along) : along;
    most *= std::max<int64_t>(from[axis].most(), 1);
  }
  places = node.reshape(place, {product(from)});

  Value sizes = kept;
  SmallVector<std::optional<int64_t>> bounds;
  for (const Dim &each : from)
    bounds.push_back(std::max<int64_t>(each.most(), 1));
  if (!keeps) {
    int64_t left = rank - count, largest = 1;
    for (std::optional<int64_t> bound : bounds)
      largest = std::max(largest, *bound);
    bounds.assign(left, largest);
    sizes = ints.without(size, reduced, left);
  }
  if (bounds.empty())
    return success();
  auto read = node.readSizes(sizes, bounds);
  if (failed(read))
    return failure();
  to = *read;
  return success();
}

static Value identity(OnnxNode &node, Type type, double none) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || !std::isinf(none))
    return node.scalarConstant(none, type);
  unsigned bits = integer.getWidth();
  bool isSigned = !integer.isUnsigned() && bits > 1;
  APInt value = none < 0 ? (isSigned ? APInt::getSignedMinValue(bits)
                                     : APInt::getMinValue(bits))
                         : (isSigned ? APInt::getSignedMaxValue(bits)
                                     : APInt::getMaxValue(bits));
  return node.constant(
      DenseElementsAttr::get(RankedTensorType::get({}, type), value));
}

Value RunTimeReduction::combineFlat(Value x, const Combination &by) {
  Value none = node.expand(identity(node, elementOf(x), by.none), {Dim(most)});
  Value flat = node.reshape(x, {product(from)});
  return node.build<ScatterElementsOp>(none, places, flat, by.name, 0);
}

Value RunTimeReduction::combine(Value x, const Combination &by) {
  Value all = combineFlat(x, by);
  Dim count = product(to);
  // `all` has an element for each possible target position; only the first
  // `count` elements are results. resizedFlat also works if the upper bound of
  // `count` is larger than the size of `all`.
  Value first = resizedFlat(node, all, count);
  return node.reshape(first, to);
}

Value RunTimeReduction::spread(Value reduced) {
  Value flat = node.reshape(reduced, {product(dimsOf(reduced))});
  return node.reshape(gatherAlong(node, flat, 0, places), from);
}

Value RunTimeReduction::count() {
  RunTimeInts ints(node);
  Value all = ints.product(ints.sizes(from)), own = ints.product(kept);
  return node.reshape(ints.div(all, own), {});
}

} // namespace ingot::graph
