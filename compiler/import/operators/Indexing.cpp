// Imports operators that take indices as operands.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

static bool isIndex(Value v) {
  return isa<IntegerType>(elementOf(v)) && !elementOf(v).isInteger(1);
}

/// Whether all indices in input `input` are known to be in [0, size), so that
/// they need not be wrapped or clamped at run time. Fails with a diagnostic if
/// an index is out of range in every run.
static FailureOr<bool> knownInRange(OnnxNode &node, unsigned input,
                                    const Dim &size) {
  DenseElementsAttr known = node.constantInput(input);
  if (!known || !known.getElementType().isIntOrIndex())
    return false;
  bool inRange = true;
  for (const APInt &value : known.getValues<APInt>()) {
    int64_t i = known.getElementType().isUnsignedInteger()
                    ? value.getZExtValue()
                    : value.getSExtValue();
    if (i < -size.most() || i >= size.most())
      return node.invalid("index " + Twine(i) +
                          " is outside of an axis of size " +
                          kernel::sizeText(size));
    inRange &= i >= 0 && i < size.least();
  }
  return inRange;
}

static ImportResult importGather(OnnxNode &node) {
  Value x = node.input(0), indices = node.input(1);
  auto axis = node.axisAttr("axis", 0, shapeOf(x).size());
  if (failed(axis))
    return failure();
  if (!isIndex(indices))
    return node.invalid("the indices must be integers");
  auto inRange = knownInRange(node, 1, dimsOf(x)[*axis]);
  if (failed(inRange))
    return failure();
  if (dimsOf(x)[*axis] == 0 && tensorType(indices).getNumElements() != 0)
    return node.invalid(
        "the gathered axis has size 0, so that no index is valid");
  return one(node.build<GatherOp>(x, indices, *axis, *inRange));
}

/// Requires `indices` to be no longer than the data `x` along each axis except
/// `axis`. If this is known only at run time, the generated program checks it,
/// and the indices get the smaller one of their own size and the size of `x`.
static LogicalResult checkLengths(OnnxNode &node, Value &indices, Value x,
                                  int64_t axis) {
  for (int64_t i = 0; i < int64_t(shapeOf(indices).size()); ++i) {
    Dim size = dimsOf(indices)[i], whole = dimsOf(x)[i];
    if (i == axis || size == whole || (whole - size).least() >= 0)
      continue;
    if (size.known() && node.requireAtLeast(whole, *size.known()))
      continue;
    if ((whole - size).most() < 0)
      return node.invalid(
          "the indices have more elements than the data along axis " +
          Twine(i));
    if (failed(checkedSize(node, whole - size)))
      return failure();
    indices = resizedAlong(node, indices, i, kernel::smallerOf(size, whole));
  }
  return success();
}

/// Requires two shapes, which `own` and `other` return, to be equal. The shapes
/// are read again for each axis, since requiring equal sizes may replace a size
/// in a type.
static LogicalResult requireAlike(OnnxNode &node,
                                  llvm::function_ref<Dims()> own,
                                  llvm::function_ref<Dims()> other,
                                  const Twine &what) {
  if (own().size() != other().size())
    return node.invalid(what);
  for (size_t i = 0; i < own().size(); ++i)
    if (failed(node.requireEqual(own()[i], other()[i], what)))
      return failure();
  return success();
}

static ImportResult importGatherElements(OnnxNode &node) {
  Value x = node.input(0), indices = node.input(1);
  auto axis = node.axisAttr("axis", 0, shapeOf(x).size());
  if (failed(axis))
    return failure();
  if (!isIndex(indices) || shapeOf(indices).size() != shapeOf(x).size())
    return node.invalid(
        "the indices must be integers, and have the same rank as the data");
  if (failed(checkLengths(node, indices, x, *axis)))
    return failure();
  return one(node.build<GatherElementsOp>(x, indices, *axis));
}

/// Returns the length of the index tuples in `indices`, which is the size of
/// the last axis: the number of axes of the data that a tuple addresses. The
/// length must be known at compile time, since the rank of the result depends
/// on it.
static FailureOr<int64_t> tupleLength(OnnxNode &node, Value indices) {
  if (auto known = dimsOf(indices).back().known())
    return *known;
  return node.unsupported(
      "an index tuple whose length is known only at run time is not supported",
      "fix the last size of the indices with --dim");
}

