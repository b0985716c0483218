// Chooses tiles of attention for warpgroups (WarpgroupAttentionTile.cpp).

#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/gpu/TensorAttentionTile.h"
#include "passes/schedule/gpu/WarpgroupAttentionTile.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class WarpgroupAttentionStrategy : public AttentionStrategyOnDevice {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    AttentionAnchor anchor = AttentionAnchor::of(group);
    return fields.plans(
        anchor.softmax->getContext(),
        rank(anchor, group.target).ranked({anchor, 1, 1, 64, 2, 1}));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuse(tileOf(AttentionAnchor::of(group), plan),
                  group.target.device);
  }

  bool matches(GroupOnTarget group) const override {
    if (!AttentionStrategyOnDevice::matches(group))
      return false;
    AttentionAnchor anchor = AttentionAnchor::of(group);
    if (!MappedMatrices::queriesOf(anchor).mayHaveMap() ||
        !MappedMatrices::keysOf(anchor).mayHaveMap() ||
        !MappedMatrices::valuesOf(anchor).mayHaveMap())
      return false;
    // `group` uses the faster one of this strategy and "tensor-attention". If
    // `group` is a kernel function already, this strategy has been chosen for
    // it.
    return isa<kernel::FuncOp>(group.block->getParentOp()) ||
           rank(anchor, group.target).leastCost() <
               leastTensorAttentionSeconds(anchor, group.target);
  }

  /// Takes no operators: the strategy "tensor-attention" forms the groups of
  /// attention, some of which are then computed by this strategy.
  SmallVector<Operation *> takes(Operation *,
                                 llvm::function_ref<bool(Operation *)>,
                                 llvm::function_ref<bool(Operation *)>,
                                 const TargetDescription &,
                                 bool) const override {
    return {};
  }

  void emit(KernelBuilder &b) const override {
    AttentionAnchor anchor = AttentionAnchor::of(b.group);
    // If an operand is part of a larger tensor, its offset and strides may not
    // fit a TMA descriptor. In this case, emits the kernel in which single
    // warps, instead of warpgroups, execute the MMAs.
    if (!emitWarpgroupAttention(b, anchor, tileOf(anchor, b.plan)))
      emitTensorAttention(b, anchor, {anchor, 64, 32, 1});
  }

protected:
  bool suits(const AttentionAnchor &anchor,
             const TargetDescription &target) const override {
    Type stored = elementOf(anchor.product.getB());
    // Rows of keys and values must be whole 16-byte units. Otherwise, some
    // bytes of a unit would belong to the next row.
    constexpr int64_t most = 128, vectorElements = 8;
    return target.device.multipliesByWarpgroups() &&
           (stored.isF16() || stored.isBF16()) && anchor.depth() <= most &&
           anchor.width() <= most && anchor.depth() % vectorElements == 0 &&
           anchor.width() % vectorElements == 0;
  }

