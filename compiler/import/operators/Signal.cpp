// Imports Fourier transforms as matrix multiplications.
//
// A Fourier transform of constant length is a multiplication by a constant
// matrix with samples * 2 rows, one for the real and one for the imaginary part
// of each sample. Long transforms take two steps (N = N1 * N2, with the twiddle
// factors inside the second matrices), which costs N * (N1 + N2) instead of N *
// N. A short inverse transform of even length is split into two transforms of
// half the length.

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/RunTimeSignal.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {
struct Transform {
  OnnxNode &node;
  int64_t length;
  bool inverse, onesided;
  /// Whether an inverse transform divides by the length.
  bool scaled = true;

  /// Returns the real and the imaginary part of e^(i * angle). The angle is
  /// `turns` / `of` of a full turn, negative unless the transform is inverse.
  std::pair<double, double> rotation(int64_t turns, int64_t of) const {
    double angle = (inverse ? 2 : -2) * M_PI * static_cast<double>(turns % of) /
                   static_cast<double>(of);
    return {std::cos(angle), std::sin(angle)};
  }
  Value along(Value x) const;
  Value direct(Value x) const;
  Value halved(Value x) const;
  Value inTwoSteps(Value x, int64_t n1) const;
  Value toReal(Value x) const;
};
} // namespace

/// Writes the block at (`row`, `column`) of a transform matrix that multiplies
/// a sample by the complex number `factor`: 2 x 2 for complex samples, 1 x 2
/// for real samples (`parts` = 1).
static void putBlock(MutableArrayRef<double> matrix, int64_t columns,
                     int64_t row, int64_t column, int64_t parts,
                     std::pair<double, double> factor) {
  matrix[row * columns + column] = factor.first;
  matrix[row * columns + column + 1] = factor.second;
  if (parts == 1)
    return;
  matrix[(row + 1) * columns + column] = -factor.second;
  matrix[(row + 1) * columns + column + 1] = factor.first;
}

/// Transforms x [batch, samples, parts] to [batch, bins, 2] by multiplication
/// with one matrix.
Value Transform::direct(Value x) const {
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t samples = shape[1], parts = shape[2],
          bins = onesided ? length / 2 + 1 : length;
  double scale = inverse && scaled ? 1.0 / static_cast<double>(length) : 1.0;
  std::vector<double> matrix(samples * parts * bins * 2);
  for (int64_t j = 0; j < samples; ++j)
    for (int64_t k = 0; k < bins; ++k) {
      auto [re, im] = rotation(j * k, length);
      putBlock(matrix, bins * 2, j * parts, k * 2, parts,
               {re * scale, im * scale});
    }
  Value w =
      floatConstant(node, {samples * parts, bins * 2}, matrix, elementOf(x));
  Value y =
      node.build<MatMulOp>(node.reshape(x, {shape[0], samples * parts}), w);
  return node.reshape(y, {shape[0], bins, 2});
}

/// Computes a transform of even length as two transforms of half the length:
/// even bins are the transform of the sum of both halves of the samples, odd
/// bins that of their difference times the twiddle factors.
Value Transform::halved(Value x) const {
  int64_t batch = shapeOf(x)[0], parts = shapeOf(x)[2], half = length / 2;
  Type type = elementOf(x);
  auto part = [&](Value v, int64_t axis, int64_t start, int64_t size) {
    return node.slice(v, axis, start, size);
  };
  Value low = part(x, 1, 0, half), high = part(x, 1, half, half);
  Value sum = node.add(low, high);
  Value difference = node.sub(low, high);
  std::vector<double> straight, crossed;
  for (int64_t j = 0; j < half; ++j) {
    auto [re, im] = rotation(j, length);
    straight.insert(straight.end(), {re, parts == 1 ? im : re});
    crossed.insert(crossed.end(), {-im, im});
  }
  Value turned =
      node.mul(difference, floatConstant(node, {half, 2}, straight, type));
  if (parts == 2) {
    Value swapped =
        node.concat({part(difference, 2, 1, 1), part(difference, 2, 0, 1)}, 2);
    turned = node.add(turned, node.mul(swapped, floatConstant(node, {half, 2},
                                                              crossed, type)));
  }
  Transform inner{node, half, inverse, /*onesided=*/false, /*scaled=*/false};
  Value even = node.reshape(inner.direct(sum), {batch, half, 1, 2}),
        odd = node.reshape(inner.direct(turned), {batch, half, 1, 2});
  Value y = node.concat({even, odd}, 2);
  y = node.reshape(y, {batch, length, 2});
  if (onesided)
    y = part(y, 1, 0, length / 2 + 1);
  if (!inverse)
    return y;
  return node.mul(y, 1.0 / static_cast<double>(length));
}

