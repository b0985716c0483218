// Merges neighbouring output positions of convolutions with few filters into
// the channels of one position.
//
//   %y = conv(%x, %w: 5x5x1x8) : 28x28x8       %j = conv(%x, %w': 5x8x1x32) {strides 1, 4} : 28x7x32
//   %q = quantize(%y, %s: 8)              ->   %q' = quantize(%j, %s': 32)
//                                              %q = reshape(%q') : 28x28x8
//
// `w'` contains the filters of `w` for each of four neighbouring positions,
// padded with zeros. The results are the same numbers at the same addresses:
// sums of integers are exact, and subsequent elementwise operators are
// rewritten as well. This pays off on targets with slow partial-register
// accesses (`wholeRegisters`), if the sums of one position do not fill a
// vector. The windows of neighbouring positions overlap, so a merged window
// needs fewer vector MACs than the single windows together. Merged windows may
// also begin at 32-bit words where single windows do not, which is faster.

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/DotForm.h"
#include "passes/simplify/OtherSign.h"

using namespace mlir;
using namespace ingot::graph;
using namespace ingot::simplify;

namespace ingot::decide {
#define GEN_PASS_DEF_JOINPOSITIONS
#include "passes/decide/Passes.h.inc"

namespace {

/// Whether `conv` equals a matmul of [positions, input channels] and [input
/// channels, output channels]: its windows are single positions.
bool isPointwise(ConvOp conv) {
  return schedule::ConvolutionAnchor{conv, nullptr}.isMatrix();
}

/// Rewrites one convolution: merges groups of `count` neighbouring output
/// columns, each into the channels of one column.
class Joining {
public:
  Joining(ConvOp conv, int64_t count, bool byRows)
      : builder(conv), conv(conv), count(count), byRows(byRows),
        from(shapeOf(conv.getResult())), to(from) {
    to.end()[-2] /= count;
    to.back() *= count;
  }

  void run() {
    Value joined = joinedConv(), single = conv.getResult();
    // Subsequent elementwise operators are rewritten for merged positions, too,
    // so that they compute whole vectors.
    while (single.hasOneUse()) {
      Operation *user = *single.getUsers().begin();
      if (!mayJoin(user))
        break;
      builder.setInsertionPoint(user);
      joined = appliedTo(user, single, joined);
      single = user->getResult(0);
    }
    for (Operation *user : llvm::make_early_inc_range(single.getUsers()))
      if (auto reshape = dyn_cast<ReshapeOp>(user);
          reshape && shapeOf(reshape.getResult()) == ArrayRef(to))
        reshape.replaceAllUsesWith(joined);
    builder.setInsertionPointAfter(joined.getDefiningOp());
    single.replaceAllUsesWith(
        ReshapeOp::create(builder, single.getLoc(), joined, from));
  }

private:
  Value joinedConv() {
    Location loc = conv.getLoc();
    Value w = conv.getW();
    int64_t axis = int64_t(shapeOf(w).size()) - 3,
            stride = conv.getStrides().back();
    auto zero =
        DenseElementsAttr::get(RankedTensorType::get({}, elementOf(w)),
                               APInt(elementOf(w).getIntOrFloatBitWidth(), 0));
    Value none = ConstantOp::create(builder, loc, zero);
    SmallVector<Value> filters;
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<int64_t> low(axis + 3), high(axis + 3);
      low[axis] = i * stride;
      high[axis] = (count - 1 - i) * stride;
      filters.push_back(PadOp::create(builder, loc, w, none, low, high));
    }
    SmallVector<int64_t> strides(conv.getStrides()), low(conv.getLow());
    strides.back() *= count;
    Value x = conv.getX(), bias = conv.getBias();
    w = ConcatOp::create(builder, loc, filters, axis + 2);
    if (isPointwise(conv)) {
      // The merged convolution is still pointwise, on the channels of all
      // merged positions.
      strides.back() = 1;
      SmallVector<int64_t> shape(shapeOf(x)), kernel(shapeOf(w));
      shape.end()[-2] /= count;
      shape.back() *= count;
      kernel[axis] = 1;
      kernel[axis + 1] *= count;
      x = ReshapeOp::create(builder, loc, x, shape);
      w = ReshapeOp::create(builder, loc, w, kernel);
    } else if (byRows) {
      int64_t channels = shapeOf(x).back();
      strides.back() *= channels;
      low.back() *= channels;
      x = withoutChannels(x, shapeOf(x).size() - 1);
      w = withoutChannels(w, axis + 1);
    }
    return ConvOp::create(
        builder, loc, RankedTensorType::get(to, elementOf(conv.getResult())), x,
        w, bias ? repeated(bias) : bias, strides, conv.getDilations(), low,
        conv.getGroups(), conv.getXZero(), conv.getXOutside());
  }

