// An order of launches with less alive.
//
// Branches of a network can run one after the other or in turn. Where most is
// alive, the order of the model is not always the best one:
//
//   %a = launch @widen(%x)             %a = launch @widen(%x)
//   %b = launch @widen(%x)             %c = launch @narrow(%a)
//   %c = launch @narrow(%a)    ->      %b = launch @widen(%x)
//   %d = launch @narrow(%b)            %d = launch @narrow(%b)
//
// A search from the first launch on keeps some of the orders with the least
// alive at any time so far; of two that have run the same launches, one. The
// order changes only if less is alive in the end, by the planner's own count.

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/plan/Buffers.h"
#include "passes/plan/Passes.h"
#include "llvm/ADT/BitVector.h"

#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::plan {
#define GEN_PASS_DEF_ORDERLAUNCHES
#include "passes/plan/Passes.h.inc"

namespace {

/// The steps of @main as a graph, with what each keeps alive.
class OrderSearch {
public:
  OrderSearch(FunctionOpInterface main, const Buffers &buffers)
      : steps(buffers.steps()) {
    llvm::DenseMap<Operation *, unsigned> numberOf;
    for (auto [i, op] : llvm::enumerate(steps))
      numberOf[op] = i;
    nodes.resize(steps.size());
    std::map<unsigned, unsigned> known;
    auto touch = [&](unsigned step, Value value) {
      unsigned id = buffers.placeOf(value).buffer;
      if (buffers[id].kind != Buffers::Arena)
        return;
      auto [it, isNew] = known.insert({id, bytes.size()});
      if (isNew) {
        bytes.push_back(buffers[id].bytes);
        touches.push_back(0);
      }
      if (!llvm::is_contained(nodes[step].buffers, it->second)) {
        nodes[step].buffers.push_back(it->second);
        ++touches[it->second];
      }
    };
    for (auto [i, op] : llvm::enumerate(steps)) {
      for (Value operand : op->getOperands()) {
        touch(i, operand);
        Operation *from = operand.getDefiningOp();
        while (isa_and_nonnull<ReshapeOp, SliceOp>(from))
          from = from->getOperand(0).getDefiningOp();
        if (auto it = numberOf.find(from); it != numberOf.end()) {
          nodes[it->second].users.push_back(i);
          ++nodes[i].waitsFor;
        }
      }
      for (Value result : op->getResults())
        touch(i, result);
    }
    // Sizes are known behind the step that reads them, and right behind a check.
    for (auto [i, op] : llvm::enumerate(steps))
      for (unsigned later = i + 1;
           isa<kernel::ReadSizesOp, kernel::CheckSizesOp>(op) &&
           later < steps.size();
           ++later) {
        nodes[i].users.push_back(later);
        ++nodes[later].waitsFor;
      }
  }

  /// What no order can avoid: a step's own buffers.
  int64_t bound() const {
    int64_t most = 0;
    for (const Node &node : nodes) {
      int64_t sum = 0;
      for (unsigned buffer : node.buffers)
        sum += bytes[buffer];
      most = std::max(most, sum);
    }
    return most;
  }

  std::vector<Operation *> run(size_t width) const {
    std::vector<State> beam{start()};
    for (size_t n = 0; n < nodes.size(); ++n) {
      std::vector<State> next;
      for (const State &state : beam)
        for (size_t i = 0; i < nodes.size(); ++i)
          if (!state.done[i] && state.waitsFor[i] == 0)
            next.push_back(after(state, i));
      llvm::stable_sort(next, [](const State &a, const State &b) {
        return std::make_pair(a.peak, a.alive) <
               std::make_pair(b.peak, b.alive);
      });
      beam.clear();
      for (State &state : next)
        if (beam.size() < width && llvm::none_of(beam, [&](const State &other) {
              return other.done == state.done;
            }))
          beam.push_back(std::move(state));
    }
    std::vector<Operation *> order;
    for (unsigned i : beam.front().order)
      order.push_back(steps[i]);
    return order;
  }

private:
  struct Node {
    SmallVector<unsigned> buffers, users;
    unsigned waitsFor = 0;
  };
  struct State {
    llvm::BitVector done;
    std::vector<unsigned> waitsFor, touches, order;
    int64_t alive = 0, peak = 0;
  };

  State start() const {
    State state;
    state.done.resize(nodes.size());
    for (const Node &node : nodes)
      state.waitsFor.push_back(node.waitsFor);
    state.touches = touches;
    return state;
  }

  State after(const State &before, unsigned i) const {
    State state = before;
    state.done.set(i);
    state.order.push_back(i);
    for (unsigned buffer : nodes[i].buffers)
      if (state.touches[buffer]-- == touches[buffer])
        state.alive += bytes[buffer];
    state.peak = std::max(state.peak, state.alive);
    for (unsigned buffer : nodes[i].buffers)
      if (state.touches[buffer] == 0)
        state.alive -= bytes[buffer];
    for (unsigned user : nodes[i].users)
      --state.waitsFor[user];
    return state;
  }

  std::vector<Operation *> steps;
  std::vector<Node> nodes;
  std::vector<int64_t> bytes;
  /// How many steps read or write a buffer.
  std::vector<unsigned> touches;
};

/// All operations of @main: before each step the views and constants that it
/// is the first to read.
std::vector<Operation *> withOthers(ArrayRef<Operation *> steps,
                                    kernel::ProgramOp main) {
  std::vector<Operation *> all;
  llvm::DenseSet<Operation *> done;
  std::function<void(Operation *)> add = [&](Operation *op) {
    if (!op || !done.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      add(operand.getDefiningOp());
    all.push_back(op);
  };
  for (Operation *op : steps)
    add(op);
  for (Operation &op : main.getBody().front().without_terminator())
    add(&op);
  return all;
}

struct OrderLaunchesPass : impl::OrderLaunchesBase<OrderLaunchesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      order(program);
  }

private:
  void order(kernel::ProgramOp main) {
    // What is in near memory was chosen for this very order.
    if (llvm::any_of(main.getBody().getOps<kernel::LaunchOp>(),
                     [](kernel::LaunchOp launch) { return launch.getNear(); }))
      return;
    Buffers given(main);
    int64_t alive = aliveIn(given);
    OrderSearch search(main, Buffers(main, {}, /*inPlace=*/false));
    // The effort is bounded, so that large models stay fast.
    size_t count = given.steps().size();
    if (count == 0 || count > 1000 || alive <= search.bound())
      return;
    size_t width = std::clamp<size_t>(2'000'000 / (count * count), 1, 32);
    std::vector<Operation *> order = withOthers(search.run(width), main);
    if (aliveIn(Buffers(main, order)) >= alive)
      return;
    Operation *terminator = main.getBody().front().getTerminator();
    for (Operation *op : order)
      op->moveBefore(terminator);
  }

  int64_t aliveIn(const Buffers &buffers) const {
    return lowerBound(buffers.requests(alignment, nullptr)).first;
  }
};

} // namespace
} // namespace ingot::plan
