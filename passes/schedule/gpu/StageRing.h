// Mbarriers that synchronize the producer warpgroup, which fetches tiles, with
// the consumer warpgroups, which compute with these tiles.

#ifndef INGOT_PASSES_SCHEDULE_GPU_STAGERING_H
#define INGOT_PASSES_SCHEDULE_GPU_STAGERING_H

#include "passes/schedule/gpu/WarpgroupTile.h"

namespace ingot::schedule {

/// A ring buffer of pipeline stages in shared memory. Each stage has two
/// mbarriers: `full` completes when its tiles have arrived, `empty`
/// when they have been read and may be overwritten.
class StageRing {
public:
  /// Allocates the mbarriers of the pipeline stages and `further` additional
  /// mbarriers.
  StageRing(KernelBuilder &b, int64_t stages, int64_t further);

  graph::Expr full(graph::Expr stage) const { return stage; }
  graph::Expr empty(graph::Expr stage) const { return stage + double(stages); }
  graph::Expr further(int64_t number) const;

  /// Emits the initialization of the mbarriers by one thread, followed by a
  /// barrier of the block, or of its cluster if `hasCluster` is set. `thread`
  /// is the number of the executing thread. A `full` mbarrier completes after
  /// one arrival, an `empty` mbarrier after `readers` arrivals, and additional
  /// mbarrier i after `arrivals[i]` arrivals.
  void setUp(graph::Expr thread, int64_t readers,
             llvm::ArrayRef<int64_t> arrivals, bool hasCluster = false) const;
  void await(graph::Expr mbarrier, graph::Expr parity) const;
  /// Emits an arrival at an mbarrier of this block or, if `block` is not null,
  /// of block `block` of its cluster.
  void arrive(graph::Expr mbarrier, mlir::Value block = {}) const;
  void expect(graph::Expr mbarrier, int64_t bytes) const;

  /// Return the pipeline stage that fetch number `count` (from 0) fills, and
  /// the parity of the phase of `full` that this fetch completes.
  graph::Expr stageOf(graph::Expr count) const;
  graph::Expr parityOf(graph::Expr count) const;

  mlir::Value mbarriers;

private:
  KernelBuilder &b;
  int64_t stages;
};

/// Allocates shared memory aligned to `alignment` bytes.
mlir::Value sharedAt(int64_t alignment, KernelBuilder &b,
                     llvm::ArrayRef<int64_t> shape, mlir::Type type,
                     const llvm::Twine &name);
/// Allocates shared memory for tiles that are the destination of TMA copies.
mlir::Value sharedForCopies(KernelBuilder &b, llvm::ArrayRef<int64_t> shape,
                            mlir::Type type, const llvm::Twine &name);

/// Emit setmaxnreg: fewer registers for the threads of the producer warpgroup,
/// more for those of the consumers. Emit nothing if the consumers would gain no
/// registers by this.
void setRegistersOfFetching(KernelBuilder &b, const WarpgroupTile &tile);
void setRegistersOfSums(KernelBuilder &b, const WarpgroupTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_STAGERING_H
