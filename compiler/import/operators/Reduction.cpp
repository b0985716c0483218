// Imports reductions.

#include "compiler/import/operators/RunTimeShapes.h"

using namespace mlir;

namespace ingot::graph {

/// Returns the axes of a Reduce* node in ascending order. The axes are an
/// attribute before opset `inputSince`, and an input since then. Without axes,
/// returns all axes, or none if noop_with_empty_axes is set.
static FailureOr<SmallVector<int64_t>> reducedAxes(OnnxNode &node,
                                                   int64_t inputSince) {
  int64_t rank = shapeOf(node.input(0)).size();
  SmallVector<int64_t> given = node.intsAttr("axes");
  if (node.opset >= inputSince && node.hasInput(1) &&
      tensorType(node.input(1)).getNumElements() > 0) {
    auto input = node.requireInts(1, "axes");
    if (failed(input))
      return failure();
    given = *input;
  }
  if (given.empty() && !node.intAttr("noop_with_empty_axes", 0))
    llvm::append_range(given, llvm::seq<int64_t>(0, rank));
  for (int64_t &axis : given) {
    FailureOr<int64_t> front = node.normalizeAxis(axis, rank);
    if (failed(front))
      return failure();
    axis = *front;
  }
  llvm::sort(given);
  given.erase(llvm::unique(given), given.end());
  return given;
}

/// Returns the result of a Reduce* node, given the reduced tensor `kept`, in
/// which the reduced axes have size 1. Unless keepdims is set, these axes are
/// removed.
static ImportResult finishReduction(OnnxNode &node, Value kept,
                                    ArrayRef<int64_t> axes) {
  if (node.intAttr("keepdims", 1))
    return one(kept);
  Dims shape;
  for (auto [axis, size] : llvm::enumerate(dimsOf(kept)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(size);
  return one(node.reshape(kept, shape));
}

/// Whether the axes of a Reduce* node are known only at run time.
static bool hasRunTimeAxes(OnnxNode &node, int64_t inputSince) {
  return node.opset >= inputSince && node.hasInput(1) &&
         tensorType(node.input(1)).getNumElements() > 0 && !node.isConstant(1);
}

/// Applies to each element of `x` the function that the reduction `OpT` applies
/// before it combines elements, such as |x| for ReduceL1.
template <typename OpT> static Value mapped(OnnxNode &node, Value x) {
  if constexpr (std::is_same_v<OpT, ReduceL1Op>)
    return node.elementwise<AbsOp>(x);
  if constexpr (std::is_same_v<OpT, ReduceSumSquareOp> ||
                std::is_same_v<OpT, ReduceL2Op>)
    return node.mul(x, x);
  return x;
}

template <typename OpT> static constexpr Combination combinationOf() {
  if constexpr (std::is_same_v<OpT, ReduceMaxOp>)
    return {"max", -INFINITY};
  if constexpr (std::is_same_v<OpT, ReduceMinOp>)
    return {"min", INFINITY};
  if constexpr (std::is_same_v<OpT, ReduceProdOp>)
    return {"mul", 1};
  return {"add", 0};
}

/// Applies to the combined elements `x` the function that gives the result of
/// the reduction `OpT`, such as the square root for ReduceL2.
template <typename OpT>
static Value finished(OnnxNode &node, RunTimeReduction &reduction, Value x) {
  [[maybe_unused]] Type type = elementOf(x);
  [[maybe_unused]] auto inFloats = [&](auto function) {
    Type real = isa<FloatType>(type) ? type : node.f64();
    return node.cast(function(node.cast(x, real)), type);
  };
  if constexpr (std::is_same_v<OpT, ReduceMeanOp>)
    return node.div(x, node.cast(reduction.count(), type));
  if constexpr (std::is_same_v<OpT, ReduceL2Op>)
    return inFloats([&](Value v) { return node.elementwise<SqrtOp>(v); });
  if constexpr (std::is_same_v<OpT, ReduceLogSumOp>)
    return inFloats([&](Value v) { return node.elementwise<LogOp>(v); });
  return x;
}

/// Returns the type in which elements of type `given` are combined: int64 for
/// the sums of means and logarithms of integers, whose results may fit where the
/// sums do not, and float64 for squares of integers.
template <typename OpT> static Type combinedType(OnnxNode &node, Type given) {
  constexpr bool isOfSum =
      std::is_same_v<OpT, ReduceMeanOp> || std::is_same_v<OpT, ReduceLogSumOp>;
  if (isa<FloatType>(given))
    return given;
  if (std::is_same_v<OpT, ReduceL2Op>)
    return node.f64();
  return isOfSum && given.getIntOrFloatBitWidth() < 64 ? Type(node.i64())
                                                       : given;
}

template <typename OpT> static ImportResult reduceByInput(OnnxNode &node) {
  RunTimeReduction reduction(node);
  if (failed(reduction.prepare()))
    return failure();
  // ReduceMin and ReduceMax of booleans are computed in uint8.
  Type given = elementOf(node.input(0));
  Value x = given.isInteger(1)
                ? node.cast(node.input(0),
                            node.builder.getIntegerType(8, /*isSigned=*/false))
                : node.input(0);
  x = node.cast(x, combinedType<OpT>(node, node.sumType(elementOf(x))));
  Value all = reduction.combine(mapped<OpT>(node, x), combinationOf<OpT>());
  return one(node.cast(finished<OpT>(node, reduction, all), given));
}

template <typename OpT, int64_t inputSince = 18>
static ImportResult importReduction(OnnxNode &node) {
  if (hasRunTimeAxes(node, inputSince))
    return reduceByInput<OpT>(node);
  auto axes = reducedAxes(node, inputSince);
  if (failed(axes))
    return failure();
  Type given = elementOf(node.input(0));
  Value x = node.cast(node.input(0), combinedType<OpT>(node, given));
  return finishReduction(node, node.cast(node.build<OpT>(x, *axes), given),
                         *axes);
}

/// Computes log(sum(e^x)) as m + log(sum(e^(x - m))), so that nothing
/// overflows. m is the maximum of x, or 0 if the maximum is infinite.
static ImportResult importLogSumExp(OnnxNode &node) {
  RunTimeReduction reduction(node);
  bool isOpen = hasRunTimeAxes(node, 18);
  FailureOr<SmallVector<int64_t>> axes = SmallVector<int64_t>();
  if (isOpen ? failed(reduction.prepare())
             : failed(axes = reducedAxes(node, 18)))
    return failure();
  // ReduceLogSumExp of integers is computed in double precision.
  Type given = elementOf(node.input(0));
  Value x = node.cast(node.input(0),
                      isa<FloatType>(given) ? node.sumType(given) : node.f64());
  Value most = isOpen ? reduction.combine(x, combinationOf<ReduceMaxOp>())
                      : node.build<ReduceMaxOp>(x, *axes);
  Value m = node.where(node.elementwise<IsInfOp>(most), 0, most);
  Value terms =
      node.elementwise<ExpOp>(node.sub(x, isOpen ? reduction.spread(m) : m));
  Value sum = isOpen ? node.elementwise<LogOp>(reduction.combine(
                           terms, combinationOf<ReduceSumOp>()))
                     : node.build<ReduceLogSumOp>(terms, *axes);
  Value y = node.cast(node.add(sum, m), given);
  return isOpen ? one(y) : finishReduction(node, y, *axes);
}

template <typename OpT>
static FailureOr<Value> buildArg(OnnxNode &node, Value x, int64_t axis) {
  if (shapeOf(x)[axis] == 0)
    return node.invalid(
        "the reduced axis has no elements, so that there is no result");
  return node.build<OpT>(x, axis, node.intAttr("select_last_index", 0) != 0);
}

template <typename OpT> static ImportResult importArg(OnnxNode &node) {
  Value x = node.input(0);
  FailureOr<int64_t> axis = node.axisAttr("axis", 0, shapeOf(x).size());
  if (failed(axis))
    return failure();
  FailureOr<Value> arg = buildArg<OpT>(node, x, *axis);
  if (failed(arg))
    return failure();
  return finishReduction(node, *arg, *axis);
}

/// Imports Hardmax: 1 at the first maximum along the axis, else 0. Until opset
/// 12, all axes from `axis` on are flattened to one axis.
static ImportResult importHardmax(OnnxNode &node) {
  Value x = node.input(0);
  Dims shape = dimsOf(x);
  int64_t rank = shape.size();
  FailureOr<int64_t> axis =
      node.axisAttr("axis", node.opset < 13 ? 1 : -1, rank);
  if (failed(axis))
    return failure();
  if (tensorType(x).getNumElements() == 0)
    return one(x);
  if (node.opset < 13) {
    Dims coerced(shape.begin(), shape.begin() + *axis);
    coerced.push_back(product(ArrayRef<Dim>(shape).drop_front(*axis)));
    x = node.reshape(x, coerced);
    rank = coerced.size();
  }
  FailureOr<Value> arg = buildArg<ArgMaxOp>(node, x, *axis);
  if (failed(arg))
    return failure();
  Value iota = node.alignAt(node.countTo(dimsOf(x)[*axis]), *axis, rank);
  Value hit = node.equal(iota, *arg);
  Value result = node.where(hit, 1, node.scalarConstant(0, elementOf(x)));
  return one(node.reshape(result, shape));
}

/// Imports a cumulative operator, such as CumSum, whose axis is known only at
/// run time: computes it along every axis and selects one of the results.
template <typename OpT> static ImportResult scanByInput(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), axis = ints.input(1), result;
  int64_t rank = shapeOf(x).size();
  if (shapeOf(axis)[0] != 1 || rank == 0)
    return node.invalid("`axis` must have exactly one element");
  axis = node.reshape(axis, {});
  axis = node.where(node.less(axis, 0), node.add(axis, rank), axis);
  for (int64_t i = 0; i < rank; ++i) {
    Value along = node.build<OpT>(x, i, node.intAttr("exclusive", 0) != 0,
                                  node.intAttr("reverse", 0) != 0);
    result = result ? node.where(node.equal(axis, i), along, result) : along;
  }
  return one(result);
}

template <typename OpT> static ImportResult importScan(OnnxNode &node) {
  Value x = node.input(0);
  if (!node.isConstant(1))
    return scanByInput<OpT>(node);
  auto given = node.requireInts(1, "axis");
  if (failed(given))
    return failure();
  if (given->size() != 1)
    return node.invalid("`axis` must have exactly one element");
  FailureOr<int64_t> axis =
      node.normalizeAxis(given->front(), shapeOf(x).size());
  if (failed(axis))
    return failure();
  return one(node.build<OpT>(x, *axis, node.intAttr("exclusive", 0) != 0,
                             node.intAttr("reverse", 0) != 0));
}

/// Returns the spatial axes of `x` [N, C, spatial...].
static SmallVector<int64_t> spatialAxes(Value x) {
  return llvm::to_vector(
      llvm::seq<int64_t>(2, std::max<int64_t>(2, shapeOf(x).size())));
}

template <typename OpT> static ImportResult importGlobalPool(OnnxNode &node) {
  return one(node.build<OpT>(node.input(0), spatialAxes(node.input(0))));
}

static ImportResult importGlobalLpPool(OnnxNode &node) {
  Value x = node.input(0);
  // `p` is a float attribute in opset 1, an integer later.
  double p = node.opset < 2 ? node.floatAttr("p", 2)
                            : static_cast<double>(node.intAttr("p", 2));
  if (p == 2)
    return importGlobalPool<ReduceL2Op>(node);
  if (p == 1)
    return importGlobalPool<ReduceL1Op>(node);
  Type type = elementOf(x), wide = node.sumType(type);
  x = node.cast(x, wide);
  Value powers = node.pow(node.elementwise<AbsOp>(x), p);
  Value sum = node.build<ReduceSumOp>(powers, spatialAxes(x));
  Value root = node.pow(sum, 1 / p);
  return one(node.cast(root, type));
}

void registerReductionImports(OnnxRegistry &registry) {
  registry.add("ReduceSum", importReduction<ReduceSumOp, 13>);
  registry.add("ReduceMean", importReduction<ReduceMeanOp>);
  registry.add("ReduceMax", importReduction<ReduceMaxOp>);
  registry.add("ReduceMin", importReduction<ReduceMinOp>);
  registry.add("ReduceProd", importReduction<ReduceProdOp>);
  registry.add("ReduceSumSquare", importReduction<ReduceSumSquareOp>);
  registry.add("ReduceL1", importReduction<ReduceL1Op>);
  registry.add("ReduceL2", importReduction<ReduceL2Op>);
  registry.add("ReduceLogSum", importReduction<ReduceLogSumOp>);
  registry.add("ReduceLogSumExp", importLogSumExp);
  registry.add("ArgMax", importArg<ArgMaxOp>);
  registry.add("ArgMin", importArg<ArgMinOp>);
  registry.add("Hardmax", importHardmax);
  registry.add("CumSum", importScan<CumSumOp>);
  registry.add("CumProd", importScan<CumProdOp>);
  registry.add("GlobalAveragePool", importGlobalPool<ReduceMeanOp>);
  registry.add("GlobalMaxPool", importGlobalPool<ReduceMaxOp>);
  registry.add("GlobalLpPool", importGlobalLpPool);
}

} // namespace ingot::graph
