// The strategy for convolutions as tiled matrix products, and its plans. The
// loops are in ConvolutionLoops.h.
//
// A pool with disjoint windows can be part of the fusion group. Then the
// convolution results of a pool window are computed one window row after the
// other and combined in registers, so that the convolution's result is never
// stored.
//
// The plan's entry `order` names the outer loop:
//
//   "tiles"   For each tile of output positions, the kernel multiplies all
//             panels of packed weights. It reads the input once. The choice
//             for small weights.
//   "panels"  For each panel of weights, the kernel processes all output
//             positions. It reads the weights once. The choice for large
//             weights.
//
// A pointwise convolution may pack its input (PackedRows.h): the entry `packed`
// is the number of positions that are packed at once, and `parts` the number of
// parts for threads.

#include "dialects/graph/ElementsData.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/ConvolutionLoops.h"
#include "passes/schedule/tiles/ConvolutionTiles.h"
#include "passes/schedule/tiles/PackedRows.h"
#include "passes/schedule/tiles/PanelKernel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class ConvolutionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvOp conv = ConvolutionAnchor::of(group).conv;
    if (!conv || !conv.isWidening())
      return conv != nullptr;
    std::optional<DotForm> form = dotForm(conv, group.target);
    return form && !form->isScalar() && conv.getXOutside() == 0;
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const StringLiteral orders[] = {"tiles", "panels"};
    static const PlanKey keys[] = {{"columns", 1, 1 << 16},
                                   {"order", 0, 0, orders},
                                   {"packed", 1, 1 << 30, {}, true},
                                   {"parts", 1, 64, {}, true},
                                   {"rows", 1, 1 << 16},
                                   {"splits", 1, 4}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto anchor = ConvolutionAnchor::of(group);
    ConvolutionTiles model(anchor, group.target);
    int64_t lanes = model.lanes();
    UnpackPanelsOp packed = anchor.weights();
    std::vector<TileChoice> tiles =
        fittingPanels(model.ranked(), packed, anchor.channels(), lanes);
    if (anchor.pool && hasOneRow(anchor.pool) && paysToFork(group))
      preferPanelsToShare(tiles, anchor.channels(), model);
    // Choose the order that reads the weights once if they are large and no
    // pool is fused, else the order that reads the input once.
    bool weightsFirst = !anchor.pool && group.target.l2Bytes > 0 &&
                        (anchor.weightBytes() > group.target.residentBytes() ||
                         movesLanes(anchor, group.target));
    SmallVector<Plan> plans;
    if (auto work = packableWork(group, anchor);
        work && !group.savesMemory && !tiles.empty()) {
      int64_t ofPacked = group.target.maxLanes(work->type);
      TileChoice inPlace = tiles.front();
      inPlace.vectors = llvm::divideCeil(inPlace.vectors * lanes, ofPacked);
      if (auto choice =
              packedChoice(*work, inPlace, packed ? packed.getPanel() : 0,
                           paysToFork(group), group.target))
        plans.push_back(packedPlan(group, *choice, ofPacked, weightsFirst));
    }
    auto add = [&](const TileChoice &tile, bool panelsOutside) {
      bool isSplit =
          anchor.isMatrix() && !group.isStrict() && !model.isOfBytes();
      Plan plan(group.block->getParentOp()->getContext(),
                {{"columns", panelOf(packed, tile, lanes)},
                 {"rows", rowsOf(anchor, tile.rows)},
                 {"splits", isSplit ? tile.splits : 1}},
                {{"order", panelsOutside ? "panels" : "tiles"}});
      if (plans.size() < mostPlans && !llvm::is_contained(plans, plan))
        plans.push_back(plan);
    };
    for (const TileChoice &tile : tiles) {
      add(tile, weightsFirst);
      if (&tile == tiles.data() && !anchor.pool)
        add(tile, !weightsFirst);
    }
    return plans;
  }

  SmallVector<int64_t> scratchBytes(GroupOnTarget group,
                                    const Plan &plan) const override {
    auto block = plan.optionalNumber("packed");
    if (!block)
      return {};
    auto anchor = ConvolutionAnchor::of(group);
    PackedChoice choice{{}, *block, plan.optionalNumber("parts").value_or(1)};
    return {choice.elements(anchor.steps()) * bytesPerElement(anchor.type())};
  }

  std::optional<Plan> planWithin(GroupOnTarget group,
                                 int64_t bytes) const override {
    return packedPlanWithin(*this, group, bytes);
  }

  double cost(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    ConvolutionTiles model(anchor, group.target);
    return anchor.products() * model.cycles(tileOf(plan, model.lanes()));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    ConvolutionTiles model(anchor, group.target);
    TileChoice tile = tileOf(plan, model.lanes());
    int64_t columns = plan.number("columns");
    if (std::string why = refusePanels(columns, model.cover(columns).width(),
                                       anchor.weights());
        !why.empty())
      return why;
    if (auto block = plan.optionalNumber("packed")) {
      auto work = packableWork(group, anchor);
      if (!work || plan.number("splits") != 1)
        return "the plan packs the input, which is possible only for pointwise "
               "convolutions of floats whose sizes are known when compiling "
               "and whose sums are not split";
      return refusePacked(*work,
                          tileOf(plan, group.target.maxLanes(work->type)),
                          *block, group.target);
    }
    if (model.isOfBytes() && plan.number("splits") != 1)
      return "int8 products do not support split sums: splits must be 1";
    if (anchor.pool &&
        (tile.rows % anchor.across() != 0 || plan.word("order") != "tiles"))
      return "with a fused pool, the order must be \"tiles\", and the rows a "
             "multiple of the " +
             std::to_string(anchor.across()) + " positions of a window";
    return refuseTile(tile, anchor.isMatrix() ? anchor.steps() : 1,
                      group.isStrict());
  }

  /// If `producer` is the operator before a pool with disjoint windows, returns
  /// the operators that join the pool's group: `producer` and the elementwise
  /// operators before it, back to a convolution. Returns nothing in other
  /// cases.
  SmallVector<Operation *> takes(Operation *producer,
                                 llvm::function_ref<bool(Operation *)> isMember,
                                 llvm::function_ref<bool(Operation *)> isFree,
                                 const TargetDescription &target,
                                 bool packs) const override {
    bool isUnderPool = llvm::all_of(producer->getUsers(), [&](Operation *user) {
      return isMember(user) && joinsConvolution(user, target);
    });
    return isUnderPool ? chainToConvolution(producer, isFree, packs)
                       : SmallVector<Operation *>();
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    auto anchor = ConvolutionAnchor::of(group);
    ConvolutionTiles model(anchor, group.target);
    int64_t panel = plan.number("columns"), left = anchor.channels() % panel;
    packPanels(group.op(), anchor.conv->getOpOperand(1), panel,
               left ? model.cover(left).width() : 0, model.group(),
               model.groupsKernelRows() ? 2 : 1);
    if (model.isMixed())
      appendWideGroups(group.op(), anchor.conv.getW());
  }

  bool readsVectors(GroupOnTarget group, BlockArgument operand) const override {
    Value x = ConvolutionAnchor::of(group).conv.getX();
    return (operand != x || !operand.hasOneUse()) &&
           Strategy::readsVectors(group, operand);
  }

  bool takesDynamicSizes() const override { return true; }

  void emit(KernelBuilder &b) const override {
    auto anchor = ConvolutionAnchor::of(b.group);
    emitConvolution(b, anchor.conv, anchor.pool);
  }

