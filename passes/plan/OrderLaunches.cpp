// Reorders launches so that less memory is live at the same time.
//
// Branches of a network can be executed one after the other or interleaved. At
// the step where most memory is live, the order of the model may not be the
// best one:
//
//   %a = launch @widen(%x)             %a = launch @widen(%x)
//   %b = launch @widen(%x)             %c = launch @narrow(%a)
//   %c = launch @narrow(%a)    ->      %b = launch @widen(%x)
//   %d = launch @narrow(%b)            %d = launch @narrow(%b)
//
// A beam search, which begins at the first launch, keeps the partial orders
// with the least peak memory so far. Among partial orders of the same set of
// launches, it keeps only the best one. The program is reordered only if the
// memory planner computes a smaller peak for the new order.

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/HostOps.h"
#include "passes/plan/Buffers.h"
#include "passes/plan/Passes.h"
#include "llvm/ADT/BitVector.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::plan {
#define GEN_PASS_DEF_ORDERLAUNCHES
#include "passes/plan/Passes.h.inc"

namespace {

/// Searches for the order of the steps of @main (launches and other operations
/// on buffers) with the lowest cost. The steps are the nodes of a graph of
/// dependences, with the buffers that each step uses.
class OrderSearch {
public:
  /// Without a limit, the cost of an order is the peak of live bytes. With a
  /// limit, it is the number of live bytes beyond the limit, added up over all
  /// steps.
  OrderSearch(const Buffers &buffers, std::optional<int64_t> limit = {})
      : steps(buffers.steps()), limit(limit) {
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
    // Dynamic sizes are known only after the step that reads or checks them, so
    // all later steps depend on this step.
    for (auto [i, op] : llvm::enumerate(steps))
      for (unsigned later = i + 1;
           isa<kernel::ReadSizesOp, kernel::CheckSizesOp>(op) &&
           later < steps.size();
           ++later) {
        nodes[i].users.push_back(later);
        ++nodes[later].waitsFor;
      }
  }

  /// Returns a lower bound of the peak of live bytes for any order: the largest
  /// total size of the buffers that one step uses.
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

  /// Returns the cost of the present order of the steps.
  int64_t givenCost() const {
    State state = start();
    for (unsigned i = 0; i < nodes.size(); ++i)
      state = after(state, i);
    return state.cost;
  }

  struct Found {
    std::vector<Operation *> order;
    int64_t cost;
  };

  Found run() const {
    // The width of the beam is bounded, so that large models still compile
    // fast.
    size_t width =
        std::clamp<size_t>(2'000'000 / (nodes.size() * nodes.size()), 1, 32);
    std::vector<State> beam{start()};
    for (size_t n = 0; n < nodes.size(); ++n) {
      std::vector<Step> next;
      for (const State &state : beam)
        for (unsigned i = 0; i < nodes.size(); ++i)
          if (!state.done[i] && state.waitsFor[i] == 0)
            next.push_back(stepTo(state, i));
      llvm::stable_sort(next, [](const Step &a, const Step &b) {
        return std::make_pair(a.cost, a.alive) <
               std::make_pair(b.cost, b.alive);
      });
      // A search state is large (an entry for each node and buffer), so only
      // the states that stay in the beam are created.
      std::vector<State> kept;
      std::set<llvm::BitVector, Fewer> known;
      for (const Step &step : next) {
        if (kept.size() == width)
          break;
        llvm::BitVector done = step.before->done;
        done.set(step.node);
        if (known.insert(std::move(done)).second)
          kept.push_back(after(*step.before, step.node));
      }
      beam = std::move(kept);
    }
    Found found{{}, beam.front().cost};
    for (unsigned i : beam.front().order)
      found.order.push_back(steps[i]);
    return found;
  }

private:
  struct Node {
    SmallVector<unsigned> buffers, users;
    unsigned waitsFor = 0;
  };
  struct State {
    llvm::BitVector done;
    std::vector<unsigned> waitsFor, touches, order;
    int64_t alive = 0, cost = 0;
  };