private:
  static inline const PlanFields<WarpgroupAttentionTile> fields = {
      {{"groups", 1, 3}, &WarpgroupAttentionTile::groups},
      {{"keys", 64, 128}, &WarpgroupAttentionTile::keys},
      {{"resident", 1, 3}, &WarpgroupAttentionTile::resident},
      {{"slices", 1, 2}, &WarpgroupAttentionTile::slices},
      {{"stages", 2, 4}, &WarpgroupAttentionTile::stages}};

  static WarpgroupAttentionTile tileOf(const AttentionAnchor &anchor,
                                       const Plan &plan) {
    return fields.tileOf(plan, {anchor, 1, 1, 64, 2, 1});
  }

  static Ranking<WarpgroupAttentionTile> rank(const AttentionAnchor &anchor,
                                              const TargetDescription &target) {
    Ranking<WarpgroupAttentionTile> ranking;
    for (int64_t groups : {2, 1, 3})
      for (int64_t keys : {128, 64})
        for (int64_t slices : {1, 2})
          for (int64_t resident : {1, 2, 3})
            for (int64_t stages : {4, 3, 2}) {
              WarpgroupAttentionTile tile(anchor, groups, slices, keys, stages,
                                          resident);
              if (!refuse(tile, target.device).empty())
                continue;
              ranking.add(tile, seconds(anchor, tile, target.device));
              break;
            }
    return ranking;
  }

  static std::string refuse(const WarpgroupAttentionTile &tile,
                            const Device &device) {
    if (tile.keys % 64)
      return "the keys of a block must be a multiple of 64";
    // A slice (a set of warpgroups) frees the pipeline stage of a block of keys
    // only after it has started on its next block.
    if (tile.stages < 2 * tile.slices)
      return std::to_string(tile.stages) +
             " pipeline stages are too few: each slice needs two, and there "
             "are " +
             std::to_string(tile.slices) + " slices";
    if (tile.threads() > 1024)
      return "a block has " + std::to_string(tile.threads()) +
             " threads, but can have at most 1024";
    int64_t most = tile.warpgroups().registersOfSums(device);
    if (tile.registers() > most)
      return "each thread uses about " + std::to_string(tile.registers()) +
             " registers, but can use at most " + std::to_string(most);
    // The device itself reserves 1 KB of shared memory per block.
    constexpr int64_t own = 1 << 10;
    int64_t room = (device.sharedBytes + own) / tile.resident - own;
    if (tile.sharedBytes() > room)
      return "the tiles of a block use " + std::to_string(tile.sharedBytes()) +
             " bytes of shared memory, but can use at most " +
             std::to_string(room);
    return "";
  }

  /// Estimates the time of all blocks; not measured yet.
  ///
  /// An SM processes a block of keys for all its warpgroups in the time of the
  /// MMAs (64 rows and 2 columns per cycle for 16 steps), of the exponentials
  /// (16 per cycle), or of issuing instructions (per warp 5.5 for each score of
  /// a thread, 1.5 for each sum, about 100 for shuffles and mbarriers; each
  /// scheduler issues one per cycle), whichever takes longest. A single
  /// warpgroup waits for its scores (about 60 cycles after the last MMA), and
  /// then for the chain of maximum, shuffles and exponentials (8 cycles per
  /// warp), or for the MMAs with the values that run meanwhile. While one block
  /// waits for its first keys or stores results, other blocks of the SM
  /// compute.
  static double seconds(const AttentionAnchor &anchor,
                        const WarpgroupAttentionTile &tile,
                        const Device &device) {
    constexpr double clock = 1.755e9, wait = 60, ofExchanges = 100,
                     exponentials = 16, ofScore = 5.5, ofSum = 1.5;
    double ofKeys = double(tile.depthUnits * tile.keys) / 2,
           ofValues =
               double(tile.keys / WarpgroupAttentionTile::unit * tile.width()) /
               2,
           scores = double(tile.scores());
    double weighing = double(groupRows * tile.keys) / exponentials,
           instructions =
               ofScore * scores + ofSum * double(tile.sums()) + ofExchanges;
    double busy = std::max({ofKeys + ofValues, weighing, instructions}),
           alone = ofKeys + wait + 2 * scores + ofExchanges +
                   std::max(weighing + wait, ofValues) +
                   ofSum * double(tile.sums());
    double heads = double(product(ArrayRef<Dim>(anchor.batches())).most()),
           blocks = heads * double(llvm::divideCeil(anchor.queries().most(),
                                                    tile.queries()));
    double ofMultiprocessor = std::ceil(blocks / device.multiprocessors),
           together = std::min(double(tile.resident), ofMultiprocessor),
           waves = std::ceil(ofMultiprocessor / together),
           keyBlocks = double(
               llvm::divideCeil(anchor.keys().most(), tile.keys * tile.slices));
    double secondsPerBlock =
        std::max(ofMultiprocessor * double(tile.consumers()) * busy,
                 waves * alone) /
        clock;
    // Results are stored two at a time.
    double around = arrivalSeconds + closingSeconds(double(tile.sums()) / 2);
    if (tile.slices > 1)
      around += (400 + 4 * double(tile.parts())) / clock;
    double bytes =
        blocks * keyBlocks * double(tile.slices * tile.bytesOfStage());
    return std::max(keyBlocks * secondsPerBlock, bytes / l2Bandwidth(device)) +
           around * (1 + (waves - 1) / together);
  }
};

} // namespace

std::unique_ptr<Strategy> createWarpgroupAttentionStrategy() {
  return std::make_unique<WarpgroupAttentionStrategy>();
}

} // namespace ingot::schedule
