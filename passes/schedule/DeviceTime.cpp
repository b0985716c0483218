#include "passes/schedule/DeviceTime.h"

#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/SmallFloats.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;

namespace ingot::schedule {

/// Bytes per second that one SM can read from L2, even if no other SM reads: 64
/// bytes per cycle at 1.9 GHz (measured on an H100 SXM in November 2026, with
/// 24 blocks that load 48 K tiles of 16 KB).
static constexpr double multiprocessorBytesPerSecond = 1.2e11;

double l2Bandwidth(const Device &device) {
  return device.l2BytesPerSecond > 0 ? device.l2BytesPerSecond
                                     : 3 * device.bytesPerSecond;
}

/// Returns the L2 bandwidth for the loads of a K loop, in bytes per second. The
/// rate of TMA copies is used only for loops over many K tiles, since the first
/// K tiles come from device memory, not from the L2 cache.
static double l2Bandwidth(const KTileLoop &loop, const Device &device) {
  constexpr double many = 8;
  return loop.areTiles && loop.kTiles >= many
             ? std::max(device.tileBytesPerSecond, l2Bandwidth(device))
             : l2Bandwidth(device);
}

double secondsOf(const KTileLoop &loop, double tiles, double resident,
                 const Device &device) {
  double ofMultiprocessor = std::ceil(tiles / device.multiprocessors),
         together = std::min(resident, ofMultiprocessor),
         rounds = std::ceil(ofMultiprocessor / together);
  double used = std::min(tiles, double(device.multiprocessors));
  double fetched = loop.fetched > 0 ? loop.fetched : loop.bytes;
  double secondsPerKTile =
      std::max({ofMultiprocessor * loop.busy,
                ofMultiprocessor * loop.bytes / multiprocessorBytesPerSecond,
                ofMultiprocessor * fetched * used / l2Bandwidth(loop, device),
                rounds * std::max(arrivalSeconds / loop.ahead, loop.waiting)});
  double again = loop.goesOn ? 0 : arrivalSeconds / together;
  return loop.kTiles * secondsPerKTile + loop.closing +
         (rounds - 1) * (again + loop.closing / together);
}

/// Returns the bytes of all pipeline stages of a tile in shared memory.
static double bytesOfTile(Value tile) {
  auto type = cast<MemRefType>(tile.getType());
  return double(type.getNumElements() *
                kernel::elementBytes(type.getElementType()));
}

/// Returns the trip count of the loop around an operation; 0 if it is not
/// static.
static double tripsAround(Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  auto trips = loop ? loop.getStaticTripCount() : std::nullopt;
  return trips ? double(trips->getZExtValue()) : 0;
}

/// Finds K tiles that are loaded by TMA copies of whole tiles, and describes
/// their loop in `work`.
static void findTiles(kernel::FuncOp kernel, DeviceWork &work) {
  kernel.walk([&](kernel::CopyTileOp copy) {
    work.loop.kTiles = tripsAround(copy);
    work.loop.goesOn = true;
    work.loop.areTiles = true;
  });
  // Bytes that the kernel fetches into each K tile. A K tile may be filled in
  // several MLIR blocks by the same copies, so only the copies in the first of
  // these blocks are counted.
  llvm::MapVector<Value, std::pair<Block *, double>> fetched;
  kernel.walk([&](kernel::CopyTileOp copy) {
    auto &[block, bytes] =
        fetched.try_emplace(copy.getTo(), copy->getBlock(), 0).first->second;
    if (block != copy->getBlock())
      return;
    double box = double(kernel::elementBytes(
        cast<MemRefType>(copy.getTo().getType()).getElementType()));
    for (int64_t size :
         copy.getTiles().getDefiningOp<kernel::TilesOp>().getBox())
      box *= double(size);
    bytes += box;
  });
  for (auto &[to, of] : fetched)
    work.loop.fetched += of.second;
  llvm::SmallSetVector<Value, 2> sums;
  kernel.walk([&](kernel::TileProductOp product) {
    sums.insert(product.getSums());
    work.byWarpgroups = true;
    work.matrixElement = int64_t(llvm::PowerOf2Ceil(
                             product.getLeftType().getIntOrFloatBitWidth())) /
                         8;
    if (product.getFirst() || product.isLeftWords())
      return;
    auto left = cast<MemRefType>(product.getLeft().getType()),
         right = cast<MemRefType>(product.getRight().getType());
    auto stages = double(left.getDimSize(0));
    work.loop.ahead = stages;
    work.loop.bytes =
        (bytesOfTile(product.getLeft()) + bytesOfTile(product.getRight())) /
        stages;
    int64_t steps =
        left.getDimSize(left.getRank() - (product.getLeftTurned() ? 2 : 1));
    work.macsPerKTile = double(left.getNumElements()) / stages *
                        double(right.getNumElements()) / stages / double(steps);
  });
}

/// Finds blocks of keys and values that TMA copies load for all queries of a
/// thread block, and describes their loop in `work`. One warpgroup alone takes
/// about 9 cycles per key for its 64 queries (as strategy warpgroup-attention
/// estimates); each of its 128 threads holds half a sum per key.
static void findTilesOfAttention(kernel::FuncOp kernel, DeviceWork &work) {
  llvm::SmallSetVector<Value, 2> tiles;
  int64_t queries = 0;
  kernel.walk([&](kernel::TileProductOp product) {
    if (product.getFirst()) {
      constexpr double ofKey = 9 / 1.755e9;
      queries =
          cast<MemRefType>(product.getLeft().getType()).getShape().end()[-2];
      work.loop.waiting =
          ofKey * 2 * double(product.getSums().getType().getNumElements());
    }
    if (product.getFirst() || product.isLeftWords())
      tiles.insert(product.getRight());
  });
  if (queries == 0)
    return;
  work.loop.goesOn = false;
  work.loop.bytes = work.macsPerKTile = 0;
  for (Value tile : tiles) {
    auto type = cast<MemRefType>(tile.getType());
    auto stages = double(type.getDimSize(0));
    work.loop.ahead = stages;
    work.loop.bytes += bytesOfTile(tile) / stages;
    work.macsPerKTile +=
        double(type.getNumElements()) / stages * double(queries);
  }
}

/// Finds K tiles that the threads of a block prefetch with asynchronous copies,
/// and describes their loop in `work`.
static void findCopies(kernel::FuncOp kernel, DeviceWork &work) {
  kernel::AwaitCopiesOp await;
  kernel.walk([&](kernel::AwaitCopiesOp op) {
    if (op->getParentOfType<scf::ForOp>())
      await = op;
  });
  if (!await)
    return;
  double stages = double(await.getNewest()) + 2;
  llvm::SmallSetVector<Value, 2> tiles;
  kernel.walk(
      [&](kernel::LoadMatricesOp load) { tiles.insert(load.getTile()); });
  work.loop.kTiles = tripsAround(await);
  work.loop.ahead = stages - 1;
  for (Value tile : tiles)
    work.loop.bytes += bytesOfTile(tile) / stages;
}

DeviceWork DeviceWork::of(kernel::FuncOp kernel) {
  constexpr double ofWarp = 32;
  DeviceWork work;
  work.threads = kernel.getThreads().value_or(0);
  if (work.threads)
    work.blocks = kernel::extentOf(kernel)->most();
  work.shared = kernel::sharedBytes(kernel);
  double products = 0;
  kernel.walk([&](kernel::WarpProductOp product) {
    work.matrixElement =
        int64_t(llvm::PowerOf2Ceil(product.getLeft().getIntOrFloatBitWidth())) /
        8;
    work.areFloat8 = isFloat8(product.getLeft());
    // Counts the MMAs inside of loops. Each MMA has 16 rows, 8 columns and 32
    // bytes along K, from which macsPerKTile is computed below.
    products += product->getParentOfType<scf::ForOp>() ? 1 : 0;
  });
  if (products > 0) {
    work.macsPerKTile = products * 16 * 8 * 32 / double(work.matrixElement) *
                        double(work.threads) / ofWarp;
    // `products` counts the MMAs for both halves (along K) of a K tile. Both
    // halves add to the same sums, four per MMA and thread.
    work.loop.closing = closingSeconds(products / 2 * 4);
  }
  kernel.walk([&](kernel::CountOp) { work.counts = true; });
  findTiles(kernel, work);
  findTilesOfAttention(kernel, work);
  findCopies(kernel, work);
  return work;
}

/// Returns how many blocks an SM holds at once, at least 1, limited by threads,
/// registers and shared memory. The device itself reserves 1 KB of shared
/// memory per block (from compute capability 8.0 on).
static int64_t blocksOfMultiprocessor(const Device &device,
                                      const DeviceWork &work) {
  int64_t threads = llvm::alignTo(work.threads, device.warp);
  int64_t byRegisters =
      device.registers / (threads * int64_t(llvm::alignTo(work.registers, 8)));
  constexpr int64_t own = 1 << 10;
  int64_t byShared = (device.sharedBytes + own) / (work.shared + own);
  return std::max<int64_t>(
      1, std::min({device.residentThreads / threads, byRegisters, byShared}));
}

/// Rates of the host and of the bus between host and device. PCIe 3.0 x16 has
/// 15.8 GB/s, of which about 12 are reached. A small copy with its wait takes
/// about 10 us (NVIDIA's blog on data transfers, 2012). A launch takes 3.8 us
/// in a stream and 3.4 us in a graph (NVIDIA's blog on launch graphs, 2019);
/// `startSeconds` is more than the difference, to allow for slower hosts.
/// Sequential host code takes about 4 ns per 4-byte element.
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
                            bool areFloat8) {
  return areFloat8 && device.multipliesByWarpgroups() ? 2 : elementBytes;
}

