// Definitions of operators whose indices are computed at run time.

#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

//===----------------------------------------------------------------------===//
// Gathering
//===----------------------------------------------------------------------===//

/// Whether `part` has the rank of `whole` and is certainly (for all values of
/// dynamic sizes) no longer than `whole` on any axis other than `axis`.
static bool fitsBeside(ArrayRef<Dim> part, ArrayRef<Dim> whole, uint64_t axis) {
  return part.size() == whole.size() &&
         llvm::all_of(llvm::enumerate(part), [&](auto size) {
           return size.index() == axis || size.value() == whole[size.index()] ||
                  (whole[size.index()] - size.value()).least() >= 0;
         });
}

LogicalResult GatherElementsOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(rule.axis(op.getAxis(), op.getX())))
    return failure();
  Dims shape = dimsOf(op.getIndices());
  if (!fitsBeside(shape, dimsOf(op.getX()), op.getAxis()))
    return rule.refuse("has indices that are longer than the operand");
  return rule.result(shape, elementOf(op.getX()));
}

Expr GatherElementsOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at(idx);
  Dim size = dimsOf(getX())[getAxis()];
  at[getAxis()] = wrapIndex(b, b.load(getIndices(), idx), size);
  return loadIfAny(b, getX(), at, size);
}

bool GatherElementsOp::passesLanes() { return false; }

LogicalResult GatherNDOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), indices = dimsOf(op.getIndices());
  uint64_t batch = op.getBatchDims();
  std::optional<int64_t> components =
      indices.empty() ? std::nullopt : indices.back().known();
  if (!components || batch >= indices.size() || batch > from.size() ||
      static_cast<uint64_t>(*components) > from.size() - batch)
    return rule.refuse("has indices of more axes than the operand has");
  if (ArrayRef(from).take_front(batch) != ArrayRef(indices).take_front(batch))
    return rule.refuse("operand and indices differ in the batch axes");
  return rule.result(spliced(ArrayRef(from), 0, batch + *components,
                             ArrayRef(indices).drop_back()),
                     elementOf(op.getX()));
}

Expr GatherNDOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  size_t batch = getBatchDims(), outer = shapeOf(getIndices()).size() - 1;
  Exprs at(idx.take_front(batch)), from(idx.take_front(outer));
  Dims sizes = dimsOf(getX());
  ArrayRef<Dim> axes =
      ArrayRef(sizes).slice(batch, shapeOf(getIndices()).back());
  from.push_back({});
  for (auto [k, size] : llvm::enumerate(axes)) {
    from.back() = b.index(k);
    at.push_back(wrapIndex(b, b.loadScalar(getIndices(), from), size));
  }
  llvm::append_range(at, idx.drop_front(outer));
  return loadIfAny(b, getX(), at, axes);
}

bool GatherNDOp::passesLanes() {
  return getBatchDims() + shapeOf(getIndices()).back() < shapeOf(getX()).size();
}

LogicalResult ReverseSequenceOp::inferTypes(Adaptor op, TypeRule &rule) {
  uint64_t batch = op.getBatchAxis(), time = op.getTimeAxis();
  if (failed(rule.axis(batch, op.getX())) || failed(rule.axis(time, op.getX())))
    return failure();
  if (batch == time)
    return rule.refuse("has one axis for time and batch");
  if (failed(rule.shape(op.getLengths(), dimsOf(op.getX())[batch], "lengths")))
    return failure();
  return rule.result(op.getX());
}

Expr ReverseSequenceOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Expr time = idx[getTimeAxis()];
  Expr length = convert(b.loadScalar(getLengths(), {idx[getBatchAxis()]}),
                        b.builder.getIndexType());
  length = min(length, b.size(dimsOf(getX())[getTimeAxis()]));
  Exprs at(idx);
  at[getTimeAxis()] = select(time < length, length - 1.0 - time, time);
  return b.load(getX(), at);
}

bool ReverseSequenceOp::passesLanes() {
  uint64_t last = shapeOf(getX()).size() - 1;
  return getTimeAxis() != last && getBatchAxis() != last;
}