private:
  /// Returns the matrix product that a convolution with packed input consists
  /// of; nothing if the input cannot be packed.
  static std::optional<PackedWork> packableWork(GroupOnTarget group,
                                                ConvolutionAnchor anchor) {
    ConvOp conv = anchor.conv;
    auto positions = anchor.positions().known();
    std::optional<DotForm> form = dotForm(conv, group.target);
    bool isPackable =
        form ? anchor.type().isF16() && form->stage && form->group == 1
             : isa<Float32Type, Float64Type>(anchor.type());
    if (!anchor.isMatrix() || !positions || conv.getGroups() != 1 ||
        !isa<BlockArgument>(conv.getX()) || !isPackable)
      return std::nullopt;
    return PackedWork{*positions, anchor.channels(), anchor.steps(),
                      anchor.type()};
  }

  /// The order has no effect on packed input. It depends on the weights only, as
  /// in other plans, so that row chains (RowChain.h), which take the order
  /// "tiles", remain chains when they are divided into fewer rows.
  static Plan packedPlan(GroupOnTarget group, const PackedChoice &choice,
                         int64_t lanes, bool weightsFirst) {
    return Plan(group.block->getParentOp()->getContext(),
                {{"columns", choice.tile.vectors * lanes},
                 {"packed", choice.block},
                 {"parts", choice.parts},
                 {"rows", choice.tile.rows},
                 {"splits", 1}},
                {{"order", weightsFirst ? "panels" : "tiles"}});
  }

  /// Whether the order "tiles" makes compilers move the lanes of inputs into
  /// vectors of their own. If the inputs of a position are a single vector, the
  /// loop over panels does not change them. clang 22 then copies each of their
  /// lanes to a vector before that loop, although dot products take a lane as
  /// operand, and has no registers for these vectors. The input must be small
  /// enough to be read from L2 for each panel.
  static bool movesLanes(ConvolutionAnchor anchor,
                         const TargetDescription &target) {
    ConvOp conv = anchor.conv;
    if (!conv.isWidening() || !anchor.isMatrix())
      return false;
    std::optional<DotForm> form = dotForm(conv, target);
    Dim inputs = product(dimsOf(conv.getX()));
    return form && form->rowGroups > 1 && !form->stage &&
           anchor.steps() <= form->group * form->rowGroups &&
           inputs.most() <= target.residentBytes();
  }

  /// Whether the pool's result has a single row, so that threads can only
  /// divide its channels.
  static bool hasOneRow(Operation *pool) {
    ArrayRef<int64_t> y = shapeOf(pool->getResult(0));
    return ShapedType::getNumElements(y.drop_back(2)) == 1;
  }

  /// Moves the best tile that divides the output channels into two or more
  /// panels of weights to the front of `tiles`, if it is nearly as fast as the
  /// best tile of all. Threads can then share the panels.
  static void preferPanelsToShare(std::vector<TileChoice> &tiles,
                                  int64_t channels, ConvolutionTiles &model) {
    constexpr double nearly = 1.1;
    double best = model.cycles(tiles.front());
    auto shared = llvm::find_if(tiles, [&](const TileChoice &tile) {
      return 2 * tile.vectors * model.lanes() <= channels &&
             model.cycles(tile) <= nearly * best;
    });
    if (shared != tiles.end())
      std::rotate(tiles.begin(), shared, shared + 1);
  }

  static int64_t rowsOf(ConvolutionAnchor anchor, int64_t rows) {
    int64_t whole =
        std::max(anchor.across(), rows / anchor.across() * anchor.across());
    return anchor.isMatrix()
               ? whole
               : evenColumnTile(windowAxes(anchor.conv).back(), whole);
  }
};

} // namespace

std::unique_ptr<Strategy> createConvolutionStrategy() {
  return std::make_unique<ConvolutionStrategy>();
}

} // namespace ingot::schedule
