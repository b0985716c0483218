// Imports Fourier transforms whose lengths or axes are known only at run time
// as matrix multiplications with sine and cosine matrices, which the generated
// program computes.

#include "compiler/import/operators/RunTimeSignal.h"

#include "compiler/import/operators/RunTimeShapes.h"
#include "compiler/import/operators/ShapeArguments.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {

/// Builds the Fourier transform of x [outer, samples, inner, parts] to [outer,
/// bins, inner, parts], where the last axis has the real and the imaginary
/// part, or only the real part.
class TransformOfRun {
public:
  TransformOfRun(OnnxNode &node, const Dim &length, bool inverse, bool onesided)
      : node(node), ints(node), length(length), inverse(inverse),
        onesided(onesided), real(node.f64()) {}

  /// Returns the number of results along the transformed axis.
  Dim bins() const {
    return onesided && !inverse ? length.floorDiv(2) + 1 : length;
  }
  int64_t parts() const { return onesided && inverse ? 1 : 2; }
  Value apply(Value x);

private:
  Value number(double value) { return node.scalarConstant(value, real); }
  Value sizeOf(const Dim &size) { return node.reshape(ints.sizes(size), {}); }
  Value part(Value x, int64_t which);
  /// Computes `cosines` and `sines` [samples, bins], the matrices with which
  /// samples are multiplied.
  void prepare(const Dim &samples);
  /// Returns `x` [outer, inner, samples] times a matrix [samples, bins].
  Value times(Value x, Value matrix) { return node.build<MatMulOp>(x, matrix); }

  OnnxNode &node;
  RunTimeInts ints;
  Dim length;
  bool inverse, onesided;
  /// The type of the computation: double, so that sums that cancel become zero
  /// after rounding.
  Type real;
  Value cosines, sines;
};

} // namespace

/// Returns the real parts (`which` = 0) or the imaginary parts (`which` = 1) of
/// x as [outer, inner, samples]. The imaginary parts of real data are 0.
Value TransformOfRun::part(Value x, int64_t which) {
  Dims sizes = dimsOf(x);
  Value y = node.cast(gatherAlong(node, x, 3, ints.numbers({which})), real);
  y = node.reshape(y, ArrayRef<Dim>(sizes).drop_back());
  if (which == 1 && sizes[3].known() != 2) {
    Value isComplex = node.equal(sizeOf(sizes[3]), 2);
    y = node.where(isComplex, y, 0);
  }
  return node.transpose(y, {0, 2, 1});
}

void TransformOfRun::prepare(const Dim &samples) {
  Dim width = bins();
  Value row = node.reshape(node.countTo(samples), {samples, 1}),
        column = node.reshape(node.countTo(width), {1, width});
  Value whole = sizeOf(length);
  // Reduces the angles modulo a full turn, so that they stay small.
  Value turns = ints.modulo(node.mul(row, column), whole);
  Value unit = node.div((inverse ? 2 : -2) * 3.14159265358979323846,
                        node.cast(whole, real));
  Value angles = node.mul(node.cast(turns, real), unit);
  // Samples after the transform's length are ignored. In the inverse of a
  // one-sided transform, the rows of the matrices are the bins of half of the
  // spectrum. The bins between the first and the middle one of the whole
  // spectrum also represent their mirror images, so they count twice.
  bool isHalf = onesided && inverse;
  Value limit = isHalf ? sizeOf(length.floorDiv(2) + 1) : whole;
  Value weight = inverse ? node.div(1, node.cast(whole, real)) : number(1);
  if (isHalf) {
    Value atEnd =
        node.either(node.equal(row, 0), node.equal(node.mul(row, 2), whole));
    weight = node.where(atEnd, weight, node.mul(weight, 2));
  }
  weight = node.where(node.less(row, limit), weight, 0);
  cosines = node.cast(node.mul(node.build<CosOp>(angles), weight), real);
  sines = node.cast(node.mul(node.build<SinOp>(angles), weight), real);
}

