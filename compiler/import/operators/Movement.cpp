// Imports operators that move elements.
//
// Builds the operators of Movement.td from ONNX nodes. Resolves negative axes,
// defaults and out-of-range bounds, which the operators of Movement.td do not
// support.

#include "dialects/graph/ops/Movement.h"
#include "compiler/import/operators/AxisVectors.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"

using namespace mlir;

namespace ingot::graph {

static ImportResult reshaped(OnnxNode &node, ArrayRef<Dim> sizes) {
  return one(node.reshape(node.input(0), sizes));
}

Value slice(OpBuilder &builder, Location loc, Value x, int64_t axis,
            int64_t start, const Dim &size, int64_t step) {
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
  starts[axis] = start;
  steps[axis] = step;
  sizes[axis] = size;
  return builder.createOrFold<SliceOp>(loc, x, starts, steps, ArrayRef(sizes));
}

//===----------------------------------------------------------------------===//
// Operators that change the shape
//===----------------------------------------------------------------------===//

/// Returns the size count / divisor if `divisor` is known to divide `count`.
/// Otherwise, returns the quotient rounded down if `divisor` is a positive
/// number, and 0 if it is not: no expression of sizes represents the quotient.
static Dim quotient(const Dim &count, const Dim &divisor) {
  if (auto even = count.dividedBy(divisor))
    return *even;
  int64_t number = divisor.known().value_or(0);
  return number > 0 ? count.floorDiv(number) : Dim(0);
}

/// A Reshape infers the size of one axis as `count`, the number of elements of
/// its input, divided by `divisor`, the product of the other sizes. Makes
/// `count` divisible by `divisor`: if, after cancelling common factors, one
/// symbol remains in `count` and a number in `divisor`, assumes that the symbol
/// is a suitable multiple. If several symbols remain, only their product must
/// be a multiple, so nothing is assumed, and the generated program checks the
/// divisibility. Returns whether sizes have changed.
static bool makeDivisible(OnnxNode &node, const Dim &count,
                          const Dim &divisor) {
  // Cancels the symbols (names of dynamic sizes) that are factors of both
  // `count` and `divisor`.
  Dim rest = divisor, own = count;
  for (kernel::SymbolAttr symbol : count.symbols())
    if (auto less = rest.dividedBy(Dim(symbol)))
      if (auto fewer = own.dividedBy(Dim(symbol))) {
        rest = *less;
        own = *fewer;
      }
  auto number = rest.known();
  if (!number || *number < 1 || own.symbols().size() != 1)
    return false;
  int64_t missing =
      *number / std::gcd(*number, std::max<int64_t>(own.divisor(), 1));
  Dim symbol(own.symbols().front());
  auto factor = own.dividedBy(symbol);
  return missing != 1 && factor && factor->known() &&
         node.requireMultiple(symbol, missing);
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
        return node.invalid("an entry 0 of shape copies axis " + Twine(axis) +
                            ", which the input does not have");
      to.push_back(from[axis]);
      continue;
    }
    bool isInferred = size == -1;
    if (failed(checkSizes(node, size)))
      return failure();
    if (size.least() < 0 && (!isInferred || inferred))
      return node.invalid(
          "shape has more than one -1 or another negative size");
    if (isInferred)
      inferred = axis;
    to.push_back(isInferred ? Dim(1) : size);
  }
  if (inferred && makeDivisible(node, product(from), product(to))) {
    // Reads the sizes of the input and of `shape` again, since makeDivisible
    // has changed them.
    from = dimsOf(node.input(0));
    shape = sizesFromAttrOrInput(node, "shape", 5, 1);
    if (failed(shape))
      return failure();
    for (auto [axis, size] : llvm::enumerate(*shape))
      if (axis != *inferred)
        to[axis] = size == 0 && !allowZero ? from[axis] : size;
  }
  Dim count = product(from), given = product(to);
  if (inferred)
    to[*inferred] = quotient(count, given);
  Dim made = product(to);
  if (made == count)
    return reshaped(node, to);
  // Whether the numbers of elements match can be checked only at run time.
  if (inferred && !count.known() && to[*inferred].most() > 0)
    return one(reshapeAtRunTime(node, node.input(0), to));
  bool isKnown = count.known() && given.known();
  if (!isKnown && (inferred || !surelyDiffer(made, count)))
    return reshapeInferring(node, to, inferred);
  return node.invalid("shape has " + kernel::sizeText(made) +
                      " elements, but the input has " +
                      kernel::sizeText(count));
}