LogicalResult TensorScatterOp::inferTypes(Adaptor op, TypeRule &rule) {
  Value past = op.getPast(), update = op.getUpdate();
  uint64_t axis = op.getAxis();
  if (failed(rule.axis(axis, past)) || failed(rule.alike({past, update})) ||
      failed(rule.shape(op.getPosition(), ArrayRef(dimsOf(past)[0]),
                        "a position")))
    return failure();
  if (axis == 0 || shapeOf(update).size() != shapeOf(past).size() ||
      resized(ArrayRef<Dim>(dimsOf(update)), axis, dimsOf(past)[axis]) !=
          dimsOf(past) ||
      (dimsOf(past)[axis] - dimsOf(update)[axis]).most() < 0)
    return rule.refuse("the update does not fit, or the axis is the batch");
  return rule.result(past);
}

Expr TensorScatterOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  int64_t axis = getAxis();
  Dim length = dimsOf(getPast())[axis], count = dimsOf(getUpdate())[axis];
  Expr start = wrapIndex(b, b.loadScalar(getPosition(), {idx[0]}), length);
  if (!getCircular())
    start = min(start, b.size(length - count));
  Exprs at(idx);
  Expr i = idx[axis] - start;
  if (getCircular())
    i = select(i < 0.0, i + b.size(length), i);
  at[axis] = i;
  Expr inside = i < b.size(count);
  if (!getCircular())
    inside = inside & (i >= 0.0);
  return b.ifElse(
      inside, [&] { return b.load(getUpdate(), at); },
      [&] { return b.load(getPast(), idx); });
}

bool TensorScatterOp::passesLanes() {
  return getAxis() + 1 < shapeOf(getPast()).size();
}

LogicalResult AppendOp::inferTypes(Adaptor op, TypeRule &rule) {
  Value state = op.getState(), rows = op.getRows();
  uint64_t axis = op.getAxis();
  Dims all = rule.statedDims();
  if (failed(rule.axis(axis, state)) || failed(rule.alike({state, rows})) ||
      failed(rule.shape(op.getAt(), ArrayRef<int64_t>(), "the position")))
    return failure();
  auto isBeside = [&](Value part) {
    return dimsOf(part).size() == all.size() &&
           resized(ArrayRef<Dim>(dimsOf(part)), axis, all[axis]) == all;
  };
  if (!isBeside(state) || !isBeside(rows) ||
      (all[axis] - dimsOf(rows)[axis]).most() < 0)
    return rule.refuse("has rows that do not fit");
  // The result is stored in the memory of the state, where the rows that are
  // already stored must stay in place. So the strides of the result must equal
  // those of the state for all values of dynamic sizes.
  bool hasKnownStrides =
      dimsOf(state)[axis] == all[axis]
          ? llvm::all_of(ArrayRef(all).drop_front(axis + 1),
                         [](const Dim &size) { return size.known(); })
          : isCompact(all) &&
                llvm::all_of(ArrayRef(all).take_front(axis),
                             [](const Dim &size) { return size == 1; });
  if (!hasKnownStrides)
    return rule.refuse("has other strides than the state");
  return rule.result(all, elementOf(state));
}

void AppendOp::emitBody(BodyBuilder &b) {
  uint64_t axis = getAxis();
  Dims sizes = dimsOf(getRows());
  Dim length = dimsOf(getResult())[axis];
  Expr first = min(wrapIndex(b, b.loadScalar(getAt(), {}), length),
                   b.size(length - sizes[axis]));
  b.forColumns(sizes, [&](ArrayRef<Expr> from) {
    Exprs to(from);
    to[axis] = first + from[axis];
    b.store(0, b.load(getRows(), from), to);
  });
}

LogicalResult ShiftOp::inferTypes(Adaptor op, TypeRule &rule) {
  Value state = op.getState(), rows = op.getRows();
  uint64_t axis = op.getAxis();
  if (failed(rule.axis(axis, state)) || failed(rule.alike({state, rows})))
    return failure();
  ArrayRef<int64_t> whole = shapeOf(state), part = shapeOf(rows);
  if (part.size() != whole.size() || part[axis] > whole[axis] ||
      spliced(part, axis, 1, whole[axis]) != SmallVector<int64_t>(whole))
    return rule.refuse("has rows that do not fit");
  return rule.result(state);
}