  /// Returns `v` with each channel (on `axis`) as a separate column (on axis -
  /// 1).
  Value withoutChannels(Value v, size_t axis) {
    SmallVector<int64_t> shape(shapeOf(v));
    if (shape[axis] == 1)
      return v;
    shape[axis - 1] *= shape[axis];
    shape[axis] = 1;
    return ReshapeOp::create(builder, v.getLoc(), v, shape);
  }

  /// Returns `channels`, constants with one element per channel, repeated
  /// `count` times: once for each merged position.
  Value repeated(Value channels) {
    return ConcatOp::create(builder, channels.getLoc(),
                            SmallVector<Value>(count, channels),
                            int64_t(shapeOf(channels).size()) - 1);
  }

  /// Whether `op` is elementwise with a result of the shape `from`, and each of
  /// its operands has that shape, is a constant per channel, or is a scalar.
  bool mayJoin(Operation *op) {
    return isa_and_nonnull<ElementwiseOpInterface>(op) &&
           op->getNumResults() == 1 &&
           shapeOf(op->getResult(0)) == ArrayRef(from) &&
           !hasDynamicSizes(op) &&
           llvm::all_of(op->getOperands(), [&](Value v) {
             return isOne(v) || isOfChannels(v) || shapeOf(v) == ArrayRef(from);
           });
  }
  static bool isOne(Value v) { return tensorType(v).getNumElements() == 1; }
  bool isOfChannels(Value v) {
    return matchPattern(v, m_Constant()) && shapeOf(v).back() == from.back() &&
           tensorType(v).getNumElements() == from.back();
  }

  Value appliedTo(Operation *op, Value single, Value joined) {
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(v == single ? joined : operand(v));
    Operation *clone = builder.clone(*op);
    clone->setOperands(operands);
    clone->getResult(0).setType(
        RankedTensorType::get(to, elementOf(op->getResult(0))));
    return clone->getResult(0);
  }

  /// Returns the operand `v` of an elementwise operator for merged positions.
  /// If `v` has no other users, its operator is cloned for merged positions, so
  /// that it remains in one kernel with its user.
  Value operand(Value v) {
    if (isOne(v))
      return v;
    if (shapeOf(v) != ArrayRef(from))
      return repeated(v);
    Operation *op = v.getDefiningOp();
    if (auto reshape = dyn_cast_or_null<ReshapeOp>(op);
        reshape && shapeOf(reshape.getX()) == ArrayRef(to))
      return reshape.getX();
    if (v.hasOneUse() && mayJoin(op))
      return appliedTo(op, Value(), Value());
    return ReshapeOp::create(builder, v.getLoc(), v, to);
  }

