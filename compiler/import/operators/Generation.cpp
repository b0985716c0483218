// Imports operators that generate tensors from shapes or a few numbers, and
// operators whose result shapes depend on data.
//
// If all shapes are static, most of the results are constants.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

static Attribute elementAttr(Type type, double value) {
  if (auto f = dyn_cast<FloatType>(type))
    return FloatAttr::get(f, value);
  return IntegerAttr::get(type,
                          APInt(type.getIntOrFloatBitWidth(),
                                static_cast<int64_t>(value), /*isSigned=*/true,
                                /*implicitTrunc=*/true));
}

Value floatConstant(OnnxNode &node, ArrayRef<int64_t> shape,
                    ArrayRef<double> values, Type type) {
  auto tensor = RankedTensorType::get(shape, type);
  if (type.isF64())
    return node.constant(DenseElementsAttr::get(tensor, values));
  if (type.isF32()) {
    std::vector<float> singles(values.begin(), values.end());
    return node.constant(
        DenseElementsAttr::get(tensor, ArrayRef<float>(singles)));
  }
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(elementAttr(type, value));
  return node.constant(DenseElementsAttr::get(tensor, elements));
}

//===----------------------------------------------------------------------===//
// Tensors generated from shapes
//===----------------------------------------------------------------------===//

static ImportResult importSize(OnnxNode &node) {
  return one(node.integers({}, tensorType(node.input(0)).getNumElements()));
}

static ImportResult importConstantOfShape(OnnxNode &node) {
  auto sizes = sizesOfInput(node, 0, "shape");
  if (failed(sizes))
    return failure();
  for (size_t i = 0; i < sizes->size(); ++i)
    if ((*sizes)[i].least() < 0 && node.requireAtLeast((*sizes)[i], 0) &&
        node.isKnown(0))
      // requireAtLeast may have changed the bounds of dynamic sizes, so the
      // sizes are read again.
      sizes = node.requireSizes(0, "shape");
  if (failed(sizes))
    return failure();
  if (llvm::any_of(*sizes, [](const Dim &size) { return size.most() < 0; }))
    return node.invalid("a size is negative, but sizes must be 0 or more");
  if (failed(checkSizes(node, *sizes)))
    return failure();
  Type type = node.f32();
  Attribute value = node.builder.getF32FloatAttr(0);
  if (node.hasAttr("value")) {
    DenseElementsAttr given = node.tensorAttr("value");
    if (given.getNumElements() != 1)
      return node.invalid("`value` must have one element");
    type = given.getElementType();
    value = *given.getValues<Attribute>().begin();
  }
  RankedTensorType all = tensorOf(*sizes, type);
  if (hasDynamicSizes(all))
    return one(node.expand(node.constant(DenseElementsAttr::get(
                               RankedTensorType::get({}, type), value)),
                           *sizes));
  return one(node.constant(DenseElementsAttr::get(all, value)));
}

/// Imports EyeLike as a comparison of row and column numbers. Only small results
/// are folded to constants.
static ImportResult importEyeLike(OnnxNode &node) {
  Dims sizes = dimsOf(node.input(0));
  Type type = node.hasAttr("dtype") ? node.elementType(node.intAttr("dtype", 1))
                                    : elementOf(node.input(0));
  if (!type || sizes.size() != 2)
    return node.invalid(
        "the input must be a matrix, and `dtype` a numeric type");
  RunTimeInts ints(node);
  Value row = node.reshape(node.countTo(sizes[0]), {sizes[0], 1});
  Value column = node.reshape(node.countTo(sizes[1]), {1, sizes[1]});
  // A diagonal beyond a corner of the matrix has no elements.
  Value k = ints.number(
      std::clamp(node.intAttr("k", 0), -sizes[0].most(), sizes[1].most()));
  return one(node.cast(node.equal(column, node.add(row, k)), type));
}

//===----------------------------------------------------------------------===//
// Tensors generated from a few numbers
//===----------------------------------------------------------------------===//

