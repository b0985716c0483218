#include "passes/schedule/DeviceTime.h"

#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/SmallFloats.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace ingot::schedule {

DeviceWork DeviceWork::of(kernel::FuncOp kernel) {
  DeviceWork work;
  work.threads = kernel.getThreads().value_or(0);
  if (work.threads)
    work.blocks = kernel::extentOf(kernel)->most();
  work.shared = kernel::sharedBytes(kernel);
  kernel.walk([&](kernel::WarpProductOp product) {
    work.matrixElement =
        int64_t(llvm::PowerOf2Ceil(product.getLeft().getIntOrFloatBitWidth())) /
        8;
    work.areBytesOfFloats = isByteOfFloat(product.getLeft());
  });
  kernel.walk([&](kernel::TileProductOp product) {
    work.byWarpgroups = true;
    auto bytesOfStep = [](Value tile) {
      auto type = cast<MemRefType>(tile.getType());
      return double(kernel::elementBytes(type.getElementType())) /
             double(type.getDimSize(1));
    };
    work.cacheBytes =
        bytesOfStep(product.getLeft()) + bytesOfStep(product.getRight());
    work.matrixElement = int64_t(llvm::PowerOf2Ceil(
                             product.getLeftType().getIntOrFloatBitWidth())) /
                         8;
  });
  return work;
}

/// Blocks that a processor holds at once, by its threads, registers and shared memory, of
/// which the device takes 1 KB for each block itself (from 8.0 on).
static int64_t blocksOfProcessor(const Device &device, const DeviceWork &work) {
  int64_t threads = llvm::alignTo(work.threads, device.warp);
  int64_t byRegisters =
      device.registers / (threads * int64_t(llvm::alignTo(work.registers, 8)));
  constexpr int64_t own = 1 << 10;
  int64_t byShared = (device.sharedBytes + own) / (work.shared + own);
  return std::max<int64_t>(
      1, std::min({device.residentThreads / threads, byRegisters, byShared}));
}

/// Of the host, and of the bus between it and a device. PCIe 3.0 of 16 lanes has 15.8 GB/s, of
/// which about 12 are reached. A copy of few bytes, with the wait for it, takes about 10 us
/// (NVIDIA's blog on data transfers, 2012), and a launch in a row 3.8 us where one in a
/// graph takes 3.4 (the one on graphs, 2019); 2 us is for slower hosts. Code that goes step by
/// step has an element of 4 bytes in about 4 ns.
static constexpr double hostBytesPerSecond = 1e9, busBytesPerSecond = 12e9,
                        waitSeconds = 1e-5, startSeconds = 2e-6;

double hostSeconds(int64_t bytes, int64_t multiplyAdds) {
  return double(bytes + multiplyAdds) / hostBytesPerSecond +
         double(bytes) / busBytesPerSecond + 2 * waitSeconds;
}

double secondsOutsideOfGraph(int64_t launches) {
  return double(launches) * startSeconds;
}

int64_t bytesOfWarpProducts(const Device &device, int64_t elementBytes,
                            bool areBytesOfFloats) {
  return areBytesOfFloats && device.multipliesByWarpgroups() ? 2 : elementBytes;
}

/// How much longer tiles of one size take where processors compute unequally many of them.
static double lastWave(const Device &device, const DeviceWork &work) {
  if (!work.matrixElement || work.blocks <= device.processors)
    return 1;
  double tiles = double(work.blocks) / device.processors;
  return std::ceil(tiles) / tiles;
}

DeviceTime predictTime(const Device &device, const DeviceWork &work,
                       int64_t bytes, int64_t multiplyAdds) {
  const double enoughThreads =
      work.matrixElement ? device.busyMatrixThreads : device.busyThreads;
  const double rate =
      work.matrixElement
          ? device.matrixMultiplyAddsPerSecond * 2 /
                (work.byWarpgroups
                     ? double(work.matrixElement)
                     : double(bytesOfWarpProducts(device, work.matrixElement,
                                                  work.areBytesOfFloats)) /
                           device.ofWarps)
          : device.multiplyAddsPerSecond;
  if (work.threads == 0)
    return {hostSeconds(bytes, multiplyAdds), 0, "host", 0};
  double all = double(work.blocks * work.threads);
  double used =
      std::min(1.0, all / (enoughThreads * double(device.processors)));
  if (used <= 0)
    return {0, 0, "nothing", 0};
  double moving = double(bytes) / device.bytesPerSecond,
         computing = double(multiplyAdds) / rate * lastWave(device, work),
         caching = device.cacheBytesPerSecond > 0
                       ? double(multiplyAdds) * work.cacheBytes /
                             device.cacheBytesPerSecond
                       : 0;
  DeviceTime result;
  result.seconds = std::max({moving, computing, caching}) / used;
  result.busy = used;
  result.bound = used < 0.5                               ? "few threads"
                 : moving >= std::max(computing, caching) ? "memory"
                 : caching > computing                    ? "cache"
                                                          : "arithmetic";
  double held =
      std::min(double(blocksOfProcessor(device, work) * work.threads),
               double(work.threads) *
                   double(llvm::divideCeil(work.blocks, device.processors)));
  result.occupancy = held / device.residentThreads;
  return result;
}

double secondsOf(ArrayRef<BranchTime> branches, const Device &device) {
  double longest = 0, alone = 0;
  for (const BranchTime &branch : branches) {
    longest = std::max(longest, branch.seconds);
    alone += branch.alone;
  }
  double forks = double(std::max<size_t>(branches.size(), 1) - 1);
  return std::max(longest, alone) + forks * device.branchSeconds;
}

} // namespace ingot::schedule