/// Reports that Squeeze without axes does not support an axis whose dynamic
/// size may be 1: the rank of the result would be unknown.
static ImportResult refuseOpenRank(OnnxNode &node, size_t axis,
                                   const Dim &size) {
  std::string text = kernel::sizeText(size), hint = "set a lower bound of 2";
  if (auto given = size.given(); given.size() == 1)
    hint += ": --dim " + given.front().getName().str() + "=2.." +
            std::to_string(std::max<int64_t>(given.front().getMost(), 2));
  return node.unsupported("without `axes`, axis " + Twine(axis) +
                              ", whose size `" + text +
                              "` may be 1, is not supported: the rank of the "
                              "result would depend on the run-time size",
                          hint + ", or give the axes to squeeze");
}

static ImportResult importSqueeze(OnnxNode &node) {
  if (node.opset >= 13 && node.hasInput(1) && !node.isConstant(1))
    return squeezeByInput(node);
  ArrayRef<int64_t> from = shapeOf(node.input(0));
  bool given = node.opset < 13 ? node.hasAttr("axes") : node.hasInput(1);
  // The specification allows negative axes only since opset 11, but older models
  // use them, and ONNX Runtime accepts them.
  auto axes = attrOrInput(node, "axes", 13, 1);
  if (failed(axes))
    return failure();
  auto normal = normalizeAxes(node, *axes, from.size());
  if (failed(normal))
    return failure();
  Dims shape;
  bool isChecked = false;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    Dim size = dimsOf(node.input(0))[axis];
    std::optional<bool> dropped =
        given ? llvm::is_contained(*normal, axis) : size.is(1);
    if (!dropped)
      return refuseOpenRank(node, axis, size);
    if (!*dropped) {
      shape.push_back(size);
      continue;
    }
    if (!size.mayBe(1))
      return node.invalid("axis " + Twine(axis) + " has size " +
                          kernel::sizeText(size) + ", not 1");
    if (node.takeEqual(size, 1))
      continue;
    node.checkEqual(size, 1);
    isChecked = true;
  }
  // Reads the sizes of the remaining axes again, since requiring that the
  // removed axes have size 1 may have replaced symbols.
  size_t next = 0;
  for (size_t axis = 0; axis < from.size() && given; ++axis)
    if (!llvm::is_contained(*normal, axis))
      shape[next++] = dimsOf(node.input(0))[axis];
  return isChecked ? one(reshapeAtRunTime(node, node.input(0), shape))
                   : reshaped(node, shape);
}

static ImportResult importUnsqueeze(OnnxNode &node) {
  if (node.opset >= 13 && !node.isConstant(1))
    return unsqueezeByInput(node);
  ArrayRef<int64_t> from = shapeOf(node.input(0));
  auto axes = attrOrInput(node, "axes", 13, 1);
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
    return node.invalid("axis is out of range for the rank of the input");
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
    return node.invalid("perm must have one entry for each axis");
  return one(
      node.builder.createOrFold<TransposeOp>(node.loc, node.input(0), *perm));
}

//===----------------------------------------------------------------------===//
// Padding and tiling
//===----------------------------------------------------------------------===//

