#ifndef INGOT_COMPILER_MEASURE_DEVICETIME_H
#define INGOT_COMPILER_MEASURE_DEVICETIME_H

#include "compiler/measure/Footprint.h"

namespace ingot {

/// What a launch on a device takes at least, and what it waits for.
struct DeviceTime {
  double seconds = 0;
  llvm::StringRef bound;
  /// Of the threads that a processor can hold, the part that it does hold.
  double occupancy = 0;
};

/// Predicts it from the bytes of operands and results, each moved once, and from the
/// multiply-adds, at the rates of the device: those of its matrix units, by warpgroups or
/// by single warps, else of f32; and from what tiles take from the second cache. A launch
/// of fewer threads than keep all processors busy reaches a part of these only.
DeviceTime predictTime(const Device &device, const Footprint::Launch &launch,
                       int64_t bytes, int64_t multiplyAdds);

} // namespace ingot

#endif // INGOT_COMPILER_MEASURE_DEVICETIME_H
