// Rewrites transposed convolutions as convolutions.
//
// Position o of the result is a sum over inputs i and kernel positions k with o
// + low = i * stride + k. The phase of a result position is the remainder of o
// + low divided by the stride. Positions of one phase use the same kernel
// positions: phase, phase + stride, and so on, for inputs in descending order.
// So each phase is a convolution of stride 1 with a part of the kernel,
// reversed:
//
//   y[q * stride + phase - low]  =  sum over j of  x[q - j] * w[j * stride + phase]
//
// Phases with equally many kernel positions become channels of one convolution;
// if the stride divides the kernel size, all phases have equally many:
//
//   %y = conv_transpose %x, %w        %c = conv %x, %phases    // [N, q..., phases, O]
//        strides [2, 2]          ->   %t = transpose %c        // [N, q, phase, ..., O]
//                                     %r = reshape %t          // [N, q * 2 + phase, ..., O]
//                                     %y = slice %r            // from low on
//
// If there are two or more spatial axes, only the phases of the last axis
// become channels, provided that these phases have equally many kernel
// positions and give enough channels. Each row of the result is then computed
// by one convolution and written to its final position, without a transpose:
//
//   %a = conv %x, %even     // [N, q, p, phases of the last axis * O]
//   %b = conv %x, %odd
//   %j = concat %a, %b      // [N, q, 2 * p, phases * O]
//   %y = reshape %j         // [N, q * 2, p * phases, O]
//
// No multiplications by zero are added, except where the stride exceeds the
// kernel size. Sums are added in another order, so --strict omits this pass.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Moves.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_SPLITPHASES
#include "passes/simplify/Passes.h.inc"

namespace {

/// Neighbouring phases (remainders of result positions by the stride) of a
/// spatial axis that all use the same number of kernel positions, `taps`.
struct PhaseRun {
  int64_t first, count, taps;
};

/// A spatial axis of a transposed convolution.
struct PhasedAxis {
  int64_t kernel, stride, dilation;
  SmallVector<PhaseRun, 2> runs;
  /// The padding `low` removes positions from the beginning of the result:
  /// `skipped` whole strides, which the convolutions do not compute, and `crop`
  /// positions, which they compute and a slice removes.
  int64_t skipped, crop;
  /// The number of result positions computed per phase.
  Dim positions;

  PhasedAxis(int64_t kernel, int64_t stride, int64_t dilation, int64_t low,
             const Dim &size)
      : kernel(kernel), stride(stride), dilation(dilation) {
    int64_t rest = kernel % stride, least = kernel / stride;
    if (least == 0) {
      least = 1;
      runs.push_back({0, stride, 1});
    } else {
      if (rest != 0)
        runs.push_back({0, rest, least + 1});
      runs.push_back({rest, stride - rest, least});
    }
    skipped = std::min(low / stride, (least - 1) * dilation);
    crop = low - skipped * stride;
    positions = (size + (crop - 1)).floorDiv(stride) + 1;
  }

  /// Replaces each run of neighbouring phases by runs of a single phase.
  void splitRuns() {
    SmallVector<PhaseRun, 2> single;
    for (const PhaseRun &run : runs)
      for (int64_t i = 0; i < run.count; ++i)
        single.push_back({run.first + i, 1, run.taps});
    runs = std::move(single);
  }

  /// Returns the largest number of kernel positions that a phase of this axis
  /// uses.
  int64_t mostTaps() const { return runs.front().taps; }
};

/// If the phases of the last axis alone give at least this number of channels,
/// only these phases become channels, not the phases of the other axes. The
/// channels then fill two of the widest vectors (512 bits of f32).
constexpr int64_t fewChannels = 32;

class PhaseSplitter {
public:
  PhaseSplitter(OpBuilder &builder, ConvTransposeOp op)
      : builder(builder), loc(op.getLoc()), op(op), x(op.getX()),
        groups(op.getGroups()), rank(op.getStrides().size()) {
    Dims sizes = dimsOf(op.getResult());
    for (size_t i = 0; i < rank; ++i)
      axes.emplace_back(shapeOf(op.getW())[i], op.getStrides()[i],
                        op.getDilations()[i], op.getLow()[i], sizes[1 + i]);
    byRows = axes.back().runs.size() == 1 && !hasDynamicSizes(op.getType()) &&
             shapeOf(op.getResult()).back() * axes.back().stride >= fewChannels;
    // The combinations of phases must be computed in row-major order. So if an
    // inner axis has several runs (of phases with equally many kernel
    // positions), each phase of the outer axes becomes a separate run.
    bool inOrder = true;
    for (PhasedAxis &axis : llvm::reverse(axes)) {
      if (!inOrder || (byRows && &axis != &axes.back()))
        axis.splitRuns();
      inOrder &= axis.runs.size() == 1;
    }
  }

