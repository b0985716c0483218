// Chooses stream-K matrix products: blocks compute equal shares of the K tiles
// of all output tiles (TensorTile.cpp).
//
// With as many blocks as fit the device, no SM is idle before the end. If each
// block computed whole tiles instead, most SMs would be idle in the last wave,
// or throughout if there are few tiles. The cost of stream-K: memory traffic
// for partial tiles, and a launch that clears the counters by which the blocks
// of a tile find out which of them ends last.

#include "passes/schedule/PlanFields.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/TensorTile.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class StreamProductStrategy : public BlockStrategy {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto operands = BlockOperands::of(group);
    return fields.plans(
        group.anchor()->getContext(),
        rank(*operands, group.target).ranked({64, 64, 32, 32, 3, 1, 1}));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuseTensorTile(fields.tileOf(plan), group.target);
  }

  void pack(GroupOnTarget group, const Plan &) const override {
    packColumns(group.op());
  }

  void emit(KernelBuilder &b) const override {
    auto operands = BlockOperands::of(b.group);
    emitTensorProduct(b, *operands, fields.tileOf(b.plan));
  }

  static Ranking<TensorTile> rank(const BlockOperands &operands,
                                  const TargetDescription &target) {
    static constexpr TensorTile tiles[] = {{128, 128, 64, 32, 3},
                                           {128, 64, 32, 32, 3},
                                           {64, 128, 32, 32, 3},
                                           {64, 64, 32, 32, 4}};
    Ranking<TensorTile> ranking;
    for (TensorTile tile : tiles) {
      tile = withFittingStages(tile, target.device);
      for (int64_t resident = residentTensorBlocks(tile, target.device);
           resident > 0; --resident) {
        tile.shares = resident * target.device.multiprocessors;
        if (tile.shares <= kTilesOf(operands, tile) &&
            refuseTensorTile(tile, target).empty())
          ranking.add(tile, seconds(operands, tile, target));
      }
    }
    return ranking;
  }

protected:
  bool fits(const BlockOperands &operands, GroupOnTarget group) const override {
    // Stream-K divides all K tiles, so their number must be known when
    // compiling.
    if (!operands.rows.known() || !operands.batches.known() ||
        operands.areGroups || operands.steps < 2 * fewest ||
        !areMultipliedByUnits(operands, group) || !isInColumns(operands))
      return false;
    // `group` uses stream-K if it is clearly faster than blocks that compute
    // whole tiles, as estimates of latency are rough. If `group` is a kernel
    // function already, this strategy has been chosen for it.
    constexpr double clearly = 0.9;
    return isa<kernel::FuncOp>(group.block->getParentOp()) ||
           rank(operands, group.target).leastCost() <
               clearly * leastWholeTileSeconds(operands, group.target);
  }

private:
  static inline const PlanFields<TensorTile> fields = {
      {{"columns", 16, 256}, &TensorTile::columns},
      {{"rows", 16, 256}, &TensorTile::rows},
      {{"shares", 1, 4096}, &TensorTile::shares},
      {{"stages", 2, 4}, &TensorTile::stages},
      {{"warp_columns", 16, 128}, &TensorTile::warpColumns},
      {{"warp_rows", 16, 128}, &TensorTile::warpRows}};

  /// Returns the number of K tiles of all output tiles.
  static int64_t kTilesOf(const BlockOperands &operands,
                          const TensorTile &tile) {
    int64_t size = bytesOf(operands.leftType());
    return llvm::divideCeil(operands.rows.most(), tile.rows) *
           llvm::divideCeil(operands.columns, tile.columns) *
           operands.batches.most() *
           llvm::divideCeil(operands.steps * size,
                            kTileRowVectors * vectorAccessBytes);
  }

  /// Estimates the time of a product: one block's equal share of the K tiles,
  /// and the completion of output tiles that several blocks compute together.
  /// Each block writes the partial sums of up to two output tiles to L2 and
  /// adds to their counters. The block that completes an output tile reads all
  /// parts of the tile one after the other (H100 SXM, November 2026: 17 parts
  /// of 64 x 64 sums in about 10 us).
  static double seconds(const BlockOperands &operands, const TensorTile &tile,
                        const TargetDescription &target) {
    int64_t all = kTilesOf(operands, tile),
            each = llvm::divideCeil(all, tile.shares);
    int64_t ofTile =
        llvm::divideCeil(operands.steps * bytesOf(operands.leftType()),
                         kTileRowVectors * vectorAccessBytes);
    constexpr double partSeconds = 0.6e-6;
    double parts = double(std::min(llvm::divideCeil(ofTile, each) + 1,
                                   llvm::divideCeil(all, each)));
    KTileLoop loop = tensorLoop(operands, tile, each, target.device);
    loop.closing *= std::ceil(double(each) / double(ofTile));
    loop.closing += parts * partSeconds;
    return secondsOf(loop, double(tile.shares),
                     double(residentTensorBlocks(tile, target.device)),
                     target.device) +
           countingSeconds;
  }
};

} // namespace

double leastShareSeconds(const BlockOperands &operands,
                         const TargetDescription &target) {
  return operands.rows.known() && operands.batches.known()
             ? StreamProductStrategy::rank(operands, target).leastCost()
             : std::numeric_limits<double>::infinity();
}

std::unique_ptr<Strategy> createStreamProductStrategy() {
  return std::make_unique<StreamProductStrategy>();
}

} // namespace ingot::schedule