static ImportResult importGatherND(OnnxNode &node) {
  Value x = node.input(0), indices = node.input(1);
  int64_t batch = node.intAttr("batch_dims", 0), rank = shapeOf(x).size();
  if (!isIndex(indices) || shapeOf(indices).empty())
    return node.invalid("the indices must be integers of rank 1 or more");
  auto components = tupleLength(node, indices);
  if (failed(components))
    return failure();
  if (batch < 0 || batch >= static_cast<int64_t>(shapeOf(indices).size()) ||
      batch + *components > rank)
    return node.invalid("the last size of the indices, the length of an index "
                        "tuple, exceeds the number of axes of the data");
  auto inCommon = [&](Value v) {
    Dims sizes = dimsOf(v);
    sizes.truncate(batch);
    return sizes;
  };
  if (failed(requireAlike(
          node, [&] { return inCommon(x); }, [&] { return inCommon(indices); },
          "the batch axes of the data and of the indices do not match")))
    return failure();
  return one(node.build<GatherNDOp>(x, indices, batch));
}

static ImportResult importArrayFeatureExtractor(OnnxNode &node) {
  Value x = node.input(0), indices = node.input(1);
  Dim count = product(dimsOf(indices));
  if (shapeOf(x).empty() || (shapeOf(x).back() == 0 && count.most() != 0))
    return node.invalid("X must have rank 1 or more, and at least one element "
                        "along the last axis");
  if (shapeOf(x).size() < 2)
    x = node.reshape(x, {1, dimsOf(x)[0]});
  indices = node.reshape(indices, {count});
  return one(node.build<GatherOp>(x, indices, shapeOf(x).size() - 1));
}

/// Imports Compress: selects the elements for which a condition is true.
static ImportResult importCompress(OnnxNode &node) {
  Value x = node.input(0), condition = node.input(1);
  FailureOr<int64_t> axis = axisOrFlat(node, x);
  if (failed(axis))
    return failure();
  if (shapeOf(condition).size() != 1 ||
      failed(requireLength(node, x, *axis, dimsOf(condition)[0])))
    return node.invalid(
        "the condition must be a vector that is not longer than the axis");
  auto places = positionsOfInput(node, 1);
  if (failed(places))
    return failure();
  return one(gatherAlong(node, x, *axis, *places));
}

static ImportResult importReverseSequence(OnnxNode &node) {
  Value x = node.input(0), lengths = node.input(1);
  int64_t rank = shapeOf(x).size();
  auto batch = node.axisAttr("batch_axis", 1, rank),
       time = node.axisAttr("time_axis", 0, rank);
  if (failed(batch) || failed(time))
    return failure();
  if (*batch == *time || shapeOf(lengths).size() != 1)
    return node.invalid(
        "sequence_lens must be a vector with one length for each batch entry, "
        "and batch_axis and time_axis must differ");
  if (failed(node.requireEqual(
          dimsOf(lengths)[0], dimsOf(x)[*batch],
          "the number of lengths in sequence_lens, and the batch size")))
    return failure();
  return one(node.build<ReverseSequenceOp>(x, lengths, *batch, *time));
}

static ImportResult importTensorScatter(OnnxNode &node) {
  Value past = node.input(0), update = node.input(1);
  auto axis = node.axisAttr("axis", -2, shapeOf(past).size());
  if (failed(axis))
    return failure();
  if (*axis == 0 || shapeOf(update).size() != shapeOf(past).size() ||
      failed(requireLength(node, past, *axis, dimsOf(update)[*axis])))
    return node.invalid(
        "the update must have the rank of the cache and fit into it along "
        "`axis`, which must not be the batch axis");
  auto others = [&](Value v) {
    Dims sizes = dimsOf(v);
    sizes.erase(sizes.begin() + *axis);
    return sizes;
  };
  if (failed(requireAlike(
          node, [&] { return others(update); }, [&] { return others(past); },
          "the sizes of the update and of the cache do not match")))
    return failure();
  Value position = node.input(2);
  if (position && failed(node.requireEqual(
                      dimsOf(position)[0], dimsOf(past)[0],
                      "the number of write positions, and the batch size")))
    return failure();
  if (!position)
    position =
        node.expand(node.scalarConstant(0, node.i64()), {dimsOf(past)[0]});
  bool circular = node.stringAttr("mode", "linear") == "circular";
  return one(
      node.build<TensorScatterOp>(past, update, position, *axis, circular));
}

//===----------------------------------------------------------------------===//
// Scatter operators
//===----------------------------------------------------------------------===//

