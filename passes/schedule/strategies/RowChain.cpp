// The strategy for several convolutions in one kernel, computed row by row.
//
//   row-chain { %1 = group { conv 1x1 }, %2 = group { depthwise 3x3 },
//               %3 = group { conv 1x1 } }
// ->
//   for each row of the result, image by image:
//     compute the rows of %1 in the window of %2 that are not computed yet
//     compute one row of %2 from them
//     compute the row of %3 from the row of %2
//
// Intermediate tensors are never stored as a whole. The rows of %1 are in a
// ring buffer with as many rows as a depthwise window reads; a single row of %2
// is stored. Rows are recomputed only at the boundaries between threads: each
// thread begins with the rows that its first window reads. The first or the
// last convolution may be missing.

#include "passes/schedule/RowChain.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ConvolutionLoops.h"
#include "passes/schedule/tiles/DepthwiseLoops.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Emits the loops of a chain of convolutions.
class RowChainLoops {
public:
  explicit RowChainLoops(KernelBuilder &b)
      : b(b), chain(*RowChain::of(b.group)), x(shapeOf(filter().getX())),
        y(shapeOf(filter().getResult())), axis(windowAxes(filter()).front()),
        images(y[0]), rows(y[1]) {}

  void emit() {
    int64_t parts = b.plan.number("parts");
    if (chain.first)
      ring = b.scratch({parts, axis.kernel, x[2], x[3]},
                       elementOf(filter().getX()));
    if (chain.last)
      line = b.scratch({parts, 1, y[2], y[3]}, elementOf(filter().getResult()));
    if (int64_t elements = chain.packedElements())
      packed = b.scratch({parts, elements}, elementOf(filter().getX()));
    int64_t all = images * rows;
    if (!paysToFork(b.group))
      return part(b.index(0), b.index(0), b.index(all));
    b.forPart(parts, [&](Expr begin, Expr end) {
      auto rowOf = [&](Expr part) {
        return all % parts == 0 ? part * double(all / parts)
                                : part * double(all) / double(parts);
      };
      part(begin, named(rowOf(begin), "first_row"),
           named(rowOf(end), "end_row"));
    });
  }

private:
  ConvOp filter() { return depthwiseOf(chain.depthwise); }

  /// Emits the work of one thread: rows [first, end) of the result, where the
  /// rows of all images are numbered consecutively. `memory` is the index of
  /// the thread's part in each scratch buffer.
  void part(Expr memory, Expr first, Expr end) {
    if (images == 1)
      return imageRows(b.index(0), memory, first, end);
    Expr behind = named((end + double(rows - 1)) / double(rows), "end_image");
    b.forRange(first / double(rows), behind, [&](Expr image) {
      named(image, "image");
      Expr above = named(image * double(rows), "rows_above");
      imageRows(image, memory, named(max(first - above, 0.0), "first_of_image"),
                named(min(end - above, double(rows)), "end_of_image"));
    });
  }

  void imageRows(Expr image, Expr memory, Expr first, Expr end) {
    Expr window = named(first * double(axis.stride) - double(axis.low),
                        "first_window"),
         top = named(max(window, 0.0), "first_input_row");
    b.loop(first, end, 1, {top},
           [&](Expr row, ArrayRef<Expr> carried) -> Exprs {
             named(row, "row");
             Expr below = carried[0];
             if (chain.first)
               below = throughWindowOf(image, row, carried[0], memory);
             Exprs position{image, row}, single{memory, b.index(0)};
             filterRow(position, memory, chain.last ? single : position);
             if (chain.last)
               emitStage(chain.last, line, b.outputs[0],
                         [&](KernelBuilder &stage, ConvOp conv) {
                           emitConvolutionRow(stage, conv, position, single,
                                              position, {packed, memory});
                         });
             return {below};
           });
  }

