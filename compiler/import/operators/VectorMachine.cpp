// Imports the support vector machines of ai.onnx.ml.
//
//   kernels = kernel(x, support vectors)           [rows, vectors]
//   scores  = kernels * coefficients + rho         for each pair of classes

#include "compiler/import/operators/ClassScores.h"
#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/Products.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// The attributes that SVMClassifier and SVMRegressor share, and the kernel
/// functions of support vector machines.
class VectorMachine {
public:
  explicit VectorMachine(OnnxNode &node)
      : node(node), f32(node.f32()),
        vectors(node.floatsAttr("support_vectors")),
        coefficients(node.floatsAttr("coefficients")),
        rho(node.floatsAttr("rho")) {}

  LogicalResult read();
  /// Returns the kernel function of each row of x with each of the `count`
  /// vectors in `of`, as a matrix [rows, count]. If `isLinear` is set, uses the
  /// linear kernel. Returns null with a diagnostic if the vectors have another
  /// number of features than x.
  Value kernels(ArrayRef<double> of, int64_t count, bool isLinear = false);
  Value number(double value) { return node.scalarConstant(value, f32); }
  Value matrix(ArrayRef<double> values, int64_t rows, int64_t columns) {
    return floatConstant(node, {rows, columns}, values, f32);
  }

  OnnxNode &node;
  Type f32;
  SmallVector<double> vectors, coefficients, rho;
  /// The input as floats [rows, features].
  Value x;

private:
  std::string kind;
  double gamma = 0, offset = 0, degree = 0;
};

} // namespace

LogicalResult VectorMachine::read() {
  x = featureRows(node);
  if (!x)
    return failure();
  x = node.cast(x, f32);
  kind = node.stringAttr("kernel_type", "LINEAR");
  if (!llvm::is_contained({"LINEAR", "POLY", "RBF", "SIGMOID"}, kind))
    return node.invalid("unknown kernel_type `" + kind + "`");
  SmallVector<double> numbers = node.floatsAttr("kernel_params");
  if (!numbers.empty() && numbers.size() != 3)
    return node.invalid(
        "`kernel_params` must consist of gamma, coef0 and degree");
  if (numbers.empty())
    numbers.assign(3, 0);
  gamma = numbers[0];
  offset = numbers[1];
  degree = numbers[2];
  if (rho.empty())
    return node.invalid("`rho` is missing");
  return success();
}

Value VectorMachine::kernels(ArrayRef<double> of, int64_t count,
                             bool isLinear) {
  int64_t numbers = of.size();
  if (count < 1 || count > numbers || numbers % count != 0 ||
      !node.takeEqual(dimsOf(x)[1], numbers / count))
    return noValue(node.invalid(
        "there are " + Twine(numbers) + " numbers for " + Twine(count) +
        " vectors of " + kernel::sizeText(dimsOf(x)[1]) + " features"));
  int64_t features = numbers / count;
  if (kind == "RBF" && !isLinear) {
    Value apart = node.sub(node.reshape(x, {dimsOf(x)[0], 1, features}),
                           floatConstant(node, {1, count, features}, of, f32));
    Value distance = node.build<ReduceSumSquareOp>(apart, ArrayRef<int64_t>{2});
    distance = node.reshape(distance, {dimsOf(x)[0], count});
    return node.elementwise<ExpOp>({node.mul(distance, -gamma)});
  }
  Value products = importMatMul(
      node, x, node.transpose(matrix(of, count, features), {1, 0}));
  if (kind == "LINEAR" || isLinear)
    return products;
  Value inner = node.add(node.mul(products, gamma), offset);
  if (kind == "SIGMOID")
    return node.elementwise<TanhOp>({inner});
  return node.pow(inner, degree);
}

//===----------------------------------------------------------------------===//
// SVMRegressor
//===----------------------------------------------------------------------===//

static ImportResult importSVMRegressor(OnnxNode &node) {
  VectorMachine machine(node);
  if (failed(machine.read()))
    return failure();
  int64_t count = node.intAttr("n_supports", 0);
  // Without support vectors, the model is linear: the coefficients are one
  // vector with a weight per feature.
  ArrayRef<double> coefficients = machine.coefficients;
  Value kernels = count > 0
                      ? machine.kernels(machine.vectors, count)
                      : machine.kernels(coefficients, 1, /*isLinear=*/true);
  if (!kernels)
    return failure();
  Value y = kernels;
  if (count > 0) {
    if (int64_t(coefficients.size()) != count)
      return node.invalid("there are " + Twine(coefficients.size()) +
                          " coefficients for " + Twine(count) + " vectors");
    y = importMatMul(node, kernels, machine.matrix(coefficients, count, 1));
  }
  y = node.add(y, machine.rho[0]);
  if (node.intAttr("one_class", 0)) {
    Value isPositive = node.greater(y, 0);
    y = node.where(isPositive, 1, machine.number(-1));
  }
  // Like ONNX Runtime, SVMRegressor ignores the attribute `post_transform`.
  return one(y);
}

