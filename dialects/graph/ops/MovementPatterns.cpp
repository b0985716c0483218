// Canonicalization of operators that move elements.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Patterns.h"

using namespace mlir;

namespace ingot::graph {
namespace {

//===----------------------------------------------------------------------===//
// Slices and concatenations
//===----------------------------------------------------------------------===//

/// Whether all operands have constant sizes along `axis`.
bool isKnownAlong(ConcatOp op, int64_t axis) {
  return llvm::all_of(op.getInputs(), [&](Value part) {
    return dimsOf(part)[axis].known().has_value();
  });
}

/// slice(concat(a, b, c)) -> slice(b), or slice(concat(a, b)), if the slice
/// does not read the other operands.
LogicalResult sliceOfConcat(SliceOp op, PatternRewriter &rewriter) {
  auto concat = op.getX().getDefiningOp<ConcatOp>();
  if (!concat || op.getType().getNumElements() == 0 ||
      !isKnownAlong(concat, concat.getAxis()) ||
      !dimsOf(op.getResult())[concat.getAxis()].known())
    return failure();
  int64_t axis = concat.getAxis(), start = op.getStarts()[axis];
  int64_t last =
      start + (shapeOf(op.getResult())[axis] - 1) * op.getSteps()[axis];
  int64_t low = std::min(start, last), high = std::max(start, last);
  SmallVector<Value> parts;
  int64_t offset = 0, first = 0;
  for (Value part : concat.getInputs()) {
    int64_t end = offset + shapeOf(part)[axis];
    if (low < end && offset <= high) {
      if (parts.empty())
        first = offset;
      parts.push_back(part);
    }
    offset = end;
  }
  // If the slice reads several operands, a new concatenation of these is
  // sliced. That is not done if the original concatenation has other readers:
  // both concatenations would then be computed.
  if (parts.size() == concat.getInputs().size() ||
      (parts.size() > 1 && !concat->hasOneUse()))
    return failure();
  Value x = parts.front();
  if (parts.size() > 1)
    x = ConcatOp::create(rewriter, concat.getLoc(), parts, axis);
  SmallVector<int64_t> starts(op.getStarts());
  starts[axis] -= first;
  rewriter.replaceOpWithNewOp<SliceOp>(op, x, starts, op.getSteps(),
                                       dimsOf(op.getResult()));
  return success();
}

/// concat(x[0:2], x[2:5], y) -> concat(x[0:5], y)
struct ConcatOfSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Whether `next` begins at the element of the same tensor where `slice`
  /// ends.
  static bool goesOn(SliceOp slice, SliceOp next, int64_t axis) {
    if (!slice || !next || slice.getX() != next.getX() ||
        slice.getSteps() != next.getSteps())
      return false;
    SmallVector<int64_t> starts(slice.getStarts());
    starts[axis] += shapeOf(slice.getResult())[axis] * slice.getSteps()[axis];
    return next.getStarts() == ArrayRef<int64_t>(starts);
  }

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    if (!isKnownAlong(op, axis))
      return failure();
    SmallVector<Value> parts;
    for (Value part : op.getInputs()) {
      auto slice =
          parts.empty() ? SliceOp() : parts.back().getDefiningOp<SliceOp>();
      auto next = part.getDefiningOp<SliceOp>();
      if (!goesOn(slice, next, axis)) {
        parts.push_back(part);
        continue;
      }
      Dims sizes = dimsOf(slice.getResult());
      sizes[axis] += shapeOf(part)[axis];
      parts.back() = SliceOp::create(
          rewriter, rewriter.getFusedLoc({slice.getLoc(), next.getLoc()}),
          slice.getX(), slice.getStarts(), slice.getSteps(), sizes);
    }
    if (parts.size() == op.getInputs().size())
      return failure();
    if (parts.size() == 1)
      rewriter.replaceOp(op, parts.front());
    else
      rewriter.replaceOpWithNewOp<ConcatOp>(op, parts, axis);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Reshapes around other movements
//===----------------------------------------------------------------------===//

/// Returns the axes whose size is not 1.
SmallVector<int64_t> longAxes(ArrayRef<Dim> sizes) {
  SmallVector<int64_t> axes;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!(size == 1))
      axes.push_back(axis);
  return axes;
}

/// reshape(transpose(x)) -> transpose(reshape(x)): a reshape of a stored tensor
/// is a view, and the transpose can be merged with others or moved into its
/// readers.
LogicalResult reshapeOfTranspose(ReshapeOp op, PatternRewriter &rewriter) {
  Value moved = reshapedBeforeTranspose(rewriter, op);
  if (!moved)
    return failure();
  rewriter.replaceOp(op, moved);
  return success();
}

/// add(reshape(product), y) -> reshape(add(product, reshape(y))), where
/// `product` is the result of a matmul or an elementwise operator. Requires
/// that the first reshape only adds and drops axes of size 1. The addition can
/// then be fused with the operator of `product`, and the reshape of `y` is a
/// view.
struct SinkReshape : OpInterfaceRewritePattern<ElementwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  /// Returns the reshape that computes `v`, an operand of the operator with the
  /// result `result`. Returns null unless the reshape keeps the last axis and
  /// only adds or drops axes of size 1, `v` has the sizes of `result`, the
  /// reshaped value comes from a matmul or an elementwise operator, and neither
  /// value has another reader.
  static ReshapeOp sinkable(Value v, Value result) {
    auto reshape = v.getDefiningOp<ReshapeOp>();
    if (!reshape || !reshape->hasOneUse() || dimsOf(v) != dimsOf(result))
      return {};
    Operation *producer = reshape.getX().getDefiningOp();
    if (!isa_and_nonnull<ElementwiseOpInterface, MatMulOp>(producer) ||
        !producer->hasOneUse())
      return {};
    Dims from = dimsOf(reshape.getX()), to = dimsOf(v);
    // The last axis must stay the last one: another operand, such as a bias,
    // may have only that axis.
    return !from.empty() && !to.empty() && from.back() == to.back() &&
                   permuted(from, longAxes(from)) == permuted(to, longAxes(to))
               ? reshape
               : ReshapeOp();
  }

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    Value result = op->getResult(0);
    ReshapeOp reshape;
    for (Value operand : op->getOperands())
      if (!reshape)
        reshape = sinkable(operand, result);
    if (!reshape)
      return failure();
    for (Value operand : op->getOperands())
      if (dimsOf(operand) != dimsOf(result) &&
          !(product(dimsOf(operand)) == 1) && shapeOf(operand).size() != 1)
        return failure();
    Dims sizes = dimsOf(reshape.getX());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      bool isWhole = dimsOf(operand) == dimsOf(result);
      bool isOne = product(dimsOf(operand)) == 1;
      operands.push_back(isWhole || isOne
                             ? buildReshape(rewriter, op.getLoc(), operand,
                                            isWhole ? sizes : Dims())
                             : operand);
    }
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(tensorOf(sizes, elementOf(result)));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, moved->getResult(0),
                                           dimsOf(result));
    return success();
  }
};