  /// Computes the rows of the first convolution's result that the depthwise
  /// window of result row `row` reads, and stores them in part `memory` of the
  /// ring buffer. Rows before `made` are already computed. Returns the row
  /// after the last computed one.
  Expr throughWindowOf(Expr image, Expr row, Expr made, Expr memory) {
    Expr behind = named(row * double(axis.stride) +
                            double(axis.reach() + 1 - axis.low),
                        "behind_window"),
         below = named(min(behind, double(x[1])), "end_input_row");
    b.forRange(made, below, [&](Expr input) {
      named(input, "input_row");
      Exprs position{image, input},
          stored{memory, named(input % double(axis.kernel), "slot")};
      emitStage(chain.first, Value(), ring,
                [&](KernelBuilder &stage, ConvOp conv) {
                  emitConvolutionRow(stage, conv, position, position, stored,
                                     {packed, memory});
                });
    });
    return below;
  }

  void filterRow(ArrayRef<Expr> position, Expr memory, ArrayRef<Expr> stored) {
    auto inRing = [&](ArrayRef<Expr> at) -> Exprs {
      if (!chain.first)
        return Exprs(at.begin(), at.end());
      return {memory, named(at[1] % double(axis.kernel), "slot")};
    };
    emitStage(chain.depthwise, ring, chain.last ? line : b.outputs[0],
              [&](KernelBuilder &stage, ConvOp conv) {
                emitDepthwiseRow(stage, conv, {position, stored, inRing},
                                 {b.index(0), 1});
              });
  }

  /// Emits one convolution of the chain by `body`. The convolution reads the
  /// result of the previous one from `input` and stores its own result in
  /// `output`.
  void emitStage(GroupOp group, Value input, Value output,
                 llvm::function_ref<void(KernelBuilder &, ConvOp)> body) {
    KernelBuilder stage(b.builder, b.function, {group, b.target}, output);
    stage.plan = Plan(group.getPlanAttr());
    ConvOp conv;
    for (Operation &op : group.getBody().front())
      if (auto found = dyn_cast<ConvOp>(op))
        conv = found;
    for (auto [operand, argument] :
         llvm::zip(group.getInputs(), group.getBody().getArguments()))
      stage.bindBuffer(argument,
                       operand.getDefiningOp() ? input : b.bufferOf(operand));
    body(stage, conv);
  }

  KernelBuilder &b;
  RowChain chain;
  ArrayRef<int64_t> x, y;
  WindowAxis axis; // the axis of image rows
  int64_t images, rows;
  Value ring, line, packed;
};

class RowChainStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    return RowChain::of(group).has_value();
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"parts", 1, 1 << 10}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    return {Plan(group.block->getParentOp()->getContext(),
                 {{"parts", RowChain::of(group)->parts(group.target)}})};
  }

  /// Returns the sum of the estimated cycles of the chain's convolutions.
  double cost(GroupOnTarget group, const Plan &) const override {
    double cycles = 0;
    for (GroupOp stage : RowChain::of(group)->stages())
      cycles += lookupStrategy(stage.getStrategy())
                    ->cost({stage, group.target}, Plan(stage.getPlanAttr()));
    return cycles;
  }

  SmallVector<int64_t> scratchBytes(GroupOnTarget group,
                                    const Plan &plan) const override {
    SmallVector<int64_t> bytes = RowChain::of(group)->scratchBytes();
    for (int64_t &one : bytes)
      one *= plan.number("parts");
    return bytes;
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    for (GroupOp stage : RowChain::of(group)->stages())
      if (std::string why = refusal({stage, group.target}, stage.getStrategy(),
                                    stage.getPlanAttr());
          !why.empty())
        return why;
    return "";
  }

  void emit(KernelBuilder &b) const override { RowChainLoops(b).emit(); }
};

} // namespace

std::unique_ptr<Strategy> createRowChainStrategy() {
  return std::make_unique<RowChainStrategy>();
}

} // namespace ingot::schedule