void ShiftOp::emitBody(BodyBuilder &b) {
  uint64_t axis = getAxis();
  ArrayRef<int64_t> whole = shapeOf(getState()), part = shapeOf(getRows());
  int64_t moved = whole[axis] - part[axis];
  // The loops are not divided among threads, and each element is loaded before
  // a later iteration overwrites it, because all elements move to lower
  // addresses in ascending order.
  auto move = [&](Value from, Exprs outer, int64_t columns, int64_t source,
                  int64_t target) {
    SmallVector<int64_t> trips(whole.slice(axis));
    trips.front() = columns;
    int64_t lanes = trips.pop_back_val();
    b.forEach(trips, [&](ArrayRef<Expr> inner) {
      b.forLanes(lanes, [&](Expr i) {
        Exprs at(outer);
        at.append(inner.begin(), inner.end());
        at.push_back(i);
        Exprs to(at);
        auto offset = [](Expr &index, int64_t by) {
          if (by)
            index = index + static_cast<double>(by);
        };
        offset(at[axis], source);
        offset(to[axis], target);
        b.store(0, b.load(from, at), to);
      });
    });
  };
  b.forEach(whole.take_front(axis), [&](ArrayRef<Expr> outer) {
    if (moved)
      move(getState(), Exprs(outer), moved, part[axis], 0);
    move(getRows(), Exprs(outer), part[axis], 0, moved);
  });
}

//===----------------------------------------------------------------------===//
// Elements computed from their index
//===----------------------------------------------------------------------===//

LogicalResult OneHotOp::inferTypes(Adaptor op, TypeRule &rule) {
  uint64_t axis = op.getAxis();
  if (rule.stated().size() != shapeOf(op.getIndices()).size() + 1 ||
      axis >= rule.stated().size())
    return rule.refuse("does not add one axis to those of the indices");
  if (failed(rule.shape(op.getValues(), 2, "values")))
    return failure();
  Dims sizes = dimsOf(op.getIndices());
  return rule.result(
      spliced(ArrayRef(sizes), axis, 0, ArrayRef(rule.statedDims()[axis])),
      elementOf(op.getValues()));
}

Expr OneHotOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at(idx);
  at.erase(at.begin() + getAxis());
  Type i64 = IntegerType::get(getContext(), 64, IntegerType::Signed);
  Expr hot = convert(b.load(getIndices(), at), i64);
  Dim depth = dimsOf(getType())[getAxis()];
  hot = select(hot < 0.0,
               depth.known() ? hot + static_cast<double>(*depth.known())
                             : hot + convert(b.size(depth), i64),
               hot);
  Expr off = b.load(getValues(), {b.index(0)}),
       on = b.load(getValues(), {b.index(1)});
  return select(equal(hot, convert(idx[getAxis()], i64)), on, off);
}

bool OneHotOp::passesLanes() { return false; }

LogicalResult TriluOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (shapeOf(op.getX()).size() < 2)
    return rule.refuse("needs an operand of two axes or more");
  return rule.result(op.getX());
}

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

LogicalResult Col2ImOp::inferTypes(Adaptor op, TypeRule &rule) {
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = rule.stated();
  size_t spatial = op.getBlock().size();
  int64_t size = product(op.getBlock());
  if (from.size() != 3 || to.size() != spatial + 2 || size <= 0 ||
      from[1] % size != 0 || from[2] != product(op.getCounts()))
    return rule.refuse("the operand is not made of blocks of that shape");
  for (ArrayRef<int64_t> list :
       {op.getCounts(), op.getStrides(), op.getDilations(), op.getLow()})
    if (list.size() != spatial)
      return rule.refuse("needs as many 'counts', 'strides', 'dilations' and "
                         "'low' as 'block' has entries");
  if (llvm::any_of(op.getStrides(), [](int64_t stride) { return stride < 1; }))
    return rule.refuse("has a stride that is not positive");
  return rule.result(spliced(to, 0, 2, {from[0], from[1] / size}),
                     elementOf(op.getX()));
}

