// Prefetches weights before the launch that reads them.
//
// On targets with range prefetch, each launch is preceded by a prefetch of the
// constants of the next launch. The first launch is also preceded by a prefetch
// of its own constants. The number of bytes is limited to the part of the L2
// cache that is reserved for weights: they stay there while the input and the
// result of a layer pass through the cache.
//
//   kernel.launch @a(..)            kernel.prefetch %weights, 36864
//   kernel.launch @b(%weights) ->   kernel.launch @a(..)
//                                   kernel.launch @b(%weights)
//
// If the weights of a launch exceed this limit, only their beginning is
// prefetched here; their kernel prefetches the rest, panel by panel.

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/plan/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::plan {
#define GEN_PASS_DEF_PREFETCHWEIGHTS
#include "passes/plan/Passes.h.inc"

namespace {

/// Smaller constants are not prefetched: they are loaded while the kernel
/// starts.
constexpr int64_t leastBytes = 4096;
/// A constant is assumed to be cached if one of this many previous launches has
/// read it.
constexpr size_t recentLaunches = 4;

/// Returns the constants of at least `leastBytes` bytes that `launch` reads.
SmallVector<memref::GetGlobalOp> constantsOf(kernel::LaunchOp launch) {
  SmallVector<memref::GetGlobalOp> constants;
  for (Value operand : launch.getOperands()) {
    while (auto view = operand.getDefiningOp<kernel::ViewOp>())
      operand = view.getSource();
    if (auto get = operand.getDefiningOp<memref::GetGlobalOp>();
        get && kernel::spanBytes(get.getType()) >= leastBytes &&
        !llvm::is_contained(constants, get))
      constants.push_back(get);
  }
  return constants;
}

struct PrefetchWeightsPass : impl::PrefetchWeightsBase<PrefetchWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    most = target.residentBytes();
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SmallVector<kernel::LaunchOp> launches(
          program.getBody().getOps<kernel::LaunchOp>());
      llvm::StringMap<size_t> lastRead;
      for (auto [number, launch] : llvm::enumerate(launches))
        for (memref::GetGlobalOp get : constantsOf(launch)) {
          auto known = lastRead.find(get.getName());
          if (known == lastRead.end() ||
              known->second + recentLaunches < number)
            prefetch(get, launches[number ? number - 1 : 0]);
          lastRead[get.getName()] = number;
        }
    }
  }

private:
  void prefetch(memref::GetGlobalOp get, kernel::LaunchOp before) const {
    OpBuilder builder(before);
    // The constant may be defined after the launch `before`.
    if (before->isBeforeInBlock(get))
      get->moveBefore(before);
    kernel::PrefetchOp::create(
        builder, get.getLoc(), get.getResult(), ValueRange(),
        std::min<int64_t>(kernel::spanBytes(get.getType()), most));
  }

  int64_t most = 0;
};

} // namespace
} // namespace ingot::plan
