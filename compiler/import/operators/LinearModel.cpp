// Imports the linear models of ai.onnx.ml, and the operators that preprocess
// features.

#include "compiler/import/operators/ClassScores.h"
#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/Products.h"
#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Preprocessing of features
//===----------------------------------------------------------------------===//

/// Returns the number of features per row: the size of the last axis.
static Dim featureCount(Value x) {
  return shapeOf(x).empty() ? Dim(1) : dimsOf(x).back();
}

/// Fails, with a diagnostic, if `count`, the number of numbers in attribute
/// `name`, is neither 1 nor the number of features of `x`.
static LogicalResult checkCount(OnnxNode &node, StringRef name, int64_t count,
                                Value x) {
  if (count == 1 || node.takeEqual(featureCount(x), count))
    return success();
  return node.invalid("`" + name + "` has " + Twine(count) + " numbers for " +
                      kernel::sizeText(featureCount(x)) + " features");
}

/// Returns `numbers`, the value of attribute `name` (one number for all
/// features, or one per feature), as a constant that broadcasts to `x`. Fails,
/// with a diagnostic, if their count is neither 1 nor the number of features.
static FailureOr<Value> perFeature(OnnxNode &node, StringRef name,
                                   ArrayRef<double> numbers, Value x,
                                   Type type) {
  int64_t count = numbers.size();
  if (failed(checkCount(node, name, count, x)))
    return failure();
  if (count == 1)
    return node.scalarConstant(numbers[0], type);
  return floatConstant(node, {count}, numbers, type);
}

static LogicalResult checkRows(OnnxNode &node) {
  if (size_t rank = shapeOf(node.input(0)).size(); rank != 1 && rank != 2)
    return node.invalid("the input must be a matrix of samples and features");
  return success();
}

/// Imports Scaler: (x - offset) * scale.
static ImportResult importScaler(OnnxNode &node) {
  Value x = node.input(0);
  if (failed(checkRows(node)))
    return failure();
  Type f32 = node.f32(),
       type = isa<FloatType>(elementOf(x)) ? elementOf(x) : f32;
  auto offset =
           perFeature(node, "offset", node.floatsAttr("offset", {0}), x, type),
       scale =
           perFeature(node, "scale", node.floatsAttr("scale", {1}), x, type);
  if (failed(offset) || failed(scale))
    return failure();
  Value centered = node.sub(node.cast(x, type), *offset);
  return one(node.cast(node.mul(centered, *scale), f32));
}

/// Imports Imputer: replaces each element equal to the value that marks missing
/// data, which may be NaN, by the imputed value of its feature.
static ImportResult importImputer(OnnxNode &node) {
  Value x = node.input(0);
  if (failed(checkRows(node)))
    return failure();
  Type type = elementOf(x);
  bool isReal = isa<FloatType>(type);
  const char *name = isReal ? "imputed_value_floats" : "imputed_value_int64s";
  SmallVector<double> floats = node.floatsAttr(name);
  SmallVector<int64_t> integers = node.intsAttr(name);
  int64_t count = isReal ? floats.size() : integers.size();
  if (count == 0)
    return node.invalid("`" + Twine(name) + "` is missing");
  if (failed(checkCount(node, name, count, x)))
    return failure();
  double missing = node.floatAttr("replaced_value_float", 0);
  Value isMissing = !isReal
                        ? node.equal(x, node.intAttr("replaced_value_int64", 0))
                    : std::isnan(missing) ? node.elementwise<IsNaNOp>({x})
                                          : node.equal(x, missing);
  Value imputed = isReal ? floatConstant(node, {count}, floats, type)
                         : node.cast(node.integers(integers), type);
  return one(node.where(isMissing, imputed, x));
}

/// Imports Normalizer: divides each row by its largest element, by the sum of
/// the absolute values of its elements, or by its Euclidean length, unless this
/// divisor is 0.
static ImportResult importNormalizer(OnnxNode &node) {
  Value x = node.input(0);
  if (failed(checkRows(node)))
    return failure();
  Type f32 = node.f32();
  x = node.cast(x, isa<FloatType>(elementOf(x)) ? elementOf(x) : f32);
  int64_t axis = shapeOf(x).size() - 1;
  std::string kind = node.stringAttr("norm", "MAX");
  Value norm = kind == "MAX"  ? node.build<ReduceMaxOp>(x, axis)
               : kind == "L1" ? node.build<ReduceL1Op>(x, axis)
               : kind == "L2" ? node.build<ReduceL2Op>(x, axis)
                              : Value();
  if (!norm)
    return node.invalid("`norm` must be MAX, L1 or L2");
  Value zero = node.scalarConstant(0, elementOf(x));
  Value isZero = node.equal(norm, zero);
  Value y = node.where(isZero, x, node.div(x, norm));
  return one(node.cast(y, f32));
}

