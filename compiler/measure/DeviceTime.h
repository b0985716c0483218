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
/// multiply-adds, at the rates of the device. A launch of few threads reaches a part of
/// these only: a processor needs 512 of them, four warps for each of its schedulers, to
/// begin an instruction in each cycle although the next one of a thread has to wait for
/// it (four cycles, CUDA C++ Programming Guide, "Multiprocessor Level").
DeviceTime predictTime(const Device &device, int64_t blocks, int64_t threads,
                       int64_t bytes, int64_t multiplyAdds);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICETIME_H
