// Imports normalizations.

#include "compiler/import/operators/RowNorm.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Imports Softmax and LogSoftmax. Until opset 12, the normalization covers all
/// axes from `axis` on; since opset 13, only `axis`.
template <typename OpT> static ImportResult importSoftmax(OnnxNode &node) {
  Value x = node.input(0);
  Dims shape = dimsOf(x);
  if (shape.empty())
    x = node.reshape(x, {1});
  FailureOr<int64_t> axis =
      node.axisAttr("axis", node.opset < 13 ? 1 : -1, shapeOf(x).size());
  if (failed(axis))
    return failure();
  if (node.opset < 13) {
    Dims all = dimsOf(x), coerced(ArrayRef(all).take_front(*axis));
    coerced.push_back(product(ArrayRef(all).drop_front(*axis)));
    x = node.reshape(x, coerced);
  }
  Value y = node.build<OpT>(x, *axis);
  return one(node.reshape(y, shape));
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

/// Returns the type in which operands of the floating-point types `a` and `b`
/// are combined, which represents all values of both.
static Type commonType(OnnxNode &node, Type a, Type b) {
  Builder &builder = node.builder;
  return a == b                   ? a
         : a.isF64() || b.isF64() ? Type(builder.getF64Type())
                                  : Type(builder.getF32Type());
}

Moments momentsOver(OnnxNode &node, Value x, ArrayRef<int64_t> axes) {
  x = node.cast(x, node.sumType(elementOf(x)));
  Value mean = node.build<ReduceMeanOp>(x, axes);
  Value centered = node.sub(x, mean);
  Value squares = node.mul(centered, centered);
  return {mean, centered, node.build<ReduceMeanOp>(squares, axes)};
}

Value deviation(OnnxNode &node, Value variance, double epsilon) {
  Value sum = node.add(variance, epsilon);
  return node.elementwise<SqrtOp>(sum);
}

/// Assumes that the dynamic sizes of `parameter` (scale or bias) equal the
/// sizes of `x` from `axis` on. A parameter may broadcast to `x`, but not `x`
/// to the parameter.
static void assumeSizes(OnnxNode &node, Value x, Value parameter,
                        int64_t axis) {
  for (size_t i = 0; parameter && axis >= 0 && i < shapeOf(parameter).size() &&
                     axis + i < shapeOf(x).size();
       ++i)
    if (Dim own = dimsOf(x)[axis + i]; !(own == dimsOf(parameter)[i]))
      (void)node.assumeEqual(own, dimsOf(parameter)[i]);
}

Value normalizeRows(OnnxNode &node, Value x, Value scale, Value bias,
                    const RowNorm &norm) {
  for (Value parameter : {scale, bias})
    if (parameter)
      assumeSizes(node, x, parameter,
                  int64_t(shapeOf(x).size()) -
                      int64_t(shapeOf(parameter).size()));
  Dims shape = dimsOf(x);
  ArrayRef<Dim> normalized = ArrayRef(shape).drop_front(norm.axis);
  Dim length = product(normalized);
  Dims rows(ArrayRef(shape).take_front(norm.axis));
  rows.push_back(length);

  // If scale and bias have the shape and type of a normalized row, they are
  // operands of the normalization. Otherwise, separate operators with
  // broadcasting apply them.
  auto fits = [&](Value v) {
    return !v ||
           (dimsOf(v) == Dims(normalized) && elementOf(v) == elementOf(x));
  };
  SmallVector<Value> affine;
  bool inKernel = scale && fits(scale) && fits(bias);
  if (inKernel) {
    affine.push_back(node.reshape(scale, {length}));
    if (bias)
      affine.push_back(node.reshape(bias, {length}));
  }
  Value flat = node.reshape(x, rows);
  Value y = node.build<LayerNormOp>(flat, affine,
                                    node.builder.getF32FloatAttr(norm.epsilon),
                                    node.builder.getBoolAttr(norm.center));
  y = node.reshape(y, shape);
  if (inKernel)
    return y;
  if (scale)
    y = node.mul(y, node.cast(scale, elementOf(x)));
  if (y && bias)
    y = node.add(y, node.cast(bias, elementOf(x)));
  return y;
}

RowStatistics statisticsOfRows(OnnxNode &node, Value x, const RowNorm &norm,
                               Type stash) {
  auto axes = llvm::to_vector(
      llvm::seq<int64_t>(norm.axis, int64_t(shapeOf(x).size())));
  x = node.cast(x, node.sumType(stash));
  auto inverseOf = [&](Value variance) {
    return node.cast(
        node.elementwise<ReciprocalOp>(deviation(node, variance, norm.epsilon)),
        stash);
  };
  if (norm.center) {
    Moments moments = momentsOver(node, x, axes);
    return {node.cast(moments.mean, stash), inverseOf(moments.variance)};
  }
  Value squares = node.mul(x, x);
  Value mean = node.build<ReduceMeanOp>(squares, axes);
  return {Value(), inverseOf(mean)};
}

/// Imports LayerNormalization (`center` is true) and RMSNormalization. A
/// normalized row consists of all axes from `axis` on.
static ImportResult importLayerNorm(OnnxNode &node, bool center) {
  Value x = node.input(0), scale = node.input(1),
        bias = center ? node.input(2) : Value();
  FailureOr<int64_t> axis = node.axisAttr("axis", -1, shapeOf(x).size());
  if (failed(axis))
    return failure();
  RowNorm norm{*axis, node.floatAttr("epsilon", 1e-5), center};
  // The scale of RMS normalization may have another type than x. The result
  // then has the type of the scale.
  Type type = elementOf(scale), wide = commonType(node, elementOf(x), type);
  Value y = normalizeRows(node, node.cast(x, wide), node.cast(scale, wide),
                          bias, norm);
  if (!y)
    return failure();
  SmallVector<Value> results{node.cast(y, type)};
  if (node.numOutputs() > 1 && (node.wantsOutput(1) || node.wantsOutput(2))) {
    Type stash = node.elementType(node.intAttr("stash_type", 1));
    if (!isa_and_nonnull<FloatType>(stash))
      return node.invalid("`stash_type` must be a floating-point type");
    auto [mean, inverse] = statisticsOfRows(node, x, norm, stash);
    // RMS normalization has no mean as an output.
    if (center)
      results.push_back(mean);
    results.push_back(inverse);
    results.resize(node.numOutputs());
  }
  return results;
}
static ImportResult importLayerNormalization(OnnxNode &node) {
  return importLayerNorm(node, /*center=*/true);
}
static ImportResult importRMSNormalization(OnnxNode &node) {
  return importLayerNorm(node, /*center=*/false);
}

static SmallVector<int64_t> allAxesBut(int64_t rank, ArrayRef<int64_t> kept) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(kept, axis))
      axes.push_back(axis);
  return axes;
}