Value TransformOfRun::apply(Value x) {
  Type type = elementOf(x);
  Dims sizes = dimsOf(x);
  prepare(sizes[1]);
  Value re = part(x, 0), im = part(x, 1);
  SmallVector<Value> results{node.sub(times(re, cosines), times(im, sines))};
  if (parts() == 2)
    results.push_back(node.add(times(re, sines), times(im, cosines)));
  for (Value &y : results) {
    if (!y)
      return {};
    y = node.transpose(node.cast(y, type), {0, 2, 1});
    Dims column = dimsOf(y);
    column.push_back(1);
    y = node.reshape(y, column);
  }
  return results.size() == 1 ? results[0] : node.concat(results, 3);
}

/// Requires the last axis of `x` to have size 1 (real numbers) or 2 (real and
/// imaginary parts).
static LogicalResult checkParts(OnnxNode &node, Value x) {
  Dim parts = dimsOf(x).back();
  if (!isa<FloatType>(elementOf(x)) || shapeOf(x).size() < 2 ||
      parts.least() > 2 || parts.most() < 1)
    return node.invalid("the input must be floating-point, with a last axis of "
                        "size 1 (real) or 2 (complex)");
  if (!parts.known())
    node.checkOneOr(parts, 2);
  return success();
}

Value transformAtRunTime(OnnxNode &node, Value x, int64_t axis,
                         const Dim &length, bool inverse, bool onesided) {
  if (failed(checkParts(node, x)))
    return {};
  Dims sizes = dimsOf(x);
  TransformOfRun transform(node, length, inverse, onesided);
  Dim outer = product(ArrayRef<Dim>(sizes).take_front(axis)),
      inner = product(ArrayRef<Dim>(sizes).drop_front(axis + 1).drop_back());
  Value y = transform.apply(
      node.reshape(x, {outer, sizes[axis], inner, sizes.back()}));
  if (!y)
    return {};
  sizes[axis] = transform.bins();
  sizes.back() = transform.parts();
  return node.reshape(y, sizes);
}

/// Returns the length of the transform: `length` if it is given, else a length
/// computed from the number of samples. If `isHalf` is set, the samples are
/// half of a spectrum, and the generated program fails if there are none.
static FailureOr<Dim> signalLength(OnnxNode &node, std::optional<Dim> length,
                                   const Dim &samples, bool isHalf) {
  if (length || !isHalf)
    return length.value_or(samples);
  Dim whole = (samples - 1) * 2;
  return whole.least() < 0 ? checkedSize(node, whole) : whole;
}

/// Imports DFT along the axis in input 2, which is known only at run time.
static ImportResult transformAlongInput(OnnxNode &node,
                                        std::optional<Dim> length, bool inverse,
                                        bool onesided) {
  RunTimeInts ints(node);
  Value x = node.input(0), given = node.reshape(ints.input(2), {});
  Dims sizes = dimsOf(x);
  int64_t rank = sizes.size();
  Value axis = node.where(node.less(given, 0), node.add(given, rank), given);
  Value places = ints.numbers(llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)));
  Value own = ints.sizes(ArrayRef<Dim>(sizes).drop_back());
  Value here = node.equal(places, axis);
  auto productIf = [&](Value truths) {
    return node.reshape(ints.product(node.where(truths, own, 1)), {1});
  };
  auto read = readBoundedSizes(
      node, ints.joined({productIf(node.less(places, axis)), productIf(here),
                         productIf(node.less(axis, places))}));
  if (failed(read))
    return failure();
  Dim outer = (*read)[0], samples = (*read)[1], inner = (*read)[2];
  auto whole = signalLength(node, length, samples, inverse && onesided);
  if (failed(whole))
    return failure();
  TransformOfRun transform(node, *whole, inverse, onesided);
  Value y = transform.apply(reshapeAtRunTime(
      node, x, ArrayRef<Dim>{outer, samples, inner, sizes.back()}));
  if (!y)
    return failure();
  if (length || onesided) {
    auto result = readBoundedSizes(
        node, node.where(here, ints.sizes(transform.bins()), own));
    if (failed(result))
      return failure();
    llvm::copy(*result, sizes.begin());
  }
  sizes.back() = transform.parts();
  return one(reshapeAtRunTime(node, y, sizes));
}

/// Returns input `i`, a single integer, as a size.
static FailureOr<Dim> sizeInput(OnnxNode &node, unsigned i, StringRef what) {
  auto size = sizesOfInput(node, i, what);
  if (failed(size))
    return failure();
  if (size->size() != 1)
    return node.invalid(what + " must have exactly one element");
  return size->front();
}

