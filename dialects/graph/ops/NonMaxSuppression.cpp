// The best boxes of each class that overlap no better one too much.

#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult NonMaxSuppressionOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims boxes = dimsOf(op.getBoxes()), scores = dimsOf(op.getScores());
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 ||
      boxes[0] != scores[0] || boxes[1] != scores[2])
    return rule.refuse("needs boxes [N, B, 4] and scores [N, C, B]");
  for (Value number :
       {op.getLimit(), op.getIouThreshold(), op.getScoreThreshold()})
    if (failed(rule.shape(number, ArrayRef<int64_t>(), "a limit")))
      return failure();
  if (rule.stated(0).size() != 2 || rule.stated(0)[1] != 3)
    return rule.refuse("does not select [most, 3]");
  auto i64 =
      IntegerType::get(op.getBoxes().getContext(), 64, IntegerType::Signed);
  (void)rule.result(rule.statedDims(0), i64);
  (void)rule.result({1}, i64);
  return rule.result(ArrayRef<Dim>(boxes[1]),
                     IntegerType::get(i64.getContext(), 1));
}

namespace {
/// A box as two corners, the lower ones first.
struct Corners {
  Expr low[2], high[2];

  Expr area() const { return (high[0] - low[0]) * (high[1] - low[1]); }

  static Corners load(NonMaxSuppressionOp op, ElementBuilder &b, Expr image,
                      Expr box) {
    auto number = [&](int64_t i) {
      return b.load(op.getBoxes(), {image, box, b.index(i)});
    };
    Corners corners;
    for (int64_t axis : {0, 1}) {
      Expr first = number(axis), second = number(axis + 2);
      if (op.getCenter()) {
        Expr half = second * 0.5;
        corners.low[axis] = first - half;
        corners.high[axis] = first + half;
      } else {
        corners.low[axis] = min(first, second);
        corners.high[axis] = max(first, second);
      }
    }
    return corners;
  }
};

/// How much of the union of two boxes both have is more than `threshold`.
Expr overlaps(ElementBuilder &b, const Corners &x, const Corners &y,
              Expr threshold) {
  Expr common;
  for (int64_t axis : {0, 1}) {
    Expr side = max(
        min(x.high[axis], y.high[axis]) - max(x.low[axis], y.low[axis]), 0.0);
    common = common ? common * side : side;
  }
  Expr all = x.area() + y.area() - common;
  return (common > 0.0) & (all > 0.0) & (common / all > threshold);
}
} // namespace

void NonMaxSuppressionOp::emitBody(BodyBuilder &b) {
  Dims scores = dimsOf(getScores());
  Type i64 = elementOf(getCount()), truth = elementOf(getState()),
       index = b.builder.getIndexType();
  Expr zero = b.index(0), most = b.size(dimsOf(getSelected())[0]);
  Expr limit =
      min(convert(b.loadScalar(getLimit(), {}), index), b.size(scores[2]));
  Expr overlap = b.loadScalar(getIouThreshold(), {}),
       least = b.loadScalar(getScoreThreshold(), {});
  b.store(1, b.constantInt(0, i64), {zero});
  b.forEach({scores[0], scores[1]}, [&](ArrayRef<Expr> at) {
    auto score = [&](Expr box) {
      return b.load(getScores(), {at[0], at[1], box});
    };
    // Those that are still to be had.
    b.forRange(zero, b.size(scores[2]),
               [&](Expr box) { b.store(2, score(box) > least, {box}); });
    b.forRange(zero, limit, [&](Expr) {
      Expr none = b.index(-1);
      Expr best = b.loop(zero, b.size(scores[2]), 1, {none, least},
                         [&](Expr box, ArrayRef<Expr> carried) -> Exprs {
                           Expr own = score(box);
                           Expr better =
                               b.loadOutput(2, truth, {box}) &
                               ((carried[0] < 0.0) | (own > carried[1]));
                           return {select(better, box, carried[0]),
                                   select(better, own, carried[1])};
                         })[0];
      Expr count = convert(b.loadOutput(1, i64, {zero}), index);
      b.when((best >= 0.0) & (count < most), [&] {
        Corners taken = Corners::load(*this, b, at[0], best);
        b.store(0, convert(at[0], i64), {count, b.index(0)});
        b.store(0, convert(at[1], i64), {count, b.index(1)});
        b.store(0, convert(best, i64), {count, b.index(2)});
        b.store(1, convert(count + 1.0, i64), {zero});
        b.forRange(zero, b.size(scores[2]), [&](Expr box) {
          Corners other = Corners::load(*this, b, at[0], box);
          Expr stays = b.loadOutput(2, truth, {box}) & ~equal(box, best) &
                       ~overlaps(b, other, taken, overlap);
          b.store(2, stays, {box});
        });
      });
    });
  });
}

} // namespace ingot::graph
