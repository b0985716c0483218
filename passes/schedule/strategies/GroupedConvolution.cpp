// The strategy for convolutions with several groups of channels as tiled matrix
// products, and its plans. The loops are in ConvolutionLoops.h.
//
// A panel of packed weights belongs to one group of channels; its tiles read
// only the input channels of that group. The columns of a panel are all output
// channels of the group, or a fraction of them that fills vectors, possibly
// narrow ones.
//
// The plan's entry `order` names the outer loop. With "tiles" (for small
// weights), the kernel multiplies all panels for each tile of output positions.
// With "panels" (for large weights), it processes all output positions for each
// panel.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/ConvolutionLoops.h"
#include "passes/schedule/tiles/ConvolutionTiles.h"
#include "passes/schedule/tiles/PanelKernel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// A candidate for the plan: the output channels of a panel of weights
/// (`columns`) and the output positions of a tile (`rows`).
struct Choice {
  int64_t columns, rows;
};

class GroupedConvolutionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvOp conv = convOf(group);
    return conv && group.results().size() == 1 &&
           multipliesInGroups(conv, group.target) &&
           isa<BlockArgument>(conv.getX()) &&
           mayBeInPanels(conv.getW(), group.packs) &&
           dimsOf(conv.getResult()) == dimsOf(group.results()[0]);
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const StringLiteral orders[] = {"tiles", "panels"};
    static const PlanKey keys[] = {
        {"columns", 1, 1 << 16}, {"order", 0, 0, orders}, {"rows", 1, 1 << 16}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    ConvolutionAnchor anchor{convOf(group)};
    UnpackPanelsOp packed = anchor.weights();
    bool weightsFirst = group.target.l2Bytes > 0 &&
                        anchor.weightBytes() > group.target.residentBytes();
    Ranking<Choice> ranking(/*tolerance=*/0.001);
    int64_t ofGroup = channelsOfGroup(anchor.conv);
    for (int64_t columns = ofGroup; columns > 1; --columns) {
      if (ofGroup % columns != 0 ||
          !fillsVectors(anchor, columns, group.target) ||
          (packed && int64_t(packed.getPanel()) != columns))
        continue;
      GroupTiles tiles(anchor, columns, group.target);
      for (const TileChoice &tile :
           withVectors(tiles.vectors, tiles.model.ranked()))
        ranking.add({columns, rowsOf(anchor, tile.rows)}, tiles.cycles(tile));
    }
    SmallVector<Plan> plans;
    auto add = [&](const Choice &choice, bool panelsOutside) {
      Plan plan(group.block->getParentOp()->getContext(),
                {{"columns", choice.columns}, {"rows", choice.rows}},
                {{"order", panelsOutside ? "panels" : "tiles"}});
      if (plans.size() < mostPlans && !llvm::is_contained(plans, plan))
        plans.push_back(plan);
    };
    for (const Choice &choice : std::move(ranking).ranked({ofGroup, 1})) {
      add(choice, weightsFirst);
      if (plans.size() == 1)
        add(choice, !weightsFirst);
    }
    return plans;
  }

  double cost(GroupOnTarget group, const Plan &plan) const override {
    ConvolutionAnchor anchor{convOf(group)};
    GroupTiles tiles(anchor, plan.number("columns"), group.target);
    return anchor.products() *
           tiles.cycles({plan.number("rows"), tiles.vectors, 1});
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    ConvolutionAnchor anchor{convOf(group)};
    int64_t columns = plan.number("columns"),
            ofGroup = channelsOfGroup(anchor.conv);
    if (ofGroup % columns != 0)
      return "panels of " + std::to_string(columns) +
             " columns do not divide a group, which has " +
             std::to_string(ofGroup) + " output channels";
    ColumnVectors vectors = vectorsOf(anchor, columns, group.target);
    if (std::string why =
            refusePanels(columns, vectors.width(), anchor.weights());
        !why.empty())
      return why;
    return refuseTile({plan.number("rows"), int64_t(vectors.lanes.size()), 1},
                      1, group.isStrict());
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    ConvOp conv = convOf(group);
    packPanels(group.op(), conv->getOpOperand(1), plan.number("columns"),
               /*tail=*/0, /*steps=*/1);
  }

  bool readsVectors(GroupOnTarget group, BlockArgument operand) const override {
    Value x = convOf(group).getX();
    return (operand != x || !operand.hasOneUse()) &&
           Strategy::readsVectors(group, operand);
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    emitConvolution(b, convOf(b.group), /*pool=*/nullptr);
  }

private:
  static ConvOp convOf(GroupView group) {
    return dyn_cast_or_null<ConvOp>(group.anchor());
  }
  static ColumnVectors vectorsOf(ConvolutionAnchor anchor, int64_t columns,
                                 const TargetDescription &target) {
    return ColumnVectors::cover(columns, target, anchor.type(),
                                /*padded=*/true);
  }
  static bool fillsVectors(ConvolutionAnchor anchor, int64_t columns,
                           const TargetDescription &target) {
    return vectorsOf(anchor, columns, target).width() == columns;
  }

  /// The cost model for panels with the weights of `columns` output channels:
  /// `model` describes the tiles of one panel, and `cycles` returns the cost of
  /// all panels.
  struct GroupTiles {
    int64_t vectors, panels;
    TileModel model;

    GroupTiles(ConvolutionAnchor anchor, int64_t columns,
               const TargetDescription &target)
        : vectors(vectorsOf(anchor, columns, target).lanes.size()),
          panels(anchor.channels() / columns),
          // A narrow vector takes as long as a wide one, so count each vector
          // as a full one.
          model(anchor.positions().most(),
                vectors * target.maxLanes(anchor.type()), anchor.steps(),
                target, anchor.type(),
                anchor.conv.getStrides().back() *
                    shapeOf(anchor.conv.getX()).back() *
                    anchor.type().getIntOrFloatBitWidth() / 8) {}

    double cycles(const TileChoice &tile) const {
      return double(panels) * model.cycles(tile);
    }
  };

  static int64_t rowsOf(ConvolutionAnchor anchor, int64_t rows) {
    return anchor.isMatrix()
               ? rows
               : evenColumnTile(windowAxes(anchor.conv).back(), rows);
  }
};

} // namespace

std::unique_ptr<Strategy> createGroupedConvolutionStrategy() {
  return std::make_unique<GroupedConvolutionStrategy>();
}

} // namespace ingot::schedule