ImportResult dftAtRunTime(OnnxNode &node, std::optional<int64_t> axis) {
  Value x = node.input(0);
  if (failed(checkParts(node, x)))
    return failure();
  bool inverse = node.intAttr("inverse", 0) != 0,
       onesided = node.intAttr("onesided", 0) != 0;
  // Where sums cancel, ONNX's tests of inverse transforms expect the rounding
  // error of an FFT, with an absolute tolerance of 1e-7. Only the transforms of
  // Signal.cpp, which have static lengths, come close enough.
  if (inverse && !onesided)
    return node.unsupported(
        "an inverse transform whose length or axis is known only at run time "
        "is not supported",
        "fix the sizes with --dim, and the axis with --bind");
  std::optional<Dim> length;
  if (node.hasInput(1)) {
    auto given = sizeInput(node, 1, "dft_length");
    if (failed(given))
      return failure();
    length = *given;
  }
  if (!axis)
    return transformAlongInput(node, length, inverse, onesided);
  auto whole =
      signalLength(node, length, dimsOf(x)[*axis], inverse && onesided);
  if (failed(whole))
    return failure();
  return one(transformAtRunTime(node, x, *axis, *whole, inverse, onesided));
}

/// Returns, for each frame, the positions of its samples: a matrix. `knownStep`
/// is the value of `step` if it is known.
static Value positionsOfFrames(OnnxNode &node, const Dim &frames,
                               const Dim &length, Value step,
                               std::optional<int64_t> knownStep) {
  if (!frames.known() || !length.known() || !knownStep) {
    Value row = node.reshape(node.countTo(frames), {frames, 1}),
          column = node.reshape(node.countTo(length), {1, length});
    return node.add(node.mul(row, step), column);
  }
  // A constant, even if it has more elements than FoldConstants would compute:
  // --stream finds the samples of a frame in it.
  SmallVector<int64_t> positions;
  for (int64_t frame = 0; frame < *frames.known(); ++frame)
    for (int64_t i = 0; i < *length.known(); ++i)
      positions.push_back(frame * *knownStep + i);
  return node.integers({*frames.known(), *length.known()}, positions);
}

FailureOr<Value> framesOf(OnnxNode &node) {
  RunTimeInts ints(node);
  Value x = node.input(0), window = node.input(2);
  if (shapeOf(x).size() == 2)
    x = node.reshape(x, {dimsOf(x)[0], dimsOf(x)[1], 1});
  Dim samples = dimsOf(x)[1], length = window ? dimsOf(window)[0] : samples;
  if (node.hasInput(3)) {
    auto given = sizeInput(node, 3, "frame_length");
    if (failed(given))
      return failure();
    if (window && surelyDiffer(*given, length))
      return node.invalid("frame_length must be the length of the window");
    if (window && mayDiffer(*given, length))
      node.checkEqual(*given, length);
    if (!window)
      length = *given;
  }
  Value step = ints.vector(inputOrConstant(node, 1));
  auto known = node.elementsIn(step).front();
  if ((known && known->most() < 1) || length.most() < 1 ||
      (samples - length).most() < 0)
    return node.invalid("frame_step must be positive, and frame_length between "
                        "1 and the number of samples");
  step = node.reshape(step, {});
  Value room = node.sub(node.reshape(ints.sizes(samples), {}),
                        node.reshape(ints.sizes(length), {}));
  Value count = node.add(ints.div(room, step), 1);
  // If the frame is longer than the signal, or the step is not positive, the
  // number of frames becomes -1, so that the generated program fails when it
  // reads the number as a size.
  Value isWrong = node.either(node.less(room, 0), node.less(step, 1));
  count = node.where(isWrong, -1, count);
  auto frames = node.readSizes(node.reshape(count, {1}), {samples.most() + 1});
  if (failed(frames))
    return failure();
  Value positions = positionsOfFrames(node, frames->front(), length, step,
                                      known ? known->known() : std::nullopt);
  x = node.build<GatherOp>(x, positions, 1, /*inRange=*/true);
  return window ? node.mul(x, node.reshape(window, {length, 1})) : x;
}

//===----------------------------------------------------------------------===//
// Mel weights
//===----------------------------------------------------------------------===//

