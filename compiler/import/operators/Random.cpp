// Imports random number generators and Dropout.
//
// All of these operators use graph.random_bits, a function of a key and the
// positions of elements. A program has no state, so each run yields the same
// numbers. The key is derived from the node's seed, or from its position in the
// model, and from the iterations of the enclosing loops.

#include "compiler/import/operators/OnnxImport.h"
#include "dialects/graph/ops/Movement.h"

#include "llvm/ADT/bit.h"

using namespace mlir;

namespace ingot::graph {

namespace {
/// Generates the random numbers of one node.
class RandomNumbers {
public:
  /// Uses the node's attribute `seed`, if present: a float, or for Dropout an
  /// integer.
  explicit RandomNumbers(OnnxNode &node, bool isInteger = false) : node(node) {
    std::optional<uint64_t> seed;
    if (node.hasAttr("seed"))
      seed = isInteger ? static_cast<uint64_t>(node.intAttr("seed", 0))
                       : llvm::bit_cast<uint32_t>(
                             static_cast<float>(node.floatAttr("seed", 0)));
    key = node.randomKey(seed);
  }

  /// Returns uniform numbers in [0, 1): multiples of 2^-b, where b is the
  /// number of bits of the type's mantissa (24 for float32). Different values
  /// of `stream` give independent numbers.
  Value uniform(ArrayRef<Dim> sizes, FloatType type, int64_t stream = 0) {
    int64_t bits = type.getFPMantissaWidth();
    return node.mul(node.cast(raw(sizes, type, bits, stream), type),
                    std::ldexp(1, -static_cast<int>(bits)));
  }
  /// Returns normally distributed numbers with mean 0 and variance 1, in single
  /// or double precision (Box and Muller, "A Note on the Generation of Random
  /// Normal Deviates", 1958).
  Value normal(ArrayRef<Dim> sizes, FloatType type) {
    // `share` is a uniform number in (0, 1], since log(0) is not finite.
    int64_t bits = type.getWidth();
    Value share = node.cast(raw(sizes, type, bits, /*stream=*/1), type);
    share = node.add(share, 0.5);
    share = node.mul(share, std::ldexp(1, -static_cast<int>(bits)));
    Value radius = node.build<SqrtOp>(node.mul(node.build<LogOp>(share), -2));
    Value angle = node.mul(uniform(sizes, type, /*stream=*/2),
                           2 * 3.14159265358979323846);
    return node.mul(radius, node.build<CosOp>(angle));
  }

private:
  /// Returns random integers below 2^bits: uint64 if `type` is double, else
  /// uint32.
  Value raw(ArrayRef<Dim> sizes, FloatType type, int64_t bits, int64_t stream) {
    Type word = node.builder.getIntegerType(type.isF64() ? 64 : 32,
                                            /*isSigned=*/false);
    return node.build<RandomBitsOp>(tensorOf(sizes, word), key, stream, bits);
  }