  Value run() {
    weights = splitWeights();
    Value y = byRows ? joinRows(0, {}) : joinPhases();
    Dims merged{dimsOf(op.getX()).front()};
    SmallVector<int64_t> starts(rank + 2, 0), steps(rank + 2, 1);
    for (auto [i, axis] : llvm::enumerate(axes)) {
      merged.push_back(axis.positions * axis.stride);
      starts[1 + i] = axis.crop;
    }
    merged.push_back(dimsOf(op.getResult()).back());
    y = buildReshape(builder, loc, y, ArrayRef<Dim>(merged));
    return y.getType() == op.getType()
               ? y
               : SliceOp::create(builder, loc, y, starts, steps,
                                 ArrayRef<Dim>(dimsOf(op.getResult())))
                     .getResult();
  }

private:
  /// Computes the phases of all axes, and interleaves the phases of each axis
  /// with its positions.
  Value joinPhases() {
    SmallVector<Value> parts;
    addPhases(0, {}, parts);
    Value y = parts.front();
    if (parts.size() > 1)
      y = ConcatOp::create(builder, loc, parts, int64_t(1 + rank));
    Dims split{dimsOf(y).front()};
    SmallVector<int64_t> perm{0};
    for (const PhasedAxis &axis : axes)
      split.push_back(axis.positions);
    for (const PhasedAxis &axis : axes)
      split.push_back(axis.stride);
    split.push_back(dimsOf(y).back());
    for (size_t i = 0; i < rank; ++i)
      perm.append({int64_t(1 + i), int64_t(1 + rank + i)});
    perm.push_back(1 + 2 * rank);
    y = buildReshape(builder, loc, y, ArrayRef<Dim>(split));
    return buildTranspose(builder, loc, y, perm);
  }

  /// Computes the phases of the axes from `axis` on, given the phases `chosen`
  /// for the previous axes. The phases of an axis are concatenated along the
  /// next axis, so that a reshape interleaves them with the axis's positions.
  Value joinRows(size_t axis, SmallVector<PhaseRun> chosen) {
    if (axis + 1 == rank) {
      chosen.push_back(axes.back().runs.front());
      Value phases = convolve(chosen);
      Dims together(dimsOf(phases));
      Dim outputs = together.pop_back_val();
      together.back() *= outputs;
      return buildReshape(builder, loc, phases, ArrayRef<Dim>(together));
    }
    SmallVector<Value> parts;
    for (const PhaseRun &run : axes[axis].runs) {
      chosen.push_back(run);
      parts.push_back(joinRows(axis + 1, chosen));
      chosen.pop_back();
    }
    return parts.size() == 1
               ? parts.front()
               : ConcatOp::create(builder, loc, parts, int64_t(axis + 2))
                     .getResult();
  }

  /// Returns the weights with the shape [taps, phases] for each spatial axis,
  /// followed by [groups, C / groups, O / groups].
  Value splitWeights() {
    ArrayRef<int64_t> w = shapeOf(op.getW());
    SmallVector<int64_t> none(w.size(), 0), missing(w.size(), 0), split;
    for (auto [i, axis] : llvm::enumerate(axes)) {
      missing[i] = axis.mostTaps() * axis.stride - axis.kernel;
      split.append({axis.mostTaps(), axis.stride});
    }
    split.append({groups, w[rank] / groups, w[rank + 1]});
    Value padded = op.getW();
    if (missing != none) {
      Value zero = uniformConstant(
          builder, loc, RankedTensorType::get({}, elementOf(padded)), 0.0);
      padded = PadOp::create(builder, loc, padded, zero, none, missing);
    }
    return buildReshape(builder, loc, padded, split);
  }

  /// Appends to `parts` the results for all phases of the axes from `axis` on,
  /// given the phases `chosen` for the previous axes. Each result has the shape
  /// [N, q..., phases, O].
  void addPhases(size_t axis, SmallVector<PhaseRun> chosen,
                 SmallVector<Value> &parts) {
    if (axis == rank) {
      parts.push_back(convolve(chosen));
      return;
    }
    for (const PhaseRun &run : axes[axis].runs) {
      chosen.push_back(run);
      addPhases(axis + 1, chosen, parts);
      chosen.pop_back();
    }
  }

