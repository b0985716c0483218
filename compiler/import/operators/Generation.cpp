// ONNX operators that make tensors.
//
// Tensors made from a few numbers: with static shapes most of them are
// constants.

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

static Type int64(OnnxNode &node) {
  return node.builder.getIntegerType(64, /*isSigned=*/true);
}

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

static DenseElementsAttr ints(OnnxNode &node, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> values) {
  return DenseElementsAttr::get(RankedTensorType::get(shape, int64(node)),
                                values);
}

//===----------------------------------------------------------------------===//
// Of shapes
//===----------------------------------------------------------------------===//

static ImportResult importSize(OnnxNode &node) {
  return SmallVector<Value>{node.constant(
      ints(node, {}, {tensorType(node.input(0)).getNumElements()}))};
}

static ImportResult importConstantOfShape(OnnxNode &node) {
  auto sizes = node.requireSizes(0, "shape");
  if (failed(sizes))
    return failure();
  for (const Dim &size : *sizes) {
    if (size.most() < 0)
      return node.invalid("a size is negative");
    if (size.least() < 0)
      return node.unsupported("the size `" + kernel::sizeText(size) +
                              "`, which may be negative");
  }
  Type type = node.builder.getF32Type();
  Attribute value = node.builder.getF32FloatAttr(0);
  if (node.hasAttr("value")) {
    DenseElementsAttr given = node.tensorAttr("value");
    type = given.getElementType();
    value = *given.getValues<Attribute>().begin();
  }
  RankedTensorType all = tensorOf(*sizes, type);
  if (hasRunTimeSizes(all))
    return SmallVector<Value>{
        node.build<ExpandOp>(node.constant(DenseElementsAttr::get(
                                 RankedTensorType::get({}, type), value)),
                             ArrayRef(*sizes))};
  return SmallVector<Value>{node.constant(DenseElementsAttr::get(all, value))};
}

static ImportResult importEyeLike(OnnxNode &node) {
  ArrayRef<int64_t> shape = shapeOf(node.input(0));
  Type type = node.hasAttr("dtype") ? node.elementType(node.intAttr("dtype", 1))
                                    : elementOf(node.input(0));
  if (!type || shape.size() != 2)
    return node.invalid("needs a matrix and a numeric dtype");
  int64_t k = node.intAttr("k", 0);
  Attribute zero = elementAttr(type, 0), one = elementAttr(type, 1);
  SmallVector<Attribute> elements;
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t column = 0; column < shape[1]; ++column)
      elements.push_back(column - row == k ? one : zero);
  return SmallVector<Value>{node.constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, type), elements))};
}

//===----------------------------------------------------------------------===//
// Of numbers
//===----------------------------------------------------------------------===//

/// A range whose limit follows from sizes that are known only at run time: a part
/// of the longest one. Empty if its length is a number.
static std::optional<ImportResult> rangeOfSizes(OnnxNode &node) {
  Type type = elementOf(node.input(0));
  auto start = node.requireSizes(0, "start"),
       limit = node.requireSizes(1, "limit"),
       delta = node.requireSizes(2, "delta");
  if (failed(start) || failed(limit) || failed(delta))
    return ImportResult(failure());
  auto first = start->front().known(), step = delta->front().known();
  Dim count = limit->front() - start->front();
  if (count.known() || !first || !step)
    return std::nullopt;
  if (*step != 1 || count.least() < 0)
    return ImportResult(node.unsupported("a limit known only at run time needs "
                                         "a delta of 1, and a start that is "
                                         "below the limit at all sizes"));
  auto whole = node.constant(DenseElementsAttr::get(
      RankedTensorType::get({count.most()}, type),
      llvm::map_to_vector(
          llvm::seq<int64_t>(0, count.most()), [&](int64_t i) -> Attribute {
            return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(),
                                                *first + i, /*isSigned=*/true,
                                                /*implicitTrunc=*/true));
          })));
  return ImportResult(SmallVector<Value>{node.build<SliceOp>(
      whole, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1}, ArrayRef(count))});
}

