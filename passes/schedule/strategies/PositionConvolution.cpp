// The strategy for convolutions with too few output channels to fill vectors:
// the lanes of a vector are adjacent output positions (PositionTiles.h).
//
// The entries of a plan: a tile has `channels` output channels and `vectors`
// vectors of positions. The input rows for `lines` result rows are copied to
// scratch memory together. `parts` is the number of such copies, one per
// thread.

#include "dialects/graph/ElementsData.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ConvolutionTiles.h"
#include "passes/schedule/tiles/PositionLoops.h"
#include "passes/schedule/tiles/PositionTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The most kernel columns of a convolution for this strategy, since the code
/// for them is unrolled.
constexpr int64_t mostKernelColumns = 16;

class PositionConvolutionStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvolutionAnchor anchor = positionConvolution(group);
    if (!anchor.conv || group.savesMemory ||
        windowAxes(anchor.conv).back().kernel > mostKernelColumns)
      return false;
    // Convolutions whose output channels fill a vector are left to the strategy
    // "convolution", in which lanes are output channels. The estimates below
    // are not consulted for these, since they are least reliable for short
    // vectors: with 8 channels on armv7-a, a multiply-add takes 0.93
    // instructions if lanes are positions, and 0.37 if lanes are channels
    // (November 2026).
    if (shapeOf(anchor.conv.getResult()).back() >=
        group.target.maxLanes(anchor.type()))
      return false;
    // The estimate for positions in lanes must be less than this fraction of
    // the estimate for channels in lanes, since both estimates have errors.
    constexpr double surely = 0.9;
    PositionTiles tiles(anchor, group.target);
    ConvolutionTiles channels(anchor, group.target);
    return tiles.cycles(tiles.ranked(/*divides=*/false).front()) <
           surely * anchor.products() *
               channels.cycles(channels.ranked().front());
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"channels", 1, 1 << 16},
                                   {"lines", 1, 1 << 16},
                                   {"parts", 1, 64},
                                   {"vectors", 1, 1 << 16}};
    return keys;
  }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    ConvolutionAnchor anchor = positionConvolution(group);
    PositionTiles tiles(anchor, group.target);
    bool divides = paysToFork(group);
    return plansOf(tiles.ranked(divides), [&](const PositionChoice &choice) {
      return Plan(anchor.conv.getContext(),
                  {{"channels", choice.channels},
                   {"lines", choice.lines},
                   {"parts", divides ? tiles.parts(choice) : 1},
                   {"vectors", choice.vectors}});
    });
  }

  double cost(GroupOnTarget group, const Plan &plan) const override {
    return PositionTiles(positionConvolution(group), group.target)
        .cycles({plan.number("channels"), plan.number("vectors"),
                 plan.number("lines")});
  }

  SmallVector<int64_t> scratchBytes(GroupOnTarget group,
                                    const Plan &plan) const override {
    ConvolutionAnchor anchor = positionConvolution(group);
    return {plan.number("parts") *
            PositionTiles(anchor, group.target).elements(plan.number("lines")) *
            bytesPerElement(anchor.type())};
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    ConvolutionAnchor anchor = positionConvolution(group);
    PositionTiles tiles(anchor, group.target);
    auto beyond = [&](StringRef key, int64_t most, StringRef what) {
      int64_t asked = plan.number(key);
      return asked <= most
                 ? std::string()
                 : "the plan has " + key.str() + " = " + std::to_string(asked) +
                       ", but there are only " + std::to_string(most) + " " +
                       what.str();
    };
    for (std::string why :
         {beyond("channels", tiles.channels, "output channels"),
          beyond("lines", tiles.copied.resultRows, "rows of results"),
          beyond("vectors", int64_t(tiles.vectors.size()),
                 "vectors in a row of results")})
      if (!why.empty())
        return why;
    return refuseTile({plan.number("channels") * tiles.copied.poolColumns,
                       plan.number("vectors"), 1},
                      1, group.isStrict());
  }

  void emit(KernelBuilder &b) const override {
    emitPositionConvolution(b, positionConvolution(b.group));
  }
};

} // namespace

std::unique_ptr<Strategy> createPositionConvolutionStrategy() {
  return std::make_unique<PositionConvolutionStrategy>();
}

} // namespace ingot::schedule