  /// Builds the convolution that computes the phases `runs` (a run per axis).
  Value convolve(ArrayRef<PhaseRun> runs) {
    int64_t inputs = shapeOf(op.getW())[rank] / groups,
            outputs = shapeOf(op.getW())[rank + 1];
    // Slice the weights of the phases of `runs`, with the kernel positions
    // reversed.
    SmallVector<int64_t> starts, steps, sizes, perm, kernel, low, ones(rank, 1);
    int64_t channels = groups * outputs;
    for (auto [axis, run] : llvm::zip_equal(axes, runs)) {
      starts.append({run.taps - 1, run.first});
      steps.append({-1, 1});
      sizes.append({run.taps, run.count});
      kernel.push_back(run.taps);
      low.push_back((run.taps - 1) * axis.dilation - axis.skipped);
      channels *= run.count;
    }
    starts.append({0, 0, 0});
    steps.append({1, 1, 1});
    sizes.append({groups, inputs, outputs});
    // Transpose the slice to [taps..., C / groups, groups, phases..., O /
    // groups].
    for (size_t i = 0; i < rank; ++i)
      perm.push_back(2 * i);
    perm.append({int64_t(2 * rank + 1), int64_t(2 * rank)});
    for (size_t i = 0; i < rank; ++i)
      perm.push_back(2 * i + 1);
    perm.push_back(2 * rank + 2);
    kernel.append({inputs, channels});
    Value part = SliceOp::create(builder, loc, weights, starts, steps,
                                 ArrayRef<int64_t>(sizes));
    part = buildReshape(builder, loc, buildTranspose(builder, loc, part, perm),
                        kernel);

    Dims result{dimsOf(x).front()};
    for (const PhasedAxis &axis : axes)
      result.push_back(axis.positions);
    Dims split = result, whole = result;
    result.push_back(channels);
    Value y =
        ConvOp::create(builder, loc, tensorOf(result, elementOf(x)), x, part,
                       biasOf(runs), ones, op.getDilations(), low, groups);
    // Transpose the result from [N, q..., groups, phases, O / groups] to [N,
    // q..., phases, O].
    int64_t phases = channels / (groups * outputs);
    split.append({groups, phases, outputs});
    whole.append({phases, groups * outputs});
    SmallVector<int64_t> groupsBehind(
        llvm::to_vector(llvm::seq<int64_t>(0, rank + 1)));
    groupsBehind.append(
        {int64_t(rank + 2), int64_t(rank + 1), int64_t(rank + 3)});
    if (groups != 1)
      y = buildTranspose(builder, loc,
                         buildReshape(builder, loc, y, ArrayRef<Dim>(split)),
                         groupsBehind);
    return buildReshape(builder, loc, y, ArrayRef<Dim>(whole));
  }

  /// Returns the bias, with each channel repeated for all phases of `runs`.
  Value biasOf(ArrayRef<PhaseRun> runs) {
    Value bias = op.getBias();
    if (!bias)
      return {};
    int64_t outputs = shapeOf(op.getW())[rank + 1], channels = groups * outputs;
    SmallVector<int64_t> one{groups}, all{groups};
    for (const PhaseRun &run : runs) {
      one.push_back(1);
      all.push_back(run.count);
      channels *= run.count;
    }
    one.push_back(outputs);
    all.push_back(outputs);
    bias = buildReshape(builder, loc, bias, one);
    bias = ExpandOp::create(builder, loc, bias, ArrayRef<int64_t>(all));
    return buildReshape(builder, loc, bias, {channels});
  }

  OpBuilder &builder;
  Location loc;
  ConvTransposeOp op;
  Value x, weights;
  int64_t groups;
  size_t rank;
  SmallVector<PhasedAxis> axes;
  /// Whether only the phases of the last axis become channels.
  bool byRows;
};

LogicalResult split(ConvTransposeOp op, PatternRewriter &rewriter) {
  if (!isa<FloatType>(elementOf(op.getX())) ||
      !isa_and_nonnull<ConstantOp>(
          Moves::behind(op.getW()).from.getDefiningOp()))
    return failure();
  for (size_t i = 0; i < op.getStrides().size(); ++i) {
    // Stride or dilation must be 1, since otherwise a phase does not use every
    // stride-th kernel position. A stride over twice the kernel size would add
    // more zeros than there are weights.
    int64_t kernel = shapeOf(op.getW())[i], stride = op.getStrides()[i];
    if ((stride != 1 && op.getDilations()[i] != 1) || stride > 2 * kernel ||
        op.getLow()[i] < 0)
      return failure();
  }
  rewriter.replaceOp(op, PhaseSplitter(rewriter, op).run());
  return success();
}

struct SplitPhasesPass : impl::SplitPhasesBase<SplitPhasesPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(split);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot::simplify