/// Imports BatchNormalization as x * s + (bias - mean * s) with s = scale /
/// sqrt(var + epsilon). If the parameters are constants, this is a
/// multiplication and an addition of per-channel constants, which fold into a
/// preceding convolution.
static ImportResult importBatchNorm(OnnxNode &node) {
  Value x = node.input(0);
  Type type = elementOf(x);
  int64_t rank = shapeOf(x).size();
  double epsilon = node.floatAttr("epsilon", 1e-5),
         momentum = node.floatAttr("momentum", 0.9);
  if (node.opset < 9 && node.intAttr("spatial", 1) == 0)
    return node.unsupported("`spatial` = 0 is not supported");
  for (unsigned i = 1; i < 5; ++i)
    assumeSizes(node, x, node.input(i), 1);
  bool training = node.opset >= 14 && node.intAttr("training_mode", 0);
  Value mean = node.input(3), variance = node.input(4);
  SmallVector<Value> running;
  if (training) {
    Moments moments = momentsOver(node, x, allAxesBut(rank, 1));
    auto blend = [&](Value before, Value now) {
      Type type = elementOf(before);
      now = node.cast(now, type);
      return node.add(node.mul(before, momentum), node.mul(now, 1 - momentum));
    };
    // An input of rank 1 has only a batch axis, and so a single channel.
    for (unsigned i = 1; i < 5; ++i)
      if (failed(node.requireEqual(
              dimsOf(node.input(i))[0], rank > 1 ? dimsOf(x)[1] : Dim(1),
              "the number of channels, and the length of a parameter")))
        return failure();
    Value batchMean = node.reshape(moments.mean, dimsOf(mean));
    Value batchVariance = node.reshape(moments.variance, dimsOf(variance));
    running = {blend(mean, batchMean), blend(variance, batchVariance)};
    mean = batchMean;
    variance = batchVariance;
  }
  // Scale, bias, mean and variance may have other types than x. The factor and
  // addend per channel are computed in a type that represents both x and the
  // variance (or in float32, if this type is narrower) and rounded once.
  Type wide = commonType(node, type, elementOf(variance)),
       exact = node.sumType(wide);
  Value scale = node.cast(node.input(1), exact),
        bias = node.cast(node.input(2), exact);
  scale = node.div(scale, deviation(node, node.cast(variance, exact), epsilon));
  bias = node.sub(bias, node.mul(node.cast(mean, exact), scale));
  scale = node.cast(scale, wide);
  bias = node.cast(bias, wide);
  int64_t channelAxis = rank > 1 ? 1 : 0;
  Value scaled =
      node.mul(node.cast(x, wide), node.alignAt(scale, channelAxis, rank));
  if (!scaled)
    return failure();
  Value y = node.add(scaled, node.alignAt(bias, channelAxis, rank));
  SmallVector<Value> results{node.cast(y, type)};
  llvm::append_range(results, running);
  results.resize(node.numOutputs());
  return results;
}