/// Imports Range if its operands are computed from sizes, so that its length is
/// an expression of sizes. Returns nullopt if the step is 0 or is not known at
/// compile time.
static std::optional<ImportResult> rangeOfSizes(OnnxNode &node) {
  auto start = node.requireSizes(0, "start"),
       limit = node.requireSizes(1, "limit"),
       delta = node.requireSizes(2, "delta");
  if (failed(start) || failed(limit) || failed(delta))
    return ImportResult(failure());
  Dim first = start->front(), distance = limit->front() - first;
  int64_t step = delta->front().known().value_or(0);
  if (step < 0)
    distance = distance * -1;
  if (step == 0 || step == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  distance = kernel::largerOf(distance, 0);
  RunTimeInts ints(node);
  Value numbers =
      node.countTo((distance + (std::abs(step) - 1)).floorDiv(std::abs(step)));
  if (step != 1)
    numbers = node.mul(numbers, step);
  if (!(first == 0))
    numbers = node.add(numbers, ints.sizes(first));
  return one(node.cast(numbers, elementOf(node.input(0))));
}

/// Imports Range if its operands are known only at run time.
static ImportResult rangeByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Type type = elementOf(node.input(0));
  bool isFloat = isa<FloatType>(type);
  Type wide = isFloat ? Type(node.f64()) : node.i64();
  auto number = [&](unsigned i) {
    return node.reshape(node.cast(node.input(i), wide), {1});
  };
  Value start = number(0), limit = number(1), delta = number(2);
  Value distance = node.sub(limit, start), count;
  if (isFloat) {
    count = node.cast(node.elementwise<CeilOp>(node.div(distance, delta)),
                      node.i64());
  } else {
    // The number of elements is distance / step, rounded up: before the
    // division, step - 1 is added for a positive step, step + 1 for a negative
    // one.
    Value one = node.where(node.less(delta, 0), 1, ints.number(-1));
    count = ints.div(node.add(distance, node.add(delta, one)), delta);
  }
  auto size = readBoundedSizes(node, node.max(count, 0));
  if (failed(size))
    return failure();
  Value steps = node.mul(node.cast(node.countTo(size->front()), wide), delta);
  return one(node.cast(node.add(start, steps), type));
}

static ImportResult importRange(OnnxNode &node) {
  Type type = elementOf(node.input(0));
  for (unsigned i = 0; i < 3; ++i)
    if (tensorType(node.input(i)).getNumElements() != 1)
      return node.invalid("start, limit and delta must have one element each");
  bool isConstant = true;
  for (unsigned i = 0; i < 3; ++i) {
    if (!node.isKnown(i))
      return rangeByInput(node);
    isConstant &= bool(node.constantInput(i));
  }
  if (!isConstant) {
    auto range = rangeOfSizes(node);
    return range ? *range : rangeByInput(node);
  }
  // The largest number of elements of a range whose operands are constants; a
  // longer range is rejected. Shapes and tables of positions are shorter.
  constexpr int64_t maxCount = int64_t(1) << 26;
  auto make =
      [&](int64_t count,
          llvm::function_ref<Attribute(int64_t)> element) -> ImportResult {
    SmallVector<Attribute> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(element(i));
    return one(node.constant(DenseElementsAttr::get(
        RankedTensorType::get({count}, type), elements)));
  };
  if (isa<IntegerType>(type)) {
    auto start = node.requireInts(0, "start"),
         limit = node.requireInts(1, "limit"),
         delta = node.requireInts(2, "delta");
    if (failed(start) || failed(limit) || failed(delta))
      return failure();
    int64_t first = start->front(), step = delta->front(), distance;
    if (step == 0)
      return node.invalid("delta is 0, so that the range never ends");
    if (llvm::SubOverflow(limit->front(), first, distance) ||
        (step == -1 && distance < -maxCount)) // -2^63 / -1 would overflow
      return node.invalid("the range has too many elements, or its number of "
                          "elements is not defined");
    int64_t count = distance / step + (distance % step != 0);
    if ((distance > 0) != (step > 0))
      count = 0;
    if (count > maxCount)
      return node.invalid("the range has too many elements, or its number of "
                          "elements is not defined");
    return make(count, [&](int64_t i) {
      return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(),
                                          first + i * step, /*isSigned=*/true,
                                          /*implicitTrunc=*/true));
    });
  }
  auto start = node.requireFloats(0, "start"),
       limit = node.requireFloats(1, "limit"),
       delta = node.requireFloats(2, "delta");
  if (failed(start) || failed(limit) || failed(delta))
    return failure();
  double first = start->front(), step = delta->front();
  double count = std::ceil((limit->front() - first) / step);
  if (std::isnan(count) || count > maxCount)
    return node.invalid("the range has too many elements, or its number of "
                        "elements is not defined");
  return make(static_cast<int64_t>(std::max(0.0, count)), [&](int64_t i) {
    return FloatAttr::get(type, first + static_cast<double>(i) * step);
  });
}