  State start() const {
    State state;
    state.done.resize(nodes.size());
    for (const Node &node : nodes)
      state.waitsFor.push_back(node.waitsFor);
    state.touches = touches;
    return state;
  }

  /// The choice of `node` as the next step after the search state `before`,
  /// with the cost and the live bytes after this step.
  struct Step {
    const State *before;
    unsigned node;
    int64_t cost, alive;
  };
  /// An arbitrary total order of sets of nodes, for std::set.
  struct Fewer {
    bool operator()(const llvm::BitVector &a, const llvm::BitVector &b) const {
      return std::lexicographical_compare(
          a.getData().begin(), a.getData().end(), b.getData().begin(),
          b.getData().end());
    }
  };

  Step stepTo(const State &before, unsigned i) const {
    Step step{&before, i, 0, before.alive};
    for (unsigned buffer : nodes[i].buffers)
      if (before.touches[buffer] == touches[buffer])
        step.alive += bytes[buffer];
    step.cost = limit ? before.cost + std::max<int64_t>(0, step.alive - *limit)
                      : std::max(before.cost, step.alive);
    for (unsigned buffer : nodes[i].buffers)
      if (before.touches[buffer] == 1)
        step.alive -= bytes[buffer];
    return step;
  }

  State after(const State &before, unsigned i) const {
    Step step = stepTo(before, i);
    State state = before;
    state.cost = step.cost;
    state.alive = step.alive;
    state.done.set(i);
    state.order.push_back(i);
    for (unsigned buffer : nodes[i].buffers)
      --state.touches[buffer];
    for (unsigned user : nodes[i].users)
      --state.waitsFor[user];
    return state;
  }

  std::vector<Operation *> steps;
  std::optional<int64_t> limit;
  std::vector<Node> nodes;
  std::vector<int64_t> bytes;
  /// The number of steps that read or write each buffer.
  std::vector<unsigned> touches;
};

/// Programs with more steps than this keep their order.
constexpr size_t mostSteps = 1000;

/// Returns all operations of `main` in a new order: the steps in the order
/// `steps`, and each view and constant before the first step that reads it.
std::vector<Operation *> withOthers(ArrayRef<Operation *> steps,
                                    FunctionOpInterface main) {
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
  for (Operation &op : main.getFunctionBody().front().without_terminator())
    add(&op);
  return all;
}

void moveInto(ArrayRef<Operation *> order, FunctionOpInterface main) {
  Operation *terminator = main.getFunctionBody().front().getTerminator();
  for (Operation *op : order)
    op->moveBefore(terminator);
}

struct OrderLaunchesPass : impl::OrderLaunchesBase<OrderLaunchesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      order(program);
  }

private:
  void order(kernel::ProgramOp main) {
    // Programs with data in VTCM keep their order, since the data were chosen
    // for this order. Programs with copies to the host keep their order too,
    // since the host waits for these copies.
    if (llvm::any_of(main.getBody().getOps(), [](Operation &op) {
          auto launch = dyn_cast<kernel::LaunchOp>(op);
          return isa<kernel::CopyOp>(op) ||
                 (launch && launch.getSecondMemory());
        }))
      return;
    Buffers given(main);
    int64_t alive = aliveIn(given);
    OrderSearch search(Buffers(main, {}, /*inPlace=*/false));
    size_t count = given.steps().size();
    if (count == 0 || count > mostSteps || alive <= search.bound())
      return;
    std::vector<Operation *> order = withOthers(search.run().order, main);
    if (aliveIn(Buffers(main, order)) < alive)
      moveInto(order, main);
  }

  int64_t aliveIn(const Buffers &buffers) const {
    return lowerBound(buffers.requests(alignment, nullptr)).first;
  }
};

} // namespace

void orderGroups(func::FuncOp main, int64_t limit) {
  Buffers given(main, {}, /*inPlace=*/false);
  if (given.steps().empty() || given.steps().size() > mostSteps)
    return;
  OrderSearch search(given, limit);
  auto [order, cost] = search.run();
  if (cost < search.givenCost())
    moveInto(withOthers(order, main), main);
}

} // namespace ingot::plan
