// Which products warpgroups compute, and by which tiles (WarpgroupTile.cpp).

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
  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"behind", 1, 8, {}, /*isOptional=*/true},
                                   {"below", 1, 2, {}, /*isOptional=*/true},
                                   {"beside", 1, 2, {}, /*isOptional=*/true},
                                   {"columns", 64, 256},
                                   {"groups", 1, 4},
                                   {"resident", 1, 2},
                                   {"rows", 64, 256},
                                   {"slices", 1, 4},
                                   {"stages", 2, 8}};
    return keys;
  }

  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    auto operands = BlockOperands::of(group);
    return plansOf(rank(*operands, group, target).ranked(smallest),
                   [&](const WarpgroupTile &tile) {
                     return Plan(group.anchor()->getContext(),
                                 {{"behind", tile.behind},
                                  {"below", tile.below},
                                  {"beside", tile.beside},
                                  {"columns", tile.columns},
                                  {"groups", tile.groups},
                                  {"resident", tile.resident},
                                  {"rows", tile.rows},
                                  {"slices", tile.slices},
                                  {"stages", tile.stages}});
                   });
  }

  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
    auto operands = BlockOperands::of(group);
    WarpgroupTile tile = tileOf(plan);
    int64_t strips = stripsOf(*operands, group);
    std::string why = refuse(tile, strips, target.device);
    return why.empty() ? refuseCluster(*operands, group, tile, strips) : why;
  }

  void pack(GroupOp group, const Plan &,
            const TargetDescription &) const override {
    packColumns(group);
  }

  void emit(KernelBuilder &b) const override {
    auto operands = BlockOperands::of(b.group);
    // Parts of larger tensors may begin or continue where no map can say.
    if (!emitWarpgroupProduct(b, *operands, tileOf(b.plan)))
      emitTensorProduct(b, *operands, {64, 64, 32, 32, 4});
  }

protected:
  bool fits(const BlockOperands &operands, GroupView group,
            const TargetDescription &target) const override {
    if (!target.device.multipliesByWarpgroups() ||
        operands.steps < 2 * fewest ||
        !areMultipliedByUnits(operands, group, target) ||
        stripsOf(operands, group) == 0)
      return false;
    // A kernel has been decided for; a group takes what is fastest.
    return isa<kernel::FuncOp>(group.block->getParentOp()) ||
           rank(operands, group, target).leastCost() <
               leastTensorSeconds(operands, target);
  }