//===----------------------------------------------------------------------===//
// SVMClassifier
//===----------------------------------------------------------------------===//

/// Returns the scores [rows, pairs] of all pairs of classes i < j. The score is
/// the sum of three terms: the kernels of i's support vectors times their
/// coefficients against j, the kernels of j's support vectors times their
/// coefficients against i, and rho.
static Value pairScores(VectorMachine &machine, ArrayRef<int64_t> perClass) {
  OnnxNode &node = machine.node;
  int64_t classes = perClass.size(), count = 0;
  for (int64_t n : perClass) {
    if (n < 0 || n > (1 << 30))
      return noValue(node.invalid(
          "`vectors_per_class` contains the invalid count " + Twine(n)));
    count += n;
  }
  Value kernels = machine.kernels(machine.vectors, count);
  if (!kernels)
    return {};
  int64_t pairs = classes * (classes - 1) / 2;
  if (int64_t(machine.coefficients.size()) != (classes - 1) * count ||
      int64_t(machine.rho.size()) != pairs)
    return noValue(node.invalid(
        "the lengths of coefficients or rho do not match " + Twine(classes) +
        " classes with " + Twine(count) + " vectors"));
  SmallVector<double> weights(count * pairs, 0);
  int64_t pair = 0, start = 0;
  for (int64_t i = 0; i < classes; start += perClass[i++]) {
    int64_t other = start + perClass[i];
    for (int64_t j = i + 1; j < classes; other += perClass[j++], ++pair) {
      for (int64_t k = start; k < start + perClass[i]; ++k)
        weights[k * pairs + pair] = machine.coefficients[(j - 1) * count + k];
      for (int64_t k = other; k < other + perClass[j]; ++k)
        weights[k * pairs + pair] = machine.coefficients[i * count + k];
    }
  }
  return node.add(
      importMatMul(node, kernels, machine.matrix(weights, count, pairs)),
      floatConstant(node, {pairs}, machine.rho, machine.f32));
}

/// Returns for each class the number of pairs that it wins, [rows, classes]. Of
/// the pair i < j, class i wins if the score of the pair is positive, else
/// class j.
static Value votes(VectorMachine &machine, Value scores, int64_t classes) {
  int64_t pairs = classes * (classes - 1) / 2, pair = 0;
  SmallVector<double> won(pairs * classes, 0), lost(won);
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      won[pair * classes + i] = 1;
      lost[pair * classes + j] = 1;
    }
  OnnxNode &node = machine.node;
  Value isWon = node.cast(node.greater(scores, 0), machine.f32);
  Value isLost = node.sub(1, isWon);
  return node.add(
      importMatMul(node, isWon, machine.matrix(won, pairs, classes)),
      importMatMul(node, isLost, machine.matrix(lost, pairs, classes)));
}

/// Returns the matrix [rows, classes, classes] of the pairwise probabilities
/// r(i, j), with 0 on the diagonal. For each pair i < j, `first` contains r(i,
/// j) and `second` r(j, i) = 1 - r(i, j).
static Value matrixOfPairs(VectorMachine &machine, Value first, Value second,
                           int64_t classes) {
  OnnxNode &node = machine.node;
  int64_t pairs = classes * (classes - 1) / 2, pair = 0;
  std::vector<int64_t> places(classes * classes, 2 * pairs);
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      places[i * classes + j] = pair;
      places[j * classes + i] = pairs + pair;
    }
  Value nothing = node.expand(machine.number(0), {dimsOf(first)[0], 1});
  Value all = node.concat({first, second, nothing}, 1);
  return node.build<GatherOp>(all, node.integers({classes, classes}, places), 1,
                              /*inRange=*/true);
}

/// Returns the probabilities p of more than two classes that best fit the
/// pairwise ones: p adds up to 1 and minimizes the sum of (r(j, i) p(i) - r(i,
/// j) p(j))^2 (Wu, Lin and Weng 2004, second approach). With Q the matrix of
/// this quadratic form, E the matrix of ones and e the vector of ones, p is
/// parallel to (Q + E)^-1 e. This vector is computed by Gaussian elimination,
/// whose pivots are positive because the matrix is positive definite. ONNX
/// Runtime iterates towards the same solution and stops early.
static Value fitPairs(VectorMachine &machine, Value pairs, int64_t classes) {
  OnnxNode &node = machine.node;
  auto minus = [&](Value a, Value b) { return node.sub(a, b); };
  auto part = [&](Value of, int64_t axis, int64_t at) {
    return node.slice(of, axis, at, 1);
  };
  Value swapped = node.transpose(pairs, {0, 2, 1});
  Value system = minus(machine.number(1), node.mul(pairs, swapped));
  Value diagonal =
      node.reshape(node.build<ReduceSumSquareOp>(swapped, ArrayRef<int64_t>{2}),
                   {dimsOf(pairs)[0], classes, 1});
  SmallVector<double> unit(classes * classes, 0);
  for (int64_t i = 0; i < classes; ++i)
    unit[i * classes + i] = 1;
  system = node.add(system,
                    node.mul(diagonal, machine.matrix(unit, classes, classes)));
  Value ones = node.expand(machine.number(1), {dimsOf(pairs)[0], classes, 1});
  system = node.concat({system, ones}, 2);
  for (int64_t i = 0; i < classes; ++i) {
    Value row = part(system, 1, i);
    row = node.div(row, part(row, 2, i));
    Value column = minus(
        part(system, 2, i),
        machine.matrix(ArrayRef(unit).slice(i * classes, classes), classes, 1));
    system = minus(system, node.mul(column, row));
  }
  Value solution =
      node.reshape(part(system, 2, classes), {dimsOf(pairs)[0], classes});
  Value sum = node.build<ReduceSumOp>(solution, ArrayRef<int64_t>{1});
  return node.div(solution, sum);
}

