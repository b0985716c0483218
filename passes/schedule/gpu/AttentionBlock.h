// Common parts of the attention kernels that run on thread blocks.

#ifndef INGOT_PASSES_SCHEDULE_GPU_ATTENTIONBLOCK_H
#define INGOT_PASSES_SCHEDULE_GPU_ATTENTIONBLOCK_H

#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// How an operand of attention is read from its source tensor. Transposes,
/// slices, repetitions and rounding casts turn the source tensor into the
/// operand.
struct OperandPlace {
  /// The source tensor, and whether its elements can be copied without
  /// conversion.
  mlir::Value tensor;
  bool isCopied = true;
  /// Whether matrices of the source are repeated, and whether its elements are
  /// rounded to tf32.
  bool isRepeated = false, isRounded = false;
  /// For each axis of the source tensor, the corresponding axis of the operand.
  llvm::SmallVector<int64_t> axes;
  /// For each axis of the source tensor: the index in the source at which the
  /// operand begins, the step between the operand's elements, and the number of
  /// repetitions.
  llvm::SmallVector<int64_t> starts, steps, times;

  static OperandPlace of(mlir::Value operand);
  /// Whether the elements along `axis` of the operand are contiguous.
  bool liesAlong(int64_t axis) const;
  /// Whether groups of `count` elements along the contiguous axis of `buffer`
  /// are aligned to their size.
  bool isAligned(mlir::MemRefType buffer, int64_t count) const;
  graph::Exprs at(KernelBuilder &b, llvm::ArrayRef<graph::Expr> place) const;
};

/// A thread's state for some queries: for each query, the largest score so far
/// and the thread's part of the sum of weights; and the thread's weighted sums
/// of values.
struct AttentionState {
  graph::Exprs largest, total, sums;

  AttentionState(graph::Exprs largest, graph::Exprs total, graph::Exprs sums)
      : largest(std::move(largest)), total(std::move(total)),
        sums(std::move(sums)) {}
  /// Splits the values that a loop carries into the state of `queries` queries.
  AttentionState(llvm::ArrayRef<graph::Expr> carried, int64_t queries)
      : largest(carried.take_front(queries)),
        total(carried.slice(queries, queries)),
        sums(carried.drop_front(2 * queries)) {}
  graph::Exprs carried() const;
};

/// Emits the parts of an attention kernel that do not depend on how its matrix
/// products are computed.
class AttentionBlock {
public:
  AttentionBlock(KernelBuilder &b, AttentionAnchor anchor);

  /// Divides the queries of each head into parts of `queries` queries, one part
  /// per thread block, and emits `body` for the threads of these blocks. `part`
  /// is the number of the part within its head.
  void forBlocks(
      int64_t queries, int64_t threads,
      llvm::function_ref<void(graph::Expr part, graph::Expr thread)> body);

  mlir::Value queryOperand() const { return anchor.scores.getA(); }
  mlir::Value keyOperand() const { return anchor.scores.getB(); }
  mlir::Value valueOperand() const { return anchor.product.getB(); }
  /// Returns the index, in tensor `operand`, of element (row, column) of the
  /// current head's matrix.
  graph::Exprs operandAt(mlir::Value operand, graph::Expr row,
                         graph::Expr column) const;
  /// Loads element (row, column) of the current head's matrix in `operand`, as
  /// f32.
  graph::Expr operand(mlir::Value operand, graph::Expr row,
                      graph::Expr column) const;

  /// Whether score() returns the dot product unchanged, since the scores are at
  /// most scaled by a constant factor, which weight() applies.
  bool scoresAreProducts() const { return areScoresProducts; }
  /// Returns the score of a query and a key whose dot product is `sum`.
  graph::Expr score(graph::Expr sum, graph::Expr query, graph::Expr key);
  /// Like score(), but returns -inf if `key` is out of range. `isInside`
  /// promises that `key` is in range, so that no check is emitted.
  graph::Expr scoreInside(graph::Expr sum, graph::Expr query, graph::Expr key,
                          bool isInside);
  /// Returns the weight of `score`, not yet divided by the total of the
  /// weights; 0 for a score of -inf. For `shift` = shiftOf(largest), the weight
  /// is e^(score - largest). If scoresAreProducts(), both `score` and `largest`
  /// are first multiplied by the constant factor.
  graph::Expr weight(graph::Expr score, graph::Expr shift) const;
  /// Rounds a weight to the operand type of the second matrix product.
  graph::Expr rounded(graph::Expr weight) const;
  /// Returns the number that weight() subtracts in the exponent for scores
  /// whose maximum is `largest`; 0 if the maximum is -inf.
  graph::Expr shiftOf(graph::Expr largest) const;
  graph::Expr lowest() const;
  graph::Expr zero() const;
  /// Reduces one value of each of `threads` adjacent threads; all of them get
  /// the result.
  graph::Expr
  across(int64_t threads, graph::Expr value,
         llvm::function_ref<graph::Expr(graph::Expr, graph::Expr)> merge);

