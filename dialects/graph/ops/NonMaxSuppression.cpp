// Non-maximum suppression: selects the best boxes of each class, except boxes
// that overlap a better selected box by more than a threshold.
//
// A heap yields the boxes of a class from the best to the worst. Each box is
// compared only with selected boxes near it. To find these, the range of the
// boxes' lower corners along the first axis is divided into cells, and each
// cell lists the selected boxes whose lower corner is in it. The run time is
// that of sorting the boxes and of comparing neighbours, no matter how many
// boxes are selected.

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"

using namespace mlir;

namespace ingot::graph {

LogicalResult NonMaxSuppressionOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims boxes = dimsOf(op.getBoxes()), scores = dimsOf(op.getScores());
  if (boxes.size() != 3 || scores.size() != 3 || mayDiffer(boxes[2], 4) ||
      mayDiffer(boxes[0], scores[0]) || mayDiffer(boxes[1], scores[2]))
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
  return rule.result(
      ArrayRef<Dim>({Dim(3), boxes[1]}),
      IntegerType::get(i64.getContext(), 32, IntegerType::Signed));
}

namespace {
/// A box as two corners, the lower one first.
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
      named(corners.low[axis], axis == 0 ? "low_0" : "low_1");
      named(corners.high[axis], axis == 0 ? "high_0" : "high_1");
    }
    return corners;
  }
};

/// Whether the intersection over union of two boxes exceeds `threshold`.
Expr overlaps(ElementBuilder &b, const Corners &x, const Corners &y,
              Expr threshold) {
  Expr common;
  for (int64_t axis : {0, 1}) {
    Expr side = max(
        min(x.high[axis], y.high[axis]) - max(x.low[axis], y.low[axis]), 0.0);
    common = common ? common * side : side;
  }
  named(common, "common");
  Expr all = named(x.area() + y.area() - common, "all");
  return (common > 0.0) & (all > 0.0) & (common / all > threshold);
}

/// Selects the boxes of one class of an image. A box is represented by its
/// index in the operand `boxes`.
class Suppression {
public:
  Suppression(NonMaxSuppressionOp op, BodyBuilder &b, ArrayRef<Expr> at)
      : op(op), b(b), image(at[0]), kind(at[1]),
        number(elementOf(op.getState())),
        real(Float32Type::get(op.getContext())),
        boxes(b.size(dimsOf(op.getScores())[2])) {}

  void run(Expr limit) {
    Expr zero = b.index(0), most = b.size(dimsOf(op.getSelected())[0]);
    Type i64 = elementOf(op.getCount());
    Expr overlap = named(b.loadScalar(op.getIouThreshold(), {}), "overlap");
    Expr size = formHeap();
    formCells();
    Expr taken = convert(b.loadOutput(1, i64, {zero}), zero.type);
    Exprs end = b.loopWhile(
        {size, limit, taken},
        [&](ArrayRef<Expr> c) {
          return (c[0] > 0.0) & (c[1] > 0.0) & (c[2] < most);
        },
        [&](ArrayRef<Expr> c) -> Exprs {
          named(c[0], "size");
          named(c[1], "to_take");
          Expr left = named(c[0] - 1.0, "left"),
               best = named(load(Heap, zero), "best");
          sink(named(load(Heap, left), "sinking"), zero, left);
          Corners corners = Corners::load(op, b, image, best);
          Expr free = isFree(corners, overlap);
          Expr count = named(c[2], "count");
          b.when(free, [&] {
            b.store(0, convert(image, i64), {count, b.index(0)});
            b.store(0, convert(kind, i64), {count, b.index(1)});
            b.store(0, convert(best, i64), {count, b.index(2)});
            Expr cell = cellOf(corners.low[0]);
            store(Next, load(First, cell), best);
            store(First, best, cell);
          });
          return {left, select(free, c[1] - 1.0, c[1]),
                  select(free, count + 1.0, count)};
        });
    b.store(1, convert(end[2], i64), {zero});
  }

private:
  /// The rows of `state` [3, B]. Heap: the boxes still to be examined, the best
  /// one first. First: for each cell (part of the first axis), the box selected
  /// last. Next: for each selected box, the box of the same cell that was
  /// selected before it. Lists end with -1.
  enum Row { Heap, First, Next };
  /// The largest number of cells (equal parts of the first axis). It is enough
  /// to separate the regions of an image, and few enough to visit all.
  static constexpr int64_t mostCells = 256;

  Expr load(Row row, Expr i) {
    return convert(b.loadOutput(2, number, {b.index(row), i}), boxes.type);
  }
  void store(Row row, Expr value, Expr i) {
    b.store(2, convert(value, number), {b.index(row), i});
  }
  Expr score(Expr box) { return b.load(op.getScores(), {image, kind, box}); }

  Expr precedes(Expr x, Expr y) {
    Expr own = named(score(x), "score"), other = named(score(y), "other_score");
    return (own > other) | (equal(own, other) & (x < y));
  }

  /// Inserts `box` into the heap that consists of the first `size` slots, of
  /// which `slot` is free: moves the free slot down until the heap order
  /// permits `box` there.
  void sink(Expr box, Expr slot, Expr size) {
    // The loop carries the free slot and a cursor. As long as the free slot
    // moves, the cursor is equal to it. Then the cursor becomes `size`, which
    // ends the loop.
    Exprs end = b.loopWhile(
        {slot, slot}, [&](ArrayRef<Expr> c) { return c[1] < size; },
        [&](ArrayRef<Expr> c) -> Exprs {
          Expr hole = named(c[0], "hole"),
               child = named(named(c[1], "parent") * 2.0 + 1.0, "child"),
               right = named(child + 1.0, "right"),
               last = named(size - 1.0, "last");
          Expr x = named(load(Heap, min(child, last)), "first"),
               y = named(load(Heap, min(right, last)), "second");
          Expr useRight = named((right < size) & precedes(y, x), "use_right");
          Expr better = named(select(useRight, y, x), "better");
          Expr moves = named((child < size) & precedes(better, box), "moves");
          b.when(moves, [&] { store(Heap, better, hole); });
          Expr next = named(select(useRight, right, child), "next");
          return {named(select(moves, next, hole), "next_hole"),
                  named(select(moves, next, size), "next_parent")};
        });
    store(Heap, box, end[0]);
  }