/// Imports InstanceNormalization over the spatial axes of each channel. The
/// result is built from reductions, so that the layout can be channels-first or
/// channels-last.
static ImportResult importInstanceNorm(OnnxNode &node) {
  Value x = node.input(0);
  int64_t rank = shapeOf(x).size();
  for (unsigned i : {1u, 2u})
    assumeSizes(node, x, node.input(i), 1);
  Moments moments = momentsOver(node, x, allAxesBut(rank, {0, 1}));
  Type wide = elementOf(moments.variance);
  auto ofChannels = [&](unsigned i) {
    return node.alignAt(node.cast(node.input(i), wide), 1, rank);
  };
  Value scale =
      node.div(ofChannels(1), deviation(node, moments.variance,
                                        node.floatAttr("epsilon", 1e-5)));
  Value scaled = node.mul(moments.centered, scale);
  return one(node.cast(node.add(scaled, ofChannels(2)), elementOf(x)));
}

Value normalizeGroups(OnnxNode &node, Value x, int64_t groups, Value scale,
                      Value bias, double epsilon) {
  if (shapeOf(x).size() < 2 || !node.requireMultiple(dimsOf(x)[1], groups))
    return noValue(
        node.invalid("the number of groups must divide the channels"));
  for (Value parameter : {scale, bias}) {
    if (shapeOf(parameter).size() != 1)
      return noValue(node.invalid(
          "scale and bias must have one element for each channel or group"));
    if (!(dimsOf(parameter)[0] == groups) &&
        failed(node.requireEqual(
            dimsOf(parameter)[0], dimsOf(x)[1],
            "the number of channels, and the length of scale or bias")))
      return {};
  }
  Dims shape = dimsOf(x);
  Dim inGroup =
      shape[1].floorDiv(groups) * product(ArrayRef(shape).drop_front(2));
  Type type = elementOf(x);
  Value rows = node.reshape(x, {shape[0], groups, inGroup});
  Value y = node.build<LayerNormOp>(rows, ValueRange{},
                                    node.builder.getF32FloatAttr(epsilon),
                                    node.builder.getBoolAttr(true));
  scale = node.cast(scale, type);
  bias = node.cast(bias, type);
  bool perGroup = dimsOf(scale)[0] == groups && mayDiffer(shape[1], groups);
  if (!perGroup)
    y = node.reshape(y, shape);
  y = node.mul(y, node.alignAt(scale, 1, shapeOf(y).size()));
  y = node.add(y, node.alignAt(bias, 1, shapeOf(y).size()));
  return node.reshape(y, shape);
}

