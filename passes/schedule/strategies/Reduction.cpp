// The strategy for reductions over at least the last axis.
//
// Turns the reduction, with the elementwise operators before and after it, into
// loops over rows (the elements that are reduced to one). The loop along the
// reduced axes uses vectors and several accumulators, to hide latency. At the
// end, the accumulators are merged into one vector, and its lanes by a tree of
// merges.
//
//   for each row:
//     acc0..acc3 = init
//     for k in steps of 4 vectors: acc_u = combine(acc_u, x[row, k + u])
//     acc = merge of acc0..acc3 and their lanes; remaining elements one by one
//     y[row] = epilogue(finish(acc))
//
// Reductions that keep the last axis use the loop nest (LoopNest.cpp), which
// vectorizes that axis.

#include "dialects/kernel/KernelModule.h"
#include "passes/schedule/StoredOperands.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/Neighbours.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Emits the loops of a group around its reduction.
class RowReduction {
public:
  explicit RowReduction(KernelBuilder &b)
      : b(b), reduction(cast<ReductionOpInterface>(b.group.anchor())),
        shape(shapeOf(reduction.getInput())), reduced(shape.size(), false) {
    for (int64_t axis : reduction.getAxes())
      reduced[axis] = true;
    merged = shape.size() - 1;
    findFlatOperands();
  }

  void emit() {
    Dims rows, sizes = dimsOf(reduction.getInput());
    for (size_t axis = 0; axis < merged; ++axis)
      rows.push_back(reduced[axis] ? Dim(1) : sizes[axis]);
    auto atRow = [&](ArrayRef<Expr> outer) {
      for (auto [axis, i] : llvm::enumerate(outer))
        named(i, axisName(axis, shape.size()));
      Exprs at(outer);
      at.resize(shape.size(), b.index(0));
      return at;
    };
    if (takesWarp()) {
      threads = b.threadsOfRow(rows, length());
      // Narrow the accesses until their width divides the row and at least half
      // of the threads get elements of the row.
      lanes = elementsOfAccess(b.group);
      while (length() % lanes || (lanes > 1 && 2 * length() / lanes < threads))
        lanes /= 2;
      return b.forSharedRows(rows, threads,
                             [&](ArrayRef<Expr> outer, Expr lane) {
                               Exprs at = atRow(outer);
                               sharedRow(at, lane);
                             });
    }
    b.forIndependent(rows, [&](ArrayRef<Expr> outer) {
      Exprs at = atRow(outer);
      row(at);
    });
  }

private:
  /// Merges the trailing reduced axes into one axis if the reduction's input is
  /// computed elementwise from stored tensors of its shape and from tensors
  /// with a single element. The stored tensors are then read through views of
  /// the merged shape.
  void findFlatOperands() {
    auto found = storedOperands(reduction.getInput());
    if (!found)
      return;
    while (merged > 0 && reduced[merged - 1])
      --merged;
    if (merged + 1 == shape.size())
      return; // nothing to merge
    SmallVector<int64_t> flat(shape.take_front(merged));
    flat.push_back(length());
    for (Value v : *found) {
      Value merging = b.view(b.bufferOf(v), flat);
      if (!merging) {
        operands.clear();
        merged = shape.size() - 1;
        return;
      }
      operands.push_back({v, merging});
    }
  }

  /// Returns the number of elements along the merged axes.
  int64_t length() const {
    return ShapedType::getNumElements(shape.drop_front(merged));
  }

  /// Loads the reduction's input at the outer indices in `at` and at index `k`
  /// of the merged axis.
  Expr load(ArrayRef<Expr> at, Expr k) {
    Exprs place(at);
    if (merged + 1 == shape.size()) {
      place[merged] = k;
      return b.load(reduction.getInput(), place);
    }
    Exprs flat(place.begin(), place.begin() + merged);
    flat.push_back(k);
    for (auto [tensor, buffer] : operands)
      b.bindElement(tensor, b.loadFrom(buffer, elementOf(tensor), flat));
    Expr x = b.load(reduction.getInput(), place);
    for (auto [tensor, buffer] : operands)
      b.unbindElement(tensor);
    return x;
  }

  /// Whether several threads of a device share a row. Adjacent threads read
  /// adjacent elements in one memory transaction.
  bool takesWarp() {
    return b.sharesRows(length(), computeType(elementOf(reduction.getInput())));
  }