/// Returns the probabilities of the classes [rows, classes], given the scores
/// of all pairs of classes. Of a pair, the probability of the first class is 1
/// / (1 + exp(a * score + b)).
static Value probabilities(VectorMachine &machine, Value scores,
                           ArrayRef<double> a, ArrayRef<double> b,
                           int64_t classes) {
  OnnxNode &node = machine.node;
  int64_t pairs = classes * (classes - 1) / 2;
  if (int64_t(a.size()) != pairs || int64_t(b.size()) != pairs)
    return noValue(
        node.invalid("`prob_a` and `prob_b` need a number for each of " +
                     Twine(pairs) + " pairs of classes"));
  Value inner = node.add(node.mul(scores, machine.matrix(a, 1, pairs)),
                         machine.matrix(b, 1, pairs));
  Value first = node.elementwise<SigmoidOp>({node.elementwise<NegOp>({inner})});
  if (classes > 2) {
    constexpr double least = 1e-7;
    first = node.min(node.max(first, least), 1 - least);
  }
  Value second = node.sub(1, first);
  if (classes == 2)
    return node.concat({first, second}, 1);
  return fitPairs(machine, matrixOfPairs(machine, first, second, classes),
                  classes);
}

/// The largest number of classes for which probabilities are supported: the
/// Gaussian elimination in fitPairs is unrolled, one step per class.
constexpr int64_t mostWithProbabilities = 64;

static ImportResult importSVMClassifier(OnnxNode &node) {
  VectorMachine machine(node);
  auto labels = classLabels(node, "classlabels_ints", "classlabels_strings");
  if (failed(machine.read()) || failed(labels))
    return failure();
  SmallVector<int64_t> perClass = node.intsAttr("vectors_per_class");
  SmallVector<double> a = node.floatsAttr("prob_a"),
                      b = node.floatsAttr("prob_b");
  std::string transform = node.stringAttr("post_transform", "NONE");
  int64_t classes = labels->size();
  auto best = [&](Value of) {
    return labelsAt(node, *labels, node.build<ArgMaxOp>(of, 1, /*last=*/false));
  };
  if (classes < 2)
    return node.unsupported("a single class is not supported",
                            "remove the node: its label is always the same");
  if (perClass.empty()) {
    // Without support vectors, the model is linear: each class has one vector
    // of coefficients with a weight per feature.
    Value scores =
        machine.kernels(machine.coefficients, classes, /*isLinear=*/true);
    if (!scores)
      return failure();
    scores = node.add(scores, machine.rho[0]);
    Value y = transformScores(node, scores, transform);
    if (!y)
      return failure();
    return SmallVector<Value>{best(scores), y};
  }
  if (int64_t(perClass.size()) != classes)
    return node.invalid("there are " + Twine(classes) + " labels for " +
                        Twine(perClass.size()) + " classes");
  Value scores = pairScores(machine, perClass), y;
  if (!scores)
    return failure();
  // The label is chosen by votes, even if the node has probabilities.
  Value count = votes(machine, scores, classes);
  if (!a.empty() || !b.empty()) {
    if (classes > mostWithProbabilities)
      return node.unsupported("probabilities of more than " +
                                  Twine(mostWithProbabilities) +
                                  " classes are not supported",
                              "export the model without probabilities");
    y = transformScores(node, probabilities(machine, scores, a, b, classes),
                        transform);
  } else if (classes == 2) {
    y = bothScores(node, scores, transform, /*negates=*/transform == "NONE");
  } else {
    y = transformScores(node, scores, transform);
  }
  if (!y)
    return failure();
  return SmallVector<Value>{best(count), y};
}

void registerVectorMachineImports(OnnxRegistry &registry) {
  StringRef domain = "ai.onnx.ml";
  registry.add("SVMRegressor", importSVMRegressor, "", domain);
  registry.add("SVMClassifier", importSVMClassifier,
               "probabilities of more than 64 classes; a single class", domain);
}

} // namespace ingot::graph
