// Imports Col2Im, and Unique with a number of elements that is known only at run
// time.

#include "compiler/import/operators/AxisVectors.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Col2Im
//===----------------------------------------------------------------------===//

namespace {
/// Imports Col2Im: adds each input element to the image position that it came
/// from.
class ImageOfBlocks {
public:
  explicit ImageOfBlocks(OnnxNode &node) : node(node), ints(node) {}
  ImportResult apply();

private:
  LogicalResult prepare();
  Value places();
  /// Returns the image with sizes `to` as one operator; null if a shape is known
  /// only at run time.
  Value asOperator(ArrayRef<Dim> to);
  /// Returns the attribute `name` as a vector of `count` integers; `count`
  /// times `otherwise` if the attribute is absent. Returns null if the
  /// attribute has another length.
  Value attribute(StringRef name, int64_t otherwise, int64_t count) {
    auto numbers = node.intsAttr(name, SmallVector<int64_t>(count, otherwise));
    return int64_t(numbers.size()) == count ? ints.numbers(numbers) : Value();
  }
  /// Returns element `axis` of a vector as a scalar.
  Value number(Value vector, int64_t axis) {
    return node.reshape(ints.part(vector, axis), {});
  }

  OnnxNode &node;
  RunTimeInts ints;
  int64_t spatial = 0;
  Dims image;
  Dim channels;
  /// Vectors with one element per spatial axis of the image: the sizes of a
  /// block, the numbers of block positions, and the attributes of Col2Im, where
  /// `pads` contains only the pads at the start of each axis.
  Value block, counts, strides, dilations, pads;
};
} // namespace

LogicalResult ImageOfBlocks::prepare() {
  Value x = node.input(0);
  constexpr const char *wrongLists =
      "image_shape, block_shape, strides and dilations must have one entry for "
      "each spatial axis, pads must have two, and the input must have rank 3";
  if (shapeOf(x).size() != 3)
    return node.invalid(wrongLists);
  Dim rows = dimsOf(x)[1], columns = dimsOf(x)[2];
  auto sizes = sizesOfInput(node, 1, "image_shape"),
       blocks = sizesOfInput(node, 2, "block_shape",
                             std::max<int64_t>(rows.most(), 1));
  if (failed(sizes) || failed(blocks))
    return failure();
  image = *sizes;
  spatial = image.size();
  Value both = attribute("pads", 0, 2 * spatial);
  strides = attribute("strides", 1, spatial);
  dilations = attribute("dilations", 1, spatial);
  if (int64_t(blocks->size()) != spatial || !both || !strides || !dilations ||
      spatial == 0)
    return node.invalid(wrongLists);
  constexpr const char *wrongBlocks =
      "strides must be positive, and a block must fit into the padded image";
  for (int64_t stride : node.intsAttr("strides"))
    if (stride < 1)
      return node.invalid(wrongBlocks);
  block = ints.sizes(*blocks);
  pads = ints.part(both, 0, spatial);
  // Computes the number of block positions along each axis. If a block is
  // invalid, the total number becomes -1, so that the generated program fails
  // when it reads the number as a size.
  Value one = ints.number(1), padded = node.add(ints.sizes(image), pads);
  padded = node.add(padded, ints.part(both, spatial, spatial));
  Value room = node.sub(
      padded, node.add(node.mul(dilations, node.sub(block, one)), one));
  counts = node.add(ints.div(room, strides), one);
  Value isWrong = node.either(node.less(room, 0), node.less(block, one));
  Value wrong =
      node.build<ReduceMaxOp>(ints.vector(isWrong), ArrayRef<int64_t>{0});
  if (node.elementsIn(wrong).front() == Dim(1))
    return node.invalid(wrongBlocks);
  Value size = ints.product(block), fits = ints.product(counts);
  Value isFit = node.equal(wrong, 0);
  fits = node.where(isFit, fits, -1);
  auto read = node.readSizes(
      ints.joined({ints.div(ints.sizes(rows), size), size, fits}),
      {rows.most(), std::max<int64_t>(rows.most(), 1), columns.most()});
  if (failed(read))
    return failure();
  channels = (*read)[0];
  for (auto [x, y] : {std::pair((*read)[0] * (*read)[1], rows),
                      std::pair((*read)[2], columns)}) {
    if (surelyDiffer(x, y))
      return node.invalid("the shape of the input does not match the size and "
                          "number of the blocks");
    if (mayDiffer(x, y))
      node.checkEqual(x, y);
  }
  return success();
}

/// Returns for each input element [rows, columns] its target: the index in the
/// image, flattened with all channels, to which the element is added. For
/// targets outside of the image, returns an index after the end of the image.
Value ImageOfBlocks::places() {
  Value x = node.input(0);
  Dim rows = dimsOf(x)[1], columns = dimsOf(x)[2];
  Value row = node.reshape(node.countTo(rows), {rows, 1}),
        column = node.reshape(node.countTo(columns), {1, columns});
  Value place, isInside;
  Dim stride = 1;
  for (int64_t axis = spatial - 1; axis >= 0; --axis) {
    Value size = number(block, axis), count = number(counts, axis);
    Value at = node.sub(
        node.add(node.mul(ints.modulo(row, size), number(dilations, axis)),
                 node.mul(ints.modulo(column, count), number(strides, axis))),
        number(pads, axis));
    row = ints.div(row, size);
    column = ints.div(column, count);
    Value inside =
        node.both(node.less(-1, at),
                  node.less(at, node.reshape(ints.sizes(image[axis]), {})));
    isInside = isInside ? node.both(isInside, inside) : inside;
    Value along = node.mul(at, node.reshape(ints.sizes(stride), {}));
    place = place ? node.add(place, along) : along;
    stride = stride * image[axis];
  }
  place = node.add(place, node.mul(row, node.reshape(ints.sizes(stride), {})));
  return node.where(isInside, place,
                    node.reshape(ints.sizes(stride * channels), {}));
}

