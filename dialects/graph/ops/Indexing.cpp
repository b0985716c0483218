// Definitions of operators whose indices are data.

#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

Expr GatherElementsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at(idx);
  at[getAxis()] =
      wrapIndex(b, b.load(getIndices(), idx), shapeOf(getX())[getAxis()]);
  return b.load(getX(), at);
}

bool GatherElementsOp::passesLanes() { return false; }

Expr GatherNDOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  size_t batch = getBatchDims(), outer = shapeOf(getIndices()).size() - 1;
  Exprs at(idx.take_front(batch)), from(idx.take_front(outer));
  from.push_back({});
  for (int64_t k = 0; k < shapeOf(getIndices()).back(); ++k) {
    from.back() = b.index(k);
    at.push_back(wrapIndex(b, b.loadScalar(getIndices(), from),
                           shapeOf(getX())[batch + k]));
  }
  llvm::append_range(at, idx.drop_front(outer));
  return b.load(getX(), at);
}

bool GatherNDOp::passesLanes() {
  return getBatchDims() + shapeOf(getIndices()).back() < shapeOf(getX()).size();
}

Expr ReverseSequenceOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr time = idx[getTimeAxis()];
  Expr length = convert(b.loadScalar(getLengths(), {idx[getBatchAxis()]}),
                        b.builder.getIndexType());
  length = min(length, b.index(shapeOf(getX())[getTimeAxis()]));
  Exprs at(idx);
  at[getTimeAxis()] = select(time < length, length - 1.0 - time, time);
  return b.load(getX(), at);
}

bool ReverseSequenceOp::passesLanes() {
  uint64_t last = shapeOf(getX()).size() - 1;
  return getTimeAxis() != last && getBatchAxis() != last;
}

Expr TensorScatterOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  int64_t axis = getAxis(), length = shapeOf(getPast())[axis],
          count = shapeOf(getUpdate())[axis];
  Expr start = wrapIndex(b, b.loadScalar(getPosition(), {idx[0]}), length);
  if (!getCircular())
    start = min(start, b.index(length - count));
  Exprs at(idx);
  Expr i = idx[axis] - start;
  if (getCircular())
    i = select(i < 0.0, i + static_cast<double>(length), i);
  at[axis] = i;
  Expr inside = i < static_cast<double>(count);
  if (!getCircular())
    inside = inside & (i >= 0.0);
  return b.ifElse(
      inside, [&] { return b.load(getUpdate(), at); },
      [&] { return b.load(getPast(), idx); });
}

bool TensorScatterOp::passesLanes() {
  return getAxis() + 1 < shapeOf(getPast()).size();
}

//===----------------------------------------------------------------------===//
// Functions of the index
//===----------------------------------------------------------------------===//

Expr OneHotOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at(idx);
  at.erase(at.begin() + getAxis());
  Type i64 = IntegerType::get(getContext(), 64, IntegerType::Signed);
  Expr hot = convert(b.load(getIndices(), at), i64);
  double depth = static_cast<double>(getType().getDimSize(getAxis()));
  hot = select(hot < 0.0, hot + depth, hot);
  Expr off = b.load(getValues(), {b.index(0)}),
       on = b.load(getValues(), {b.index(1)});
  return select(equal(hot, convert(idx[getAxis()], i64)), on, off);
}

bool OneHotOp::passesLanes() { return false; }

Expr TriluOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr diagonal = idx.back() - idx[idx.size() - 2];
  Expr kept =
      getUpper()
          ? diagonal >= static_cast<double>(static_cast<int64_t>(getK()))
          : diagonal <= static_cast<double>(static_cast<int64_t>(getK()));
  return b.ifElse(
      kept, [&] { return b.load(getX(), idx); },
      [&] { return b.constant(0, elementOf(getX())); });
}

bool TriluOp::passesLanes() { return false; }

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Expr Col2ImOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> block = getBlock(), counts = getCounts();
  Expr zero = b.constant(0, elementOf(getX()));
  return b.reduce(block, zero, [&](ArrayRef<Expr> k, Expr sum) {
    // Which block has this pixel at place k, if any.
    Exprs at(block.size());
    Expr inside;
    for (size_t axis = 0; axis < block.size(); ++axis) {
      double stride = static_cast<double>(getStrides()[axis]);
      Expr distance = idx[2 + axis] + static_cast<double>(getLow()[axis]) -
                      k[axis] * static_cast<double>(getDilations()[axis]);
      at[axis] = distance / stride;
      Expr hit = (distance >= 0.0) & equal(distance % stride, 0.0) &
                 (at[axis] < static_cast<double>(counts[axis]));
      inside = inside ? inside & hit : hit;
    }
    int64_t size = ShapedType::getNumElements(block);
    Expr row = idx[1] * static_cast<double>(size) + b.linearize(k, block);
    return b.ifElse(
        inside,
        [&] {
          return sum + b.load(getX(), {idx[0], row, b.linearize(at, counts)});
        },
        [&] { return sum; });
  });
}

