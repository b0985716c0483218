// How a warpgroup that fetches tiles and those that compute from them take turns.

#ifndef INGOT_PASSES_SCHEDULE_GPU_STAGERING_H
#define INGOT_PASSES_SCHEDULE_GPU_STAGERING_H

#include "passes/schedule/gpu/WarpgroupTile.h"

namespace ingot::schedule {

/// A ring of stages in shared memory. Each stage has two gates: one opens when its tiles are
/// there, the other one when they have been read and others may be brought.
class StageRing {
public:
  /// Builds the gates: those of the stages, and `further` ones.
  StageRing(KernelBuilder &b, int64_t stages, int64_t further);

  graph::Expr full(graph::Expr stage) const { return stage; }
  graph::Expr empty(graph::Expr stage) const { return stage + double(stages); }
  graph::Expr further(int64_t number) const;

  /// One thread sets the gates up: of each stage `readers` threads say that it has been read,
  /// and for each of the further gates so many arrive. All others wait, those of the block's
  /// cluster as well where it has one.
  void setUp(graph::Expr thread, int64_t readers,
             llvm::ArrayRef<int64_t> arrivals, bool hasCluster = false) const;
  void await(graph::Expr gate, graph::Expr parity) const;
  /// Arrives at a gate of this block, or of another one of its cluster.
  void arrive(graph::Expr gate, mlir::Value block = {}) const;
  void expect(graph::Expr gate, int64_t bytes) const;

  /// Of what is fetched in turn: the stage, and the parity of its opening.
  graph::Expr stageOf(graph::Expr count) const;
  graph::Expr parityOf(graph::Expr count) const;

  mlir::Value gates;

private:
  KernelBuilder &b;
  int64_t stages;
};

/// Memory of the block that begins at a multiple of `alignment` bytes.
mlir::Value sharedAt(int64_t alignment, KernelBuilder &b,
                     llvm::ArrayRef<int64_t> shape, mlir::Type type,
                     const llvm::Twine &name);
/// The same for tiles that copies bring.
mlir::Value sharedForCopies(KernelBuilder &b, llvm::ArrayRef<int64_t> shape,
                            mlir::Type type, const llvm::Twine &name);

/// Gives registers of threads that fetch to those that compute, where that has an effect.
void setRegistersOfFetching(KernelBuilder &b, const WarpgroupTile &tile);
void setRegistersOfSums(KernelBuilder &b, const WarpgroupTile &tile);

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_STAGERING_H
