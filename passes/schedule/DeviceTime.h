// What a launch on a device takes, from what is known of it before it has run.

#ifndef INGOT_PASSES_SCHEDULE_DEVICETIME_H
#define INGOT_PASSES_SCHEDULE_DEVICETIME_H

#include "dialects/kernel/KernelDialect.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// The strips of operands that a block brings and multiplies one after the other.
struct StripLoop {
  /// How many, and the bytes of each; no more than `ahead` are on their way while one is
  /// multiplied.
  double strips = 0, bytes = 0, ahead = 1;
  /// Bytes of a strip that the block itself fetches, where others fetch some for it; else 0.
  double fetched = 0;
  /// Seconds that a strip keeps its processor busy, and that a block alone takes for it though
  /// it is there.
  double busy = 0, waiting = 0;
  /// Seconds that follow the last strip of a block.
  double closing = 0;
  /// Whether a block brings strips of its next tile while it stores the sums of this one.
  bool goesOn = false;
  /// Whether strips are copied as whole tiles, many of which the second cache yields faster.
  bool areTiles = false;
};

/// What so many tiles take by such loops, from the first strip's arrival on. A
/// processor with several blocks, `resident` at a time, brings and multiplies strips of one
/// while others wait. Each strip arrives `arrivalSeconds` after it was asked for.
double secondsOf(const StripLoop &loop, double tiles, double resident,
                 const Device &device);

/// From asking for a strip until it is in shared memory, where processors ask for many (H100
/// SXM, November 2026: products of 3 to 18 strips by 20 to 196 blocks of which each has two on
/// their way, 0.7 to 0.9 us).
inline constexpr double arrivalSeconds = 0.85e-6;
/// What follows the last strip of a block: each of the sums of a thread goes to memory by
/// instructions that run once, and have to come from there themselves (same, 32 to 128 sums of
/// a thread: 0.03 to 0.08 us each).
inline double closingSeconds(double sumsOfThread) {
  return 0.3e-6 + 0.04e-6 * sumsOfThread;
}
/// What each launch of a graph takes until the first it reads is there (same, networks of 55 to
/// 136 kernels).
inline constexpr double launchSeconds = 2.2e-6;

/// What processors read from the second cache per second: about three times what memory
/// yields where nothing better is known (the data sheet of A100).
double cacheRate(const Device &device);

/// What of a kernel says how long it takes.
struct DeviceWork {
  /// How many blocks at most, the threads of each, the bytes that these share, and about
  /// how many registers a thread takes.
  int64_t blocks = 0, threads = 0, shared = 0, registers = 16;
  /// Whether warpgroups multiply tiles.
  bool byWarpgroups = false;
  /// Bytes of the elements that it multiplies in matrix units; 0 if in none; and whether
  /// these are floats of 8 bits.
  int64_t matrixElement = 0;
  bool areBytesOfFloats = false;
  /// What a block brings and multiplies, without the seconds; no bytes if it has no such
  /// loop, and 0 strips if the kernel does not say how many a tile has. Multiply-adds of a strip
  /// where blocks may take several tiles.
  StripLoop loop;
  double macsOfStrip = 0;
  /// Whether blocks are counted.
  bool counts = false;

  /// All but the registers, of a kernel that is scheduled for a device.
  static DeviceWork of(kernel::FuncOp kernel);
};

/// As how many bytes warps multiply such elements: where warpgroups multiply floats of 8
/// bits, single warps make them f16 first (as nvcc 13 compiles mma.sync for 9.0).
int64_t bytesOfWarpProducts(const Device &device, int64_t elementBytes,
                            bool areBytesOfFloats);

/// What a launch on a device takes at least, and what it waits for.
struct DeviceTime {
  double seconds = 0;
  /// The part of what the device could do meanwhile.
  double busy = 0;
  llvm::StringRef bound;
  /// Of the threads that a processor can hold, the part that it does hold.
  double occupancy = 0;
};

/// Predicts it from the bytes of operands and results, each moved once, and from the
/// multiply-adds, at the rates of the device: those of its matrix units, by warpgroups or
/// by single warps, else of f32. A launch of fewer threads than keep all processors busy
/// reaches a part of these only; and strips of a block follow one another.
DeviceTime predictTime(const Device &device, const DeviceWork &work,
                       int64_t bytes, int64_t multiplyAdds);

/// What a kernel takes on the host beside a device, with the copies of what it reads there
/// and of what it writes back, and a wait for each of both.
double hostSeconds(int64_t bytes, int64_t multiplyAdds);
/// What so many launches lose where they start one by one, and not as a graph.
double secondsOutsideOfGraph(int64_t launches);

/// What it takes that blocks are counted (kernel.count). A block waits about 1.5 us in all
/// until others see what it wrote and it knows the number (a fence, an atomic addition and a
/// load of about 300 cycles each, twice); clearing the numbers is a launch of its own, of
/// about 2 us.
inline constexpr double countingSeconds = 1.5e-6 + 2e-6;

/// What launches of a branch take one after the other, and how much of that they would
/// take if they had all of the device.
struct BranchTime {
  double seconds = 0, alone = 0;
  void add(const DeviceTime &launch) {
    seconds += launch.seconds;
    alone += launch.seconds * launch.busy;
  }
};

/// What branches take at the same time: as long as the longest one, and as all of them if
/// each had all of the device; and what it costs to begin and end them.
double secondsOf(llvm::ArrayRef<BranchTime> branches, const Device &device);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_DEVICETIME_H