Expr Col2ImOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  ArrayRef<int64_t> block = getBlock(), counts = getCounts();
  Expr zero = b.constant(0, elementOf(getX()));
  return b.reduce(block, zero, [&](ArrayRef<Expr> k, Expr sum) {
    // Finds the block whose element `k` lies at the pixel `idx`, if there is
    // one.
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
  b.forEach(dimsOf(x),
            [&](ArrayRef<Expr> idx) { b.store(0, b.load(x, idx), idx); });
}

/// Emits the code of `body`, to be executed if none of `axes` has size 0.
static void ifAny(BodyBuilder &b, ArrayRef<Dim> axes,
                  llvm::function_ref<void()> body) {
  if (Expr any = haveElements(b, axes))
    b.when(any, body);
  else
    body();
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

LogicalResult ScatterElementsOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (failed(rule.axis(op.getAxis(), op.getX())) ||
      failed(rule.alike({op.getX(), op.getUpdates()})) ||
      failed(rule.shape(op.getUpdates(), dimsOf(op.getIndices()), "updates")))
    return failure();
  if (!fitsBeside(dimsOf(op.getIndices()), dimsOf(op.getX()), op.getAxis()))
    return rule.refuse("has indices that are longer than the operand");
  return rule.result(op.getX());
}

void ScatterElementsOp::emitBody(BodyBuilder &b) {
  copyThrough(b, getX());
  Dim size = dimsOf(getX())[getAxis()];
  ifAny(b, size, [&] {
    b.forEach(dimsOf(getIndices()), [&](ArrayRef<Expr> idx) {
      Exprs at(idx);
      at[getAxis()] = wrapIndex(b, b.load(getIndices(), idx), size);
      combineInto(b, getReduction(), b.load(getUpdates(), idx), at);
    });
  });
}

LogicalResult ScatterNDOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims to = dimsOf(op.getX()), indices = dimsOf(op.getIndices());
  std::optional<int64_t> components =
      indices.empty() ? std::nullopt : indices.back().known();
  if (!components || *components > static_cast<int64_t>(to.size()))
    return rule.refuse("has indices of more axes than the operand has");
  if (failed(rule.alike({op.getX(), op.getUpdates()})) ||
      failed(rule.shape(
          op.getUpdates(),
          spliced(ArrayRef(to), 0, *components, ArrayRef(indices).drop_back()),
          "updates")))
    return failure();
  return rule.result(op.getX());
}