private:
  static constexpr WarpgroupTile smallest = {64, 64, 1, 1, 2, 1};

  static Ranking<WarpgroupTile> rank(const BlockOperands &operands,
                                     GroupView group,
                                     const TargetDescription &target) {
    static constexpr WarpgroupTile tiles[] = {
        {128, 256, 2}, {256, 128, 2}, {128, 192, 2}, {128, 128, 2},
        {128, 64, 2},  {64, 256, 1},  {64, 128, 1},  {64, 64, 1}};
    const Device &device = target.device;
    int64_t strips = stripsOf(operands, group);
    bool areWindows = leftOrderOf(operands, group) == TileOrder::Windows;
    Ranking<WarpgroupTile> ranking;
    for (WarpgroupTile tile : tiles)
      for (int64_t slices : {1, 2, 3, 4})
        for (int64_t resident : {1, 2}) {
          tile.slices = slices;
          tile.resident = resident;
          tile.stages = stagesOf(tile, strips, device);
          if (!refuse(tile, strips, device).empty())
            continue;
          double alone = seconds(operands, tile, strips, device);
          ranking.add(tile, alone);
          static constexpr int64_t clusters[][2] = {{2, 1}, {1, 2}, {2, 2}};
          for (const auto &cluster : clusters) {
            WarpgroupTile shared = tile;
            shared.below = cluster[0];
            shared.beside = cluster[1];
            if (!areWindows &&
                refuseCluster(operands, group, shared, strips).empty() &&
                isWorthSharing(operands, tile, shared, strips, device))
              ranking.add(shared, sharedPart * alone);
          }
        }
    double alone = ranking.leastCost();
    for (WarpgroupTile tile : tiles)
      for (int64_t behind : {2, 4, 8}) {
        tile.behind = behind;
        tile.stages = stagesOf(tile, strips / behind, device);
        // Blocks wait for each other when they begin and when they end, and send their sums.
        constexpr double waiting = 0.65e-6, clearly = 0.95;
        if (double cost = seconds(operands, tile, strips, device);
            refuse(tile, strips, device).empty() &&
            refuseCluster(operands, group, tile, strips).empty() &&
            runsAtOnce(operands, tile, device) &&
            waiting + cost < clearly * alone)
          ranking.add(tile, cost);
      }
    return ranking;
  }

  /// As many stages as there is memory for, if there are so many strips.
  static int64_t stagesOf(WarpgroupTile tile, int64_t strips,
                          const Device &device) {
    tile.stages = 8;
    while (tile.stages > 2 &&
           (tile.stages > strips ||
            tile.sharedBytes() > sharedOfBlock(tile, device)))
      --tile.stages;
    return tile.stages;
  }

  /// Of groups of 16 to 18 processors (H100 SXM: 132) clusters of four leave up to two idle,
  /// so that there have to be few enough of these for all to run at once.
  static bool runsAtOnce(const BlockOperands &operands,
                         const WarpgroupTile &cluster, const Device &device) {
    constexpr int64_t ofGroup = 18, usedOfGroup = 16;
    Dim blocks = warpgroupBlocks(operands, cluster, device);
    return cluster.resident == 1 &&
           (cluster.cluster() == 2 ||
            blocks.most() <=
                device.processors * cluster.resident * usedOfGroup / ofGroup);
  }
  /// Blocks that share what they fetch keep in step, and wait for each other when they begin
  /// and when they end. That pays where the second cache would bound a product for long: by
  /// two of them 4096 x 4096 x 4096 takes 180 us, 193 alone, 6304 x 768 x 3072 about 9 % less,
  /// but 4096 x 768 x 3072 7 % more and 2048 x 2048 x 2048 24.7 us, 24.2 alone; windows of
  /// 3 x 3 6 to 30 % more (H200, November 2026, in chains).
  static bool isWorthSharing(const BlockOperands &operands,
                             const WarpgroupTile &tile,
                             const WarpgroupTile &shared, int64_t strips,
                             const Device &device) {
    constexpr double clearly = 0.83, waiting = 3e-6;
    return runsAtOnce(operands, shared, device) &&
           waiting + seconds(operands, shared, strips, device,
                             /*areTiles=*/false) <
               clearly * seconds(operands, tile, strips, device,
                                 /*areTiles=*/false);
  }
  /// What the time of a product becomes by that.
  static constexpr double sharedPart = 0.93;

  /// Says why blocks with such tiles cannot share what they fetch.
  static std::string refuseCluster(const BlockOperands &operands,
                                   GroupView group, const WarpgroupTile &tile,
                                   int64_t strips) {
    if (tile.cluster() == 1)
      return "";
    if (!operands.rows.known() || !operands.batches.known())
      return "blocks can share tiles only if the number of tiles is known when "
             "compiling";
    if (tile.behind > 1)
      return refuseBehind(tile, strips);
    if (tile.slices > 1)
      return "blocks that share tiles cannot have slices";
    // Whole groups of columns that are dealt out, or tiles of 64 that are turned.
    auto isDivided = [](int64_t size, int64_t count, TileOrder order) {
      return size % (count * (order == TileOrder::Turned ? turnedWidth : 32)) ==
             0;
    };
    if (!isDivided(tile.columns, tile.below, rightOrderOf(operands, group)) ||
        !isDivided(tile.rows, tile.beside, leftOrderOf(operands, group)))
      return "its tiles have too few rows or columns for blocks to share them";
    return "";
  }
  /// The same of blocks behind each other, each of which completes a part of the groups of
  /// columns that threads have.
  static std::string refuseBehind(const WarpgroupTile &tile, int64_t strips) {
    if (tile.slices > 1 || tile.below > 1 || tile.beside > 1)
      return "blocks that divide K cannot have slices, and cannot share tiles";
    if (strips % tile.behind || strips == tile.behind)
      return std::to_string(strips) +
             " K tiles cannot be divided evenly among " +
             std::to_string(tile.behind) + " blocks";
    // 8 columns of a group for results of 16 bits.
    if (2 * tile.productsDown() * (tile.columns / 32) % tile.behind)
      return "a thread has too few accumulators to be divided among " +
             std::to_string(tile.behind) + " blocks";
    return "";
  }

  static WarpgroupTile tileOf(const Plan &plan) {
    return {plan.number("rows"),
            plan.number("columns"),
            plan.number("groups"),
            plan.number("slices"),
            plan.number("stages"),
            plan.number("resident"),
            plan.optionalNumber("below").value_or(1),
            plan.optionalNumber("beside").value_or(1),
            plan.optionalNumber("behind").value_or(1)};
  }

  /// Of each block the device takes 1 KB for itself (NVIDIA's C++ Programming Guide,
  /// "Compute Capability 9.0").
  static int64_t sharedOfBlock(const WarpgroupTile &tile,
                               const Device &device) {
    constexpr int64_t own = 1 << 10;
    return (device.sharedBytes + own) / tile.resident - own;
  }

  static std::string refuse(const WarpgroupTile &tile, int64_t strips,
                            const Device &device) {
    if (tile.rows % (tile.groups * groupRows))
      return "the rows of a tile must be a multiple of 64 for each warpgroup";
    if (tile.columns % 64)
      return "the columns of a tile must be a multiple of 64";
    if (strips % tile.slices)
      return std::to_string(strips) +
             " K tiles cannot be divided evenly among " +
             std::to_string(tile.slices) + " slices";
    if (tile.threads() > 1024)
      return "a block has " + std::to_string(tile.threads()) +
             " threads, but can have at most 1024";
    // Beside the sums: places and what is stored, as nvcc 13 takes them.
    if (int64_t registers = tile.sums() + 48;
        registers > tile.registersOfSums(device))
      return "each thread uses about " + std::to_string(registers) +
             " registers, but can use at most " +
             std::to_string(tile.registersOfSums(device));
    // Of 128 sums nvcc 13 asks for 154 registers as the kernel starts.
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

  /// Estimates the time of a product. Per strip a processor multiplies at the rate of its
  /// matrix units and reads tiles from shared memory (128 bytes a cycle: each product its 64
  /// rows and all columns); a warpgroup alone waits about 60 cycles between the products of two
  /// strips. Before the first strip is there gates are set up and a map is read, about 300 cycles
  /// more than other strategies take. What slices add goes
  /// through shared memory twice.
  static double seconds(const BlockOperands &operands,
                        const WarpgroupTile &tile, int64_t strips,
                        const Device &device, bool areTiles = true) {
    double size = double(bytesOf(operands.leftType()));
    double tiles = double(tile.tilesBelow(operands).most()) *
                   double(tile.tilesBeside(operands)) *
                   double(operands.batches.most()) * double(tile.behind);
    double cycle = 1 / clock;
    double multiplying =
        double(tile.rows * tile.columns) * (double(stripBytes) / size) /
        (device.matrixMultiplyAddsPerSecond * (2 / size) / device.processors);
    double loading = double(tile.productsDown() * tile.groups) *
                     double(groupRows + tile.columns) * stripBytes / 128 *
                     cycle;
    StripLoop loop;
    loop.strips = double(strips / tile.behind);
    loop.bytes = double(tile.bytesOfStrip());
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
  /// What a processor gets of the shared memory of others in its cluster: 3.3 TB/s of all
  /// 132 (Luo and others, "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture",
  /// 2024).
  static constexpr double betweenBlocksBytesPerSecond = 2.5e10;
  /// For each sum of a thread (H100 SXM, November 2026: products of 1024, 2048 and 4096, and
  /// convolutions of 98 blocks, within 5 %); less than where warps have tiles of their own.
  static constexpr double storingSeconds = 0.016e-6;
  /// Cycles per second at which the data sheet's rate is reached (H100 SXM: 4096
  /// operations of f16 a cycle and processor).
  static constexpr double clock = 1.83e9;
};

} // namespace

std::unique_ptr<Strategy> createWarpgroupProductStrategy() {
  return std::make_unique<WarpgroupProductStrategy>();
}

} // namespace ingot::schedule
