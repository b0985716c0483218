// The strategy for convolutions of narrow types in registers that hold
// two-dimensional tiles of a matrix, and its plans. The loops are in
// TileWindows.h.
//
// In a plan, `lines` is the number of result rows that are computed together
// from a copy of their input rows; 0 if the convolution is one matrix product,
// without a copy. `parts` is the number of such copies, one per thread. Weights
// are packed as for the vector dot products of Convolution.cpp, which remain
// faster for few positions or channels.

#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ConvolutionTiles.h"
#include "passes/schedule/tiles/TileWindowModel.h"
#include "passes/schedule/tiles/TileWindows.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class TileConvolutionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvolutionAnchor anchor = ConvolutionAnchor::of(group);
    if (!anchor.conv || group.hasDynamicSizes() ||
        !tileForm(anchor, group.target))
      return false;
    TileWindowModel tiles = modelOf(anchor, group.target);
    ConvolutionTiles vectors(anchor, group.target);
    return tiles.cycles(tiles.ranked().front()) <
           anchor.products() * vectors.cycles(vectors.ranked().front());
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const StringLiteral orders[] = {"tiles", "panels"};
    static const PlanKey keys[] = {{"columns", 1, 1 << 16},
                                   {"lines", 0, 1 << 16},
                                   {"order", 0, 0, orders},
                                   {"parts", 1, 64},
                                   {"rows", 1, 1 << 16}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    ConvolutionAnchor anchor = ConvolutionAnchor::of(group);
    TileWindowModel model = modelOf(anchor, group.target);
    int64_t lanes = lanesOf(anchor, group.target);
    UnpackPanelsOp packed = anchor.weights();
    std::vector<TileWindowModel::Choice> choices = model.ranked();
    if (packed) {
      int64_t vectors = llvm::divideCeil(
          std::min<int64_t>(packed.getPanel(), anchor.channels()), lanes);
      llvm::erase_if(choices, [&](const TileWindowModel::Choice &choice) {
        return choice.block.vectors != vectors;
      });
      if (choices.empty())
        choices.push_back({{1, vectors, 1}, anchor.isMatrix() ? 0 : 1});
    }
    // Choose the order that reads the weights once if the convolution is a
    // single matrix product and its weights are too large to stay in the L2
    // cache, else the order that reads the input once.
    bool weightsFirst = anchor.isMatrix() &&
                        anchor.weightBytes() > group.target.residentBytes();
    bool divides = !anchor.isMatrix() && paysToFork(group);
    return plansOf(choices, [&](const TileWindowModel::Choice &choice) {
      return Plan(anchor.conv.getContext(),
                  {{"columns", panelOf(packed, choice.block, lanes)},
                   {"lines", choice.lines},
                   {"parts", divides ? model.parts(choice) : 1},
                   {"rows", choice.block.rows}},
                  {{"order", weightsFirst ? "panels" : "tiles"}});
    });
  }

  double cost(GroupOnTarget group, const Plan &plan) const override {
    ConvolutionAnchor anchor = ConvolutionAnchor::of(group);
    return modelOf(anchor, group.target)
        .cycles({blockOf(anchor, plan, group.target), plan.number("lines")});
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    ConvolutionAnchor anchor = ConvolutionAnchor::of(group);
    int64_t lines = plan.number("lines"),
            rows = shapeOf(anchor.conv.getResult())[1];
    if (lines == 0 ? !anchor.isMatrix() : rows % lines != 0)
      return "the " + std::to_string(rows) +
             " rows of the result cannot be computed " + std::to_string(lines) +
             " at a time";
    TileChoice block = blockOf(anchor, plan, group.target);
    int64_t columns = plan.number("columns");
    std::string why =
        refusePanels(columns, block.vectors * lanesOf(anchor, group.target),
                     anchor.weights());
    return why.empty() ? refuseBlock(block.rows, block.vectors, group.target)
                       : why;
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    TileForm form = *tileForm(anchor, group.target);
    int64_t panel = plan.number("columns"), left = anchor.channels() % panel;
    packPanels(group.op(), anchor.conv->getOpOperand(1), panel,
               left ? form.cover(left).width() : 0, form.group);
  }

  bool readsVectors(GroupOnTarget group, BlockArgument operand) const override {
    ConvolutionAnchor anchor = ConvolutionAnchor::of(group);
    bool isAlone = operand == anchor.conv.getX() && operand.hasOneUse();
    return !(isAlone && anchor.isMatrix()) &&
           Strategy::readsVectors(group, operand);
  }

  void emit(KernelBuilder &b) const override {
    emitTileConvolution(b, ConvolutionAnchor::of(b.group));
  }

private:
  static TileWindowModel modelOf(ConvolutionAnchor anchor,
                                 const TargetDescription &target) {
    return TileWindowModel(anchor.conv, *tileForm(anchor, target), target);
  }
  static int64_t lanesOf(ConvolutionAnchor anchor,
                         const TargetDescription &target) {
    return tileForm(anchor, target)->lanes;
  }
  static TileChoice blockOf(ConvolutionAnchor anchor, const Plan &plan,
                            const TargetDescription &target) {
    return {plan.number("rows"),
            int64_t(llvm::divideCeil(plan.number("columns"),
                                     lanesOf(anchor, target))),
            1};
  }
};

} // namespace

std::unique_ptr<Strategy> createTileConvolutionStrategy() {
  return std::make_unique<TileConvolutionStrategy>();
}

} // namespace ingot::schedule