  void sharedRow(MutableArrayRef<Expr> at, Expr lane) {
    SmallVector<size_t> outer = outerAxes();
    int64_t count = length();
    for (size_t axis : outer)
      count *= shape[axis];
    std::function<Expr(size_t, Expr)> nest = [&](size_t depth,
                                                 Expr acc) -> Expr {
      if (depth < outer.size())
        return b.loop(shape[outer[depth]], {acc},
                      [&](Expr i, ArrayRef<Expr> carried) -> Exprs {
                        at[outer[depth]] =
                            named(i, axisName(outer[depth], shape.size()));
                        return {nest(depth + 1, carried[0])};
                      })[0];
      return b.withLanes(lanes, [&] {
        Expr first = lanes == 1 ? lane : named(lane * double(lanes), "first");
        return b.loop(first, b.index(length()), threads * lanes, {acc},
                      [&](Expr k, ArrayRef<Expr> carried) -> Exprs {
                        named(k, "element");
                        Expr next =
                            reduction.combine(b, carried[0], load(at, k));
                        return {named(b.broadcast(next, lanes), "total")};
                      })[0];
      });
    };
    Expr ofThread =
        acrossLanes(nest(0, b.broadcast(reduction.init(b), lanes)), lanes);
    Expr total = b.acrossThreads(
        ofThread, [&](Expr x, Expr y) { return reduction.merge(b, x, y); });
    for (size_t axis : outer)
      at[axis] = b.index(0);
    b.when(equal(lane, 0.0), [&] { finish(at, total, count); });
  }

  /// Returns the reduced axes that are not among the merged trailing axes; each
  /// of them becomes an outer loop.
  SmallVector<size_t> outerAxes() const {
    SmallVector<size_t> outer;
    for (size_t axis = 0; axis < merged; ++axis)
      if (reduced[axis] && shape[axis] != 1)
        outer.push_back(axis);
    return outer;
  }

  void row(MutableArrayRef<Expr> at) {
    SmallVector<size_t> outer = outerAxes();
    int64_t count = length();
    for (size_t axis : outer)
      count *= shape[axis];
    int64_t lanes = lanesFor(length());
    int64_t vectors = length() / lanes;
    int64_t unroll = lanes > 1 ? std::clamp<int64_t>(vectors / 2, 1, 4) : 1;

    // Accumulators carried through all loops: `unroll` vectors, and a scalar
    // for the remaining elements.
    Exprs acc;
    Expr init = reduction.init(b);
    for (int64_t u = 0; u < unroll; ++u)
      acc.push_back(b.broadcast(init, lanes));
    bool hasRest = length() % lanes != 0;
    if (hasRest && lanes > 1)
      acc.push_back(init);
    std::function<Exprs(size_t, const Exprs &)> nest =
        [&](size_t depth, const Exprs &acc) -> Exprs {
      if (depth == outer.size())
        return inner(at, lanes, unroll, acc);
      return b.loop(
          shape[outer[depth]], acc, [&](Expr i, ArrayRef<Expr> carried) {
            at[outer[depth]] = named(i, axisName(outer[depth], shape.size()));
            return nest(depth + 1, Exprs(carried));
          });
    };
    acc = nest(0, acc);
    for (size_t axis : outer)
      at[axis] = b.index(0);

    Expr total = acc[0];
    for (int64_t u = 1; u < unroll; ++u)
      total = named(reduction.merge(b, total, acc[u]), "total");
    total = acrossLanes(total, lanes);
    if (hasRest && lanes > 1)
      total = named(reduction.merge(b, total, acc.back()), "total");
    finish(at, total, count);
  }

  /// Finishes the reduction of `count` elements from their combined value
  /// `total`, applies the epilogue, and stores the result at index `at`.
  void finish(ArrayRef<Expr> at, Expr total, int64_t count) {
    Value anchor = reduction->getResult(0);
    Expr result = named(reduction.finish(b, total, count),
                        reduction->getName().stripDialect());
    result.type = elementOf(anchor);
    b.bindElement(anchor, result);
    b.store(0u, b.load(b.result(), at), at);
    b.unbindElement(anchor);
  }

