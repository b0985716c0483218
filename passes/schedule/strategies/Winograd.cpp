// The strategy for convolutions by Winograd's algorithm.
//
// It applies to 3 x 3 windows with stride 1, channels-last, with one group of
// channels. Tiles of 4 x 4 or 2 x 2 outputs take a quarter or four ninths of
// the multiplications of the direct algorithm (dialects/graph/ops/Winograd.h).
// The kernel processes blocks of tiles that are small enough for the L2 cache.
// For each block:
//
//   for each tile: transform its inputs to all points          -> points
//   for each panel of output channels:
//     for each point: points x weights, as a matrix product    -> products
//     for each tile: its outputs, bias and epilogue            -> result
//
// If a pool is fused, its windows must divide the tiles; a tile's outputs are
// combined before they are stored. Weights are transformed ("sampled") when the
// model is compiled, and the kernel reads the transformed weights in panels. In
// the IR of the group, the convolution reads the result of restore_kernel, the
// inverse of that transform.
//
// The rounding errors of Winograd's algorithm are larger than those of a direct
// sum. The compiler estimates the errors for each layer from its weights
// (winogradError). It does not use the algorithm if they would be too large, or
// with --strict.

#include "dialects/graph/ElementsData.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/WinogradLoops.h"
#include "passes/schedule/tiles/WinogradTiles.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Returns the convolution of a group that computes nothing else except cheap
/// operators and a pool, if Winograd's algorithm applies to the convolution
/// (hasWinogradForm) and its weights are already transformed and packed; null
/// in other cases.
ConvolutionAnchor sampledConvolution(GroupView group) {
  ConvolutionAnchor found = ConvolutionAnchor::onlyOf(group);
  bool isSampled =
      found.conv && sampledWeights(found.conv) && hasWinogradForm(found.conv) &&
      sampledWeights(found.conv).getValues().getDefiningOp<UnpackPanelsOp>();
  return isSampled ? found : ConvolutionAnchor();
}

/// Returns the convolution of a group if its weights are neither transformed
/// nor packed and Winograd's algorithm can compute it; null otherwise.
ConvolutionAnchor plainConvolution(GroupView group) {
  ConvolutionAnchor anchor = ConvolutionAnchor::of(group);
  bool isPlain =
      anchor.conv && !anchor.weights() && hasWinogradForm(anchor.conv);
  return isPlain ? anchor : ConvolutionAnchor();
}

/// Returns the convolution of a group for this strategy, whether or not its
/// weights are already transformed; null if there is none.
ConvolutionAnchor convolutionOf(GroupView group) {
  ConvolutionAnchor sampled = sampledConvolution(group);
  return sampled.conv ? sampled : plainConvolution(group);
}

/// Whether the windows of `pool` divide tiles of `size` x `size` outputs; true
/// if `pool` is null.
bool dividesTiles(Operation *pool, int64_t size) {
  return !pool || llvm::all_of(windowOf(pool), [&](int64_t window) {
    return size % window == 0;
  });
}

/// Returns the values of the convolution's weights; null unless the weights are
/// a constant outside of the group and this constant has data.
ElementsAttr valuesOf(ConvOp conv) {
  auto argument = dyn_cast<BlockArgument>(conv.getW());
  auto group = argument ? dyn_cast<GroupOp>(argument.getOwner()->getParentOp())
                        : GroupOp();
  auto constant = group ? group.getInputs()[argument.getArgNumber()]
                              .getDefiningOp<ConstantOp>()
                        : ConstantOp();
  return constant && hasData(constant.getValue()) ? constant.getValue()
                                                  : ElementsAttr();
}

class WinogradStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    // No other strategy can compute a convolution whose weights are already
    // transformed.
    if (ConvolutionAnchor sampled = sampledConvolution(group); sampled.conv)
      return dividesTiles(sampled.pool, sampledWeights(sampled.conv).getSize());
    ConvolutionAnchor plain = plainConvolution(group);
    return plain.conv && !choices(group, plain).empty();
  }

  bool takesDynamicSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"block", 1, 1 << 16},
                                   {"columns", 1, 1 << 16},
                                   {"parts", 1, 64},
                                   {"rows", 1, 1 << 16},
                                   {"size", 2, 4}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    if (ConvOp conv = sampledConvolution(group).conv)
      return plansOf(sampledChoices(group, conv), [&](auto &choice) {
        return planOf(conv, choice, group.target);
      });
    ConvolutionAnchor plain = plainConvolution(group);
    return plansOf(choices(group, plain), [&](auto &choice) {
      return planOf(plain.conv, choice, group.target);
    });
  }

  std::optional<Plan> planWithin(GroupOnTarget group,
                                 int64_t bytes) const override {
    ConvOp conv = sampledConvolution(group).conv;
    if (!conv)
      return std::nullopt;
    for (const WinogradChoice &choice : sampledChoices(group, conv)) {
      Plan plan = planOf(conv, choice, group.target);
      SmallVector<int64_t> needed = scratchBytes(group, plan);
      if (std::accumulate(needed.begin(), needed.end(), int64_t(0)) <= bytes)
        return plan;
    }
    return std::nullopt;
  }

  /// Estimates the cycles without the first read of the weights from memory,
  /// like the costs of other strategies. That read counts only when tile sizes
  /// are compared.
  double cost(GroupOnTarget group, const Plan &plan) const override {
    ConvOp conv = convolutionOf(group).conv;
    int64_t lanes = group.target.maxLanes(elementOf(conv.getResult())),
            columns = plan.number("columns");
    WinogradTiles tiles(conv, plan.number("size"), group.target,
                        elementOf(conv.getX()), columns);
    WinogradChoice choice{plan.number("size"),
                          {plan.number("rows"), columns / lanes, 1},
                          plan.number("block"),
                          plan.number("parts")};
    return tiles.cycles(choice) - tiles.firstRead(choice);
  }

  SmallVector<int64_t> scratchBytes(GroupOnTarget group,
                                    const Plan &plan) const override {
    ConvOp conv = convolutionOf(group).conv;
    int64_t size = plan.number("size"), points = Winograd(size).points,
            columns = std::min<int64_t>(plan.number("columns"),
                                        shapeOf(conv.getResult()).back());
    int64_t tiles =
        plan.number("parts") * points * points * plan.number("block");
    // The first scratch buffer holds the transformed inputs of a block of
    // tiles, the second one their products with one panel of weights.
    return {tiles * shapeOf(conv.getX()).back() *
                bytesPerElement(elementOf(conv.getX())),
            tiles * cover(conv, columns, group.target).width() *
                bytesPerElement(typeOfProducts(elementOf(conv.getX())))};
  }

  int64_t rowsTogether(GroupView group, const Plan &plan) const override {
    ConvolutionAnchor anchor = convolutionOf(group);
    return plan.number("size") / (anchor.pool ? windowOf(anchor.pool)[0] : 1);
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    int64_t size = plan.number("size"), rows = plan.number("rows");
    if (!Winograd::hasSize(size))
      return "tiles of " + std::to_string(size) +
             " outputs are not supported; the size must be 2 or 4";
    ConvOp conv = convolutionOf(group).conv;
    RestoreKernelOp sampled = sampledWeights(conv);
    if (sampled && size != int64_t(sampled.getSize()))
      return "the plan has size = " + std::to_string(size) +
             ", but the weights are transformed for size " +
             std::to_string(sampled.getSize());
    if (plan.number("block") % rows != 0)
      return "a block of " + std::to_string(plan.number("block")) +
             " tiles must be a multiple of its " + std::to_string(rows) +
             " rows";
    int64_t columns = plan.number("columns");
    if (std::string why =
            refusePanels(columns, cover(conv, columns, group.target).width(),
                         unpackOf(conv));
        !why.empty())
      return why;
    int64_t lanes = group.target.maxLanes(elementOf(conv.getResult()));
    return refuseTile({rows, columns / lanes, 1}, 1, group.isStrict());
  }

  void pack(GroupOnTarget group, const Plan &plan) const override {
    ConvOp conv = plainConvolution(group).conv;
    if (!conv)
      return;
    OpBuilder builder(group.op());
    Location loc = conv.getLoc();
    auto argument = cast<BlockArgument>(conv.getW());
    Value sampled = SampleKernelOp::create(
        builder, loc, group.op().getInputs()[argument.getArgNumber()],
        plan.number("size"));
    OpOperand &weights = conv->getOpOperand(1);
    BlockArgument own = replaceInput(group.op(), weights, sampled);
    builder.setInsertionPoint(conv);
    auto restored =
        RestoreKernelOp::create(builder, loc, own, plan.number("size"));
    weights.set(restored);
    int64_t panel = plan.number("columns"),
            left = shapeOf(conv.getResult()).back() % panel;
    auto dots = winogradDots(elementOf(conv.getX()), shapeOf(conv.getX())[3],
                             group.target);
    putInPanels(group.op(), restored->getOpOperand(0), panel,
                left ? cover(conv, left, group.target).width() : 0,
                dots && dots->ofPairs ? dots->group : 1);
  }

  void emit(KernelBuilder &b) const override {
    emitWinograd(b, sampledConvolution(b.group));
  }

