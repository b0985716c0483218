// Chooses the products that tensor cores compute, and their tiles
// (TensorTile.cpp).

#include "passes/schedule/PlanFields.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/TensorTile.h"

#include "dialects/kernel/SmallFloats.h"
#include "passes/schedule/gpu/Sharing.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Clock rate of an SM, within 25 % for all targets (data sheets).
constexpr double clock = 1.5e9;

class TensorProductStrategy : public BlockStrategy {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto operands = BlockOperands::of(group);
    return fields.plans(group.anchor()->getContext(),
                        rank(*operands, group.target).ranked(fallback));
  }

  static Ranking<TensorTile> rank(const BlockOperands &operands,
                                  const TargetDescription &target) {
    static constexpr TensorTile tiles[] = {
        {128, 128, 64, 32, 3}, {128, 64, 32, 32, 3},
        {64, 128, 32, 32, 3},  fallback,
        {64, 32, 32, 16, 4},   {32, 64, 16, 32, 4},
        {64, 32, 32, 32, 4},   {32, 64, 32, 32, 4},
        {32, 32, 16, 16, 4},   {32, 32, 32, 32, 4},
        {16, 64, 16, 16, 4},   {16, 32, 16, 16, 4}};
    Ranking<TensorTile> ranking(closeEnough);
    for (TensorTile tile : tiles)
      for (int64_t slices : {1, 2, 4, 8, 16}) {
        tile.slices = slices;
        for (int64_t stages : {tile.stages, int64_t(6), int64_t(8)}) {
          TensorTile tried = tile;
          tried.stages = stages;
          tried = withFittingStages(tried, target.device);
          if (refuseTensorTile(tried, target).empty())
            ranking.add(tried, seconds(operands, tried, target));
        }
      }
    return ranking;
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

protected:
  bool fits(const BlockOperands &operands, GroupOnTarget group) const override {
    // An MMA has 16 steps (K). A convolution with groups uses this strategy
    // only if its kernel is faster than a kernel with one thread per result
    // element. If `group` is a kernel function already, this strategy has been
    // chosen for it.
    return operands.steps >= 2 * fewest &&
           areMultipliedByUnits(operands, group) && isInColumns(operands) &&
           (!operands.areGroups ||
            (operands.leftRun * bytesOf(operands.leftType()) %
                     vectorAccessBytes ==
                 0 &&
             (isa<kernel::FuncOp>(group.block->getParentOp()) ||
              rank(operands, group.target).leastCost() <
                  operands.elementSeconds(group.target.device))));
  }

private:
  static inline const PlanFields<TensorTile> fields = {
      {{"columns", 16, 256}, &TensorTile::columns},
      {{"rows", 16, 256}, &TensorTile::rows},
      {{"slices", 1, 16}, &TensorTile::slices},
      {{"stages", 2, 8}, &TensorTile::stages},
      {{"warp_columns", 16, 128}, &TensorTile::warpColumns},
      {{"warp_rows", 16, 128}, &TensorTile::warpRows}};

  /// Relative differences of time below this are within the error of the
  /// estimates; then the larger tile with fewer pipeline stages is preferred.
  static constexpr double closeEnough = 0.02;
  static constexpr TensorTile fallback = {64, 64, 32, 32, 4};

  static double seconds(const BlockOperands &operands, const TensorTile &tile,
                        const TargetDescription &target) {
    double size = double(bytesOf(operands.leftType()));
    double tiles = double(llvm::divideCeil(operands.rows.most(), tile.rows)) *
                   double(llvm::divideCeil(operands.columns, tile.columns)) *
                   double(operands.batches.most());
    auto kTiles = int64_t(std::ceil(double(operands.steps) * size / 64));
    return secondsOf(tensorLoop(operands, tile, kTiles, target.device), tiles,
                     double(residentTensorBlocks(tile, target.device)),
                     target.device);
  }
};

} // namespace

std::string refuseTensorTile(const TensorTile &tile,
                             const TargetDescription &target) {
  if (tile.warpRows % unitRows || tile.warpColumns % (2 * unitColumns))
    return "the rows and the columns of a warp must be multiples of 16";
  if (tile.rows % tile.warpRows || tile.columns % tile.warpColumns ||
      !llvm::isPowerOf2_64(tile.columns))
    return "the rows and columns of a tile must be multiples of those of a "
           "warp, and the columns of a tile a power of two";
  if (int64_t threads = tile.threads(target.device); threads > 1024)
    return "a block has " + std::to_string(threads) +
           " threads, but can have at most 1024";
  if (int64_t registers = tile.threads(target.device) * tile.registers();
      registers > target.device.registers)
    return "a block uses about " + std::to_string(registers) +
           " registers, but can use at most " +
           std::to_string(target.device.registers);
  if (int64_t bytes = tile.sharedBytes(); bytes > mostShared(target.device))
    return "the tiles of a block use " + std::to_string(bytes) +
           " bytes of shared memory, but can use at most " +
           std::to_string(mostShared(target.device));
  return "";
}

