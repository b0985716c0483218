// Predicts the duration of a launch on a device before it has run.

#ifndef INGOT_PASSES_SCHEDULE_DEVICETIME_H
#define INGOT_PASSES_SCHEDULE_DEVICETIME_H

#include "dialects/kernel/KernelDialect.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

/// The loop in which a block loads K tiles of the operands and multiplies them.
struct KTileLoop {
  /// Number of K tiles, bytes of each, and how many may be in flight while one
  /// is multiplied.
  double kTiles = 0, bytes = 0, ahead = 1;
  /// Bytes of a K tile that the block itself fetches, if other blocks of its
  /// cluster fetch the rest. 0 means that it fetches all `bytes`.
  double fetched = 0;
  /// Seconds for which one K tile keeps its SM busy, and the latency that a
  /// block has per K tile even if the K tile is already in shared memory.
  double busy = 0, waiting = 0;
  /// Seconds of the epilogue after the last K tile of a block.
  double closing = 0;
  /// Whether a block prefetches the first K tiles of its next output tile while
  /// it stores the sums of its present one.
  bool goesOn = false;
  /// Whether TMA copies load whole tiles. L2 delivers a long sequence of such
  /// tiles faster than it serves other loads.
  bool areTiles = false;
};

/// Returns the seconds that the K loops of `tiles` output tiles take on the
/// whole device, from the arrival of the first K tile. Each SM holds up to
/// `resident` blocks at a time, and multiplies K tiles of one block while the
/// others wait for theirs. Each K tile arrives `arrivalSeconds` after its
/// request.
double secondsOf(const KTileLoop &loop, double tiles, double resident,
                 const Device &device);

/// Seconds from the request of a K tile until it is in shared memory, under
/// load. Measured on an H100 SXM in November 2026: 0.7 to 0.9 us for matrix
/// products of 3 to 18 K tiles on 20 to 196 blocks, with two K tiles in flight
/// per block.
inline constexpr double arrivalSeconds = 0.85e-6;
/// Returns the seconds of a block's epilogue, in which each thread stores
/// `sumsOfThread` sums. Each store has its own instructions, which run once and
/// miss the instruction cache: 0.03 to 0.08 us per sum (H100 SXM, November
/// 2026, 32 to 128 sums per thread).
inline double closingSeconds(double sumsOfThread) {
  return 0.3e-6 + 0.04e-6 * sumsOfThread;
}
/// Latency of each launch in a graph until its first loads arrive (H100 SXM,
/// November 2026, networks of 55 to 136 kernels).
inline constexpr double launchSeconds = 2.2e-6;

/// Returns the L2 bandwidth in bytes per second. If the target does not state
/// it, assumes three times the memory bandwidth (data sheet of the A100).
double l2Bandwidth(const Device &device);

/// The properties of a kernel that determine its duration.
struct DeviceWork {
  /// The maximum number of blocks, the threads per block, the bytes of shared
  /// memory per block, and the approximate registers per thread.
  int64_t blocks = 0, threads = 0, shared = 0, registers = 16;
  /// Whether warpgroups multiply tiles (wgmma).
  bool byWarpgroups = false;
  /// The size in bytes of the elements that the tensor cores multiply, 0 if the
  /// kernel does not use tensor cores; and whether the elements are 8-bit
  /// floats.
  int64_t matrixElement = 0;
  bool areFloat8 = false;
  /// The K loop of a block; predictTime computes its `busy`, which is 0 here.
  /// `bytes` is 0 if there is no K loop, `kTiles` is 0 if the number of K tiles
  /// is unknown. `macsPerKTile` is the number of multiply-adds per K tile; 0 if
  /// unknown.
  KTileLoop loop;
  double macsPerKTile = 0;
  /// Whether blocks of the kernel add to a counter to find out which one ends
  /// last (kernel.count).
  bool counts = false;

  /// Returns the properties, except the registers, of a kernel that is
  /// scheduled for a device.
  static DeviceWork of(kernel::FuncOp kernel);
};

/// Returns the bytes per element that determine the rate of tensor-core
/// products by single warps. Usually these are `elementBytes`. On devices whose
/// warpgroups multiply 8-bit floats, they are 2 for such floats, since mma.sync
/// converts them to f16 first (as nvcc 13 compiles it for compute capability
/// 9.0).
int64_t bytesOfWarpProducts(const Device &device, int64_t elementBytes,
                            bool areFloat8);

/// The estimated duration of a launch on a device, and what limits it.
struct DeviceTime {
  double seconds = 0;
  /// `busy` is the fraction of the device's throughput that the launch can use.
  /// `bound` names what limits the launch, for example "memory".
  double busy = 0;
  llvm::StringRef bound;
  /// Resident threads as a fraction of the most that an SM can hold.
  double occupancy = 0;
};

/// Predicts the duration from the bytes of operands and results, each moved
/// once, and from the multiply-adds, at the rates of the device (tensor cores
/// by warpgroup or by warp, else f32). A launch with too few threads to keep
/// all SMs busy reaches only part of these rates; a K loop adds its latency. A
/// kernel without threads runs on the host (hostSeconds).
DeviceTime predictTime(const Device &device, const DeviceWork &work,
                       int64_t bytes, int64_t multiplyAdds);

/// Returns the seconds that a kernel takes if the host computes it in a program
/// for a device: copying its operands to the host and its results back, with a
/// wait for each copy, and computing.
double hostSeconds(int64_t bytes, int64_t multiplyAdds);
/// Returns the extra seconds of `launches` launches that start one by one
/// instead of in a graph.
double secondsOutsideOfGraph(int64_t launches);

/// The additional seconds of a kernel whose blocks are counted (kernel.count).
/// A block waits about 1.5 us until other blocks see its results and it has the
/// value of the counter (twice a fence, an atomic addition and a load, of about
/// 300 cycles each). A launch of about 2 us clears the counters before.
inline constexpr double countingSeconds = 1.5e-6 + 2e-6;

/// The time of a branch: consecutive launches that run concurrently with those
/// of other branches. `seconds` is the sum of the launches' times, `alone` the
/// time that they would take if each launch used the whole device.
struct BranchTime {
  double seconds = 0, alone = 0;
  void add(const DeviceTime &launch) {
    seconds += launch.seconds;
    alone += launch.seconds * launch.busy;
  }
};

/// Returns the seconds of concurrent branches: the seconds of the longest
/// branch or the sum of all `alone`, whichever is more, plus the cost of
/// forking and joining.
double secondsOf(llvm::ArrayRef<BranchTime> branches, const Device &device);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_DEVICETIME_H
