// Reshapes: how indices of the result map to indices of the operand.

#include "dialects/graph/ops/Movement.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ingot::graph {

void ReshapeOp::build(OpBuilder &, OperationState &state, Value x,
                      ArrayRef<int64_t> shape) {
  state.addOperands(x);
  state.addTypes(RankedTensorType::get(shape, elementOf(x)));
}

void ReshapeOp::build(OpBuilder &, OperationState &state, Value x,
                      ArrayRef<Dim> sizes) {
  state.addOperands(x);
  state.addTypes(tensorOf(sizes, elementOf(x)));
}

SmallVector<AxisRun> axisRuns(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  SmallVector<AxisRun> runs;
  if (llvm::is_contained(from, Dim(0)))
    return runs;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    size_t firstI = i, firstJ = j;
    Dim x = from[i++], y = to[j++];
    while (mayDiffer(x, y)) {
      bool xIsShorter =
          x.most() < y.most() || (x.most() == y.most() && i < from.size());
      if (xIsShorter ? i == from.size() : j == to.size())
        break;
      if (xIsShorter)
        x *= from[i++];
      else
        y *= to[j++];
    }
    runs.push_back({firstI, i - firstI, firstJ, j - firstJ});
  }
  return runs;
}

bool isOneReshape(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  if (mayDiffer(product(from), product(to)))
    return false;
  // Memory is laid out for the maximum sizes. So elements stay in place only
  // if, in each run of axes that are merged or split together, no axis but the
  // outermost has a dynamic size.
  return llvm::all_of(axisRuns(from, to), [&](const AxisRun &run) {
    ArrayRef<Dim> x = from.slice(run.from, run.fromCount),
                  y = to.slice(run.to, run.toCount);
    return product(x) == product(y) && isCompact(x) && isCompact(y);
  });
}

Value reshapedBeforeTranspose(OpBuilder &builder, ReshapeOp op) {
  auto transpose = op.getX().getDefiningOp<TransposeOp>();
  if (!transpose || !transpose->hasOneUse())
    return {};
  Dims x = dimsOf(transpose.getX()), from = dimsOf(transpose.getResult()),
       to = dimsOf(op.getResult());
  SmallVector<AxisRun> runs = axisRuns(from, to);
  if (runs.empty())
    return {};
  // The axes after the last run (of axes that are merged or split together)
  // have size 1. They are added to the last run.
  runs.back().fromCount = from.size() - runs.back().from;
  runs.back().toCount = to.size() - runs.back().to;
  // The order of axes matters only for axes whose size is not 1. These are
  // numbered in the order of `x`.
  SmallVector<int64_t> placeOf;
  int64_t places = 0;
  for (const Dim &size : x)
    placeOf.push_back(size == 1 ? -1 : places++);
  // For each run of axes that are merged or split together: the number of its
  // first axis in `x`, and the index of the run.
  SmallVector<std::pair<int64_t, size_t>> ordered;
  for (auto [number, run] : llvm::enumerate(runs)) {
    int64_t first = -1, last = -1;
    for (size_t i = run.from; i < run.from + run.fromCount; ++i) {
      int64_t place = placeOf[transpose.getPerm()[i]];
      if (place < 0)
        continue;
      if (last >= 0 && place != last + 1)
        return {};
      first = first < 0 ? place : first;
      last = place;
    }
    ordered.push_back({first, number});
  }
  llvm::sort(ordered);
  // `sizes` is the shape between the new reshape and the new transpose. Axes of
  // size 1 come first in it.
  SmallVector<int64_t> perm(to.size());
  Dims sizes;
  for (auto [i, size] : llvm::enumerate(to))
    if (size == 1) {
      perm[i] = static_cast<int64_t>(sizes.size());
      sizes.push_back(1);
    }
  for (auto [first, number] : ordered)
    for (size_t j = 0; j < runs[number].toCount; ++j) {
      size_t axis = runs[number].to + j;
      if (to[axis] == 1)
        continue;
      perm[axis] = static_cast<int64_t>(sizes.size());
      sizes.push_back(to[axis]);
    }
  if (!isOneReshape(x, sizes))
    return {};
  Value view = ReshapeOp::create(builder, op.getLoc(), transpose.getX(), sizes);
  return TransposeOp::create(builder, op.getLoc(), view, perm);
}

