// Which products matrix units compute, and by which tiles (TensorTile.cpp).

#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/TensorTile.h"

#include "dialects/kernel/SmallFloats.h"
#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// What a kernel may declare without asking the driver for more.
constexpr int64_t mostShared = 48 << 10;
/// Cycles per second of a processor, of all levels within a quarter (data sheets).
constexpr double clock = 1.5e9;

class TensorProductStrategy : public BlockStrategy {
public:
  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {
        {"columns", 16, 256},      {"rows", 16, 256},
        {"slices", 1, 16},         {"stages", 2, 4},
        {"warp_columns", 16, 128}, {"warp_rows", 16, 128}};
    return keys;
  }

  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    auto operands = BlockOperands::of(group);
    return plansOf(rank(*operands, target).ranked(fallback),
                   [&](TensorTile tile) {
                     return Plan(group.anchor()->getContext(),
                                 {{"columns", tile.columns},
                                  {"rows", tile.rows},
                                  {"slices", tile.slices},
                                  {"stages", tile.stages},
                                  {"warp_columns", tile.warpColumns},
                                  {"warp_rows", tile.warpRows}});
                   });
  }

  static Ranking<TensorTile> rank(const BlockOperands &operands,
                                  const TargetDescription &target) {
    static constexpr TensorTile tiles[] = {
        {128, 128, 64, 32, 3}, {128, 64, 32, 32, 3},
        {64, 128, 32, 32, 3},  fallback,
        {64, 32, 32, 16, 4},   {32, 64, 16, 32, 4},
        {32, 32, 16, 16, 4},   {16, 64, 16, 16, 4},
        {16, 32, 16, 16, 4}};
    Ranking<TensorTile> ranking;
    for (TensorTile tile : tiles)
      for (int64_t slices : {1, 2, 4, 8}) {
        tile.slices = slices;
        tile = withFittingStages(tile, target.device);
        if (refuseTensorTile(tile, target).empty())
          ranking.add(tile, seconds(operands, tile, target));
      }
    return ranking;
  }

  std::string refuse(GroupView, const Plan &plan,
                     const TargetDescription &target) const override {
    return refuseTensorTile(tileOf(plan), target);
  }

  void pack(GroupOp group, const Plan &,
            const TargetDescription &) const override {
    packColumns(group);
  }

  void emit(KernelBuilder &b) const override {
    auto operands = BlockOperands::of(b.group);
    emitTensorProduct(b, *operands, tileOf(b.plan));
  }

protected:
  bool fits(const BlockOperands &operands, GroupView group,
            const TargetDescription &target) const override {
    // A unit takes 16 steps at once.
    return operands.steps >= 2 * fewest &&
           areMultipliedByUnits(operands, group, target) &&
           isInColumns(operands) &&
           (!operands.areGroups ||
            (operands.leftRun * bytesOf(operands.leftType()) % pieceBytes ==
                 0 &&
             rank(operands, target).leastCost() <
                 operands.elementSeconds(target.device)));
  }

private:
  static constexpr TensorTile fallback = {64, 64, 32, 32, 4};

  static TensorTile tileOf(const Plan &plan) {
    return {plan.number("rows"),      plan.number("columns"),
            plan.number("warp_rows"), plan.number("warp_columns"),
            plan.number("stages"),    plan.number("slices")};
  }

  /// Estimates the time of a product: processors take one block after the other; strips
  /// come from the second cache; while a block waits for a strip only the others of its
  /// processor compute, of which it holds about 4. What slices add goes through shared
  /// memory once in each direction.
  static double seconds(const BlockOperands &operands, const TensorTile &tile,
                        const TargetDescription &target) {
    const Device &device = target.device;
    double size = double(bytesOf(operands.leftType()));
    double blocks = double(llvm::divideCeil(operands.rows.most(), tile.rows)) *
                    double(llvm::divideCeil(operands.columns, tile.columns)) *
                    double(operands.batches.most());
    double waves = std::ceil(blocks / device.processors);
    double strips =
        std::ceil(double(operands.steps) * size / 64 / double(tile.slices));
    double cycle = 1 / clock;
    double resident = std::min(waves, 4.0);
    StripTime strip = stripTime(tile, operands.leftType(), device);
    double meeting = tile.slices == 1
                         ? 0
                         : (double(tile.sumBytes()) * 2 / 128 + 100) * cycle;
    double computing = strips * (waves * strip.busy +
                                 std::ceil(waves / resident) * strip.latency) +
                       waves * meeting;
    double bytes = blocks * double(operands.steps) *
                   double(tile.rows + tile.columns) * size;
    return std::max(computing, bytes / cacheRate(device));
  }
};

} // namespace

std::string refuseTensorTile(const TensorTile &tile,
                             const TargetDescription &target) {
  if (tile.warpRows % unitRows || tile.warpColumns % (2 * unitColumns))
    return "a warp computes units of 16 rows and pairs of units of 8 columns";
  if (tile.rows % tile.warpRows || tile.columns % tile.warpColumns ||
      !llvm::isPowerOf2_64(tile.columns))
    return "warps of such tiles do not make up a block, or its columns are "
           "no power "
           "of two";
  if (int64_t threads = tile.threads(target.device); threads > 1024)
    return "its blocks have " + std::to_string(threads) +
           " threads, more than 1024";
  if (int64_t registers = tile.threads(target.device) * tile.registers();
      registers > target.device.registers)
    return "its blocks take about " + std::to_string(registers) +
           " registers, more than " + std::to_string(target.device.registers);
  if (int64_t bytes = tile.sharedBytes(); bytes > mostShared)
    return "its tiles take " + std::to_string(bytes) +
           " bytes of shared memory, more than " + std::to_string(mostShared);
  return "";
}

double cacheRate(const Device &device) {
  return device.cacheBytesPerSecond > 0 ? device.cacheBytesPerSecond
                                        : 3 * device.bytesPerSecond;
}

TensorTile withFittingStages(TensorTile tile, const Device &device) {
  // Copies that do not arrive while a thread computes need no further buffers.
  if (!device.copiesAhead())
    tile.stages = 2;
  while (tile.stages > 2 && tile.sharedBytes() > mostShared)
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

StripTime stripTime(const TensorTile &tile, Type element,
                    const Device &device) {
  auto elementBytes = double(bytesOf(element));
  double rate = device.matrixMultiplyAddsPerSecond * device.ofWarps * 2 /
                double(bytesOfWarpProducts(device, bytesOf(element),
                                           isByteOfFloat(element))) /
                device.processors;
  double cycle = 1 / clock;
  double loading = double(tile.warps() * tile.slices) * 2 *
                   double(tile.warpRows / 16 + tile.warpColumns / 16) * 4 *
                   cycle;
  double multiplying = double(tile.rows * tile.columns * tile.slices) *
                       (64 / elementBytes) / rate;
  return {std::max(loading, multiplying),
          std::max(2 * 70.0, 300 / double(tile.stages - 1)) * cycle};
}

bool areMultipliedByUnits(const BlockOperands &operands, GroupView group,
                          const TargetDescription &target) {
  if (operands.areBytes())
    return true;
  Type type = operands.leftType();
  return !group.isStrict() &&
         (type.isF16() ||
          (isByteOfFloat(type) && target.device.multipliesBytesOfFloats()) ||
          ((type.isBF16() || operands.multiplied) &&
           target.device.multipliesBFloats()));
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