/// Imports FeatureVectorizer: concatenates the rows of all inputs. The row of
/// each input is first cut or padded with zeros to the size that
/// `inputdimensions` declares for the input.
static ImportResult importFeatureVectorizer(OnnxNode &node) {
  SmallVector<int64_t> sizes = node.intsAttr("inputdimensions");
  if (sizes.size() != node.numInputs())
    return node.invalid("`inputdimensions` has " + Twine(sizes.size()) +
                        " entries for " + Twine(node.numInputs()) + " inputs");
  Type f32 = node.f32();
  SmallVector<Value> parts;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    Value x = node.input(i);
    if (shapeOf(x).size() == 1)
      x = node.reshape(x, {1, dimsOf(x)[0]});
    if (shapeOf(x).size() != 2 || sizes[i] < 1 || sizes[i] > (1 << 30))
      return node.invalid("input " + Twine(i) +
                          " must be a matrix of samples and features, and its "
                          "entry in `inputdimensions` must be positive");
    x = node.cast(x, f32);
    // If the number of features is known only at run time, the row is padded as
    // if it had the smallest possible number of features. A slice then cuts the
    // row to the declared size.
    Dim has = dimsOf(x)[1];
    x = extendedAlong(node, x, 1, sizes[i] - has.least());
    if (!(dimsOf(x)[1] == sizes[i]))
      x = node.slice(x, 1, 0, sizes[i]);
    if (i > 0 && !node.takeEqual(dimsOf(x)[0], dimsOf(parts[0])[0]))
      return node.invalid("the inputs must have the same number of rows");
    parts.push_back(x);
  }
  return one(node.concat(parts, 1));
}

//===----------------------------------------------------------------------===//
// Linear models
//===----------------------------------------------------------------------===//

/// Returns the matmul of `x` [rows, features] and the coefficients [targets,
/// features], transposed, plus the intercepts, in float32.
static Value linear(OnnxNode &node, Value x, int64_t targets) {
  SmallVector<double> coefficients = node.floatsAttr("coefficients"),
                      intercepts = node.floatsAttr("intercepts");
  int64_t count = coefficients.size();
  if (targets < 1 || targets > count || count % targets != 0 ||
      !node.takeEqual(dimsOf(x)[1], count / targets))
    return noValue(node.invalid(
        "there are " + Twine(count) + " coefficients for " + Twine(targets) +
        " targets of " + kernel::sizeText(dimsOf(x)[1]) + " features"));
  int64_t features = count / targets;
  if (!intercepts.empty() && int64_t(intercepts.size()) != targets)
    return noValue(node.invalid("there are " + Twine(intercepts.size()) +
                                " intercepts for " + Twine(targets) +
                                " targets"));
  Type f32 = node.f32();
  Value w = floatConstant(node, {targets, features}, coefficients, f32);
  Value y = importMatMul(node, node.cast(x, f32), node.transpose(w, {1, 0}));
  Value bias = intercepts.empty()
                   ? Value()
                   : floatConstant(node, {targets}, intercepts, f32);
  return y ? sumOf(node, {y, bias}) : y;
}

static ImportResult importLinearRegressor(OnnxNode &node) {
  Value x = featureRows(node);
  if (!x)
    return failure();
  return one(transformTargets(node, linear(node, x, node.intAttr("targets", 1)),
                              node.stringAttr("post_transform", "NONE")));
}

/// Imports LinearClassifier: returns the label with the largest score, and all
/// scores. If there are two labels but only one score, it is the score of the
/// second label.
static ImportResult importLinearClassifier(OnnxNode &node) {
  Value x = featureRows(node);
  if (!x)
    return failure();
  auto labels = classLabels(node, "classlabels_ints", "classlabels_strings");
  if (failed(labels))
    return failure();
  int64_t targets = node.floatsAttr("intercepts").size();
  if (targets == 0)
    targets = labels->size();
  Value y = linear(node, x, targets);
  if (!y)
    return failure();
  Type i64 = node.i64();
  std::string transform = node.stringAttr("post_transform", "NONE");
  if (targets > 1) {
    if (targets != int64_t(labels->size()))
      return node.invalid("there are " + Twine(labels->size()) +
                          " labels for " + Twine(targets) + " scores");
    Value best = node.build<ArgMaxOp>(y, 1, /*last=*/false);
    Value scores = transformScores(node, y, transform);
    if (!scores)
      return failure();
    return SmallVector<Value>{labelsAt(node, *labels, best), scores};
  }
  Value isPositive = node.greater(y, 0);
  SmallVector<int64_t> both =
      labels->size() == 2 ? *labels : SmallVector<int64_t>{0, 1};
  Value scores = labels->size() == 2
                     ? bothScores(node, y, transform, /*negates=*/false)
                     : transformScores(node, y, transform);
  if (!scores)
    return failure();
  return SmallVector<Value>{labelsAt(node, both, node.cast(isPositive, i64)),
                            scores};
}

void registerLinearModelImports(OnnxRegistry &registry) {
  StringRef domain = "ai.onnx.ml";
  registry.add("Scaler", importScaler, "", domain);
  registry.add("Imputer", importImputer, "", domain);
  registry.add("Normalizer", importNormalizer, "", domain);
  registry.add("FeatureVectorizer", importFeatureVectorizer, "", domain);
  registry.add("LinearRegressor", importLinearRegressor, "", domain);
  registry.add("LinearClassifier", importLinearClassifier, "", domain);
}

} // namespace ingot::graph