namespace {
/// Builds operators that compute with doubles.
struct Doubles {
  OnnxNode &node;
  Type real = node.f64();

  Value of(Value x) { return node.cast(x, real); }
  /// Convert frequencies from Hz to mel and back.
  Value toMel(Value hertz) {
    return node.mul(2595 / 2.30258509299404568402,
                    node.build<LogOp>(node.add(1, node.div(hertz, 700))));
  }
  Value toHertz(Value mel) {
    Value power =
        node.build<ExpOp>(node.mul(mel, 2.30258509299404568402 / 2595));
    return node.mul(700, node.sub(power, 1));
  }
};
} // namespace

/// Returns the edges [count + 2] of the `count` mel bands, as bins of the
/// spectrum: band i begins at edge i, has its peak at edge i + 1 and ends at
/// edge i + 2.
static Value melEdges(OnnxNode &node, ArrayRef<Value> inputs, const Dim &count,
                      Value length) {
  RunTimeInts ints(node);
  Doubles d{node};
  Value first = d.toMel(d.of(inputs[3]));
  Value step = node.div(node.sub(d.toMel(d.of(inputs[4])), first),
                        d.of(node.reshape(ints.sizes(count + 2), {})));
  Value hertz =
      d.toHertz(node.add(first, node.mul(d.of(node.countTo(count + 2)), step)));
  Value bin = node.build<FloorOp>(
      node.div(node.mul(d.of(node.add(length, 1)), hertz), d.of(inputs[2])));
  return node.cast(bin, node.i64());
}

/// The weights are those of triangular filters over the bins of a spectrum. All
/// filters have the same width on the mel scale.
ImportResult importMelWeightMatrix(OnnxNode &node) {
  Type type = node.elementType(node.intAttr("output_datatype", 1));
  if (!isa_and_nonnull<FloatType>(type))
    return node.invalid("the output type must be a floating-point type");
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (tensorType(node.input(i)).getNumElements() != 1)
      return node.invalid("each input must have exactly one element");
    inputs.push_back(node.reshape(inputOrConstant(node, i), {}));
  }
  RunTimeInts ints(node);
  Doubles d{node};
  Value length = node.cast(inputs[1], node.i64());
  Value one = ints.number(1);
  auto sizes = readBoundedSizes(
      node, ints.joined({ints.vector(node.add(ints.div(length, 2), one)),
                         ints.vector(inputs[0])}));
  if (failed(sizes))
    return failure();
  Dim bins = (*sizes)[0], count = (*sizes)[1];
  Value edges = melEdges(node, inputs, count, length);
  // If the edge of a mel band is outside of the spectrum, the model is invalid
  // or, if edges are known only at run time, the generated program fails.
  Value isWrong =
      node.either(node.less(edges, 0), node.less(ints.sizes(bins - 1), edges));
  Value wrong = node.build<ReduceSumOp>(node.cast(isWrong, elementOf(edges)),
                                        ArrayRef<int64_t>{0});
  auto none = node.readSizes(wrong, {0});
  if (failed(none))
    return failure();
  if (none->front().least() > 0)
    return node.invalid(
        "lower_edge_hertz or upper_edge_hertz is outside of the spectrum");
  auto edgesFrom = [&](int64_t begin) {
    return node.slice(edges, 0, begin, count);
  };
  Value left = edgesFrom(0), centre = edgesFrom(1), right = edgesFrom(2);
  Value bin = node.reshape(node.countTo(bins), {bins, 1});
  auto share = [&](Value part, Value whole) {
    // If `whole` is 0, the quotient is not used.
    return node.div(d.of(part), d.of(node.max(whole, one)));
  };
  Value rising = node.where(node.equal(left, centre), 1,
                            share(node.sub(bin, left), node.sub(centre, left)));
  Value falling = share(node.sub(right, bin), node.sub(right, centre));
  Value isRising = node.both(node.less(bin, node.add(centre, one)),
                             node.less(node.sub(left, one), bin));
  Value isFalling =
      node.both(node.less(bin, right), node.less(node.sub(centre, one), bin));
  Value weights =
      node.where(isFalling, falling, node.where(isRising, rising, 0));
  return ingot::graph::one(node.cast(weights, type));
}

} // namespace ingot::graph
