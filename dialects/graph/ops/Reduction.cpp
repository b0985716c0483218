// Definitions of argmax, argmin and scans.

#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// ArgMax, ArgMin
//===----------------------------------------------------------------------===//

template <typename OpT>
static Expr emitArg(OpT op, ElementBuilder &b, ArrayRef<Expr> idx,
                    bool largest) {
  Value input = op.getInput();
  int64_t axis = op.getAxis();
  Type position = elementOf(op.getResult());
  Exprs at(idx);
  at[axis] = b.index(0);
  Expr first = b.broadcast(b.load(input, at), b.lanes());
  Expr zero = b.broadcast(b.constantInt(0, position), b.lanes());
  return b.loop(b.index(1), b.size(dimsOf(input)[axis]), 1, {first, zero},
                [&](Expr i, ArrayRef<Expr> best) -> Exprs {
                  at[axis] = i;
                  Expr x = b.broadcast(b.load(input, at), b.lanes());
                  // The comparisons are negated, so that they are true if `x`
                  // is NaN: NaN becomes the best element. Only another NaN can
                  // replace it, and only if the last position is requested.
                  Expr better = op.getLast()
                                    ? ~(largest ? x < best[0] : x > best[0])
                                    : ~(largest ? x <= best[0] : x >= best[0]);
                  if (isa<FloatType>(x.type))
                    better = better &
                             (op.getLast() ? equal(best[0], best[0]) | isNaN(x)
                                           : equal(best[0], best[0]));
                  return {select(better, x, best[0]),
                          select(better, convert(i, position), best[1])};
                })[1];
}

Expr ArgMaxOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  return emitArg(*this, b, idx, /*largest=*/true);
}
Expr ArgMinOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  return emitArg(*this, b, idx, /*largest=*/false);
}
bool ArgMaxOp::passesLanes() {
  return getAxis() + 1 != shapeOf(getInput()).size();
}
bool ArgMinOp::passesLanes() {
  return getAxis() + 1 != shapeOf(getInput()).size();
}
bool ArgMaxOp::isCheap() { return false; }
bool ArgMinOp::isCheap() { return false; }
Operation *ArgMaxOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                   ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}
Operation *ArgMinOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                   ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// Emits a scan, which is sequential along its axis. If that is not the last
/// axis, the code is vectorized along the last axis.
template <typename OpT>
static void emitScan(OpT op, BodyBuilder &b, double identity,
                     llvm::function_ref<Expr(Expr, Expr)> combine) {
  Value input = op.getInput();
  Dims sizes = dimsOf(input);
  int64_t axis = op.getAxis(), last = static_cast<int64_t>(sizes.size()) - 1;
  auto scan = [&](MutableArrayRef<Expr> at) {
    Expr init = b.broadcast(b.constant(identity, elementOf(input)), b.lanes());
    b.loop(sizes[axis], {init}, [&](Expr i, ArrayRef<Expr> acc) -> Exprs {
      at[axis] = op.getReverse() ? b.size(sizes[axis] - 1) - i : i;
      Expr next = b.broadcast(combine(acc[0], b.load(input, at)), b.lanes());
      b.store(0, op.getExclusive() ? acc[0] : next, at);
      return {next};
    });
  };
  Dims outer(sizes);
  outer[axis] = outer[last] = 1;
  b.forIndependent(outer, [&](ArrayRef<Expr> idx) {
    Exprs at(idx);
    if (axis == last)
      return scan(at);
    b.forLanes(sizes[last], [&](Expr i) {
      at[last] = i;
      scan(at);
    });
  });
}

void CumSumOp::emitBody(BodyBuilder &b) {
  emitScan(*this, b, 0, [](Expr x, Expr y) { return x + y; });
}
void CumProdOp::emitBody(BodyBuilder &b) {
  emitScan(*this, b, 1, [](Expr x, Expr y) { return x * y; });
}
Operation *CumSumOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                   ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}
Operation *CumProdOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                    ValueRange operands) {
  return buildPermutedAxes(*this, builder, perm, operands);
}

} // namespace ingot::graph