TensorTile withFittingStages(TensorTile tile, const Device &device) {
  // Without asynchronous copies, more than two pipeline stages do not help.
  if (!device.copiesAhead())
    tile.stages = 2;
  while (tile.stages > 2 && tile.sharedBytes() > mostShared(device))
    --tile.stages;
  return tile;
}

int64_t residentTensorBlocks(const TensorTile &tile, const Device &device) {
  constexpr int64_t own = 1 << 10;
  int64_t threads = tile.threads(device);
  return std::min({device.residentThreads / threads,
                   device.registers / (threads * tile.registers()),
                   (device.sharedBytes + own) / (tile.sharedBytes() + own)});
}

/// The cost of loading operands. `windowInstructions` and `matrixInstructions`
/// are the warp instructions for one 16-byte vector per thread, of a
/// convolution window (with its index arithmetic) or of a matrix. An SM starts
/// `instructionsOfCycle` of these instructions per cycle, although it could
/// start four. A dependent instruction of the same thread starts
/// `cyclesOfInstruction` later. A thread needs `cyclesPerKTile` more cycles per
/// K tile (H100 SXM, November 2026: K tiles of 2, 3 and 8 vectors per thread,
/// 0.28 to 0.59 us). `elementSeconds` is the wait for each element that is
/// loaded by itself (same machine: 12 rounds of 16 elements per thread, 57 us).
static constexpr double windowInstructions = 40, matrixInstructions = 15,
                        instructionsOfCycle = 1.4, cyclesOfInstruction = 5.7,
                        cyclesPerKTile = 150, elementSeconds = 0.3e-6;

KTileLoop tensorLoop(const BlockOperands &operands, const TensorTile &tile,
                     int64_t kTiles, const Device &device) {
  auto elementBytes = double(bytesOf(operands.leftType()));
  auto warp = double(device.warp);
  double rate = device.matrixMultiplyAddsPerSecond * device.ofWarps * 2 /
                double(bytesOfWarpProducts(device, bytesOf(operands.leftType()),
                                           isFloat8(operands.leftType()))) /
                device.multiprocessors;
  double cycle = 1 / clock;
  auto slices = double(tile.slices), rows = double(tile.rows),
       columns = double(tile.columns);
  // For each half of a K tile, a warp loads 512 bytes from shared memory for
  // every 16 rows and for every 16 columns of its tile; an SM reads 128 bytes
  // per cycle.
  double loading = double(tile.warps()) * slices * 2 *
                   double(tile.warpRows / 16 + tile.warpColumns / 16) * 4 *
                   cycle;
  double multiplying = rows * columns * slices * (64 / elementBytes) / rate;
  auto copying = [&](double vectors, double instructions) {
    return vectors * kTileRowVectors * slices / warp * instructions /
           instructionsOfCycle * cycle;
  };
  double leftInstructions = operands.steps > operands.leftRun
                                ? windowInstructions
                                : matrixInstructions;
  KTileLoop loop;
  loop.kTiles = std::ceil(double(kTiles) / slices);
  loop.bytes = (rows + columns) * 64 * slices;
  loop.ahead = double(tile.stages - 1);
  loop.busy = std::max(loading, multiplying) + copying(rows, leftInstructions) +
              copying(columns, matrixInstructions);
  double ofThread = (rows * leftInstructions + columns * matrixInstructions) *
                    kTileRowVectors * slices / double(tile.threads(device));
  loop.waiting = (cyclesPerKTile + ofThread * cyclesOfInstruction) * cycle;
  if (operands.leftRun * bytesOf(operands.leftType()) % vectorAccessBytes != 0)
    loop.waiting += rows * slices * (64 / elementBytes) /
                    double(tile.threads(device)) * elementSeconds;
  // Slices (sets of warps that multiply different K tiles) write their sums to
  // shared memory and read them back once.
  loop.closing =
      closingSeconds(double(tile.warpRows * tile.warpColumns) / warp);
  if (tile.slices > 1)
    loop.closing += (double(tile.sumBytes()) * 2 / 128 + 100) * cycle;
  return loop;
}

bool areMultipliedByUnits(const BlockOperands &operands, GroupOnTarget group) {
  if (operands.areBytes())
    return true;
  Type type = operands.leftType();
  return !group.isStrict() &&
         (type.isF16() ||
          (isFloat8(type) && group.target.device.multipliesFloat8()) ||
          ((type.isBF16() || operands.multiplied) &&
           group.target.device.multipliesBf16()));
}

double leastWholeTileSeconds(const BlockOperands &operands,
                             const TargetDescription &target) {
  return TensorProductStrategy::rank(operands, target).leastCost();
}

double leastTensorSeconds(const BlockOperands &operands,
                          const TargetDescription &target) {
  return std::min(leastWholeTileSeconds(operands, target),
                  leastShareSeconds(operands, target));
}

std::unique_ptr<Strategy> createTensorProductStrategy() {
  return std::make_unique<TensorProductStrategy>();
}

} // namespace ingot::schedule