static ImportResult importOneHot(OnnxNode &node) {
  Value indices = node.input(0), values = node.input(2);
  auto axis = node.axisAttr("axis", -1, shapeOf(indices).size() + 1);
  if (failed(axis))
    return failure();
  if (tensorType(node.input(1)).getNumElements() != 1 ||
      shapeOf(values).size() != 1 ||
      failed(node.requireEqual(dimsOf(values)[0], 2,
                               "the number of entries of `values`")))
    return node.invalid(
        "`depth` must have one element, and `values` must have two");
  auto depth = sizesOfInput(node, 1, "depth");
  if (failed(depth) || failed(checkSizes(node, *depth)))
    return failure();
  if (depth->size() != 1 || depth->front().least() < 0)
    return node.invalid(
        "`depth` must have one element, and `values` must have two");
  Dims sizes = dimsOf(indices);
  auto type =
      tensorOf(spliced(ArrayRef(sizes), *axis, 0, ArrayRef(depth->front())),
               elementOf(values));
  return one(node.build<OneHotOp>(type, indices, values, *axis));
}

/// Imports Trilu if k, the number of the diagonal, is known only at run time.
static ImportResult triluByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), k = node.reshape(ints.input(1), {});
  Dims sizes = dimsOf(x);
  Value row = node.reshape(node.countTo(sizes.end()[-2]), {sizes.end()[-2], 1}),
        diagonal = node.sub(node.countTo(sizes.back()), row);
  Value outside = node.intAttr("upper", 1) ? node.less(diagonal, k)
                                           : node.less(k, diagonal);
  return one(node.where(outside, 0, x));
}

static ImportResult importTrilu(OnnxNode &node) {
  Value x = node.input(0);
  if (node.hasInput(1) && !node.isConstant(1) && shapeOf(x).size() >= 2 &&
      tensorType(node.input(1)).getNumElements() == 1)
    return triluByInput(node);
  FailureOr<SmallVector<int64_t>> k = SmallVector<int64_t>{0};
  if (node.hasInput(1))
    k = node.requireInts(1, "k");
  if (failed(k))
    return failure();
  if (shapeOf(x).size() < 2 || k->size() != 1)
    return node.invalid(
        "the input must have rank 2 or more, and `k` must have one element");
  // All diagonals beyond a corner of the matrix give the same result, so the
  // number is limited to that of the first such diagonal, which fits an index.
  int64_t diagonal = std::clamp(k->front(), -dimsOf(x).end()[-2].most(),
                                dimsOf(x).back().most());
  return one(node.build<TriluOp>(x, diagonal, node.intAttr("upper", 1) != 0));
}

//===----------------------------------------------------------------------===//
// Operators with data-dependent result shapes
//===----------------------------------------------------------------------===//

/// Imports NonZero: collects the row-major indices of the elements that are not
/// zero, and converts each index to coordinates.
static ImportResult importNonZero(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0);
  Dims sizes = dimsOf(x);
  auto places = positionsOfInput(node, 0);
  if (failed(places))
    return failure();
  Dim count = dimsOf(*places)[0];
  SmallVector<Value> rows;
  Value rest = *places;
  for (const Dim &size : llvm::reverse(sizes)) {
    Value length = ints.sizes(size);
    rows.insert(rows.begin(),
                node.reshape(ints.modulo(rest, length), {1, count}));
    rest = ints.div(rest, length);
  }
  if (rows.empty())
    return one(node.expand(ints.number(0), {0, count}));
  return one(rows.size() == 1 ? rows.front() : node.concat(rows, 0));
}