/// Imports GroupNormalization. Scale and bias have one element per group until
/// opset 20, and one per channel since opset 21.
static ImportResult importGroupNorm(OnnxNode &node) {
  // Until opset 20, scale and bias must have num_groups elements; a dynamic
  // size is assumed to be that number.
  for (unsigned i : {1u, 2u})
    if (Value given = node.input(i);
        node.opset < 21 && hasDynamicSizes(given.getType()) &&
        shapeOf(given).size() == 1 &&
        failed(node.requireEqual(
            dimsOf(given)[0], node.intAttr("num_groups", 0),
            "the number of groups, and the length of scale or bias")))
      return failure();
  return one(normalizeGroups(node, node.input(0), node.intAttr("num_groups", 0),
                             node.input(1), node.input(2),
                             node.floatAttr("epsilon", 1e-5)));
}

static ImportResult importMeanVarianceNormalization(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<int64_t> axes = node.intsAttr("axes", {0, 2, 3});
  for (int64_t &axis : axes) {
    FailureOr<int64_t> front = node.normalizeAxis(axis, shapeOf(x).size());
    if (failed(front))
      return failure();
    axis = *front;
  }
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  Moments moments = momentsOver(node, x, axes);
  Value deviation = node.add(node.elementwise<SqrtOp>(moments.variance), 1e-9);
  return one(node.cast(node.div(moments.centered, deviation), elementOf(x)));
}

/// Imports LpNormalization: divides the vectors along the attribute `axis` by
/// their L1 or L2 norm. Zero vectors remain zero.
static ImportResult importLpNormalization(OnnxNode &node) {
  Value x = node.input(0);
  FailureOr<int64_t> axis = node.axisAttr("axis", -1, shapeOf(x).size());
  if (failed(axis))
    return failure();
  int64_t p = node.intAttr("p", 2);
  if (p != 1 && p != 2)
    return node.invalid("`p` must be 1 or 2");
  Type type = elementOf(x);
  // The norm may exceed the range of float types narrower than float32.
  x = node.cast(x, node.sumType(type));
  Value norm = p == 1 ? node.build<ReduceL1Op>(x, *axis)
                      : node.build<ReduceL2Op>(x, *axis);
  Value zero = node.scalarConstant(0, elementOf(x));
  Value isZero = node.equal(norm, zero);
  Value y = node.where(isZero, zero, node.div(x, norm));
  return one(node.cast(y, type));
}

static ImportResult importLRN(OnnxNode &node) {
  Value x = node.input(0);
  int64_t size = node.intAttr("size", 0);
  if (size <= 0 || shapeOf(x).size() < 2)
    return node.invalid("`size` must be positive, the rank at least 2");
  Builder &b = node.builder;
  auto number = [&](StringRef name, double otherwise) {
    return b.getF32FloatAttr(node.floatAttr(name, otherwise));
  };
  return one(node.build<LRNOp>(x, b.getI64IntegerAttr(1),
                               b.getI64IntegerAttr(size), number("alpha", 1e-4),
                               number("beta", 0.75), number("bias", 1)));
}

void registerNormalizationImports(OnnxRegistry &registry) {
  registry.add("Softmax", importSoftmax<SoftmaxOp>);
  registry.add("LogSoftmax", importSoftmax<LogSoftmaxOp>);
  registry.add("LayerNormalization", importLayerNormalization);
  registry.add("RMSNormalization", importRMSNormalization);
  registry.add("SimplifiedLayerNormalization", importRMSNormalization);
  registry.add("BatchNormalization", importBatchNorm,
               "`spatial` = 0 (opset 8 and before)");
  registry.add("InstanceNormalization", importInstanceNorm);
  registry.add("GroupNormalization", importGroupNorm);
  registry.add("MeanVarianceNormalization", importMeanVarianceNormalization);
  registry.add("LpNormalization", importLpNormalization);
  registry.add("LRN", importLRN);
}

} // namespace ingot::graph