static FailureOr<std::string> reductionOf(OnnxNode &node) {
  std::string reduction = node.stringAttr("reduction", "none");
  if (!llvm::is_contained({"none", "add", "mul", "max", "min"}, reduction))
    return node.invalid("unknown reduction `" + reduction + "`");
  return reduction;
}

static ImportResult importScatterElements(OnnxNode &node) {
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  auto axis = node.axisAttr("axis", 0, shapeOf(x).size());
  auto reduction = reductionOf(node);
  if (failed(axis) || failed(reduction))
    return failure();
  if (!isIndex(indices) || shapeOf(indices).size() != shapeOf(updates).size() ||
      shapeOf(indices).size() != shapeOf(x).size())
    return node.invalid("the indices must be integers of the same shape as the "
                        "updates and of the same rank as the data");
  if (failed(requireAlike(
          node, [&] { return dimsOf(updates); },
          [&] { return dimsOf(indices); },
          "the shapes of the indices and the updates do not match")) ||
      failed(checkLengths(node, indices, x, *axis)))
    return failure();
  for (auto [i, size] : llvm::enumerate(dimsOf(indices)))
    updates = resizedAlong(node, updates, i, size);
  return one(
      node.build<ScatterElementsOp>(x, indices, updates, *reduction, *axis));
}

static ImportResult importScatterND(OnnxNode &node) {
  Value x = node.input(0), indices = node.input(1), updates = node.input(2);
  auto reduction = reductionOf(node);
  if (failed(reduction))
    return failure();
  if (!isIndex(indices) || shapeOf(indices).empty())
    return node.invalid("the indices must be integers of rank 1 or more");
  // The ranks of data, indices and updates determine the length of the index
  // tuples.
  int64_t length = int64_t(shapeOf(indices).size()) - 1 +
                   int64_t(shapeOf(x).size()) -
                   int64_t(shapeOf(updates).size());
  if (!dimsOf(indices).back().known() && length >= 0 &&
      failed(node.requireEqual(dimsOf(indices).back(), length,
                               "the length of an index tuple")))
    return failure();
  auto components = tupleLength(node, indices);
  if (failed(components))
    return failure();
  if (*components > static_cast<int64_t>(shapeOf(x).size()))
    return node.invalid("the last size of the indices, the length of an index "
                        "tuple, exceeds the number of axes of the data");
  auto ofUpdates = [&] {
    Dims data = dimsOf(x), at = dimsOf(indices);
    return spliced(ArrayRef(data), 0, *components, ArrayRef(at).drop_back());
  };
  if (failed(requireAlike(
          node, [&] { return dimsOf(updates); }, ofUpdates,
          "the shape of the updates does not have one slice for each index")))
    return failure();
  return one(node.build<ScatterNDOp>(x, indices, updates, *reduction));
}

/// Pads `x` with zeros at the end of each axis to the sizes in input 2,
/// output_shape.
static ImportResult padToInput(OnnxNode &node, Value x) {
  RunTimeInts ints(node);
  Dims from = dimsOf(x);
  if (!(product(dimsOf(node.input(2))) == int64_t(from.size())))
    return node.invalid(
        "output_shape must have one entry for each axis of the input");
  auto to = sizesOfInput(node, 2, "output_shape");
  if (failed(to))
    return failure();
  Value zero = node.scalarConstant(0, elementOf(x));
  SmallVector<int64_t> low(from.size(), 0), high(low);
  for (auto [axis, size] : llvm::enumerate(*to)) {
    Dim more = size - from[axis];
    if (more.most() < 0)
      return node.invalid("output_shape is smaller than the size that "
                          "kernel_shape, strides and pads give");
    if (auto known = more.known()) {
      high[axis] = *known;
      continue;
    }
    if (more.least() < 0 && failed(checkedSize(node, more)))
      return failure();
    x = padAlong(node, x, axis, ints.number(0), size, "constant", zero);
  }
  return one(node.builder.createOrFold<PadOp>(node.loc, x, zero, low, high));
}