  OpBuilder builder;
  ConvOp conv;
  int64_t count;
  /// Whether a 32-bit word of the input spans channels of several columns. Each
  /// channel then becomes a column of its own.
  bool byRows;
  SmallVector<int64_t> from, to;
};

/// Whether dot products read whole kernel rows, and a 32-bit word of the input
/// spans channels of several columns.
bool isByRows(ConvOp conv, const schedule::DotForm &form) {
  return schedule::readsKernelRows(conv) &&
         shapeOf(conv.getX()).back() % form.group != 0;
}

/// Estimates the cycles to scale the accumulators of one position with
/// `columns` channels, to convert them to a narrow type, and to store them, in
/// vectors of `lanes` elements.
double cyclesBehind(int64_t columns, int64_t lanes) {
  // A single channel is not vectorized. If the number of channels is a power of
  // two, several positions share a register (JoinedRows.h). Otherwise, a
  // position is stored by several accesses to parts of a register.
  constexpr int64_t fewColumns = 4;
  constexpr double ofVector = 12, ofJoining = 6, ofLane = 32, ofParts = 250;
  if (columns == 1)
    return ofLane;
  if (columns == lanes)
    return ofVector;
  return columns >= fewColumns && llvm::isPowerOf2_64(columns)
             ? ofVector * double(columns) / double(lanes) + ofJoining
             : ofParts;
}

/// Estimates the cycles of a convolution per output position if `count`
/// positions are merged: dot products plus the epilogue. Returns INFINITY if
/// `count` positions must not be merged.
double costOf(ConvOp conv, int64_t count, const schedule::DotForm &form) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  int64_t channels = w.end()[-2], stride = conv.getStrides().back(),
          lanes = form.lanes.front(),
          results = shapeOf(conv.getResult()).end()[-2],
          rows = ShapedType::getNumElements(
              shapeOf(conv.getResult()).drop_back(2)),
          columns = w.end()[-3] + (count - 1) * stride,
          kernelRows = ShapedType::getNumElements(w.drop_back(3));
  auto inGroups = [&](int64_t steps) {
    return int64_t(llvm::divideCeil(steps, form.group));
  };
  bool byRows = isByRows(conv, form);
  // If the rows of the filters consist of whole 32-bit words, merged rows must
  // too.
  if (byRows && w.end()[-3] * channels % form.group == 0 &&
      columns * channels % form.group != 0)
    return INFINITY;
  int64_t groups =
      byRows ? inGroups(columns * channels) : columns * inGroups(channels);
  bool isAligned = !byRows || count * stride * channels % form.group == 0;
  // The positions of a tile share each load of weights, which takes a few
  // cycles. An unaligned 32-bit word is assembled from bytes.
  constexpr int64_t mostRows = 12;
  constexpr double cyclesOfLoad = 4, cyclesOfBytes = 3;
  int64_t tileRows =
      std::min(mostRows, results / count * (isPointwise(conv) ? rows : 1));
  double step = double(lanes * form.group) / form.perCycle +
                cyclesOfLoad / double(tileRows) +
                (isAligned ? 0 : cyclesOfBytes);
  return (double(kernelRows * groups) * step +
          cyclesBehind(count * w.back(), lanes)) /
         double(count);
}

/// Returns the fastest dot product of the target for the operands of `conv`,
/// where each operand may also have the other signedness; nothing if the target
/// has none.
std::optional<schedule::DotForm> fastestForm(ConvOp conv,
                                             const TargetDescription &target) {
  Type x = elementOf(conv.getX()), w = elementOf(conv.getW());
  std::optional<schedule::DotForm> best;
  for (Type a : {x, Type(otherSign(x))})
    for (Type b : {w, Type(otherSign(w))})
      if (auto form =
              schedule::dotForm(a, b, target, shapeOf(conv.getX()).back());
          form && (!best || form->perCycle > best->perCycle))
        best = form;
  return best;
}

/// Merges groups of neighbouring output columns of `conv`, if the pass supports
/// it. The number of columns in a group is the smallest one whose estimated
/// time is at most 1.1 times the least; if this number is 1, nothing changes.
void join(ConvOp conv, const TargetDescription &target) {
  if (!conv.isWidening() || !isa<IntegerType>(elementOf(conv.getX())) ||
      conv.getGroups() != 1 || hasDynamicSizes(conv) ||
      conv.getDilations().back() != 1 ||
      !isa_and_nonnull<ConstantOp>(conv.getW().getDefiningOp()))
    return;
  auto form = fastestForm(conv, target);
  int64_t columns = shapeOf(conv.getResult()).end()[-2],
          filters = shapeOf(conv.getW()).back();
  if (!form || columns == 0 || filters == 0)
    return;
  SmallVector<std::pair<int64_t, double>> costs;
  double least = INFINITY;
  for (int64_t count = 1; count == 1 || count * filters <= form->lanes.front();
       ++count)
    if (columns % count == 0) {
      costs.push_back({count, costOf(conv, count, *form)});
      least = std::min(least, costs.back().second);
    }
  // The weights grow with the number of merged positions, so a smaller number
  // is chosen even if it is slightly slower.
  constexpr double nearly = 1.1;
  auto chosen = llvm::find_if(
      costs, [&](auto &cost) { return cost.second <= nearly * least; });
  if (chosen->first > 1)
    Joining(conv, chosen->first, isByRows(conv, *form)).run();
}

struct JoinPositionsPass : impl::JoinPositionsBase<JoinPositionsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.wholeRegisters)
      return;
    SmallVector<ConvOp> convolutions;
    getOperation().walk([&](ConvOp conv) { convolutions.push_back(conv); });
    for (ConvOp conv : convolutions)
      join(conv, target);
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace
} // namespace ingot::decide