  /// Forms the heap of the boxes whose score exceeds the threshold; returns the
  /// number of these boxes.
  Expr formHeap() {
    Expr zero = b.index(0),
         least = named(b.loadScalar(op.getScoreThreshold(), {}), "least");
    Expr size = b.loop(zero, boxes, 1, {zero},
                       [&](Expr box, ArrayRef<Expr> c) -> Exprs {
                         named(box, "box");
                         Expr counts = named(score(box) > least, "counts");
                         named(c[0], "size");
                         b.when(counts, [&] { store(Heap, box, c[0]); });
                         return {select(counts, c[0] + 1.0, c[0])};
                       })[0];
    Expr parents = named(size / 2.0, "parents");
    b.forRange(zero, parents, [&](Expr i) {
      Expr slot = named(parents - 1.0 - named(i, "done"), "slot");
      sink(named(load(Heap, slot), "sinking"), slot, size);
    });
    return size;
  }

  /// Empties the list of selected boxes of each cell (a part of the first
  /// spatial axis), and computes `lowest`, `scale` and `longest` from the boxes
  /// of the image.
  void formCells() {
    Expr zero = b.index(0), none = b.constant(-INFINITY, real);
    Exprs range = b.loop(zero, boxes, 1, {-none, none, none},
                         [&](Expr box, ArrayRef<Expr> c) -> Exprs {
                           // NaN fails all comparisons, so a box with NaN does
                           // not affect these bounds. The bounds need not
                           // contain it, since it overlaps no other box.
                           named(box, "box");
                           named(c[0], "lowest");
                           named(c[1], "highest");
                           named(c[2], "longest");
                           Corners corners = Corners::load(op, b, image, box);
                           Expr low = convert(corners.low[0], real),
                                length = convert(corners.high[0], real) - low;
                           return {select(low < c[0], low, c[0]),
                                   select(low > c[1], low, c[1]),
                                   select(length > c[2], length, c[2])};
                         });
    lowest = range[0];
    longest = range[2];
    cells = min(boxes, b.index(mostCells));
    scale = named(convert(convert(cells, number), real) / (range[1] - lowest),
                  "cells_per_length");
    b.forRange(zero, cells,
               [&](Expr i) { store(First, b.index(-1), named(i, "cell")); });
  }

  /// Returns the index of the cell (part of the first axis) that contains a
  /// coordinate. The index increases monotonically with the coordinate. The
  /// coordinate NaN, the result of infinite corners or of an empty range, has
  /// cell 0.
  Expr cellOf(Expr place) {
    Expr from = named((convert(place, real) - lowest) * scale, "from");
    Expr cell =
        convert(convert(select(from > 0.0, from, 0.0), number), boxes.type);
    return named(min(cell, cells - 1.0), "cell");
  }

  /// Whether no selected box overlaps `box` by more than the threshold
  /// `overlap`.
  Expr isFree(const Corners &box, Expr overlap) {
    Expr low = convert(box.low[0], real);
    // A selected box that reaches `low` starts at most `longest`, the largest
    // extent of a box, before it; the tolerance covers rounding.
    Expr before =
        named(low - longest - (abs(low) + abs(longest)) * 1e-6, "before");
    Expr last = cellOf(box.high[0]);
    Expr free = b.constantInt(1, IntegerType::get(op.getContext(), 1));
    return b.loopWhile(
        {cellOf(before), free},
        [&](ArrayRef<Expr> c) { return (c[0] <= last) & c[1]; },
        [&](ArrayRef<Expr> c) -> Exprs {
          Expr cell = named(c[0], "cell");
          named(c[1], "free");
          Expr still = b.loopWhile(
              {load(First, cell), c[1]},
              [&](ArrayRef<Expr> d) { return (d[0] >= 0.0) & d[1]; },
              [&](ArrayRef<Expr> d) -> Exprs {
                Expr taken = named(d[0], "taken");
                Corners other = Corners::load(op, b, image, taken);
                named(d[1], "free");
                return {load(Next, taken), ~overlaps(b, box, other, overlap)};
              })[1];
          return {cell + 1.0, still};
        })[1];
  }

  NonMaxSuppressionOp op;
  BodyBuilder &b;
  Expr image, kind;
  Type number, real;
  Expr boxes;
  /// Along the first axis: the lowest of the lower corners, the number of cells
  /// (equal parts of the axis), the cells per unit of length, and the largest
  /// extent of a box.
  Expr lowest, cells, scale, longest;
};
} // namespace

void NonMaxSuppressionOp::emitBody(BodyBuilder &b) {
  Dims scores = dimsOf(getScores());
  Expr limit =
      min(convert(b.loadScalar(getLimit(), {}), b.builder.getIndexType()),
          b.size(scores[2]));
  b.store(1, b.constantInt(0, elementOf(getCount())), {b.index(0)});
  b.forEach({scores[0], scores[1]},
            [&](ArrayRef<Expr> at) { Suppression(*this, b, at).run(limit); });
}

} // namespace ingot::graph