bool Col2ImOp::passesLanes() { return false; }
bool Col2ImOp::isCheap() { return false; }

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

static void copyThrough(BodyBuilder &b, Value x) {
  b.forEach(shapeOf(x),
            [&](ArrayRef<Expr> idx) { b.store(0, b.load(x, idx), idx); });
}

static void combineInto(BodyBuilder &b, StringRef reduction, Expr update,
                        ArrayRef<Expr> at) {
  if (reduction != "none") {
    Expr old = b.loadOutput(0, update.type, at);
    update = reduction == "add"   ? old + update
             : reduction == "mul" ? old * update
             : reduction == "max" ? max(old, update)
                                  : min(old, update);
  }
  b.store(0, update, at);
}

void ScatterElementsOp::emitBody(BodyBuilder &b) {
  copyThrough(b, getX());
  b.forEach(shapeOf(getIndices()), [&](ArrayRef<Expr> idx) {
    Exprs at(idx);
    at[getAxis()] =
        wrapIndex(b, b.load(getIndices(), idx), shapeOf(getX())[getAxis()]);
    combineInto(b, getReduction(), b.load(getUpdates(), idx), at);
  });
}

void ScatterNDOp::emitBody(BodyBuilder &b) {
  copyThrough(b, getX());
  ArrayRef<int64_t> tuples = shapeOf(getIndices()).drop_back();
  int64_t components = shapeOf(getIndices()).back();
  b.forEach(tuples, [&](ArrayRef<Expr> tuple) {
    Exprs where;
    for (int64_t k = 0; k < components; ++k) {
      Exprs from(tuple);
      from.push_back(b.index(k));
      where.push_back(
          wrapIndex(b, b.load(getIndices(), from), shapeOf(getX())[k]));
    }
    b.forEach(shapeOf(getX()).drop_front(components), [&](ArrayRef<Expr> rest) {
      Exprs at(where), from(tuple);
      llvm::append_range(at, rest);
      llvm::append_range(from, rest);
      combineInto(b, getReduction(), b.load(getUpdates(), from), at);
    });
  });
}

//===----------------------------------------------------------------------===//
// TopK
//===----------------------------------------------------------------------===//

namespace {
/// One row of results as a binary heap with the worst element at the root.
struct WorstFirstHeap {
  TopKOp op;
  BodyBuilder &b;
  Exprs at;

  struct Item {
    Expr value, position;
  };

  Item load(Expr slot) {
    at[op.getAxis()] = slot;
    return {b.loadOutput(0, elementOf(op.getX()), at),
            b.loadOutput(1, elementOf(op.getIndices()), at)};
  }
  void store(Item item, Expr slot) {
    at[op.getAxis()] = slot;
    b.store(0, item.value, at);
    b.store(1, item.position, at);
  }

  /// Whether `x` comes before `y` whatever their positions.
  Expr precedes(Expr x, Expr y) {
    if (!op.getLargest())
      std::swap(x, y);
    Expr larger = x > y;
    return isa<FloatType>(x.type) ? larger | (isNaN(x) & equal(y, y)) : larger;
  }
  Expr precedes(Item x, Item y) {
    return precedes(x.value, y.value) |
           (~precedes(y.value, x.value) & (x.position < y.position));
  }

  /// Puts `item` into the hole at `slot` and moves it down to where it belongs
  /// in the heap of the first `size` slots.
  void sift(Item item, Expr slot, Expr size, int64_t capacity) {
    // The cursor is where the hole is, or `size` once the item has its place.
    Exprs end =
        b.loop(llvm::Log2_64_Ceil(capacity + 1), {slot, slot},
               [&](Expr, ArrayRef<Expr> carried) -> Exprs {
                 Expr hole = carried[0], left = carried[1] * 2.0 + 1.0,
                      right = left + 1.0, last = size - 1.0;
                 Item x = load(min(left, last)), y = load(min(right, last));
                 Expr useRight = (right < size) & precedes(x, y);
                 Item worst = {select(useRight, y.value, x.value),
                               select(useRight, y.position, x.position)};
                 Expr moves = (left < size) & precedes(item, worst);
                 b.when(moves, [&] { store(worst, hole); });
                 Expr next = select(useRight, right, left);
                 return {select(moves, next, hole), select(moves, next, size)};
               });
    store(item, end[0]);
  }
};
} // namespace

