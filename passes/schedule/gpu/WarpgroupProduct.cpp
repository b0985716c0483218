// Chooses the products that warpgroups compute, and their tiles
// (WarpgroupTile.cpp).

#include "passes/schedule/PlanFields.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/TensorTile.h"
#include "passes/schedule/gpu/WarpgroupTile.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class WarpgroupProductStrategy : public BlockStrategy {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto operands = BlockOperands::of(group);
    return fields.plans(group.anchor()->getContext(),
                        rank(*operands, group).ranked(smallest));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    auto operands = BlockOperands::of(group);
    WarpgroupTile tile = fields.tileOf(plan);
    int64_t kTiles = kTilesOf(*operands, group);
    std::string why = refuse(tile, kTiles, group.target.device);
    return why.empty() ? refuseCluster(*operands, group, tile, kTiles) : why;
  }

  void pack(GroupOnTarget group, const Plan &) const override {
    packColumns(group.op());
  }

  void emit(KernelBuilder &b) const override {
    auto operands = BlockOperands::of(b.group);
    // If an operand is part of a larger tensor, its offset and strides may not
    // fit a TMA descriptor. In this case, emits the kernel in which single
    // warps, instead of warpgroups, execute the MMAs.
    if (!emitWarpgroupProduct(b, *operands, fields.tileOf(b.plan)))
      emitTensorProduct(b, *operands, {64, 64, 32, 32, 4});
  }

protected:
  bool fits(const BlockOperands &operands, GroupOnTarget group) const override {
    if (!group.target.device.multipliesByWarpgroups() ||
        operands.steps < 2 * fewest || !areMultipliedByUnits(operands, group) ||
        kTilesOf(operands, group) == 0)
      return false;
    // `group` uses the fastest of the strategies for tensor cores. If `group`
    // is a kernel function already, this strategy has been chosen for it.
    return isa<kernel::FuncOp>(group.block->getParentOp()) ||
           rank(operands, group).leastCost() <
               leastTensorSeconds(operands, group.target);
  }

