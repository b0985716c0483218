// The sums of a block of warpgroups, and their epilogue.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPSUMS_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPSUMS_H

#include "passes/schedule/gpu/StageRing.h"
#include "passes/schedule/gpu/WarpgroupCopies.h"

namespace ingot::schedule {

class WarpgroupSums {
public:
  /// `place` is the position of the current tile, which the kernel updates for
  /// each tile. Columns are interleaved only if `mayDeal` is set.
  WarpgroupSums(KernelBuilder &b, const BlockOperands &operands,
                const WarpgroupTile &tile, bool mayDeal,
                const WarpgroupCopies::Place &place);

  /// Returns how many MMAs have their columns interleaved; 1 if columns are
  /// not.
  int64_t units() const { return vectors.units(); }
  /// Allocates the shared memory through which slices (sets of warpgroups), or
  /// the blocks of a split-K cluster, pass their sums to each other.
  void declareShared();

  /// Returns how many threads arrive at the additional mbarrier of the
  /// StageRing; empty if no such mbarrier is needed, since K is not split.
  llvm::SmallVector<int64_t, 1> arrivals() const;
  /// Sets the number of bytes that the blocks of a split-K cluster, including
  /// this one, send to this block. Executed by one thread. Does nothing if
  /// blocks do not split K.
  void expect(const StageRing &ring) const;

  /// A consumer thread: its number in the block and in its warp, the number of
  /// the warp in its warpgroup, the slice (set of warpgroups) and the first row
  /// of the warpgroup, and the block's number in its cluster.
  struct Thread {
    graph::Expr number, lane, warp, slice, groupRow, inCluster;
  };
  /// Allocates the arrays of the sums of `thread`, one for each MMA of 64 rows,
  /// and the arrays of epilogue operands.
  void declare(const Thread &thread);
  llvm::ArrayRef<mlir::Value> arrays() const { return lists; }
  /// Initializes the sums and starts to load epilogue operands for which
  /// registers suffice. Executed before the first K tile of an output tile.
  void start();
  /// Completes and stores the results. Executed after the last K tile of an
  /// output tile. Slices (sets of warpgroups), or blocks of a split-K cluster,
  /// synchronize at the first additional mbarrier of the ring.
  void store(const StageRing &ring);

private:
  mlir::Type sumType() const;
  /// Emits an unrolled loop of `body` over the numbers [0, `count`), so that
  /// these numbers can index sums in registers.
  void unrolled(int64_t count, const llvm::Twine &name,
                llvm::function_ref<void(graph::Expr)> body);
  graph::Expr rowOf(int64_t i, int64_t half);
  int64_t groups() const { return tile.columns / 8 / vectors.units(); }
  graph::Expr columnOf(graph::Expr group, int64_t offset);
  /// Returns the index of a sum in an array of a thread's sums. `offset` is the
  /// number of the sum's column among the columns that the thread has in group
  /// number `group` of interleaved MMAs. The thread has two rows in an MMA:
  /// `half` is 0 for a sum in the first row, 1 for one in the row 8 further.
  graph::Expr sumAt(graph::Expr group, int64_t half, int64_t offset);
  graph::Expr biasOf(graph::Expr group, int64_t offset);
  void startSums();
  void storeSlices(const StageRing &ring);
  /// Whether a single slice (set of warpgroups) of a single block sums all K
  /// tiles (no split-K).
  bool isWhole() const { return tile.slices == 1 && tile.behind == 1; }
  /// Returns how many of a thread's column groups each block of a split-K
  /// cluster completes. A column group consists of the thread's columns, in one
  /// row, of a group of MMAs whose columns are interleaved.
  int64_t ownGroups() const;
  struct Own {
    graph::Expr group, row;
  };
  Own ownGroup(graph::Expr n);
  void sendSums(const StageRing &ring);
  /// Sends this block's sums to the blocks of the cluster that complete them.
  /// Then adds up the sums that all blocks have sent for the columns that this
  /// block completes, and stores the results. All loads come before the first
  /// store.
  void storeOwn(const StageRing &ring);
  mlir::Value listOf(mlir::Type type, int64_t count, const llvm::Twine &name);
  /// Allocates arrays for operands of the epilogue that have the shape of the
  /// result. Operands for which registers suffice are loaded while K tiles are
  /// multiplied. The others are loaded for a whole row before any result of the
  /// row is computed, since nvcc merges loads only if they are adjacent.
  void declareOperands();
  struct Operand {
    mlir::Value tensor, elements;
    bool isEarly;
  };
  graph::Expr elementAt(const Operand &operand, int64_t i, int64_t half,
                        graph::Expr group, int64_t offset);
  /// Loads an operand's elements for the row `row`.
  void load(const Operand &operand, int64_t i, int64_t half, graph::Expr row);
  void loadVector(const Operand &operand, graph::Expr row, graph::Expr group,
                  int64_t first, graph::Expr to);
  void loadEarly();
  /// Computes and stores the results of a tile. Loads all operands of the
  /// epilogue before the first store, for both rows that the thread has in an
  /// MMA, or for one row at a time if registers do not suffice: stores and
  /// conditions between loads would serialize the loads.
  void storeWhole();
  void forVectors(llvm::function_ref<void(graph::Expr, int64_t)> body);
  graph::Expr resultAt(graph::Expr group, int64_t offset);
  void findResults(int64_t i, int64_t half, graph::Expr row,
                   mlir::Value results);
  /// Computes the results of those columns of a thread that one store writes.
  void findVector(
      graph::Expr inside, graph::Expr group, int64_t first,
      llvm::function_ref<graph::Expr(int64_t)> sumOf,
      llvm::function_ref<graph::Expr(const Operand &, int64_t)> elementOfVector,
      mlir::Value results, graph::Expr to);
  void storeResults(graph::Expr row, mlir::Value results);
  void storeVector(graph::Expr row, graph::Expr group, int64_t first,
                   mlir::Value results, graph::Expr from);

  KernelBuilder &b;
  const BlockOperands &operands;
  WarpgroupTile tile;
  mlir::Value anchor;
  ResultVectors vectors;
  const WarpgroupCopies::Place &place;
  Thread mine;
  mlir::Value parts;
  llvm::SmallVector<mlir::Value> lists;
  llvm::SmallVector<Operand, 1> epilogueOperands;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPSUMS_H