/// Pads each axis of `x` by `low` elements at the start and by `high` elements
/// at the end. Negative numbers crop the axis. `mode` is the attribute of Pad
/// that determines the added elements: in mode `constant`, they are equal to
/// `value`.
static FailureOr<Value> padOrCrop(OnnxNode &node, Value x, Value value,
                                  SmallVector<int64_t> low,
                                  SmallVector<int64_t> high, StringRef mode) {
  auto cropped = [&](size_t axis) {
    return dimsOf(x)[axis] + std::min<int64_t>(0, low[axis]) +
           std::min<int64_t>(0, high[axis]);
  };
  for (size_t axis = 0; axis < low.size(); ++axis) {
    Dim size = cropped(axis);
    if (size.known() || node.requireAtLeast(size, 0))
      continue;
    // Only the generated program knows whether the axis is long enough to be
    // cropped.
    FailureOr<Dim> left = checkedSize(node, size);
    if (failed(left))
      return failure();
    x = padAlong(node, x, axis, RunTimeInts(node).number(low[axis]),
                 *left + (std::max<int64_t>(0, low[axis]) +
                          std::max<int64_t>(0, high[axis])),
                 mode, value);
    low[axis] = high[axis] = 0;
  }
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> starts(sizes.size(), 0), steps(sizes.size(), 1);
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t &start = starts[axis], &before = low[axis], &after = high[axis];
    start = std::max<int64_t>(0, -before);
    size = size - start - std::max<int64_t>(0, -after);
    if (size.known() && *size.known() < 0) {
      // One end crops more elements than the axis has: also some of those that
      // the other end adds.
      if (mode != "constant")
        return node.invalid("mode " + mode + " repeats axis " + Twine(axis) +
                            ", which is empty");
      before += *size.known();
      after += *size.known();
      start = 0;
      size = Dim(0);
    }
    before = std::max<int64_t>(0, before);
    after = std::max<int64_t>(0, after);
  }
  x = node.builder.createOrFold<SliceOp>(node.loc, x, starts, steps,
                                         ArrayRef(sizes));
  // If a dynamic size determines which elements the padding repeats, the
  // generated program selects them.
  for (size_t axis = 0; axis < sizes.size() && mode != "constant"; ++axis)
    if ((low[axis] || high[axis]) &&
        !repeatsKnown(sizes[axis], low[axis], high[axis], mode)) {
      x = padAlong(node, x, axis, RunTimeInts(node).number(low[axis]),
                   sizes[axis] + (low[axis] + high[axis]), mode, value);
      low[axis] = high[axis] = 0;
    }
  return Value(
      node.builder.createOrFold<PadOp>(node.loc, x, value, low, high, mode));
}

/// Returns the fill value of a Pad node in mode `constant`, as a scalar.
static Value paddingOf(OnnxNode &node) {
  if (node.opset >= 11 && node.hasInput(2))
    return node.reshape(node.input(2), {});
  return node.scalarConstant(node.opset < 11 ? node.floatAttr("value", 0) : 0,
                             elementOf(node.input(0)));
}

static ImportResult importPad(OnnxNode &node) {
  RunTimeInts ints(node);
  int64_t rank = shapeOf(node.input(0)).size();
  std::string mode = node.stringAttr("mode", "constant");
  if (!llvm::is_contained({"constant", "reflect", "edge", "wrap"}, mode))
    return node.invalid("unknown mode `" + mode + "`");
  auto pads = positionsFrom(node, node.opset < 2 ? "paddings" : "pads", 11, 1),
       axes = positionsFrom(node, "axes", 18, 3);
  if (failed(pads) || failed(axes))
    return failure();
  if (!*axes || node.opset < 18)
    axes = ints.numbers(iota(rank));
  int64_t given = *pads ? shapeOf(*pads)[0] : 0, count = shapeOf(*axes)[0];
  if (given != 2 * count)
    return node.invalid("pads must have two entries for each axis");
  if (count == 0)
    return one(node.input(0));
  Value none = ints.numbers(SmallVector<int64_t>(rank, 0));
  auto before = putOnAxes(node, none, *axes, ints.part(*pads, 0, count));
  if (failed(before))
    return failure();
  Value after = *putOnAxes(node, none, *axes, ints.part(*pads, count, count));
  auto low = numbersOf(node, *before), high = numbersOf(node, after);
  if (!low || !high)
    return padByInput(node, *before, after, mode, paddingOf(node));
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool isRepeated =
        mode != "constant" && ((*low)[axis] > 0 || (*high)[axis] > 0);
    if (isRepeated && failed(requireLength(node, node.input(0), axis, 1)))
      return node.invalid("mode " + mode + " repeats axis " + Twine(axis) +
                          ", which is empty");
    if ((dimsOf(node.input(0))[axis] + (*low)[axis] + (*high)[axis]).most() < 0)
      return node.invalid(
          "negative pads remove more elements than there are along axis " +
          Twine(axis));
  }
  return one(
      padOrCrop(node, node.input(0), paddingOf(node), *low, *high, mode));
}

