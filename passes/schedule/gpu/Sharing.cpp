#include "passes/schedule/gpu/Sharing.h"

#include "dialects/graph/ElementMemo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

void share(KernelBuilder &b, Expr thread, int64_t threads, int64_t count,
           llvm::function_ref<void(Expr)> body) {
  for (int64_t first = 0; first < count; first += threads) {
    Expr mine = first ? thread + double(first) : thread;
    if (first + threads <= count)
      body(mine);
    else
      b.when(mine < double(count), [&] { body(mine); });
  }
}

int64_t mostShared(const Device &device) {
  return device.multipliesByWarpgroups() ? device.sharedBytes
                                         : device.declaredSharedBytes;
}

namespace {

/// A load from a buffer of a tensor (an argument of the kernel) or a store to
/// one. `stored` is the value that a store writes; null for a load.
struct Access {
  Value buffer, stored;
  OperandRange indices;
  int64_t lanes;

  /// Returns the access that `op` makes; nothing if `op` neither loads from an
  /// argument of the kernel nor stores to one.
  static std::optional<Access> of(Operation &op) {
    auto make = [](Value buffer, Value stored, OperandRange indices,
                   Type type) -> std::optional<Access> {
      auto vector = dyn_cast<VectorType>(type);
      if (!isa<BlockArgument>(buffer))
        return std::nullopt;
      return Access{buffer, stored, indices,
                    vector ? vector.getNumElements() : 1};
    };
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return make(load.getMemRef(), {}, load.getIndices(), load.getType());
    if (auto load = dyn_cast<vector::LoadOp>(op))
      return make(load.getBase(), {}, load.getIndices(), load.getType());
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return make(store.getMemRef(), store.getValue(), store.getIndices(),
                  store.getValue().getType());
    if (auto store = dyn_cast<vector::StoreOp>(op))
      return make(store.getBase(), store.getValueToStore(), store.getIndices(),
                  store.getValueToStore().getType());
    return std::nullopt;
  }
};

class HeldRow {
public:
  explicit HeldRow(KernelBuilder &b) : b(b) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<gpu::ShuffleOp>(op) && !exchange)
        exchange = &op;
      if (std::optional<Access> access = Access::of(op))
        visit(op, *access);
      else if (accessesTensors(op))
        forget();
    }
  }

private:
  void visit(Operation &op, Access access) {
    Exprs at;
    for (Value index : access.indices)
      at.push_back(b.wrap(index, index.getType()));
    ElementMemo::Key key = memo.keyOf(access.buffer, access.lanes, at);
    if (access.stored) {
      held[key] = access.stored;
      Operation *&store = stores[key];
      if (store)
        store->erase();
      store = &op;
      return;
    }
    if (Value known = held.lookup(key)) {
      op.getResult(0).replaceAllUsesWith(known);
      op.erase();
      return;
    }
    held[key] = op.getResult(0);
    if (exchange)
      return loadAhead(op, access, at);
    for (const Expr &index : at)
      early.try_emplace(keyOf(index), index.value);
  }

  /// Moves the load `op` before the first shuffle, unless `op` reads a result
  /// of the kernel or has an index that no load before this shuffle has used.
  void loadAhead(Operation &op, Access access, ArrayRef<Expr> at) {
    SmallVector<Value> indices;
    for (const Expr &index : at)
      indices.push_back(early.lookup(keyOf(index)));
    if (llvm::is_contained(b.outputs, access.buffer) ||
        !llvm::all_of(indices, [](Value v) { return bool(v); }))
      return;
    // Operand 0 of a load is its buffer, which stays; the indices follow.
    op.setOperands(1, indices.size(), indices);
    op.moveBefore(exchange);
  }

  ElementMemo::Key keyOf(const Expr &index) {
    return memo.keyOf(Value(), 0, {index});
  }

  static bool accessesTensors(Operation &op) {
    return op
        .walk([](Operation *inner) {
          return Access::of(*inner) ? WalkResult::interrupt()
                                    : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Forgets all known elements after an operation whose regions access
  /// tensors, such as a loop, since the stores in these regions are not
  /// tracked.
  void forget() {
    held.clear();
    stores.clear();
  }

  KernelBuilder &b;
  ElementMemo memo;
  Operation *exchange = nullptr;
  llvm::DenseMap<ElementMemo::Key, Value> held, early;
  llvm::DenseMap<ElementMemo::Key, Operation *> stores;
};

} // namespace

void holdRow(KernelBuilder &b) { HeldRow(b).run(*b.builder.getBlock()); }

} // namespace ingot::schedule
