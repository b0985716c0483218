// The sums of a block of warpgroups, and what becomes of them.

#ifndef INGOT_PASSES_SCHEDULE_GPU_WARPGROUPSUMS_H
#define INGOT_PASSES_SCHEDULE_GPU_WARPGROUPSUMS_H

#include "passes/schedule/gpu/StageRing.h"
#include "passes/schedule/gpu/WarpgroupCopies.h"

namespace ingot::schedule {

class WarpgroupSums {
public:
  /// `place` is that of the tile at hand, whichever it is. Columns are dealt out if they may be.
  WarpgroupSums(KernelBuilder &b, const BlockOperands &operands,
                const WarpgroupTile &tile, bool mayDeal,
                const WarpgroupCopies::Place &place);

  /// How many units of columns are dealt out together.
  int64_t units() const { return pieces.units(); }
  /// Declares the shared memory where slices, or blocks behind each other, leave sums.
  void declareShared();

  /// How many threads arrive at the ring's further gate, if it has one.
  llvm::SmallVector<int64_t, 1> arrivals() const;
  /// One thread says what blocks behind each other send to this one.
  void expect(const StageRing &ring) const;

  /// A thread that multiplies: its number in the block and in its warp, the number of the warp in
  /// its warpgroup, the warpgroup's slice and first row, and the block's number in its cluster.
  struct Thread {
    graph::Expr number, lane, warp, slice, groupRow, inCluster;
  };
  /// Declares the lists of sums of a thread, one for each 64 rows.
  void declare(const Thread &thread);
  llvm::ArrayRef<mlir::Value> arrays() const { return lists; }
  /// In front of the first strip of a tile.
  void start();
  /// Behind its last one. Slices meet at the first further gate of the ring.
  void store(const StageRing &ring);

private:
  mlir::Type sumType() const;
  /// Runs `body` for each of so many numbers, which it may index sums by.
  void unrolled(int64_t count, const llvm::Twine &name,
                llvm::function_ref<void(graph::Expr)> body);
  graph::Expr rowOf(int64_t i, int64_t half);
  int64_t groups() const { return tile.columns / 8 / pieces.units(); }
  graph::Expr columnOf(graph::Expr group, int64_t offset);
  /// The place of a sum of one of the columns that the thread has of a group.
  graph::Expr sumAt(graph::Expr group, int64_t half, int64_t offset);
  graph::Expr biasOf(graph::Expr group, int64_t offset);
  void startSums();
  void storeSlices(const StageRing &ring);
  /// Whether sums are of all strips.
  bool isWhole() const { return tile.slices == 1 && tile.behind == 1; }
  /// Blocks behind each other divide the groups of both halves of each product's rows; each
  /// completes so many of a thread's.
  int64_t ownGroups() const;
  struct Own {
    graph::Expr group, row;
  };
  Own ownGroup(graph::Expr n);
  void sendSums(const StageRing &ring);
  /// Adds what the blocks have sent of this one's groups, and stores these. All is loaded
  /// before the first of it is stored.
  void storeOwn(const StageRing &ring);
  mlir::Value listOf(mlir::Type type, int64_t count, const llvm::Twine &name);
  /// Operands of what follows that have the place of the result. As far as there are registers
  /// for the elements of one it is on its way while strips are multiplied. Other ones are
  /// loaded for a row before anything is computed of it, as loads with something in between
  /// would not become one.
  void declareOperands();
  struct Operand {
    mlir::Value tensor, elements;
    bool isEarly;
  };
  graph::Expr elementAt(const Operand &operand, int64_t i, int64_t half,
                        graph::Expr group, int64_t offset);
  /// Loads the elements of a row.
  void load(const Operand &operand, int64_t i, int64_t half, graph::Expr row);
  void loadPiece(const Operand &operand, graph::Expr row, graph::Expr group,
                 int64_t first, graph::Expr to);
  void loadEarly();
  /// Loads all that is read for the results of both rows of a product before the first of
  /// them is stored, or where these are too many for the registers, of one row: stores, and
  /// conditions between loads, would have each wait for the one before.
  void storeWhole();
  void forPieces(llvm::function_ref<void(graph::Expr, int64_t)> body);
  graph::Expr resultAt(graph::Expr group, int64_t offset);
  void findResults(int64_t i, int64_t half, graph::Expr row,
                   mlir::Value results);
  /// Computes what becomes of the sums of a piece.
  void findPiece(
      graph::Expr inside, graph::Expr group, int64_t first,
      llvm::function_ref<graph::Expr(int64_t)> sumOf,
      llvm::function_ref<graph::Expr(const Operand &, int64_t)> elementOfPiece,
      mlir::Value results, graph::Expr to);
  void storeResults(graph::Expr row, mlir::Value results);
  void storePiece(graph::Expr row, graph::Expr group, int64_t first,
                  mlir::Value results, graph::Expr from);

  KernelBuilder &b;
  const BlockOperands &operands;
  WarpgroupTile tile;
  mlir::Value anchor;
  ResultPieces pieces;
  const WarpgroupCopies::Place &place;
  Thread mine;
  mlir::Value parts;
  llvm::SmallVector<mlir::Value> lists;
  llvm::SmallVector<Operand, 1> epilogueOperands;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_WARPGROUPSUMS_H