/// Returns the seconds of a launch whose blocks load K tiles one after the
/// other, given the seconds that the whole device needs for the arithmetic.
static double kLoopSeconds(const Device &device, const DeviceWork &work,
                           int64_t multiplyAdds, double computing) {
  KTileLoop loop = work.loop;
  double tiles = double(work.blocks);
  double ofBlocks = std::round(double(multiplyAdds) / work.macsPerKTile);
  if (loop.kTiles == 0)
    loop.kTiles = std::ceil(ofBlocks / tiles);
  else if (loop.goesOn)
    tiles = std::max(tiles, std::round(ofBlocks / loop.kTiles));
  double all = tiles * loop.kTiles;
  loop.busy = all > 0 ? computing * double(device.multiprocessors) / all : 0;
  return secondsOf(loop, tiles, double(blocksOfMultiprocessor(device, work)),
                   device) +
         (work.counts ? countingSeconds : 0);
}

/// Returns the factor by which an uneven last wave slows down the launch: some
/// SMs compute one tile more than others.
static double lastWave(const Device &device, const DeviceWork &work) {
  if (!work.matrixElement || work.blocks <= device.multiprocessors)
    return 1;
  double tiles = double(work.blocks) / device.multiprocessors;
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
                                                  work.areFloat8)) /
                           device.ofWarps)
          : device.multiplyAddsPerSecond;
  if (work.threads == 0)
    return {hostSeconds(bytes, multiplyAdds), 0, "host", 0};
  double all = double(work.blocks * work.threads);
  double used =
      std::min(1.0, all / (enoughThreads * double(device.multiprocessors)));
  if (used <= 0)
    return {0, 0, "nothing", 0};
  double moving = double(bytes) / device.bytesPerSecond,
         computing = double(multiplyAdds) / rate;
  double whole = std::max(moving, computing * lastWave(device, work)) / used;
  double following =
      work.loop.bytes > 0 && work.macsPerKTile > 0 && work.blocks > 0
          ? kLoopSeconds(device, work, multiplyAdds, computing)
          : 0;
  DeviceTime result;
  result.seconds = std::max(whole, following);
  result.busy = used;
  result.bound = following > whole     ? "K tiles"
                 : used < 0.5          ? "few threads"
                 : moving >= computing ? "memory"
                                       : "arithmetic";
  double held = std::min(
      double(blocksOfMultiprocessor(device, work) * work.threads),
      double(work.threads) *
          double(llvm::divideCeil(work.blocks, device.multiprocessors)));
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
