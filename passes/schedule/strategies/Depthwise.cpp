// The strategy for depthwise convolutions, and for convolutions whose groups of
// channels are so small that a vector holds several of them. The loops are in
// DepthwiseLoops.h.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/DepthwiseLoops.h"
#include "passes/schedule/tiles/NarrowStorage.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class DepthwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    if (depthwiseOf(group))
      return true;
    // With --strict, terms must be added in the operator's order: at each
    // kernel column, all input channels of the group. The loops of this
    // strategy finish one input channel before the next, which is the same
    // order only if a group has one input channel.
    ConvOp conv = filtersOf(group);
    return conv && hasGroupsInLanes(conv, group.target) &&
           (!group.isStrict() || inputsOfGroup(conv) == 1);
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 64}};
    return keys;
  }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    ConvOp conv = filtersOf(group);
    WindowAxis axis = windowAxes(conv).back();
    Ranking<int64_t> ranking(/*tolerance=*/0.001);
    for (int64_t width = 1;
         width <=
         std::min(mostDepthwiseColumns(axis, group.target), axis.output.most());
         ++width)
      if (evenColumnTile(axis, width) == width)
        ranking.add(width, depthwiseRowCycles(axis, width, group.target));
    return plansOf(std::move(ranking).ranked(1), [&](int64_t width) {
      return Plan(conv.getContext(), {{"columns", width}});
    });
  }
  double cost(GroupOnTarget group, const Plan &plan) const override {
    ConvOp conv = filtersOf(group);
    SmallVector<WindowAxis> axes = windowAxes(conv);
    ArrayRef<int64_t> y = shapeOf(conv.getResult());
    int64_t rows = ShapedType::getNumElements(y.drop_back(2));
    for (const WindowAxis &axis : ArrayRef(axes).drop_back())
      rows *= axis.kernel;
    rows *= inputsOfGroup(conv);
    return depthwiseRowCycles(axes.back(), plan.number("columns"),
                              group.target) *
           double(rows *
                  llvm::divideCeil(
                      y.back(), group.target.maxLanes(elementOf(conv.getX()))));
  }

  bool takesDynamicSizes() const override { return true; }

  /// If flash memory is scarce, stores float weights and biases whose values
  /// are all integers in 8 or 16 bits instead of 32. The kernel converts them
  /// when it loads them.
  void pack(GroupOnTarget group, const Plan &) const override {
    if (!group.target.smallCode)
      return;
    ConvOp conv = filtersOf(group);
    for (OpOperand &operand : llvm::drop_begin(conv->getOpOperands()))
      storeNarrow(group.op(), operand);
  }

  void emit(KernelBuilder &b) const override {
    ConvOp conv = filtersOf(b.group);
    ArrayRef<int64_t> y = shapeOf(conv.getResult());
    Dim outer = product(ArrayRef(dimsOf(conv.getResult())).drop_back(2));
    // If the channels fill whole vectors, threads can divide them.
    int64_t lanes = b.target.maxLanes(elementOf(conv.getX())),
            vectors = y.back() % lanes == 0 ? y.back() / lanes : 1;
    b.parallelFor(
        outer, vectors, [&](Expr row, const KernelBuilder::Part &part) {
          Exprs position = rowPosition(b, row, dimsOf(conv.getResult()));
          emitDepthwiseRow(b, conv, {position, position, nullptr}, part);
        });
  }
};

} // namespace

std::unique_ptr<Strategy> createDepthwiseStrategy() {
  return std::make_unique<DepthwiseStrategy>();
}

} // namespace ingot::schedule