  /// Emits a loop over the merged axis that combines its elements at the outer
  /// indices `at` into the accumulators `acc`. Returns the final accumulators.
  Exprs inner(ArrayRef<Expr> at, int64_t lanes, int64_t unroll, Exprs acc) {
    auto step = [&](Expr k, MutableArrayRef<Expr> to) {
      named(k, "element");
      int64_t count = to.size();
      for (int64_t u = 0; u < count; ++u) {
        Expr place =
            u ? named(k + double(u * lanes), "element_" + Twine(u)) : k;
        to[u] = named(
            b.broadcast(reduction.combine(b, to[u], load(at, place)), lanes),
            count == 1 ? "total" : "total_" + Twine(u));
      }
    };
    auto stretch = [&](int64_t from, int64_t to, int64_t by,
                       MutableArrayRef<Expr> part) {
      if (from == to)
        return;
      if (from + by == to)
        return step(b.index(from), part);
      Exprs after = b.loop(b.index(from), b.index(to), by, part,
                           [&](Expr k, ArrayRef<Expr> carried) {
                             Exprs next(carried);
                             step(k, next);
                             return next;
                           });
      llvm::copy(after, part.begin());
    };
    MutableArrayRef<Expr> all(acc);
    int64_t block = lanes * unroll, whole = length() / block * block,
            inLanes = length() / lanes * lanes;
    b.withLanes(lanes, [&]() -> Expr {
      stretch(0, whole, block, all.take_front(unroll));
      stretch(whole, inLanes, lanes, all.take_front(1));
      return {};
    });
    lanes = 1;
    stretch(inLanes, length(), 1, all.take_back(1));
    return acc;
  }

  Expr acrossLanes(Expr acc, int64_t lanes) {
    if (lanes == 1)
      return acc;
    for (int64_t half = lanes / 2; half > 0; half /= 2) {
      Expr low, high;
      if (b.target.wholeRegisters && half < b.target.maxLanes(acc.type)) {
        // Partial registers are slow on targets that use whole registers.
        // Instead of the two halves, merge the vector with a copy that is
        // rotated by `half` lanes.
        int64_t all = std::min(lanes, b.target.maxLanes(acc.type));
        auto places = llvm::to_vector(llvm::map_range(
            llvm::seq(all), [&](int64_t i) { return (i + half) % all; }));
        low = acc;
        high = {&b,
                vector::ShuffleOp::create(b.builder, b.loc, acc.value,
                                          acc.value, places),
                acc.type};
      } else {
        auto slice = [&](int64_t from) -> Expr {
          return {&b,
                  vector::ExtractStridedSliceOp::create(
                      b.builder, b.loc, acc.value, from, half, 1),
                  acc.type};
        };
        low = slice(0);
        high = slice(half);
      }
      acc = named(reduction.merge(b, low, high), "total_of_" + Twine(half));
    }
    acc.value =
        vector::ExtractOp::create(b.builder, b.loc, acc.value, int64_t{0});
    return acc;
  }

  /// Returns the number of lanes, at most `length`, for the widest type among
  /// the operands of the reduction and of the operators before it.
  int64_t lanesFor(int64_t length) {
    Type widest = computeType(elementOf(reduction.getInput()));
    for (Operation &op : llvm::make_range(b.group.block->begin(),
                                          std::next(reduction->getIterator())))
      for (Value v : op.getOperands())
        widest = b.decidingLanes(widest, computeType(elementOf(v)));
    if (widest.isInteger(1))
      return 1;
    for (int64_t lanes : b.target.lanes(widest))
      if (lanes <= length)
        return lanes;
    return 1;
  }

  KernelBuilder &b;
  ReductionOpInterface reduction;
  ArrayRef<int64_t> shape;
  SmallVector<bool> reduced;
  /// The first of the trailing axes of `shape` that are merged into one.
  size_t merged;
  /// The number of device threads that share a row, and the number of adjacent
  /// elements that each thread reads at a time.
  int64_t threads = 1, lanes = 1;
  /// The stored tensors that the reduction reads, each with a view of its
  /// buffer in which the trailing reduced axes are merged.
  SmallVector<std::pair<Value, Value>> operands;
};

class ReductionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    auto reduction = dyn_cast_or_null<ReductionOpInterface>(group.anchor());
    if (!reduction || group.results().size() != 1 ||
        shapeOf(group.results()[0]) != shapeOf(reduction->getResult(0)))
      return false;
    // In strict mode, float sums must keep the order of their terms. Maxima,
    // minima and integer reductions do not depend on the order.
    if (group.isStrict() && !isa<ReduceMaxOp, ReduceMinOp>(group.anchor()) &&
        isa<FloatType>(elementOf(reduction.getInput())))
      return false;
    ArrayRef<int64_t> shape = shapeOf(reduction.getInput());
    ArrayRef<int64_t> axes = reduction.getAxes();
    Dims sizes = dimsOf(reduction.getInput());
    return !axes.empty() &&
           llvm::all_of(axes, [&](int64_t a) { return sizes[a].known(); }) &&
           axes.back() + 1 == static_cast<int64_t>(shape.size()) &&
           shape.back() > 1 &&
           tensorType(reduction.getInput()).getNumElements() > 0;
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override { RowReduction(b).emit(); }
};

} // namespace

std::unique_ptr<Strategy> createReductionStrategy() {
  return std::make_unique<ReductionStrategy>();
}

} // namespace ingot::schedule
