// The model of GPUs: each place of a result is a thread, in a block of threads.

#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/gpu/Neighbours.h"
#include "passes/schedule/gpu/ScalarizeVectors.h"
#include "passes/schedule/gpu/Sharing.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace ingot::graph;
using namespace ingot::kernel;

namespace ingot::schedule {

/// Returns how many threads (a warp or a block) share each row of a reduction,
/// and how many adjacent elements of the row each thread visits at a time.
static std::pair<int64_t, int64_t>
shareOfRow(const KernelBuilder &b, ArrayRef<Dim> rows, const Dim &length) {
  int64_t wanted = b.threadsOfRow(rows, length.most());
  if (!length.known())
    return {wanted, 1};
  int64_t count = *length.known(), warp = b.target.device.warp,
          lanes = lanesOfAccess(b.group);
  while (count % lanes)
    lanes /= 2;
  // Choose threads so that each thread can keep its elements of the row in
  // registers: at most 32 elements, and at most 16 if a block shares the row
  // and `mostThreads` threads suffice for that. This needs fewer than 128
  // registers per thread.
  constexpr int64_t mostThreads = 512, mostHeld = 32;
  int64_t best = 0;
  for (int64_t threads = warp; threads <= mostThreads; threads += warp) {
    int64_t own = count / threads;
    if (count % (threads * lanes) || own > mostHeld)
      continue;
    best = threads;
    if (threads >= wanted && (threads == warp || own <= mostHeld / 2))
      break;
  }
  if (best)
    return {best, lanes};
  // Narrow the accesses until at least half of the threads get elements of the
  // row.
  while (lanes > 1 && 2 * count / lanes < wanted)
    lanes /= 2;
  return {wanted, lanes};
}

/// Whether a kernel without parallel iterations runs on the host. It does if
/// it can be a host function, and if the host, including the copies of
/// operands and results, takes less time than one device thread.
static bool runsOnHost(FuncOp kernel, int64_t multiplyAdds, int64_t starts,
                       const Device &device) {
  int64_t bytes = 0;
  for (Type type : kernel.getArgumentTypes()) {
    if (type.isIndex()) // a dynamic size
      continue;
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer || !buffer.getLayout().isIdentity())
      return false;
    bytes += spanBytes(buffer);
  }
  // A host function can use neither operations of the GPU dialect, nor
  // constant tables, which are in device memory, nor functions of the user,
  // which are device functions.
  bool isOfHost = true;
  kernel.walk([&](Operation *op) {
    isOfHost &= !isa<gpu::GPUDialect>(op->getDialect()) &&
                !isa<memref::GetGlobalOp, kernel::CallExternalOp>(op);
  });
  DeviceWork one;
  one.blocks = one.threads = 1;
  return isOfHost &&
         hostSeconds(bytes, multiplyAdds) + secondsOutsideOfGraph(starts) <
             predictTime(device, one, bytes, multiplyAdds).seconds;
}

namespace {

class BlockBuilder : public KernelBuilder {
public:
  using KernelBuilder::KernelBuilder;
  using Body = llvm::function_ref<void(ArrayRef<Expr>)>;

  void forIndependent(ArrayRef<Dim> trips, Body body) override {
    forPlaces(trips, 1, [&](ArrayRef<Expr> at, Expr) { body(at); });
  }
  void forColumns(ArrayRef<Dim> trips, Body body) override {
    forIndependent(trips, body);
  }
  bool sharesRows(int64_t length, Type type) const override {
    // With fewer than two elements per thread, exchanging partial results costs
    // more than it saves.
    return length >= 2 * int64_t(target.device.warp) &&
           (type.isF32() || type.isInteger(32));
  }
  void forRows(ArrayRef<Dim> trips, const Dim &length, Type type,
               Body body) override {
    // In strict mode, elements are summed in order.
    if (!sharesRows(length.most(), type) || group.isStrict())
      return forIndependent(trips, body);
    auto [threads, lanes] = shareOfRow(*this, trips, length);
    llvm::SaveAndRestore inLanes(vectorLanes, lanes);
    forSharedRows(trips, threads, [&](ArrayRef<Expr> at, Expr) {
      body(at);
      holdRow(*this);
    });
  }
  LogicalResult finish(int64_t startsOutside) override {
    int64_t multiplyAdds = multiplyAddsOf(GroupView(group));
    if (!function.getThreads() &&
        !runsOnHost(function, multiplyAdds, startsOutside, target.device))
      onOneThread();
    function.setMultiplyAdds(multiplyAdds);
    return scalarizeVectors(function);
  }
};

} // namespace

static ExecutionModel modelOfBlocks() {
  ExecutionModel model;
  model.machine = Strategy::Machine::Device;
  model.builder = makeBuilder<BlockBuilder>;
  model.accessBytes = 16;
  model.fitsCaches = model.copiesKeys = model.sumsInHalves = false;
  model.storesNarrow = model.takesAnySign = true;
  model.readsSlices = model.separatesNorms = true;
  return model;
}

const ExecutionModel &modelOf(const TargetDescription &target) {
  static const ExecutionModel cores, blocks = modelOfBlocks();
  return target.isDevice() ? blocks : cores;
}

} // namespace ingot::schedule