/// Computes a transform of length n1 * n2 in two steps. Sample n2 * i + j
/// contributes to bin k + n1 * l. The first step sums over i, the second step
/// over j, with a different matrix for each k.
Value Transform::inTwoSteps(Value x, int64_t n1) const {
  int64_t batch = shapeOf(x)[0], parts = shapeOf(x)[2], n2 = length / n1;
  double scale = inverse ? 1.0 / static_cast<double>(length) : 1.0;
  std::vector<double> first(n1 * parts * n1 * 2), second(n1 * n2 * 2 * n2 * 2);
  for (int64_t j = 0; j < n1; ++j)
    for (int64_t k = 0; k < n1; ++k)
      putBlock(first, n1 * 2, j * parts, k * 2, parts, rotation(j * k, n1));
  for (int64_t k1 = 0; k1 < n1; ++k1)
    for (int64_t j = 0; j < n2; ++j)
      for (int64_t k2 = 0; k2 < n2; ++k2) {
        auto [re, im] = rotation(j * (k1 + n1 * k2), length);
        putBlock(MutableArrayRef(second).slice(k1 * n2 * n2 * 4, n2 * n2 * 4),
                 n2 * 2, j * 2, k2 * 2, 2, {re * scale, im * scale});
      }
  Type type = elementOf(x);
  x = node.transpose(node.reshape(x, {batch, n1, n2, parts}), {0, 2, 1, 3});
  x = node.build<MatMulOp>(
      node.reshape(x, {batch * n2, n1 * parts}),
      floatConstant(node, {n1 * parts, n1 * 2}, first, type));
  x = node.transpose(node.reshape(x, {batch, n2, n1, 2}), {2, 0, 1, 3});
  x = node.build<MatMulOp>(
      node.reshape(x, {n1, batch, n2 * 2}),
      floatConstant(node, {n1, n2 * 2, n2 * 2}, second, type));
  x = node.transpose(node.reshape(x, {n1, batch, n2, 2}), {1, 2, 0, 3});
  x = node.reshape(x, {batch, length, 2});
  return onesided ? node.slice(x, 1, 0, length / 2 + 1) : x;
}

/// Computes the inverse of a one-sided transform: converts x [batch, bins, 2]
/// to [batch, length, 1].
Value Transform::toReal(Value x) const {
  int64_t batch = shapeOf(x)[0], bins = std::min(shapeOf(x)[1], length / 2 + 1);
  x = node.slice(x, 1, 0, bins);
  std::vector<double> matrix(bins * 2 * length);
  for (int64_t k = 0; k < bins; ++k)
    for (int64_t t = 0; t < length; ++t) {
      // Bins between the first and the middle one also represent their mirror
      // images, so they count twice.
      double weight =
          (k == 0 || 2 * k == length ? 1.0 : 2.0) / static_cast<double>(length);
      auto [re, im] = rotation(k * t, length);
      matrix[2 * k * length + t] = re * weight;
      matrix[(2 * k + 1) * length + t] =
          k == 0 || 2 * k == length ? 0 : -im * weight;
    }
  Value w = floatConstant(node, {bins * 2, length}, matrix, elementOf(x));
  return node.reshape(
      node.build<MatMulOp>(node.reshape(x, {batch, bins * 2}), w),
      {batch, length, 1});
}

/// Transforms x [batch, samples, parts] with one matrix or in two steps.
/// Samples after `length` are ignored, missing samples are zeros. Returns null
/// if a matrix would be too large.
Value Transform::along(Value x) const {
  if (shapeOf(x)[1] > length)
    x = node.slice(x, 1, 0, length);
  int64_t samples = shapeOf(x)[1], parts = shapeOf(x)[2];
  constexpr int64_t large = int64_t(1) << 18, tooLarge = int64_t(1) << 26;
  int64_t elements = samples * parts * length * 2;
  if (inverse && onesided)
    return elements > tooLarge ? Value() : toReal(x);
  int64_t n1 = 1;
  for (int64_t divisor = 2; divisor * divisor <= length; ++divisor)
    if (length % divisor == 0)
      n1 = divisor;
  int64_t twoSteps = 4 * (n1 * n1 + length * (length / n1));
  // A single matrix has the smallest rounding error. But where sums cancel,
  // ONNX's tests of inverse transforms expect the rounding error of an FFT,
  // with an absolute tolerance of 1e-7. Splitting the transform comes close
  // enough.
  if (inverse && elements <= large && samples == length && length % 2 == 0)
    return halved(x);
  if (elements <= large || twoSteps * 2 > elements)
    return elements > tooLarge ? Value() : direct(x);
  if (twoSteps > tooLarge)
    return {};
  x = extendedAlong(node, x, 1, length - samples);
  return inTwoSteps(x, n1);
}

