#include "compiler/measure/DeviceTime.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace ingot {

/// Blocks that a processor holds at once, by its threads, registers and shared memory, of
/// which the device takes 1 KB for each block itself (from 8.0 on).
static int64_t blocksOfProcessor(const Device &device,
                                 const Footprint::Launch &launch) {
  int64_t threads = llvm::alignTo(launch.threads, device.warp);
  int64_t byRegisters = device.registers /
                        (threads * int64_t(llvm::alignTo(launch.registers, 8)));
  constexpr int64_t own = 1 << 10;
  int64_t byShared = (device.sharedBytes + own) / (launch.shared + own);
  return std::max<int64_t>(
      1, std::min({device.residentThreads / threads, byRegisters, byShared}));
}

DeviceTime predictTime(const Device &device, const Footprint::Launch &launch,
                       int64_t bytes, int64_t multiplyAdds) {
  const double enoughThreads =
      launch.matrixElement ? device.busyMatrixThreads : device.busyThreads;
  const double rate = launch.matrixElement
                          ? device.matrixMultiplyAddsPerSecond * 2 /
                                double(launch.matrixElement) *
                                (launch.byWarpgroups ? 1 : device.ofWarps)
                          : device.multiplyAddsPerSecond;
  double all = double(launch.blocks * launch.threads);
  double used =
      std::min(1.0, all / (enoughThreads * double(device.processors)));
  if (used <= 0)
    return {0, "nothing", 0};
  double moving = double(bytes) / device.bytesPerSecond,
         computing = double(multiplyAdds) / rate,
         caching = device.cacheBytesPerSecond > 0
                       ? double(multiplyAdds) * launch.cacheBytes /
                             device.cacheBytesPerSecond
                       : 0;
  DeviceTime result;
  result.seconds = std::max({moving, computing, caching}) / used;
  result.bound = used < 0.5                               ? "few threads"
                 : moving >= std::max(computing, caching) ? "memory"
                 : caching > computing                    ? "cache"
                                                          : "arithmetic";
  double held =
      std::min(double(blocksOfProcessor(device, launch) * launch.threads),
               double(launch.threads) *
                   double(llvm::divideCeil(launch.blocks, device.processors)));
  result.occupancy = held / device.residentThreads;
  return result;
}

} // namespace ingot