/// slice(transpose(x)) -> transpose(slice(x)), so that only the slice is moved.
/// Requires that only slices read the transpose.
LogicalResult sliceOfTranspose(SliceOp op, PatternRewriter &rewriter) {
  auto transpose = op.getX().getDefiningOp<TransposeOp>();
  if (!transpose ||
      !llvm::all_of(transpose->getUsers(), llvm::IsaPred<SliceOp>))
    return failure();
  SmallVector<int64_t> inverse = inversePermutation(transpose.getPerm());
  Value part = SliceOp::create(rewriter, op.getLoc(), transpose.getX(),
                               permuted(op.getStarts(), inverse),
                               permuted(op.getSteps(), inverse),
                               permuted(dimsOf(op.getResult()), inverse));
  rewriter.replaceOpWithNewOp<TransposeOp>(op, part, transpose.getPerm());
  return success();
}

/// reshape(slice(x)) -> slice(reshape(x)). Requires that among the axes that
/// the reshape merges or splits together, only the first is sliced, with step
/// 1. The new reshape is a view of the stored tensor, and the slice reads the
/// elements in place and is fused with later movements. Not applied if the
/// reshape only adds and drops axes of size 1, since it then splits nothing.
LogicalResult reshapeOfSlice(ReshapeOp op, PatternRewriter &rewriter) {
  auto slice = op.getX().getDefiningOp<SliceOp>();
  if (!slice || !slice->hasOneUse())
    return failure();
  ArrayRef<int64_t> whole = shapeOf(slice.getX()),
                    from = shapeOf(slice.getResult()),
                    to = shapeOf(op.getResult());
  Dims fromSizes = dimsOf(slice.getResult()), sizes = dimsOf(op.getResult());
  SmallVector<AxisRun> runs = axisRuns(fromSizes, sizes);
  if (runs.empty() || permuted(fromSizes, longAxes(fromSizes)) ==
                          permuted(sizes, longAxes(sizes)))
    return failure();
  SmallVector<int64_t> starts(to.size(), 0), steps(to.size(), 1);
  Dims viewed(sizes);
  // The axes after the last run (of axes that are merged or split together)
  // have size 1. They are added to the last run.
  runs.back().fromCount = from.size() - runs.back().from;
  runs.back().toCount = to.size() - runs.back().to;
  for (const AxisRun &run : runs) {
    std::optional<size_t> sliced;
    auto isKnown = [](const Dim &size) { return size.known().has_value(); };
    bool known = true;
    for (size_t i = run.from; i < run.from + run.fromCount; ++i) {
      known &= isKnown(dimsOf(slice.getX())[i]) && isKnown(fromSizes[i]);
      if (dimsOf(slice.getX())[i] == fromSizes[i] &&
          slice.getStarts()[i] == 0 && slice.getSteps()[i] == 1)
        continue;
      if (sliced || slice.getSteps()[i] != 1)
        return failure();
      sliced = i;
    }
    if (!sliced)
      continue;
    if (!known)
      return failure();
    // Among the axes that are merged or split together (`run`), only axes of
    // size 1 may precede the sliced axis.
    int64_t before = 1, inner = 1;
    for (size_t i = run.from; i < run.from + run.fromCount; ++i)
      (i < *sliced ? before : inner) *= i == *sliced ? 1 : from[i];
    size_t first = run.to;
    while (first + 1 < run.to + run.toCount && to[first] == 1)
      ++first;
    int64_t rest = 1;
    for (size_t j = first + 1; j < run.to + run.toCount; ++j)
      rest *= to[j];
    int64_t start = slice.getStarts()[*sliced] * inner,
            size = whole[*sliced] * inner;
    if (before != 1 || start % rest != 0 || size % rest != 0)
      return failure();
    viewed[first] = size / rest;
    starts[first] = start / rest;
  }
  if (!isOneReshape(dimsOf(slice.getX()), viewed))
    return failure();
  Value view = ReshapeOp::create(rewriter, op.getLoc(), slice.getX(), viewed);
  rewriter.replaceOpWithNewOp<SliceOp>(op, view, starts, steps, sizes);
  return success();
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Turns a gather of equidistant constant indices into a slice. If the index is
/// a scalar, a reshape drops the axis. If that reshape would not be a view of a
/// stored tensor, the gather is kept, since it can be fused into the kernel of
/// its reader.
LogicalResult gatherOfRange(GatherOp op, PatternRewriter &rewriter) {
  Value given = op.getIndices();
  auto constant = given.getDefiningOp<ConstantOp>();
  if (!constant || tensorType(given).getNumElements() == 0 ||
      !hasData(constant.getValue()))
    return failure();
  int64_t axis = op.getAxis(), size = shapeOf(op.getX())[axis];
  Dims sizes = dimsOf(op.getX());
  if (!sizes[axis].known())
    return failure();
  bool keepsAxis = shapeOf(given).size() == 1;
  if (!keepsAxis && llvm::any_of(shapeOf(op.getX()).take_front(axis),
                                 [](int64_t outer) { return outer != 1; }))
    return failure();
  SmallVector<int64_t> indices = elementsAsInts(constant.getValue());
  for (int64_t &i : indices)
    i = std::clamp<int64_t>(i < 0 ? i + size : i, 0, size - 1);
  int64_t step = indices.size() > 1 ? indices[1] - indices[0] : 1;
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] - indices[i - 1] != step)
      return failure();
  if (step == 0)
    return failure();
  size_t rank = shapeOf(op.getX()).size();
  SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
  starts[axis] = indices.front();
  steps[axis] = step;
  sizes[axis] = indices.size();
  Value part =
      SliceOp::create(rewriter, op.getLoc(), op.getX(), starts, steps, sizes);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, part, dimsOf(op.getResult()));
  return success();
}

} // namespace

void populateMovementPatterns(RewritePatternSet &patterns) {
  patterns.add(sliceOfConcat)
      .add<ConcatOfSlices>(patterns.getContext())
      .add(reshapeOfTranspose)
      .add<SinkReshape>(patterns.getContext())
      .add(sliceOfTranspose)
      .add(reshapeOfSlice)
      .add(gatherOfRange);
}

} // namespace ingot::graph
