#ifndef INGOT_COMPILER_MEASURE_DEVICETIME_H
#define INGOT_COMPILER_MEASURE_DEVICETIME_H

#include "targets/TargetDescription.h"

namespace ingot {

/// What a launch on a device takes at least, and what it waits for.
struct DeviceTime {
  double seconds = 0;
  llvm::StringRef bound;
};

/// Predicts it from the bytes of operands and results, each moved once, and from the
/// multiply-adds, at the rates of the device: those of its matrix units for elements of
/// `matrixElement` bytes, else (0) of f32. A launch of few threads reaches a part of these
/// only: a processor needs 512 of them, four warps for each of its schedulers, to begin an
/// instruction in each cycle although the next one of a thread has to wait for it (four
/// cycles, CUDA C++ Programming Guide, "Multiprocessor Level"). One warp for each
/// scheduler keeps matrix units busy, as none of its products waits for another.
DeviceTime predictTime(const Device &device, int64_t blocks, int64_t threads,
                       int64_t bytes, int64_t multiplyAdds,
                       int64_t matrixElement = 0);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICETIME_H
