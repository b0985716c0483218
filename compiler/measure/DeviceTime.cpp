#include "compiler/measure/DeviceTime.h"

#include <algorithm>

namespace ingot {

DeviceTime predictTime(const Device &device, int64_t blocks, int64_t threads,
                       int64_t bytes, int64_t multiplyAdds,
                       int64_t matrixElement) {
  const double enoughThreads = matrixElement ? 128 : 512;
  const double rate = matrixElement ? device.matrixMultiplyAddsPerSecond * 2 /
                                          double(matrixElement)
                                    : device.multiplyAddsPerSecond;
  double used = std::min(1.0, double(blocks * threads) /
                                  (enoughThreads * double(device.processors)));
  if (used <= 0)
    return {0, "nothing"};
  double moving = double(bytes) / device.bytesPerSecond,
         computing = double(multiplyAdds) / rate;
  DeviceTime result;
  result.seconds = std::max(moving, computing) / used;
  result.bound = used < 0.5           ? "few threads"
                 : moving > computing ? "memory"
                                      : "arithmetic";
  return result;
}

} // namespace ingot
