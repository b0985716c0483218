// The strategy for constant padding of a tensor by contiguous runs.
//
// The axes from the last padded one on form a row of the result. Each row
// consists of contiguous runs of padding, input and padding again, so that no
// element needs a bounds check. If an outer axis is padded, some rows are
// padding only:
//
//   row with input        v v v | x x x x x x x x x x | v v
//   row of padding only   v v v v v v v v v v v v v v v v v

#include "passes/schedule/ContiguousRows.h"
#include "passes/schedule/Strategy.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The PadOp of a group that computes nothing else, and the lengths in elements
/// of the contiguous runs in a row of its result. of() returns nothing for
/// other groups, for other modes than "constant", for dynamic sizes, and if no
/// axis is padded.
struct Runs {
  PadOp pad;
  /// The last padded axis, and the number of elements from one index of that
  /// axis to the next.
  int64_t axis = 0, inner = 1;

  static std::optional<Runs> of(GroupView group) {
    Runs runs;
    for (Operation &op : group.block->without_terminator())
      if (auto pad = dyn_cast<PadOp>(op); pad && !runs.pad)
        runs.pad = pad;
      else if (!isa<ConstantOp>(op))
        return std::nullopt;
    if (!runs.pad || group.results().size() != 1 ||
        group.results()[0] != runs.pad.getResult() ||
        runs.pad.getMode() != "constant" || group.hasDynamicSizes() ||
        !isa<BlockArgument>(runs.pad.getX()))
      return std::nullopt;
    ArrayRef<int64_t> from = shapeOf(runs.pad.getX()),
                      to = shapeOf(runs.pad.getResult());
    for (runs.axis = int64_t(to.size()) - 1;
         runs.axis >= 0 && from[runs.axis] == to[runs.axis]; --runs.axis)
      runs.inner *= to[runs.axis];
    if (runs.axis < 0)
      return std::nullopt;
    return runs;
  }

  int64_t inFront() { return pad.getLow()[axis] * inner; }
  int64_t inside() { return shapeOf(pad.getX())[axis] * inner; }
  int64_t all() { return shapeOf(pad.getResult())[axis] * inner; }
};

class PaddingStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    // Runs shorter than this do not make up for the overhead of their loops. If
    // the target prefers small code, the strategy is not used, as its loops are
    // too much code.
    constexpr int64_t leastRun = 32;
    std::optional<Runs> runs = Runs::of(group);
    return runs && runs->inside() >= leastRun && !group.target.smallCode &&
           !fillsRegisters(*runs, group.target);
  }

  /// Whether partial registers are slow on the target, and the elements at a
  /// single index of the last padded axis (all elements of the axes after it)
  /// fill at least half a register. In that case, the loop nest (LoopNest.cpp)
  /// copies the elements fast enough without this strategy.
  static bool fillsRegisters(Runs &runs, const TargetDescription &target) {
    return target.wholeRegisters &&
           2 * runs.inner >= target.maxLanes(elementOf(runs.pad.getResult()));
  }

  void emit(KernelBuilder &b) const override {
    Runs runs = *Runs::of(b.group);
    PadOp pad = runs.pad;
    Value x = b.bufferOf(pad.getX()), y = b.outputs[0];
    ArrayRef<int64_t> from = shapeOf(pad.getX()), to = shapeOf(pad.getResult());
    Dims outer(dimsOf(pad.getResult()));
    outer.truncate(runs.axis);
    SmallVector<int64_t> rowsOfX(from.take_front(runs.axis)),
        rowsOfY(to.take_front(runs.axis));
    rowsOfX.push_back(runs.inside());
    rowsOfY.push_back(runs.all());
    x = b.view(x, rowsOfX);
    y = b.view(y, rowsOfY);
    // If a buffer is part of a larger tensor, its rows may not be contiguous.
    // In that case, elements are moved one by one.
    if (!hasContiguousRows(x) || !hasContiguousRows(y))
      return elementByElement(b);
    Type type = elementOf(pad.getResult());
    b.forIndependent(outer, [&](ArrayRef<Expr> row) {
      Exprs in;
      Expr isInside;
      for (auto [axis, i] : llvm::enumerate(row)) {
        named(i, axisName(axis, to.size()));
        int64_t low = pad.getLow()[axis];
        in.push_back(low == 0 ? i : i - double(low));
        Expr holds;
        if (low > 0)
          holds = in.back() >= 0.0;
        if (to[axis] > low + from[axis]) {
          Expr below = in.back() < double(from[axis]);
          holds = holds ? holds & below : below;
        }
        if (holds)
          isInside = isInside ? isInside & holds : holds;
      }
      Expr value = b.loadScalar(pad.getValue(), {});
      auto over = [&](int64_t first, int64_t count,
                      llvm::function_ref<Expr(Expr, int64_t)> element) {
        if (count > 0)
          b.forLanes(count, type, [&](Expr i, int64_t lanes) {
            Exprs at(row);
            at.push_back(named(i, "element") + double(first));
            b.store(y, element(i, lanes), at);
          });
      };
      auto fill = [&](int64_t first, int64_t count) {
        over(first, count,
             [&](Expr, int64_t lanes) { return b.broadcast(value, lanes); });
      };
      auto copy = [&] {
        int64_t end = runs.inFront() + runs.inside();
        fill(0, runs.inFront());
        over(runs.inFront(), runs.inside(), [&](Expr i, int64_t) {
          Exprs at(in);
          at.push_back(i);
          return b.loadFrom(x, type, at);
        });
        fill(end, runs.all() - end);
      };
      if (isInside)
        b.branch(named(isInside, "is_inside"), copy,
                 [&] { fill(0, runs.all()); });
      else
        copy();
    });
  }

private:
  static void elementByElement(KernelBuilder &b) {
    b.forIndependent(dimsOf(b.result()), [&](ArrayRef<Expr> at) {
      for (auto [axis, i] : llvm::enumerate(at))
        named(i, axisName(axis, at.size()));
      b.store(0u, b.load(b.result(), at), at);
    });
  }
};

} // namespace

std::unique_ptr<Strategy> createPaddingStrategy() {
  return std::make_unique<PaddingStrategy>();
}

} // namespace ingot::schedule