  /// Returns the initial state of a thread for `queries` queries, with `values`
  /// weighted sums.
  AttentionState firstState(int64_t queries, int64_t values) const;
  /// Multiplies each weighted sum by the factor that corrects it after a new
  /// maximum of its query's scores: sum number n by `by[of(n)]`.
  static void correct(AttentionState &state, llvm::ArrayRef<graph::Expr> by,
                      llvm::function_ref<int64_t(int64_t n)> of);
  /// Merges the states of all slices of a block into the state of the first
  /// slice. Slices are sets of threads that have processed different keys.
  /// `slice` is the number of the executing thread's slice, `inSlice` the
  /// thread's number in it, and `of(n)` the query of weighted sum n. `parts` is
  /// shared memory of shape partsOfSlices.
  void mergeSlices(AttentionState &state, int64_t slices, graph::Expr slice,
                   graph::Expr inSlice, mlir::Value parts,
                   llvm::function_ref<int64_t(int64_t n)> of);
  static llvm::SmallVector<int64_t> partsOfSlices(int64_t slices,
                                                  int64_t threads,
                                                  int64_t queries,
                                                  int64_t values) {
    return {slices / 2, 2 * queries + values, threads};
  }

  /// result() multiplies `sum`, a weighted sum of elements of V, by `factor` (1
  /// / total of the weights), applies the group's epilogue, and returns the
  /// result. storeResult() and storePair() do the same and store the result,
  /// for one column or for a pair of adjacent columns (the first one even and
  /// in range).
  graph::Expr result(graph::Expr sum, graph::Expr factor, graph::Expr query,
                     graph::Expr column);
  void storePair(graph::Expr first, graph::Expr second, graph::Expr factor,
                 graph::Expr query, graph::Expr column);
  void storeResult(graph::Expr sum, graph::Expr factor, graph::Expr query,
                   graph::Expr column);

  KernelBuilder &b;
  AttentionAnchor anchor;
  mlir::Type type;
  graph::Exprs batch;

private:
  graph::Exprs resultAt(graph::Expr query, graph::Expr column) const;
  /// Whether two adjacent columns of the result are stored with one
  /// instruction.
  bool storesPairs() const;
  /// Whether weights are computed as powers of 2 (kernel.exp2). If so,
  /// shiftOf() returns an exponent of 2.
  bool hasPowers() const { return powersOfScore > 0; }

  /// Factor that turns a score into an exponent of 2: log2(e), times the
  /// constant factor of the scores if score() leaves it to weight(). 0 if the
  /// target has no exp2.
  double powersOfScore = 0;
  bool areScoresProducts = false;

  llvm::SmallVector<int64_t> axes;
};

/// Returns the larger of two scores. A NaN among them may be lost, but then the
/// total of the weights is NaN.
graph::Expr largerOf(graph::Expr x, graph::Expr y);
graph::Expr sumOf(graph::Expr x, graph::Expr y);

/// Base class of the attention strategies for devices.
class AttentionStrategyOnDevice : public Strategy {
public:
  bool takesDynamicSizes() const override { return true; }
  bool matches(GroupOnTarget group) const override;
  llvm::SmallVector<mlir::Operation *>
  takes(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree,
        const TargetDescription &target, bool packs) const override;

protected:
  /// Bytes of static shared memory that a kernel may use without requesting
  /// more from the driver.
  static constexpr int64_t mostShared = 48 << 10;
  virtual bool suits(const AttentionAnchor &anchor,
                     const TargetDescription &target) const = 0;
  /// Returns why a block with these threads, bytes of shared memory and
  /// registers per thread is not possible; empty if it is.
  static std::string refuseBlock(int64_t threads, int64_t bytes,
                                 int64_t registers,
                                 const TargetDescription &target);
  /// The resources of a block, and its execution time.
  struct Work {
    int64_t queries, threads, sharedBytes, registers;
    /// Cycles for which a block keeps an SM busy if the SM has at least
    /// `enough` threads, and cycles from begin to end of a block that runs
    /// alone.
    double cycles, latency;
    int64_t enough;
  };
  static double seconds(const AttentionAnchor &anchor, const Work &work,
                        const TargetDescription &target);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_ATTENTIONBLOCK_H