private:
  static inline const PlanFields<WarpgroupTile> fields = {
      {{"behind", 1, 8, {}, /*isOptional=*/true}, &WarpgroupTile::behind},
      {{"below", 1, 2, {}, /*isOptional=*/true}, &WarpgroupTile::below},
      {{"beside", 1, 2, {}, /*isOptional=*/true}, &WarpgroupTile::beside},
      {{"columns", 64, 256}, &WarpgroupTile::columns},
      {{"groups", 1, 4}, &WarpgroupTile::groups},
      {{"resident", 1, 2}, &WarpgroupTile::resident},
      {{"rows", 64, 256}, &WarpgroupTile::rows},
      {{"slices", 1, 4}, &WarpgroupTile::slices},
      {{"stages", 2, 8}, &WarpgroupTile::stages}};

  static constexpr WarpgroupTile smallest = {64, 64, 1, 1, 2, 1};

  static Ranking<WarpgroupTile> rank(const BlockOperands &operands,
                                     GroupOnTarget group) {
    static constexpr WarpgroupTile tiles[] = {
        {128, 256, 2}, {256, 128, 2}, {128, 192, 2}, {128, 128, 2},
        {128, 64, 2},  {64, 256, 1},  {64, 128, 1},  {64, 64, 1}};
    const Device &device = group.target.device;
    int64_t kTiles = kTilesOf(operands, group);
    bool areWindows = leftOrderOf(operands, group) == TileOrder::Windows;
    Ranking<WarpgroupTile> ranking;
    for (WarpgroupTile tile : tiles)
      for (int64_t slices : {1, 2, 3, 4})
        for (int64_t resident : {1, 2}) {
          tile.slices = slices;
          tile.resident = resident;
          tile.stages = stagesOf(tile, kTiles, device);
          if (!refuse(tile, kTiles, device).empty())
            continue;
          double alone = seconds(operands, tile, kTiles, device);
          ranking.add(tile, alone);
          static constexpr int64_t clusters[][2] = {{2, 1}, {1, 2}, {2, 2}};
          for (const auto &cluster : clusters) {
            WarpgroupTile shared = tile;
            shared.below = cluster[0];
            shared.beside = cluster[1];
            if (!areWindows &&
                refuseCluster(operands, group, shared, kTiles).empty() &&
                isWorthSharing(operands, tile, shared, kTiles, device))
              ranking.add(shared, sharedPart * alone);
          }
        }
    double alone = ranking.leastCost();
    for (WarpgroupTile tile : tiles)
      for (int64_t behind : {2, 4, 8}) {
        tile.behind = behind;
        tile.stages = stagesOf(tile, kTiles / behind, device);
        // The blocks of a split-K cluster wait for each other at the start and
        // at the end, and exchange sums.
        constexpr double waiting = 0.65e-6, clearly = 0.95;
        if (double cost = seconds(operands, tile, kTiles, device);
            refuse(tile, kTiles, device).empty() &&
            refuseCluster(operands, group, tile, kTiles).empty() &&
            runsAtOnce(operands, tile, device) &&
            waiting + cost < clearly * alone)
          ranking.add(tile, cost);
      }
    return ranking;
  }

  /// Returns how many pipeline stages the tile should have: as many as fit
  /// shared memory, at most one per K tile and at most 8, but at least 2.
  static int64_t stagesOf(WarpgroupTile tile, int64_t kTiles,
                          const Device &device) {
    tile.stages = 8;
    while (tile.stages > 2 &&
           (tile.stages > kTiles ||
            tile.sharedBytes() > sharedOfBlock(tile, device)))
      --tile.stages;
    return tile.stages;
  }

  /// Whether clusters of this size may be chosen. An SM must hold one block
  /// only; if a cluster has more than two blocks, all clusters must also run at
  /// once. A cluster lies within one GPC, a group of 16 to 18 SMs (H100 SXM: 132
  /// SMs in all), so clusters of four leave up to two SMs of a GPC idle.
  static bool runsAtOnce(const BlockOperands &operands,
                         const WarpgroupTile &cluster, const Device &device) {
    constexpr int64_t ofGroup = 18, usedOfGroup = 16;
    Dim blocks = warpgroupBlocks(operands, cluster, device);
    return cluster.resident == 1 &&
           (cluster.cluster() == 2 ||
            blocks.most() <= device.multiprocessors * cluster.resident *
                                 usedOfGroup / ofGroup);
  }
  /// Whether `shared`, which is `tile` with multicast within a cluster, is
  /// predicted to be clearly faster than `tile`. The blocks of a cluster run in
  /// step and wait for each other at the start and at the end. That pays off
  /// for long products that L2 bandwidth limits: with clusters of two, 4096 x
  /// 4096 x 4096 takes 180 us (193 without clusters), 6304 x 768 x 3072 about 9
  /// % less. But 4096 x 768 x 3072 takes 7 % more, 2048 x 2048 x 2048 takes
  /// 24.7 us (24.2 without), and 3 x 3 convolutions take 6 to 30 % more (H200,
  /// November 2026, measured in chains of launches).
  static bool isWorthSharing(const BlockOperands &operands,
                             const WarpgroupTile &tile,
                             const WarpgroupTile &shared, int64_t kTiles,
                             const Device &device) {
    constexpr double clearly = 0.83, waiting = 3e-6;
    return runsAtOnce(operands, shared, device) &&
           waiting + seconds(operands, shared, kTiles, device,
                             /*areTiles=*/false) <
               clearly * seconds(operands, tile, kTiles, device,
                                 /*areTiles=*/false);
  }
  /// If isWorthSharing holds: the estimated time of a product with multicast
  /// within a cluster, as a fraction of its time without multicast.
  static constexpr double sharedPart = 0.93;

  /// Returns why blocks with this tile cannot form a cluster; empty if they
  /// can.
  static std::string refuseCluster(const BlockOperands &operands,
                                   GroupView group, const WarpgroupTile &tile,
                                   int64_t kTiles) {
    if (tile.cluster() == 1)
      return "";
    if (!operands.rows.known() || !operands.batches.known())
      return "blocks can share tiles only if the number of tiles is known when "
             "compiling";
    if (tile.behind > 1)
      return refuseBehind(tile, kTiles);
    if (tile.slices > 1)
      return "blocks that share tiles cannot have slices";
    // Each block fetches whole groups of 32 interleaved columns, or whole tiles
    // of 64 contiguous rows or columns (TileOrder::Turned).
    auto isDivided = [](int64_t size, int64_t count, TileOrder order) {
      return size % (count * (order == TileOrder::Turned ? turnedWidth : 32)) ==
             0;
    };
    if (!isDivided(tile.columns, tile.below, rightOrderOf(operands, group)) ||
        !isDivided(tile.rows, tile.beside, leftOrderOf(operands, group)))
      return "its tiles have too few rows or columns for blocks to share them";
    return "";
  }
  /// Returns why blocks cannot split K within a cluster; empty if they can.
  /// Each block of the cluster completes, for every thread, the sums of some of
  /// the thread's columns.
  static std::string refuseBehind(const WarpgroupTile &tile, int64_t kTiles) {
    if (tile.slices > 1 || tile.below > 1 || tile.beside > 1)
      return "blocks that divide K cannot have slices, and cannot share tiles";
    if (kTiles % tile.behind || kTiles == tile.behind)
      return std::to_string(kTiles) +
             " K tiles cannot be divided evenly among " +
             std::to_string(tile.behind) + " blocks";
    // Each block completes whole groups of a thread's sums. For 16-bit results,
    // a group has 8 columns of one row; of each MMA, a thread has two rows, and
    // a quarter of the columns.
    if (2 * tile.productsDown() * (tile.columns / 32) % tile.behind)
      return "a thread has too few accumulators to be divided among " +
             std::to_string(tile.behind) + " blocks";
    return "";
  }

  /// Returns the bytes of shared memory that a block can use if `tile.resident`
  /// blocks run on an SM at once. The device itself reserves 1 KB per block
  /// (NVIDIA's C++ Programming Guide, "Compute Capability 9.0").
  static int64_t sharedOfBlock(const WarpgroupTile &tile,
                               const Device &device) {
    constexpr int64_t own = 1 << 10;
    return (device.sharedBytes + own) / tile.resident - own;
  }

  static std::string refuse(const WarpgroupTile &tile, int64_t kTiles,
                            const Device &device) {
    if (tile.rows % (tile.groups * groupRows))
      return "the rows of a tile must be a multiple of 64 for each warpgroup";
    if (tile.columns % 64)
      return "the columns of a tile must be a multiple of 64";
    if (kTiles % tile.slices)
      return std::to_string(kTiles) +
             " K tiles cannot be divided evenly among " +
             std::to_string(tile.slices) + " slices";
    if (tile.threads() > 1024)
      return "a block has " + std::to_string(tile.threads()) +
             " threads, but can have at most 1024";
    // Besides the sums, a thread needs registers for addresses and the epilogue
    // (48 with nvcc 13).
    if (int64_t registers = tile.sums() + 48;
        registers > tile.registersOfSums(device))
      return "each thread uses about " + std::to_string(registers) +
             " registers, but can use at most " +
             std::to_string(tile.registersOfSums(device));
    // For the 128 sums of an MMA with 256 columns, nvcc 13 needs 154 registers
    // at the start of the kernel.
    if (int64_t registers = tile.sumsOfProduct() + 26;
        registers > tile.registersAtStart(device))
      return "a product of " + std::to_string(tile.columns) + " columns uses " +
             std::to_string(registers) +
             " registers, but can use at most the " +
             std::to_string(tile.registersAtStart(device)) +
             " registers that a thread has at launch";
    if (int64_t bytes = tile.sharedBytes(); bytes > sharedOfBlock(tile, device))
      return "the tiles of a block use " + std::to_string(bytes) +
             " bytes of shared memory, but can use at most " +
             std::to_string(sharedOfBlock(tile, device));
    return "";
  }

  /// Estimates the time of a product. Per K tile, an SM multiplies at the rate
  /// of its tensor cores and reads tiles from shared memory (128 bytes per
  /// cycle; each MMA reads its 64 rows and all columns). A single warpgroup
  /// waits about 60 cycles between the MMAs of two K tiles. Since mbarriers are
  /// initialized and descriptors read first, a kernel takes about 300 cycles
  /// more than with other strategies. Slices (sets of warpgroups) exchange sums
  /// in shared memory. For `areTiles` see KTileLoop.
  static double seconds(const BlockOperands &operands,
                        const WarpgroupTile &tile, int64_t kTiles,
                        const Device &device, bool areTiles = true) {
    double size = double(bytesOf(operands.leftType()));
    double tiles = double(tile.tilesBelow(operands).most()) *
                   double(tile.tilesBeside(operands)) *
                   double(operands.batches.most()) * double(tile.behind);
    double cycle = 1 / clock;
    double multiplying = double(tile.rows * tile.columns) *
                         (double(kTileRowBytes) / size) /
                         (device.matrixMultiplyAddsPerSecond * (2 / size) /
                          device.multiprocessors);
    double loading = double(tile.productsDown() * tile.groups) *
                     double(groupRows + tile.columns) * kTileRowBytes / 128 *
                     cycle;
    KTileLoop loop;
    loop.kTiles = double(kTiles / tile.behind);
    loop.bytes = double(tile.kTileBytes());
    loop.fetched = double(tile.fetchedBytes());
    loop.ahead = double(tile.stages);
    loop.goesOn = true;
    loop.areTiles = areTiles;
    loop.busy = std::max(multiplying, loading);
    loop.waiting =
        (multiplying / double(tile.groups) + 60 * cycle) / double(tile.slices);
    loop.closing =
        0.3e-6 + storingSeconds * double(tile.sums()) / double(tile.behind);
    if (tile.slices > 1)
      loop.closing += (double(tile.sumBytes()) * 2 / 128 + 100) * cycle;
    if (tile.behind > 1)
      loop.closing +=
          double(tile.sumBytes()) *
          (cycle / 128 + double(tile.behind - 1) / double(tile.behind) /
                             betweenBlocksBytesPerSecond);
    return secondsOf(loop, tiles, double(tile.resident), device) + 300 * cycle;
  }
  /// Bandwidth of one SM from the shared memory of other blocks in its cluster:
  /// 3.3 TB/s for all 132 SMs (Luo et al., "Benchmarking and Dissecting the
  /// Nvidia Hopper GPU Architecture", 2024).
  static constexpr double betweenBlocksBytesPerSecond = 2.5e10;
  /// Seconds that storing takes per sum of a thread (H100 SXM, November 2026:
  /// products of 1024, 2048 and 4096, and convolutions of 98 blocks, within 5
  /// %). Storing takes longer in kernels with a tile per warp.
  static constexpr double storingSeconds = 0.016e-6;
  /// Clock rate at which the rate of the data sheet holds (H100 SXM: 4096 f16
  /// operations per cycle and SM).
  static constexpr double clock = 1.83e9;
};

} // namespace

std::unique_ptr<Strategy> createWarpgroupProductStrategy() {
  return std::make_unique<WarpgroupProductStrategy>();
}

} // namespace ingot::schedule
