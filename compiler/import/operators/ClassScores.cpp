#include "compiler/import/operators/ClassScores.h"

#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Strings.h"

using namespace mlir;

namespace ingot::graph {

Value featureRows(OnnxNode &node) {
  Value x = node.input(0);
  if (shapeOf(x).size() == 1)
    x = node.reshape(x, {1, dimsOf(x)[0]});
  if (shapeOf(x).size() != 2)
    return noValue(
        node.invalid("the input must be a matrix of samples and features"));
  if (!elementOf(x).isF32() && !elementOf(x).isF64())
    x = node.cast(x, node.f32());
  return x;
}

FailureOr<SmallVector<int64_t>> classLabels(OnnxNode &node, StringRef integers,
                                            StringRef strings) {
  SmallVector<int64_t> labels = node.intsAttr(integers);
  if (!labels.empty())
    return labels;
  size_t names = node.stringsAttr(strings).size();
  if (names == 0 || (node.wantsOutput(0) && names == 1))
    return node.unsupported(
        "fewer than two labels are not supported",
        "export the model with integer labels, or without the label output");
  for (size_t i = 0; i < names; ++i)
    labels.push_back(int64_t(i));
  return labels;
}

Value labelsAt(OnnxNode &node, ArrayRef<int64_t> labels, Value indices) {
  Dim rows = dimsOf(indices)[0];
  bool isNumbered =
      node.hasAttr("classlabels_ints") || node.hasAttr("classlabels_int64s");
  SmallVector<std::string> names = node.stringsAttr("classlabels_strings");
  Value table = isNumbered || names.empty()
                    ? node.integers(labels)
                    : buildStrings(node.builder, node.loc,
                                   {int64_t(names.size())}, names);
  return node.build<GatherOp>(table, node.reshape(indices, {rows}), 0,
                              /*inRange=*/true);
}

/// Returns the transform SOFTMAX_ZERO, as ONNX Runtime defines it, of scores
/// [rows, classes]: a softmax in which scores of 0 remain 0.
static Value softmaxZero(OnnxNode &node, Value scores) {
  Value most = node.build<ReduceMaxOp>(scores, ArrayRef<int64_t>{1});
  Value powers = node.elementwise<ExpOp>({node.sub(scores, most)});
  // The threshold below which ONNX Runtime treats a score as 0.
  constexpr double nothing = 1e-7;
  Value isZero = node.lessOrEqual(node.elementwise<AbsOp>({scores}), nothing);
  Value sum = node.build<ReduceSumOp>(node.where(isZero, 0, powers),
                                      ArrayRef<int64_t>{1});
  Value scaled = node.mul(
      scores, node.elementwise<ExpOp>({node.elementwise<NegOp>({most})}));
  return node.div(node.where(isZero, scaled, powers), sum);
}

/// Returns sqrt(2) * erfinv(2 x - 1), with ONNX Runtime's approximation of
/// erfinv (Winitzki, a = 0.147).
static Value probit(OnnxNode &node, Value x) {
  Value u = node.sub(node.mul(x, 2), 1);
  Value rest = node.sub(1, node.mul(u, u));
  Value log = node.elementwise<LogOp>({rest});
  constexpr double a = 0.147, pi = 3.14159;
  Value v = node.add(node.mul(log, 0.5), 2 / (pi * a));
  Value square = node.sub(node.mul(v, v), node.mul(log, 1 / a));
  Value inverse = node.elementwise<SqrtOp>(
      {node.sub(node.elementwise<SqrtOp>({square}), v)});
  Value isNegative = node.less(u, 0);
  return node.mul(
      node.where(isNegative, node.elementwise<NegOp>({inverse}), inverse),
      1.41421356);
}

Value transformScores(OnnxNode &node, Value scores, StringRef transform) {
  if (!scores || transform == "NONE" || transform.empty())
    return scores;
  if (transform == "LOGISTIC")
    return node.elementwise<SigmoidOp>({scores});
  if (transform == "SOFTMAX")
    return node.build<SoftmaxOp>(scores, 1);
  if (transform == "SOFTMAX_ZERO")
    return softmaxZero(node, scores);
  if (transform == "PROBIT")
    return probit(node, scores);
  return noValue(node.invalid("unknown post_transform `" + transform + "`"));
}

Value transformTargets(OnnxNode &node, Value targets, StringRef transform) {
  bool isSingle = targets && shapeOf(targets)[1] == 1;
  if (!isSingle || transform == "PROBIT")
    return transformScores(node, targets, transform);
  return targets;
}

Value bothScores(OnnxNode &node, Value second, StringRef transform,
                 bool negates) {
  if (!second)
    return {};
  // For two classes with one score, ONNX Runtime does not apply the transforms
  // SOFTMAX and SOFTMAX_ZERO.
  bool isPlain = transform == "SOFTMAX" || transform == "SOFTMAX_ZERO";
  Value first = negates || transform == "LOGISTIC"
                    ? node.elementwise<NegOp>({second})
                    : node.sub(1, second);
  Value both = node.concat({first, second}, 1);
  return isPlain ? both : transformScores(node, both, transform);
}

} // namespace ingot::graph