LogicalResult ReshapeOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), to = rule.statedDims();
  if (mayDiffer(product(from), product(to)))
    return rule.refuse("the operand's elements are not those of the result");
  if (!isOneReshape(from, to))
    return rule.refuse("moves elements by a size known only at run time");
  return rule.result(to, elementOf(op.getX()));
}

/// Returns the element of `x` that is at index `idx` of `result`, a reshape of
/// `x`.
static Expr loadReshaped(ElementBuilder &b, Value result, Value x,
                         ArrayRef<Expr> idx) {
  Dims fromSizes = dimsOf(result), toSizes = dimsOf(x);
  ArrayRef<Dim> from = fromSizes, to = toSizes;
  Exprs at(to.size(), b.index(0));
  for (const AxisRun &run : axisRuns(from, to)) {
    if (run.fromCount == 1 && run.toCount == 1) {
      at[run.to] = idx[run.from];
      continue;
    }
    Expr position = b.linearize(idx.slice(run.from, run.fromCount),
                                from.slice(run.from, run.fromCount));
    llvm::copy(b.delinearize(position, to.slice(run.to, run.toCount)),
               at.begin() + run.to);
  }
  return b.load(x, at);
}

Expr ReshapeOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  return loadReshaped(b, getResult(), getX(), idx);
}

bool ReshapeOp::passesLanes() {
  ArrayRef<int64_t> from = shapeOf(getResult()), to = shapeOf(getX());
  if (from.empty() || from.back() == 0)
    return true;
  // The elements of a vector are adjacent along the last axis of the result.
  // They must also be adjacent along the last axis of the operand.
  return !to.empty() && to.back() % from.back() == 0;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ReshapeOp>();
      inner && isOneReshape(dimsOf(inner.getX()), dimsOf(getResult()))) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Refill
//===----------------------------------------------------------------------===//

void RefillOp::build(OpBuilder &, OperationState &state, Value x,
                     ArrayRef<Dim> sizes) {
  state.addOperands(x);
  state.addTypes(tensorOf(sizes, elementOf(x)));
}

LogicalResult RefillOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims to = rule.statedDims();
  if (mayDiffer(product(dimsOf(op.getX())), product(to)))
    return rule.refuse("the operand's elements are not those of the result");
  return rule.result(to, elementOf(op.getX()));
}

Expr RefillOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  return loadReshaped(b, getResult(), getX(), idx);
}

bool RefillOp::passesLanes() {
  Dims from = dimsOf(getResult()), to = dimsOf(getX());
  SmallVector<AxisRun> runs = axisRuns(from, to);
  // The elements of a vector are adjacent along the last axis of the result.
  // They must also be adjacent along the last axis of the operand.
  return !runs.empty() && runs.back().toCount == 1 &&
         runs.back().from + runs.back().fromCount == from.size() &&
         runs.back().to + 1 == to.size();
}

OpFoldResult RefillOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<RefillOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// With room
//===----------------------------------------------------------------------===//

LogicalResult WithRoomOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims own = dimsOf(op.getX()), stated = rule.statedDims();
  if (own.size() != 1 || stated.size() != 1 || !stated[0].known() ||
      own[0].most() > *stated[0].known())
    return rule.refuse("needs one axis, and a known size that the operand's "
                       "elements fit into");
  return rule.result(stated, elementOf(op.getX()));
}

void WithRoomOp::emitBody(BodyBuilder &b) {
  b.forLanes(dimsOf(getX())[0],
             [&](Expr i) { b.store(0, b.load(getX(), {i}), {i}); });
}

Value buildReshape(OpBuilder &builder, Location loc, Value x,
                   ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, loc, x, shape);
}
Value buildReshape(OpBuilder &builder, Location loc, Value x,
                   ArrayRef<Dim> sizes) {
  Dims from = dimsOf(x);
  if (product(from) == product(sizes) && !isOneReshape(from, sizes))
    return RefillOp::create(builder, loc, x, sizes);
  return ReshapeOp::create(builder, loc, x, sizes);
}

} // namespace ingot::graph