static ImportResult importCenterCropPad(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0);
  int64_t rank = shapeOf(x).size();
  auto axes = normalizeAxes(node, node.intsAttr("axes", iota(rank)), rank);
  auto shape = positionsFrom(node, "shape", 0, 1);
  if (failed(axes) || failed(shape))
    return failure();
  if (int64_t(axes->size()) != shapeOf(*shape)[0])
    return node.invalid("shape must have one entry for each axis");
  if (axes->empty())
    return one(x);
  Dims from =
      llvm::map_to_vector(*axes, [&](int64_t axis) { return dimsOf(x)[axis]; });
  // The division rounds towards zero. So if the number of elements to add or
  // remove is odd, one more is added or removed at the end than at the start.
  Value change = node.sub(*shape, ints.sizes(from)),
        before = ints.div(change, 2);
  Value zero = node.scalarConstant(0, elementOf(x));
  auto first = numbersOf(node, before), all = numbersOf(node, change);
  if (first && all) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    for (auto [axis, start, both] : llvm::zip(*axes, *first, *all)) {
      low[axis] = start;
      high[axis] = both - start;
    }
    return one(padOrCrop(node, x, zero, low, high, "constant"));
  }
  auto to = readBoundedSizes(node, *shape);
  if (failed(to))
    return failure();
  for (auto [i, axis] : llvm::enumerate(*axes))
    x = padAlong(node, x, axis, elementAt(node, before, i), (*to)[i],
                 "constant", zero);
  return one(x);
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
    if (axis <= shape->size() && !sizes[1].known() && !(sizes[1] == to.back()))
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

/// Repeats `x` along each axis up to the sizes `to`, multiples of the sizes of
/// `x`: [a, b] becomes [a, b, a, b].
static Value tiled(OnnxNode &node, Value x, ArrayRef<Dim> to) {
  Dims sizes = dimsOf(x);
  SmallVector<int64_t> others;
  for (auto [axis, whole] : llvm::enumerate(to))
    if (TileOp::isMultiple(whole, sizes[axis]))
      sizes[axis] = whole;
    else
      others.push_back(axis);
  x = node.builder.createOrFold<TileOp>(node.loc, x, ArrayRef<Dim>(sizes));
  // TileOp needs result sizes that are known to be multiples of the operand's
  // sizes. Along all other axes, elements are gathered.
  RunTimeInts ints(node);
  for (int64_t axis : others)
    x = gatherAlong(
        node, x, axis,
        ints.modulo(node.countTo(to[axis]), ints.sizes(dimsOf(x)[axis])));
  return x;
}

static ImportResult importTile(OnnxNode &node) {
  RunTimeInts ints(node);
  Dims from = dimsOf(node.input(0));
  bool isKnown = node.opset < 6 || node.isKnown(1);
  Value given = isKnown ? Value() : ints.input(1);
  auto repeats =
      isKnown ? node.requireSizes(1, node.opset < 6 ? "tiles" : "repeats")
              : Dims(shapeOf(given)[0], 1);
  if (failed(repeats))
    return failure();
  if (node.opset < 6) {
    // Before opset 6, Tile repeats along a single axis: input 1 is the number
    // of repetitions, input 2 the axis.
    auto axes = node.requireInts(2, "axis");
    if (failed(axes))
      return failure();
    auto axis = normalizeAxes(node, *axes, from.size());
    if (failed(axis))
      return failure();
    Dims all(from.size(), 1);
    all[axis->front()] = repeats->front();
    *repeats = all;
  }
  if (repeats->size() != from.size() ||
      llvm::any_of(*repeats, [](const Dim &n) { return n.most() < 0; }))
    return node.invalid("repeats must have one count for each axis");
  if (from.empty())
    return one(node.input(0));
  if (!isKnown) {
    auto to = readBoundedSizes(node, node.mul(given, ints.sizes(from)));
    if (failed(to))
      return failure();
    return one(tiled(node, node.input(0), *to));
  }
  if (failed(checkSizes(node, *repeats)))
    return failure();
  for (auto [size, times] : llvm::zip(from, *repeats))
    size *= times;
  return one(tiled(node, node.input(0), from));
}

void registerMovementImports(OnnxRegistry &registry) {
  registry.add("Reshape", importReshape);
  registry.add("Squeeze", importSqueeze);
  registry.add("Unsqueeze", importUnsqueeze);
  registry.add("Flatten", importFlatten);
  registry.add("Transpose", importTranspose);
  registry.add("Pad", importPad);
  registry.add("CenterCropPad", importCenterCropPad);
  registry.add("Expand", importExpand);
  registry.add("Tile", importTile);
}

} // namespace ingot::graph