/// Imports MaxUnpool: scatters the elements into a tensor of zeros that has the
/// shape of the pool's input. If output_shape is larger, the result is padded
/// with zeros.
static ImportResult importMaxUnpool(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<int64_t> kernel = node.intsAttr("kernel_shape");
  if (failed(node.requireAlike(x, node.input(1),
                               "the shapes of the elements and the indices")))
    return failure();
  Dims shape = dimsOf(x);
  size_t spatial = kernel.size();
  SmallVector<int64_t> strides =
      node.intsAttr("strides", SmallVector<int64_t>(spatial, 1));
  SmallVector<int64_t> pads =
      node.intsAttr("pads", SmallVector<int64_t>(2 * spatial, 0));
  if (shape.size() != spatial + 2 || strides.size() != spatial ||
      pads.size() != 2 * spatial)
    return node.invalid("kernel_shape and strides must have one entry for each "
                        "spatial axis of the input, and pads must have two");
  for (size_t i = 0; i < spatial; ++i)
    shape[i + 2] = (shape[i + 2] - 1) * strides[i] - pads[i] -
                   pads[spatial + i] + kernel[i];
  for (Dim &size : shape) {
    FailureOr<Dim> checked =
        size.least() < 0 && !size.known() ? checkedSize(node, size) : size;
    if (failed(checked))
      return failure();
    size = *checked;
  }
  Dim count = product(dimsOf(x));
  Value zeros =
      node.expand(node.scalarConstant(0, elementOf(x)), {product(shape)});
  Value indices = node.reshape(node.input(1), {count}),
        updates = node.reshape(x, {count});
  Value result =
      node.build<ScatterElementsOp>(zeros, indices, updates, "none", 0);
  result = node.reshape(result, shape);
  if (!node.hasInput(2))
    return one(result);
  return padToInput(node, result);
}

//===----------------------------------------------------------------------===//
// Other operators
//===----------------------------------------------------------------------===//

static ImportResult importTopK(OnnxNode &node) {
  Value x = node.input(0);
  auto axis = node.axisAttr("axis", -1, shapeOf(x).size());
  if (failed(axis))
    return failure();
  FailureOr<Dims> k = Dims{node.intAttr("k", 0)};
  if (node.opset >= 10 && tensorType(node.input(1)).getNumElements() != 1)
    return node.invalid("K must have exactly one element");
  if (node.opset >= 10)
    k = sizesOfInput(node, 1, "K", dimsOf(x)[*axis].most());
  if (failed(k) || failed(checkSizes(node, *k)))
    return failure();
  if (k->front().least() < 0 ||
      failed(requireLength(node, x, *axis, k->front())))
    return node.invalid("K must be between 0 and the size of the axis");
  Dims sizes = dimsOf(x);
  Dims shape = resized(ArrayRef(sizes), *axis, k->front());
  Type positions = tensorOf(shape, node.i64());
  bool largest = node.intAttr("largest", 1) != 0;
  auto op =
      TopKOp::create(node.builder, node.loc, tensorOf(shape, elementOf(x)),
                     positions, x, *axis, largest);
  return SmallVector<Value>{op.getValues(), op.getIndices()};
}

static ImportResult importDet(OnnxNode &node) {
  Value x = node.input(0);
  if (shapeOf(x).size() >= 2 &&
      failed(node.requireEqual(dimsOf(x).back(), dimsOf(x).end()[-2],
                               "the last two sizes of the input")))
    return failure();
  Dims sizes = dimsOf(x);
  if (sizes.size() < 2 || !(sizes.back() == sizes.end()[-2]) ||
      !isa<FloatType>(elementOf(x)))
    return node.invalid(
        "the input must consist of square floating-point matrices");
  // The determinant of an empty matrix is 1.
  if (sizes.back() == 0)
    return one(node.expand(node.scalarConstant(1, elementOf(x)),
                           ArrayRef(sizes).drop_back(2)));
  auto op = DetOp::create(node.builder, node.loc, x);
  return one(op.getResult());
}

void registerIndexingImports(OnnxRegistry &registry) {
  registry.add("Gather", importGather);
  registry.add("GatherElements", importGatherElements);
  registry.add("GatherND", importGatherND);
  registry.add("ArrayFeatureExtractor", importArrayFeatureExtractor, "",
               "ai.onnx.ml");
  registry.add("Compress", importCompress);
  registry.add("ReverseSequence", importReverseSequence);
  registry.add("TensorScatter", importTensorScatter);
  registry.add("ScatterElements", importScatterElements);
  registry.add("Scatter", importScatterElements);
  registry.add("ScatterND", importScatterND);
  registry.add("MaxUnpool", importMaxUnpool);
  registry.add("TopK", importTopK);
  registry.add("Col2Im", importCol2Im);
  registry.add("Det", importDet);
}

} // namespace ingot::graph