  OnnxNode &node;
  Value key;
};
} // namespace

/// Returns the type in which random numbers of type `type` are computed: double
/// for double, else float32.
static FloatType computedIn(OnnxNode &node, FloatType type) {
  return type.isF64() ? type : FloatType(node.f32());
}

/// Returns `x` * slope + offset, converted to `type`.
static Value scaled(OnnxNode &node, Value x, double slope, double offset,
                    Type type) {
  if (slope != 1)
    x = node.mul(x, slope);
  if (offset != 0)
    x = node.add(x, offset);
  return node.cast(x, type);
}

/// Returns random numbers of shape `sizes`: normally distributed, or uniformly
/// distributed between `low` and `high`.
static ImportResult randomOf(OnnxNode &node, ArrayRef<Dim> sizes, Type element,
                             bool isNormal) {
  auto type = dyn_cast_or_null<FloatType>(element);
  if (!type || type.getWidth() < 16)
    return node.unsupported(
        "random numbers of this element type are not supported",
        "set `dtype` to a floating-point type of 16 bits or more");
  RandomNumbers numbers(node);
  FloatType computed = computedIn(node, type);
  if (isNormal)
    return one(scaled(node, numbers.normal(sizes, computed),
                      node.floatAttr("scale", 1), node.floatAttr("mean", 0),
                      type));
  double low = node.floatAttr("low", 0), high = node.floatAttr("high", 1);
  // Numbers in [0, 1) are generated in the result type, since rounding from a
  // wider type could yield 1.
  bool isUnit = low == 0 && high == 1;
  return one(scaled(node, numbers.uniform(sizes, isUnit ? type : computed),
                    high - low, low, type));
}

template <bool isNormal> static ImportResult importRandom(OnnxNode &node) {
  Dims sizes;
  for (int64_t size : node.intsAttr("shape")) {
    if (size < 0)
      return node.invalid("a size is negative, but sizes must be 0 or more");
    sizes.push_back(size);
  }
  return randomOf(node, sizes, node.elementType(node.intAttr("dtype", 1)),
                  isNormal);
}

template <bool isNormal> static ImportResult importRandomLike(OnnxNode &node) {
  Value like = node.input(0);
  return randomOf(node, dimsOf(like),
                  node.hasAttr("dtype")
                      ? node.elementType(node.intAttr("dtype", 1))
                      : elementOf(like),
                  isNormal);
}

/// Imports Bernoulli: 1 where a uniform random number is below the probability
/// `x`. (ONNX's function body would generate the numbers in the type of `x`,
/// but float16 has too few values.)
static ImportResult importBernoulli(OnnxNode &node) {
  Value x = node.input(0);
  auto given = dyn_cast<FloatType>(elementOf(x));
  Type type = node.hasAttr("dtype") ? node.elementType(node.intAttr("dtype", 1))
                                    : elementOf(x);
  if (!given || !type)
    return node.unsupported(
        "random numbers of this element type are not supported");
  FloatType real = computedIn(node, given);
  Value numbers = RandomNumbers(node).uniform(dimsOf(x), real);
  return one(node.cast(node.less(numbers, node.cast(x, real)), type));
}

/// Imports Multinomial: selects a class by comparing a random number with the
/// cumulative probabilities.
static ImportResult importMultinomial(OnnxNode &node) {
  Type type = node.elementType(node.intAttr("dtype", 6));
  int64_t samples = node.intAttr("sample_size", 1);
  if (shapeOf(node.input(0)).size() != 2 ||
      !isa<FloatType>(elementOf(node.input(0))) ||
      !isa_and_nonnull<IntegerType>(type) || samples < 0)
    return node.invalid("the input must be log-probabilities [batch, classes], "
                        "`dtype` an integer type, and `sample_size` 0 or more");
  Dim classes = dimsOf(node.input(0))[1];
  if (classes.least() < 1 && !node.requireAtLeast(classes, 1))
    return node.invalid("the number of classes is 0");
  // The sizes are read only now, since requireAtLeast may have replaced sizes
  // in the type.
  Value x = node.input(0);
  Dim batch = dimsOf(x)[0];
  classes = dimsOf(x)[1];
  FloatType real = computedIn(node, cast<FloatType>(elementOf(x)));
  x = node.cast(x, real);
  Value most = node.build<ReduceMaxOp>(x, ArrayRef<int64_t>{1});
  Value sums =
      node.build<CumSumOp>(node.build<ExpOp>(node.sub(x, most)), /*axis=*/1,
                           /*exclusive=*/false, /*reverse=*/false);
  // A random number below 1, multiplied by the total of the probabilities, is
  // below the total, even after rounding.
  Value all = node.build<ReduceMaxOp>(sums, ArrayRef<int64_t>{1});
  Value at =
      node.mul(RandomNumbers(node).uniform(Dims{batch, samples}, real), all);
  Value isBehind = node.lessOrEqual(node.reshape(sums, {batch, 1, classes}),
                                    node.reshape(at, {batch, samples, 1}));
  Value chosen = node.build<ReduceSumOp>(node.cast(isBehind, node.i64()),
                                         ArrayRef<int64_t>{2});
  return one(node.cast(node.reshape(chosen, {batch, samples}), type));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Imports Dropout for inference: returns the input, and a mask of ones.
static ImportResult keepAll(OnnxNode &node) {
  Value x = node.input(0);
  SmallVector<Value> results{x};
  if (node.numOutputs() > 1) {
    Type type = node.opset < 10 ? elementOf(x) : node.builder.getI1Type();
    results.push_back(node.expand(node.scalarConstant(1, type), dimsOf(x)));
  }
  return results;
}

/// Imports Dropout for training: elements whose random number is below the
/// ratio become 0; the others are multiplied by 1 / (1 - ratio). If
/// `isTraining` is not null and is false at run time, all elements are
/// unchanged.
static ImportResult dropOut(OnnxNode &node, Value ratio, Value isTraining) {
  Value x = node.input(0);
  Type type = elementOf(x);
  FloatType real = node.f32();
  Value one = node.scalarConstant(1, real);
  ratio = node.cast(ratio, real);
  Value numbers =
      RandomNumbers(node, /*isInteger=*/true).uniform(dimsOf(x), real);
  Value isKept = node.greaterOrEqual(numbers, ratio);
  Value scale = node.div(one, node.sub(one, ratio));
  if (isTraining) {
    isKept = node.either(isKept, node.build<NotOp>(isTraining));
    scale = node.where(isTraining, scale, one);
  }
  Value y = node.where(isKept, node.mul(x, node.cast(scale, type)), 0);
  return SmallVector<Value>{y, isKept};
}

static ImportResult importDropout(OnnxNode &node) {
  if (node.opset < 12 || !node.hasInput(2))
    return keepAll(node);
  for (unsigned i : {1u, 2u})
    if (node.hasInput(i) && tensorType(node.input(i)).getNumElements() != 1)
      return node.invalid("ratio and training_mode must have one element each");
  auto scalar = [&](unsigned i) { return node.reshape(node.input(i), {}); };
  Value isTraining;
  if (node.isConstant(2)) {
    auto given = node.requireInts(2, "training_mode");
    if (failed(given))
      return failure();
    if (!given->front())
      return keepAll(node);
  } else {
    isTraining = scalar(2);
  }
  if (node.hasInput(1) && !node.isConstant(1))
    return dropOut(node, scalar(1), isTraining);
  double ratio = 0.5;
  if (node.hasInput(1)) {
    auto given = node.requireFloats(1, "ratio");
    if (failed(given))
      return failure();
    ratio = given->front();
  }
  if (ratio == 0)
    return keepAll(node);
  if (!(ratio > 0 && ratio < 1))
    return node.invalid("the ratio " + Twine(std::to_string(ratio)) +
                        " is not in [0, 1)");
  return dropOut(node, node.scalarConstant(ratio, node.f32()), isTraining);
}

void registerRandomImports(OnnxRegistry &registry) {
  registry.add("RandomUniform", importRandom</*isNormal=*/false>);
  registry.add("RandomNormal", importRandom</*isNormal=*/true>);
  registry.add("RandomUniformLike", importRandomLike</*isNormal=*/false>);
  registry.add("RandomNormalLike", importRandomLike</*isNormal=*/true>);
  registry.add("Bernoulli", importBernoulli);
  registry.add("Multinomial", importMultinomial);
  registry.add("Dropout", importDropout);
}

} // namespace ingot::graph