Value ImageOfBlocks::asOperator(ArrayRef<Dim> to) {
  Value x = node.input(0);
  auto each = numbersOf(node, block), often = numbersOf(node, counts);
  auto type = tensorOf(to, elementOf(x));
  if (!each || !often || hasDynamicSizes(x.getType()) || hasDynamicSizes(type))
    return {};
  return node.build<Col2ImOp>(type, x, *each, *often, *numbersOf(node, strides),
                              *numbersOf(node, dilations),
                              *numbersOf(node, pads));
}

ImportResult ImageOfBlocks::apply() {
  if (failed(prepare()))
    return failure();
  Value x = node.input(0);
  Dims from = dimsOf(x), to{from[0], channels};
  llvm::append_range(to, image);
  if (Value result = asOperator(to))
    return one(result);
  Dim batch = from[0], each = from[1] * from[2];
  Dim all = channels * product(image);
  Value at = node.expand(node.reshape(places(), {1, each}), {batch, each});
  Value zeros =
      node.expand(node.scalarConstant(0, elementOf(x)), {batch, all + 1});
  Value sums = node.build<ScatterElementsOp>(
      zeros, at, node.reshape(x, {batch, each}), "add", 1);
  return one(node.reshape(node.slice(sums, 1, 0, all), to));
}

ImportResult importCol2Im(OnnxNode &node) {
  return ImageOfBlocks(node).apply();
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

namespace {
/// Compares all pairs of slices of a tensor along its first axis.
class ComparedParts {
public:
  ComparedParts(OnnxNode &node, Value rows)
      : node(node), ints(node), count(dimsOf(rows)[0]) {
    Dim width = dimsOf(rows)[1];
    Value mine = node.reshape(rows, {count, 1, width}),
          other = node.reshape(rows, {1, count, width});
    // Encodes the first position at which two slices differ as 2 * position,
    // plus 1 if `mine` is larger there.
    Value isMore = node.less(other, mine), isLess = node.less(mine, other);
    Value place = node.add(node.mul(node.countTo(width), 2), asNumber(isMore));
    Value none = node.reshape(ints.sizes(width * 2), {});
    Value first = node.build<ReduceMinOp>(
        node.where(node.either(isLess, isMore), place, none),
        ArrayRef<int64_t>{2});
    first = node.min(node.reshape(first, {count, count}), none);
    alike = node.equal(first, none);
    isLarger = node.equal(ints.modulo(first, ints.number(2)), 1);
  }

  Value asNumber(Value truths) { return node.cast(truths, node.i64()); }
  /// Counts for each slice the other slices for which `truths` [slice, other
  /// slice] is true.
  Value howMany(Value truths) {
    return node.reshape(
        node.build<ReduceSumOp>(asNumber(truths), ArrayRef<int64_t>{1}),
        {count});
  }
  Value both(Value x, Value y) { return node.both(x, y); }

  OnnxNode &node;
  RunTimeInts ints;
  Dim count;
  /// Booleans [slice, other slice] that tell whether the two slices are equal,
  /// and whether the first is larger than the second in lexicographic order.
  Value alike, isLarger;
};
} // namespace

/// Imports Unique along an axis of run-time data by comparing all pairs of
/// slices, which is general, but slow.
ImportResult uniqueAlong(OnnxNode &node, int64_t axis) {
  RunTimeInts ints(node);
  Value x = node.input(0);
  Dims sizes = dimsOf(x);
  Dim count = sizes[axis];
  SmallVector<int64_t> order{axis};
  Dim width = 1;
  for (int64_t other = 0; other < int64_t(sizes.size()); ++other)
    if (other != axis) {
      order.push_back(other);
      width = width * sizes[other];
    }
  ComparedParts parts(node,
                      node.reshape(node.transpose(x, order), {count, width}));
  Value number = node.countTo(count);
  Value row = node.reshape(number, {count, 1}),
        column = node.reshape(number, {1, count});
  // Determines the first slice of each group of equal slices, which represents
  // the group in the result.
  Value before = parts.both(parts.alike, node.less(column, row));
  Value isFirst = node.equal(parts.howMany(before), 0);
  Value firsts = node.reshape(isFirst, {1, count});
  Value comesBefore = parts.isLarger;
  if (!node.intAttr("sorted", 1)) {
    Value last = node.reshape(ints.sizes(count), {});
    Value first = node.build<ReduceMinOp>(node.where(parts.alike, column, last),
                                          ArrayRef<int64_t>{1});
    comesBefore = node.less(column, first);
  }
  Value group = parts.howMany(parts.both(comesBefore, firsts));
  Value found = node.reshape(
      node.build<ReduceSumOp>(parts.asNumber(isFirst), ArrayRef<int64_t>{0}),
      {1});
  auto distinct = node.readSizes(found, {count.most()});
  if (failed(distinct))
    return failure();
  auto zeros = [&](const Dim &size) {
    return node.expand(ints.number(0), {size});
  };
  // Slices that are equal to an earlier slice are scattered to an index after
  // those of all distinct slices.
  Value last = node.reshape(ints.sizes(count), {});
  Value places = node.build<ScatterElementsOp>(
      zeros(count + 1), node.where(isFirst, group, last), number, "none", 0);
  Value counts = node.build<ScatterElementsOp>(
      zeros(count), group, node.expand(ints.number(1), {count}), "add", 0);
  places = resizedFlat(node, places, distinct->front());
  return SmallVector<Value>{gatherAlong(node, x, axis, places), places, group,
                            resizedFlat(node, counts, distinct->front())};
}

} // namespace ingot::graph