/// Imports a Fourier transform of constant length along `axis` of x [...,
/// parts], where the last axis has the real and the imaginary part, or only the
/// real part.
static ImportResult transformAxis(OnnxNode &node, Value x, int64_t axis,
                                  int64_t length, bool inverse, bool onesided) {
  int64_t rank = shapeOf(x).size(), parts = shapeOf(x).back();
  if (!isa<FloatType>(elementOf(x)) || axis == rank - 1 || parts < 1 ||
      parts > 2 || length < 1)
    return node.invalid("the input must be floating-point, with a last axis of "
                        "size 1 (real) or 2 (complex), another axis to "
                        "transform, and a positive transform length");
  if (inverse && onesided && parts == 1) {
    x = extendedAlong(node, x, rank - 1, 1);
    parts = 2;
  }
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis)
      perm.push_back(i);
  perm.append({axis, rank - 1});
  x = node.transpose(x, perm);
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t batch = ShapedType::getNumElements(ArrayRef(shape).drop_back(2));
  Transform transform{node, length, inverse, onesided};
  // Short transforms are computed in double precision, so that sums that cancel
  // become zero after rounding; inverse transforms are not, see
  // Transform::along.
  Type type = elementOf(x);
  Type wide = type.isF32() && !inverse && length <= 64 ? node.f64() : type;
  Value y = transform.along(
      node.cast(node.reshape(x, {batch, shape[rank - 2], parts}), wide));
  if (y)
    y = node.cast(y, type);
  if (!y)
    return node.unsupported("a transform of length " + Twine(length) +
                            " is not supported");
  shape[rank - 2] = shapeOf(y)[1];
  shape[rank - 1] = shapeOf(y)[2];
  return one(node.transpose(node.reshape(y, shape), inversePermutation(perm)));
}

static ImportResult importDFT(OnnxNode &node) {
  Value x = node.input(0);
  int64_t rank = shapeOf(x).size();
  int64_t axis = node.intAttr("axis", 1);
  if (node.opset >= 20) {
    axis = -2;
    if (node.hasInput(2)) {
      if (!node.isConstant(2))
        return dftAtRunTime(node, std::nullopt);
      auto given = node.requireInts(2, "axis");
      if (failed(given))
        return failure();
      axis = given->front();
    }
  }
  auto normal = node.normalizeAxis(axis, rank);
  if (failed(normal))
    return failure();
  if (*normal == rank - 1)
    return node.invalid(
        "the last axis, of real and imaginary parts, cannot be transformed");
  if (hasDynamicSizes(x.getType()) || (node.hasInput(1) && !node.isConstant(1)))
    return dftAtRunTime(node, *normal);
  bool inverse = node.intAttr("inverse", 0) != 0,
       onesided = node.intAttr("onesided", 0) != 0;
  int64_t size = shapeOf(x)[*normal],
          length = inverse && onesided ? 2 * (size - 1) : size;
  if (node.hasInput(1)) {
    auto given = node.requireInts(1, "dft_length");
    if (failed(given))
      return failure();
    length = given->front();
  }
  return transformAxis(node, x, *normal, length, inverse, onesided);
}

static ImportResult importSTFT(OnnxNode &node) {
  Value x = node.input(0), window = node.input(2);
  ArrayRef<int64_t> signal = shapeOf(x);
  if ((signal.size() != 2 && signal.size() != 3) ||
      (window && shapeOf(window).size() != 1))
    return node.invalid("the signal must be [batch, samples] or [batch, "
                        "samples, parts], and the window must be a vector");
  for (auto [i, what] : {std::pair(1, "frame_step"), {3, "frame_length"}})
    if (node.hasInput(i) && tensorType(node.input(i)).getNumElements() != 1)
      return node.invalid(Twine(what) + " must have exactly one element");
  FailureOr<Value> frames = framesOf(node);
  if (failed(frames))
    return failure();
  bool onesided = node.intAttr("onesided", 1) != 0;
  Dim length = dimsOf(*frames)[2];
  if (hasDynamicSizes(frames->getType()))
    return one(transformAtRunTime(node, *frames, 2, length, /*inverse=*/false,
                                  onesided));
  return transformAxis(node, *frames, 2, *length.known(), /*inverse=*/false,
                       onesided);
}

void registerSignalImports(OnnxRegistry &registry) {
  registry.add("DFT", importDFT,
               "data-dependent lengths without an upper bound; inverse "
               "transforms whose length or axis is known only at run time");
  registry.add("STFT", importSTFT,
               "data-dependent frames without an upper bound");
  registry.add("MelWeightMatrix", importMelWeightMatrix,
               "data-dependent sizes without an upper bound");
}

} // namespace ingot::graph