private:
  /// Returns the parameters (register tile, tiles per block, parts for threads)
  /// that fit the panel width of the packed weights, cheapest first.
  static std::vector<WinogradChoice> sampledChoices(GroupOnTarget group,
                                                    ConvOp conv) {
    return WinogradTiles(conv, sampledWeights(conv).getSize(), group.target,
                         elementOf(conv.getX()), unpackOf(conv).getPanel())
        .ranked(paysToFork(group));
  }

  static Plan planOf(ConvOp conv, const WinogradChoice &choice,
                     const TargetDescription &target) {
    UnpackPanelsOp unpack = unpackOf(conv);
    int64_t lanes = target.maxLanes(elementOf(conv.getResult())),
            panel = unpack ? unpack.getPanel() : 0;
    return Plan(conv.getContext(),
                {{"block", choice.block},
                 {"columns", panel ? panel : choice.tile.vectors * lanes},
                 {"parts", choice.parts},
                 {"rows", choice.tile.rows},
                 {"size", choice.size}});
  }

  static UnpackPanelsOp unpackOf(ConvOp conv) {
    RestoreKernelOp sampled = sampledWeights(conv);
    return sampled ? sampled.getValues().getDefiningOp<UnpackPanelsOp>()
                   : UnpackPanelsOp();
  }

  static ColumnVectors cover(ConvOp conv, int64_t columns,
                             const TargetDescription &target) {
    return winogradVectors(conv, columns, target);
  }

  /// Returns the parameters (tile size, register tile, tiles per block, parts
  /// for threads) with which Winograd's algorithm is cheaper than a direct
  /// convolution and exact enough, cheapest first.
  static std::vector<WinogradChoice> choices(GroupOnTarget group,
                                             ConvolutionAnchor anchor) {
    // Winograd's algorithm cannot keep the order of the terms, which strict
    // mode requires. It also takes scratch memory.
    ConvOp conv = anchor.conv;
    if (group.isStrict() || group.savesMemory ||
        !suitsWinograd(conv, group.target, elementOf(conv.getX())))
      return {};
    ElementsAttr weights = valuesOf(conv);
    double direct = cyclesOfDefinition(group, anchor);
    std::vector<WinogradChoice> all;
    for (int64_t size : {4, 2}) {
      std::vector<WinogradChoice> some =
          WinogradTiles(conv, size, group.target, elementOf(conv.getX()))
              .ranked(paysToFork(group));
      if (!weights || !dividesTiles(anchor.pool, size) || some.empty() ||
          some.front().cycles >= direct ||
          (!all.empty() && some.front().cycles >= all.front().cycles) ||
          !isExactEnough(weights, size, elementOf(conv.getX()), group.target))
        continue;
      all.insert(all.begin(), some.begin(), some.end());
    }
    return all;
  }

  static double cyclesOfDefinition(GroupOnTarget group,
                                   ConvolutionAnchor anchor) {
    const Strategy &definition = *lookupStrategy("convolution");
    double products = definition.cost(group, definition.plans(group).front());
    return products + cyclesOfFirstRead(double(anchor.weightBytes()), products,
                                        group.target);
  }
};

} // namespace

std::unique_ptr<Strategy> createWinogradStrategy() {
  return std::make_unique<WinogradStrategy>();
}

} // namespace ingot::schedule
