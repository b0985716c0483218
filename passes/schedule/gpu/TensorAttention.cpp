// Chooses tiles of attention on tensor cores (TensorAttentionTile.cpp).

#include "passes/schedule/PlanFields.h"
#include "passes/schedule/gpu/TensorAttentionTile.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class TensorAttentionStrategy : public AttentionStrategyOnDevice {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    return fields.plans(anchor.softmax->getContext(),
                        rank(anchor, group.target).ranked({anchor, 16, 16, 1}));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuse(tileOf(AttentionAnchor::of(group), plan), group.target);
  }

  void emit(KernelBuilder &b) const override {
    AttentionAnchor anchor = AttentionAnchor::of(b.group);
    emitTensorAttention(b, anchor, tileOf(anchor, b.plan));
  }

  static Ranking<TensorAttentionTile> rank(const AttentionAnchor &anchor,
                                           const TargetDescription &target) {
    Ranking<TensorAttentionTile> ranking;
    for (int64_t queries : {64, 128, 32, 16})
      for (int64_t keys : {64, 32, 16, 128})
        for (int64_t slices : {1, 2, 4, 8}) {
          TensorAttentionTile tile(anchor, queries, keys, slices);
          if (refuse(tile, target).empty())
            ranking.add(tile, seconds(anchor, tile, target));
        }
    return ranking;
  }

protected:
  bool suits(const AttentionAnchor &anchor,
             const TargetDescription &target) const override {
    // An MMA has 16 rows; with fewer than 8 queries, more than half of these
    // rows would be wasted.
    constexpr int64_t fewest = 8;
    Type stored = elementOf(anchor.product.getB());
    auto isOfTf32 = [](Operation *product) {
      auto type = product->getAttrOfType<TypeAttr>(kMultipliedAttr);
      return type && isa<FloatTF32Type>(type.getValue());
    };
    bool isTf32 = isOfTf32(anchor.product) && isOfTf32(anchor.scores);
    return anchor.queries().most() >= fewest &&
           (stored.isF16() ||
            ((stored.isBF16() || isTf32) && target.device.multipliesBf16())) &&
           refuse({anchor, 16, 16, 1}, target).empty();
  }

private:
  static inline const PlanFields<TensorAttentionTile> fields = {
      {{"keys", 16, 256}, &TensorAttentionTile::keys},
      {{"queries", 16, 256}, &TensorAttentionTile::queries},
      {{"slices", 1, 16}, &TensorAttentionTile::slices}};

  static TensorAttentionTile tileOf(const AttentionAnchor &anchor,
                                    const Plan &plan) {
    return fields.tileOf(plan, {anchor, 16, 16, 1});
  }

  static std::string refuse(const TensorAttentionTile &tile,
                            const TargetDescription &target) {
    if (tile.queries % unitRows || tile.keys % (2 * unitColumns * tile.slices))
      return "the queries must be a multiple of 16, and the keys of each slice "
             "a multiple of 16";
    if (!llvm::isPowerOf2_64(tile.slices))
      return "the number of slices must be a power of two, since slices are "
             "merged in pairs";
    return refuseBlock(tile.warps() * target.device.warp,
                       tile.sharedBytes(target.device.warp), tile.registers(),
                       target);
  }

  /// Estimates the time from the warp instructions per block of keys: copies,
  /// MMAs and their loads, about 11 per score of a thread, one per corrected
  /// sum, and about 60 for shuffles and the barrier. A scheduler starts one
  /// instruction per cycle, but a single warp only one in 5.4 cycles (1,500
  /// queries and keys of 6 heads, a warp per 16 queries: 98 us on an H100 SXM,
  /// November 2026, when a score took 25 instructions).
  static double seconds(const AttentionAnchor &anchor,
                        const TensorAttentionTile &tile,
                        const TargetDescription &target) {
    const Device &device = target.device;
    constexpr double alone = 5.4, ofCopy = 12, ofScore = 11, others = 60,
                     schedulers = 4;
    double threads = double(tile.warps() * device.warp),
           sizes = double(tile.depth + tile.width);
    double copies = double(tile.keys) * sizes * double(tile.elementBytes) /
                    double(vectorAccessBytes) / threads,
           scores = double(unitRows * tile.sliceKeys()) / double(device.warp),
           units = double(tile.sliceKeys()) / double(unitColumns) * sizes /
                   double(tile.steps());
    double ofWarp = copies * ofCopy + scores * ofScore + 2 * units +
                    double(tile.values()) + others;
    double blocks = double(llvm::divideCeil(anchor.keys().most(), tile.keys));
    double merging = 400 * std::log2(double(tile.slices));
    return AttentionStrategyOnDevice::seconds(
        anchor,
        {tile.queries, tile.warps() * device.warp,
         tile.sharedBytes(device.warp), tile.registers(),
         blocks * ofWarp * double(tile.warps()) / schedulers + merging,
         blocks * ofWarp * alone + merging, 4 * device.warp},
        target);
  }
};

} // namespace

double leastTensorAttentionSeconds(const AttentionAnchor &anchor,
                                   const TargetDescription &target) {
  return TensorAttentionStrategy::rank(anchor, target).leastCost();
}

std::unique_ptr<Strategy> createTensorAttentionStrategy() {
  return std::make_unique<TensorAttentionStrategy>();
}

} // namespace ingot::schedule