static ImportResult importRange(OnnxNode &node) {
  Type type = elementOf(node.input(0));
  for (unsigned i = 0; i < 3; ++i)
    if (tensorType(node.input(i)).getNumElements() != 1)
      return node.invalid("start, limit and delta have one element each");
  // What is longer would not be a shape or a table of positions.
  constexpr int64_t maxCount = int64_t(1) << 26;
  auto make =
      [&](int64_t count,
          llvm::function_ref<Attribute(int64_t)> element) -> ImportResult {
    SmallVector<Attribute> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(element(i));
    return SmallVector<Value>{node.constant(DenseElementsAttr::get(
        RankedTensorType::get({count}, type), elements))};
  };
  if (isa<IntegerType>(type) && !node.constantInput(1))
    if (auto sizes = rangeOfSizes(node))
      return *sizes;
  if (isa<IntegerType>(type)) {
    auto start = node.requireInts(0, "start"),
         limit = node.requireInts(1, "limit"),
         delta = node.requireInts(2, "delta");
    if (failed(start) || failed(limit) || failed(delta))
      return failure();
    int64_t first = start->front(), step = delta->front(), distance;
    if (step == 0)
      return node.invalid("delta is 0");
    if (llvm::SubOverflow(limit->front(), first, distance))
      return node.invalid("the range has no end");
    int64_t count = distance / step + (distance % step != 0);
    if ((distance > 0) != (step > 0))
      count = 0;
    if (count > maxCount)
      return node.invalid("the range has no end");
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
    return node.invalid("the range has no end");
  return make(static_cast<int64_t>(std::max(0.0, count)), [&](int64_t i) {
    return FloatAttr::get(type, first + static_cast<double>(i) * step);
  });
}

static ImportResult importOneHot(OnnxNode &node) {
  Value indices = node.input(0), values = node.input(2);
  auto depth = node.requireInts(1, "depth");
  auto axis = node.axisAttr("axis", -1, shapeOf(indices).size() + 1);
  if (failed(depth) || failed(axis))
    return failure();
  if (depth->size() != 1 || depth->front() < 0 ||
      shapeOf(values) != ArrayRef<int64_t>{2})
    return node.invalid("needs one depth and two values");
  auto type = RankedTensorType::get(
      spliced(shapeOf(indices), *axis, 0, depth->front()), elementOf(values));
  return SmallVector<Value>{node.build<OneHotOp>(type, indices, values, *axis)};
}

static ImportResult importTrilu(OnnxNode &node) {
  Value x = node.input(0);
  FailureOr<SmallVector<int64_t>> k = SmallVector<int64_t>{0};
  if (node.hasInput(1))
    k = node.requireInts(1, "k");
  if (failed(k))
    return failure();
  if (shapeOf(x).size() < 2 || k->size() != 1)
    return node.invalid("needs a tensor of rank 2 or more and one k");
  return SmallVector<Value>{
      node.build<TriluOp>(x, k->front(), node.intAttr("upper", 1) != 0)};
}

//===----------------------------------------------------------------------===//
// Of data: only where these are known, since they decide the shape
//===----------------------------------------------------------------------===//

static ImportResult importNonZero(OnnxNode &node) {
  auto values = node.requireFloats(0, "the input");
  if (failed(values))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(node.input(0));
  SmallVector<SmallVector<int64_t>> positions(shape.size());
  int64_t count = 0;
  for (auto [flat, value] : llvm::enumerate(*values)) {
    if (value == 0)
      continue;
    ++count;
    int64_t rest = flat;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      positions[axis].push_back(rest % shape[axis]);
  }
  SmallVector<int64_t> all;
  for (ArrayRef<int64_t> row : positions)
    llvm::append_range(all, row);
  return SmallVector<Value>{node.constant(
      ints(node, {static_cast<int64_t>(shape.size()), count}, all))};
}

/// What is distinct is decided here; the elements are then gathered.
static ImportResult importUnique(OnnxNode &node) {
  Value x = node.input(0);
  auto values = node.requireFloats(0, "the input");
  if (failed(values))
    return failure();
  if (llvm::any_of(*values, [](double v) { return std::isnan(v); }))
    return node.unsupported("the input has NaN, which equals nothing");
  int64_t axis = 0;
  if (node.hasAttr("axis")) {
    auto normal = node.axisAttr("axis", 0, shapeOf(x).size());
    if (failed(normal))
      return failure();
    axis = *normal;
  } else {
    x = node.reshape(x, {tensorType(x).getNumElements()});
  }
  // Subtensor i as the row of its elements.
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t count = shape[axis],
          inner = ShapedType::getNumElements(shape.drop_front(axis + 1));
  std::vector<std::vector<double>> rows(count);
  for (auto [flat, value] : llvm::enumerate(*values))
    rows[static_cast<int64_t>(flat) / inner % count].push_back(value);
  // Distinct rows in order of value, or of first appearance.
  SmallVector<int64_t> order(count), firsts, inverse(count), counts;
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t i, int64_t j) {
    return std::tie(rows[i], i) < std::tie(rows[j], j);
  });
  for (int64_t i : order)
    if (firsts.empty() || rows[firsts.back()] != rows[i])
      firsts.push_back(i);
  if (node.intAttr("sorted", 1) == 0)
    llvm::sort(firsts);
  counts.resize(firsts.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    inverse[i] =
        llvm::find_if(firsts, [&](int64_t j) { return rows[i] == rows[j]; }) -
        firsts.begin();
    if (inverse[i] < static_cast<int64_t>(firsts.size()))
      ++counts[inverse[i]];
  }
  int64_t distinct = firsts.size();
  Value indices = node.constant(ints(node, {distinct}, firsts));
  return SmallVector<Value>{GatherOp::create(node.builder, node.loc, x, indices,
                                             axis, /*inRange=*/true),
                            indices,
                            node.constant(ints(node, {count}, inverse)),
                            node.constant(ints(node, {distinct}, counts))};
}

void registerGenerationImports(OnnxRegistry &registry) {
  registry.add("Size", importSize);
  registry.add("ConstantOfShape", importConstantOfShape);
  registry.add("EyeLike", importEyeLike);
  registry.add("Range", importRange,
               "start, limit and delta must be known when compiling");
  registry.add("OneHot", importOneHot, "depth must be known when compiling");
  registry.add("Trilu", importTrilu, "k must be known when compiling");
  registry.add("NonZero", importNonZero,
               "the input must be known when compiling: it decides the shape");
  registry.add("Unique", importUnique,
               "the input must be known when compiling: it decides the shape");
}

} // namespace ingot::graph
