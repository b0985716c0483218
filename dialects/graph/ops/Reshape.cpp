// Reshapes: which axes become which.

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

SmallVector<AxisRun> axisRuns(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<AxisRun> runs;
  if (llvm::is_contained(from, 0))
    return runs;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    size_t firstI = i, firstJ = j;
    int64_t products[] = {from[i++], to[j++]};
    while (products[0] != products[1]) {
      if (products[0] < products[1])
        products[0] *= from[i++];
      else
        products[1] *= to[j++];
    }
    runs.push_back({firstI, i - firstI, firstJ, j - firstJ});
  }
  return runs;
}

bool isOneReshape(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  if (product(from) != product(to))
    return false;
  auto most = [](ArrayRef<Dim> sizes) {
    return llvm::map_to_vector(sizes, [](const Dim &d) { return d.most(); });
  };
  // An element keeps its place in memory only if what a size at run time
  // multiplies is outside of everything that is merged or split.
  auto isFirst = [](ArrayRef<Dim> run) {
    return llvm::all_of(run.drop_front(),
                        [](const Dim &size) { return size.known(); });
  };
  return llvm::all_of(axisRuns(most(from), most(to)), [&](const AxisRun &run) {
    ArrayRef<Dim> x = from.slice(run.from, run.fromCount),
                  y = to.slice(run.to, run.toCount);
    return product(x) == product(y) && isFirst(x) && isFirst(y);
  });
}

LogicalResult ReshapeOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), to = rule.statedDims();
  if (product(from) != product(to))
    return rule.refuse("the operand's elements are not those of the result");
  if (!isOneReshape(from, to))
    return rule.refuse("moves elements by a size known only at run time");
  return rule.result(to, elementOf(op.getX()));
}

Expr ReshapeOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> from = shapeOf(getResult()), to = shapeOf(getX());
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
  return b.load(getX(), at);
}

bool ReshapeOp::passesLanes() {
  ArrayRef<int64_t> from = shapeOf(getResult()), to = shapeOf(getX());
  if (from.empty() || from.back() == 0)
    return true;
  // Elements of one row stay in one row.
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

Value buildReshape(OpBuilder &builder, Location loc, Value x,
                   ArrayRef<int64_t> shape) {
  return ReshapeOp::create(builder, loc, x, shape);
}
Value buildReshape(OpBuilder &builder, Location loc, Value x,
                   ArrayRef<Dim> sizes) {
  return ReshapeOp::create(builder, loc, x, sizes);
}

} // namespace ingot::graph