void TopKOp::emitBody(BodyBuilder &b) {
  int64_t axis = getAxis(), size = shapeOf(getX())[axis],
          k = shapeOf(getValues())[axis];
  SmallVector<int64_t> outer(shapeOf(getX()));
  outer[axis] = 1;
  if (k == 0)
    return;
  Type indexType = elementOf(getIndices());
  b.forIndependent(outer, [&](ArrayRef<Expr> row) {
    WorstFirstHeap heap{*this, b, Exprs(row)};
    auto element = [&](Expr i) -> WorstFirstHeap::Item {
      Exprs at(row);
      at[axis] = i;
      return {b.load(getX(), at), convert(i, indexType)};
    };
    Expr zero = b.index(0), full = b.index(k);
    b.forRange(zero, full, [&](Expr i) { heap.store(element(i), i); });
    int64_t parents = k / 2;
    if (parents > 0)
      b.forRange(zero, b.index(parents), [&](Expr i) {
        Expr slot = static_cast<double>(parents - 1) - i;
        heap.sift(heap.load(slot), slot, full, k);
      });
    if (k < size)
      b.forRange(full, b.index(size), [&](Expr i) {
        WorstFirstHeap::Item next = element(i);
        b.when(heap.precedes(next.value, heap.load(zero).value),
               [&] { heap.sift(next, zero, full, k); });
      });
    // The worst goes last, again and again.
    if (k > 1)
      b.forRange(b.index(1), full, [&](Expr i) {
        Expr last = static_cast<double>(k) - i;
        WorstFirstHeap::Item item = heap.load(last);
        heap.store(heap.load(zero), last);
        heap.sift(item, zero, last, k);
      });
  });
}

//===----------------------------------------------------------------------===//
// Det
//===----------------------------------------------------------------------===//

void DetOp::emitBody(BodyBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(getX());
  int64_t n = shape.back();
  Type real = elementOf(getScratch());
  Value scratch = b.outputs[1];
  auto load = [&](Expr row, Expr column) {
    return b.loadFrom(scratch, real, {row, column});
  };
  b.forEach(shape.drop_back(2), [&](ArrayRef<Expr> batch) {
    b.forEach({n, n}, [&](ArrayRef<Expr> at) {
      Exprs from(batch);
      llvm::append_range(from, at);
      b.store(1, convert(b.load(getX(), from), real), at);
    });
    Expr end = b.index(n);
    Expr det =
        b.loop(b.index(0), end, 1, {b.constant(1, real)},
               [&](Expr k, ArrayRef<Expr> carried) -> Exprs {
                 // The row with the largest element in column k comes to the
                 // top.
                 Expr pivotRow =
                     b.loop(k + 1.0, end, 1, {k, abs(load(k, k))},
                            [&](Expr row, ArrayRef<Expr> best) -> Exprs {
                              Expr size = abs(load(row, k));
                              Expr larger = size > best[1];
                              return {select(larger, row, best[0]),
                                      select(larger, size, best[1])};
                            })[0];
                 Expr pivot = load(pivotRow, k);
                 b.forRange(k, end, [&](Expr column) {
                   Expr upper = load(k, column), lower = load(pivotRow, column);
                   b.store(1, lower, {k, column});
                   b.store(1, upper, {pivotRow, column});
                 });
                 Expr inverse = 1.0 / select(equal(pivot, 0.0), 1.0, pivot);
                 b.forRange(k + 1.0, end, [&](Expr row) {
                   Expr factor = load(row, k) * inverse;
                   b.forRange(k + 1.0, end, [&](Expr column) {
                     b.store(1, load(row, column) - factor * load(k, column),
                             {row, column});
                   });
                 });
                 Expr signedPivot = select(equal(pivotRow, k), pivot, -pivot);
                 return {carried[0] * signedPivot};
               })[0];
    b.store(0, convert(det, elementOf(getResult())), batch);
  });
}

} // namespace ingot::graph