/// Returns a vector with 1 for the first element of the vector `x` and for each
/// element that differs from its predecessor, else 0. `all` is the length of
/// `x`.
static Value differsFromLast(OnnxNode &node, Value x, const Dim &all) {
  RunTimeInts ints(node);
  if (auto count = all.known()) {
    Value same = node.equal(node.slice(x, 0, 1, *count - 1),
                            node.slice(x, 0, 0, *count - 1));
    return ints.joined({ints.numbers({1}), node.sub(1, ints.vector(same))});
  }
  Value places = node.countTo(all);
  Value last = gatherAlong(node, x, 0, node.sub(places, 1));
  Value same = ints.vector(node.equal(x, last));
  return node.where(node.equal(places, 0), 1, node.sub(1, same));
}

/// Imports Unique. Sorts the elements, and marks each element
/// that differs from its predecessor. The sort is stable, so each group of
/// equal elements begins with the one that occurs first in `x`.
static ImportResult importUnique(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = inputOrConstant(node, 0);
  Dim all = product(dimsOf(x));
  if (node.hasAttr("axis") && shapeOf(x).size() != 1) {
    auto axis = node.axisAttr("axis", 0, shapeOf(x).size());
    if (failed(axis))
      return failure();
    return uniqueAlong(node, *axis);
  }
  if (all == 0) {
    Value none = node.integers({});
    return SmallVector<Value>{node.reshape(x, {0}), none, none, none};
  }
  x = node.reshape(x, {all});
  auto sort = [&](Value v) {
    return TopKOp::create(node.builder, node.loc,
                          tensorOf(ArrayRef(all), elementOf(v)),
                          tensorOf(ArrayRef(all), node.i64()), v,
                          /*axis=*/0, /*largest=*/false);
  };
  // Narrow floats are compared in float32, which represents them exactly.
  TopKOp sorted = sort(node.cast(x, node.sumType(elementOf(x))));
  Value isFirst = differsFromLast(node, sorted.getValues(), all);
  // Computes for each sorted element the number of its group of equal elements,
  // and for each group the number of its elements and its first index in `x`.
  Value number = ints.sums(isFirst, /*exclusive=*/false);
  Value group = node.sub(number, 1);
  auto filled = [&](const Dim &value) {
    return node.expand(node.reshape(ints.sizes(value), {}), {all});
  };
  Value zeros = filled(0);
  Value counts =
      node.build<ScatterElementsOp>(zeros, group, filled(1), "add", 0);
  Value firsts = node.build<ScatterElementsOp>(filled(all), group,
                                               sorted.getIndices(), "min", 0);
  if (!node.intAttr("sorted", 1)) {
    // With sorted=0, orders the groups of equal elements by their first
    // occurrence. The unused entries of `firsts` are sorted to the end.
    TopKOp order = sort(firsts);
    firsts = order.getValues();
    counts = ints.take(counts, order.getIndices());
    group = ints.take(ints.put(zeros, order.getIndices(), node.countTo(all)),
                      group);
  }
  Value inverse = ints.put(zeros, sorted.getIndices(), group);
  Value count = ints.last(number, all);
  auto distinct = node.readSizes(count, {all.most()});
  if (failed(distinct))
    return failure();
  firsts = resizedFlat(node, firsts, distinct->front());
  return SmallVector<Value>{ints.take(x, firsts), firsts, inverse,
                            resizedFlat(node, counts, distinct->front())};
}

void registerGenerationImports(OnnxRegistry &registry) {
  registry.add("Size", importSize);
  registry.add("ConstantOfShape", importConstantOfShape);
  registry.add("EyeLike", importEyeLike);
  registry.add("Range", importRange,
               "data-dependent lengths without an upper bound");
  registry.add("OneHot", importOneHot,
               "a data-dependent depth without an upper bound");
  registry.add("Trilu", importTrilu);
  registry.add("NonZero", importNonZero);
  registry.add("Unique", importUnique);
}

} // namespace ingot::graph
