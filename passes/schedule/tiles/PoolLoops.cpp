#include "passes/schedule/tiles/PoolLoops.h"

#include "dialects/graph/ops/Window.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/HalfTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Whether `op` combines elements of the same channel only, along other axes
/// than the last one.
static bool keepsChannels(Operation *op) {
  auto reduction = dyn_cast_or_null<ReductionOpInterface>(op);
  if (!reduction)
    return isa_and_nonnull<MaxPoolOp, AveragePoolOp>(op);
  Dims sizes = dimsOf(reduction.getInput());
  return !reduction.getAxes().empty() &&
         reduction.getAxes().back() + 1 < int64_t(sizes.size()) &&
         llvm::all_of(reduction.getAxes(),
                      [&](int64_t axis) { return sizes[axis].known() > 0; });
}

/// Returns the pool or reduction of the group, if all other operators are
/// elementwise and those after it keep its indices; otherwise null.
static Operation *poolOf(KernelBuilder &b) {
  Operation *pool = b.group.anchor();
  if (!keepsChannels(pool) ||
      dimsOf(pool->getResult(0)) != dimsOf(b.result()) ||
      !keepsIndices(pool->getResult(0), b.result()))
    return nullptr;
  bool isElementwise =
      llvm::all_of(b.group.block->without_terminator(), [&](Operation &op) {
        return &op == pool || isa<ConstantOp, ElementwiseOpInterface>(op);
      });
  return isElementwise ? pool : nullptr;
}

PoolLoops::PoolLoops(KernelBuilder &b, Type type) : b(b), pool(poolOf(b)) {
  // Accumulators and loaded elements take half of the registers at most.
  constexpr int64_t most = 8;
  if (!pool || b.target.smallCode || b.target.wholeRegisters)
    return;
  std::optional<int64_t> size = dimsOf(b.result()).back().known();
  if (!size)
    return;
  inHalves = isa<MaxPoolOp>(pool) && pool->getResult(0) == b.result() &&
             isa<BlockArgument>(pool->getOperand(0)) &&
             elementOf(b.result()).isF16() && halvesByLane(b.target);
  channels = *size;
  lanes = b.target.maxLanes(inHalves ? b.builder.getIntegerType(16)
                                     : computeType(type));
  if (lanes > 1)
    vectors = std::min(
        {most, int64_t(b.target.vectorRegisters) / 4, channels / lanes});
}

Expr PoolLoops::initial() const {
  Type element = elementOf(pool->getOperand(0));
  if (inHalves)
    return lowestHalves(b, lanes);
  return isa<MaxPoolOp>(pool) ? lowest(b, element) : b.constant(0, element);
}

Expr PoolLoops::merge(Expr acc, Expr x) const {
  if (inHalves)
    return largerOfHalves(b, acc, x);
  if (isa<AveragePoolOp>(pool))
    return acc + x;
  // Ignores NaN, as the definition of the operator does.
  return isa<FloatType>(x.type) ? select(x > acc, x, acc) : max(acc, x);
}

Exprs PoolLoops::reduced(ArrayRef<Expr> at, int64_t count) const {
  auto reduction = cast<ReductionOpInterface>(pool);
  ArrayRef<int64_t> axes = reduction.getAxes();
  Dims sizes = dimsOf(reduction.getInput());
  Exprs place(at);
  std::function<Exprs(size_t, ArrayRef<Expr>)> over =
      [&](size_t depth, ArrayRef<Expr> accs) -> Exprs {
    if (depth < axes.size())
      return b.loop(*sizes[axes[depth]].known(), accs,
                    [&](Expr i, ArrayRef<Expr> carried) {
                      place[axes[depth]] = named(i, "term");
                      return over(depth + 1, carried);
                    });
    Exprs next;
    for (int64_t v = 0; v < count; ++v) {
      place.back() = v ? at.back() + double(v * lanes) : at.back();
      Expr x = b.load(reduction.getInput(), place);
      next.push_back(named(b.broadcast(reduction.combine(b, accs[v], x), lanes),
                           "total_" + Twine(v)));
    }
    return next;
  };
  Exprs first(count, b.broadcast(reduction.init(b), lanes));
  return over(0, first);
}

Expr PoolLoops::finished(ArrayRef<Expr> at, Expr value) const {
  if (auto average = dyn_cast<AveragePoolOp>(pool))
    return meanOfWindow(b, average, at, value);
  auto reduction = dyn_cast<ReductionOpInterface>(pool);
  if (!reduction)
    return value;
  Dims sizes = permuted(dimsOf(reduction.getInput()), reduction.getAxes());
  Expr result = reduction.finish(b, value, product(sizes));
  result.type = elementOf(pool->getResult(0));
  return b.broadcast(result, lanes);
}

Exprs PoolLoops::combined(ArrayRef<Expr> at, int64_t count) const {
  if (isa<ReductionOpInterface>(pool))
    return reduced(at, count);
  Value x = pool->getOperand(0);
  bool isMax = isa<MaxPoolOp>(pool);
  auto visit = [&](ArrayRef<Expr>, ArrayRef<Expr> position,
                   ArrayRef<Expr> accs) {
    Exprs next, place(position);
    for (int64_t v = 0; v < count; ++v) {
      place.back() = v ? position.back() + double(v * lanes) : position.back();
      next.push_back(named(merge(accs[v], b.load(x, place)),
                           (isMax ? "best_" : "sum_") + Twine(v)));
    }
    return next;
  };
  auto over = [&](auto op) {
    ArrayRef<int64_t> kernel = op.getKernel();
    return overWindow(b, at, dimsOf(x), dimsOf(op.getResult()),
                      Dims(kernel.begin(), kernel.end()), op.getStrides(),
                      op.getDilations(), op.getLow(), Exprs(count, initial()),
                      visit);
  };
  return isMax ? over(cast<MaxPoolOp>(pool)) : over(cast<AveragePoolOp>(pool));
}

void PoolLoops::emitVectors(ArrayRef<Expr> outer, Expr first,
                            int64_t count) const {
  b.withLanes(lanes, [&]() -> Expr {
    Exprs at(outer);
    at.push_back(named(first, "channel"));
    for (auto [v, value] : llvm::enumerate(combined(at, count))) {
      at.back() = v ? first + double(int64_t(v) * lanes) : first;
      b.bindElement(pool->getResult(0), finished(at, value));
      b.store(0u, b.load(b.result(), at), at);
      b.unbindElement(pool->getResult(0));
    }
    return {};
  });
}

void PoolLoops::emit(ArrayRef<Expr> outer,
                     llvm::function_ref<void(int64_t)> rest) const {
  int64_t block = vectors * lanes, blocks = channels / block,
          done = blocks * block, more = (channels - done) / lanes;
  if (blocks == 1)
    emitVectors(outer, b.index(0), vectors);
  else
    b.loop(b.index(0), b.index(done), block, {},
           [&](Expr first, ArrayRef<Expr>) -> Exprs {
             emitVectors(outer, first, vectors);
             return {};
           });
  if (more)
    emitVectors(outer, b.index(done), more);
  done += more * lanes;
  if (done < channels)
    rest(done);
}

} // namespace ingot::schedule