void ScatterNDOp::emitBody(BodyBuilder &b) {
  copyThrough(b, getX());
  Dims tuples = dimsOf(getIndices()), rest = dimsOf(getX());
  tuples.pop_back();
  int64_t components = shapeOf(getIndices()).back();
  Dims axes(ArrayRef(rest).take_front(components));
  rest.erase(rest.begin(), rest.begin() + components);
  ifAny(b, axes, [&] {
    b.forEach(tuples, [&](ArrayRef<Expr> tuple) {
      Exprs where;
      for (auto [k, size] : llvm::enumerate(axes)) {
        Exprs from(tuple);
        from.push_back(b.index(k));
        where.push_back(wrapIndex(b, b.load(getIndices(), from), size));
      }
      b.forEach(rest, [&](ArrayRef<Expr> inner) {
        Exprs at(where), from(tuple);
        llvm::append_range(at, inner);
        llvm::append_range(from, inner);
        combineInto(b, getReduction(), b.load(getUpdates(), from), at);
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// TopK
//===----------------------------------------------------------------------===//

LogicalResult TopKOp::inferTypes(Adaptor op, TypeRule &rule) {
  uint64_t axis = op.getAxis();
  if (failed(rule.axis(axis, op.getX())))
    return failure();
  Dims from = dimsOf(op.getX());
  Dim count =
      rule.stated().size() == from.size() ? rule.statedDims()[axis] : Dim(-1);
  if (count.least() < 0 || count.most() > from[axis].most())
    return rule.refuse("selects more elements than the axis has");
  Dims shape = resized(ArrayRef(from), axis, count);
  (void)rule.result(shape, elementOf(op.getX()));
  return rule.result(
      shape, IntegerType::get(op.getX().getContext(), 64, IntegerType::Signed));
}

namespace {
/// One row of the operator's result (the elements along its axis), kept as a
/// binary heap. The root of the heap is the element that ranks last.
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

  /// Whether value `x` ranks before value `y`, regardless of their positions.
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

  /// Inserts `item` into the heap that consists of the first `size` slots, of
  /// which `slot` is free: moves the free slot down until the heap order
  /// permits `item` there. `capacity`, the maximum of `size`, bounds the number
  /// of iterations.
  void sift(Item item, Expr slot, Expr size, int64_t capacity) {
    // The loop carries the free slot and a cursor. As long as the free slot
    // moves, the cursor is equal to it. Then the cursor becomes `size`, so that
    // the remaining iterations do nothing.
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
  int64_t axis = getAxis(), most = shapeOf(getValues())[axis];
  Dim k = dimsOf(getValues())[axis], size = dimsOf(getX())[axis];
  Dims outer = dimsOf(getX());
  outer[axis] = 1;
  if (most == 0)
    return;
  Type indexType = elementOf(getIndices());
  auto select = [&](ArrayRef<Expr> row) {
    WorstFirstHeap heap{*this, b, Exprs(row)};
    auto element = [&](Expr i) -> WorstFirstHeap::Item {
      Exprs at(row);
      at[axis] = i;
      return {b.load(getX(), at), convert(i, indexType)};
    };
    Expr zero = b.index(0), full = b.size(k);
    b.forRange(zero, full, [&](Expr i) { heap.store(element(i), i); });
    Dim parents = k.floorDiv(2);
    if (parents.most() > 0)
      b.forRange(zero, b.size(parents), [&](Expr i) {
        Expr slot = b.size(parents - 1) - i;
        heap.sift(heap.load(slot), slot, full, most);
      });
    if (mayDiffer(k, size))
      b.forRange(full, b.size(size), [&](Expr i) {
        WorstFirstHeap::Item next = element(i);
        b.when(heap.precedes(next.value, heap.load(zero).value),
               [&] { heap.sift(next, zero, full, most); });
      });
    // Heap sort: repeatedly moves the root, which ranks last, to the end of the
    // unsorted elements.
    if (most > 1)
      b.forRange(b.index(1), full, [&](Expr i) {
        Expr last = full - i;
        WorstFirstHeap::Item item = heap.load(last);
        heap.store(heap.load(zero), last);
        heap.sift(item, zero, last, most);
      });
  };
  // If k is 0 at run time, the heap is empty and has no root to compare with.
  b.forIndependent(
      outer, [&](ArrayRef<Expr> row) { ifAny(b, k, [&] { select(row); }); });
}

//===----------------------------------------------------------------------===//
// Det
//===----------------------------------------------------------------------===//

LogicalResult DetOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims sizes = dimsOf(op.getX());
  if (sizes.size() < 2 || mayDiffer(sizes.back(), sizes[sizes.size() - 2]))
    return rule.refuse("needs square matrices");
  (void)rule.result(ArrayRef(sizes).drop_back(2), elementOf(op.getX()));
  return rule.result(ArrayRef(sizes).take_back(2), realType(op.getX()));
}

void DetOp::emitBody(BodyBuilder &b) {
  Dims sizes = dimsOf(getX());
  Dim n = sizes.back();
  Type real = elementOf(getScratch());
  Value scratch = b.outputs[1];
  auto load = [&](Expr row, Expr column) {
    return b.loadFrom(scratch, real, {row, column});
  };
  b.forEach(ArrayRef(sizes).drop_back(2), [&](ArrayRef<Expr> batch) {
    b.forEach(ArrayRef<Dim>{n, n}, [&](ArrayRef<Expr> at) {
      Exprs from(batch);
      llvm::append_range(from, at);
      b.store(1, convert(b.load(getX(), from), real), at);
    });
    Expr end = b.size(n);
    Expr det =
        b.loop(b.index(0), end, 1, {b.constant(1, real)},
               [&](Expr k, ArrayRef<Expr> carried) -> Exprs {
                 // Finds the pivot: the row, from row k on, with the largest
                 // absolute value in column k. It is swapped with row k.
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
