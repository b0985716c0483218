// What kernels of attention share whose parts are blocks of threads.

#ifndef INGOT_PASSES_SCHEDULE_GPU_ATTENTIONBLOCK_H
#define INGOT_PASSES_SCHEDULE_GPU_ATTENTIONBLOCK_H

#include "passes/schedule/AttentionAnchor.h"
#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// Where the matrices of an operand are: in another tensor, before transposes, slices,
/// repetitions and roundings.
struct OperandPlace {
  /// That tensor, and whether its elements are those of the operand, without a conversion.
  mlir::Value tensor;
  bool isCopied = true;
  /// Whether the operand has matrices of the tensor several times, and whether they are
  /// rounded to tf32.
  bool isRepeated = false, isRounded = false;
  /// For each axis of the tensor, the operand's axis that it is.
  llvm::SmallVector<int64_t> axes;
  /// The place at which the operand begins, how many of the tensor's elements are from
  /// one of the operand to the next, and how often the operand has each.
  llvm::SmallVector<int64_t> starts, steps, times;

  static OperandPlace of(mlir::Value operand);
  /// Whether the operand's axis is the one whose elements lie side by side.
  bool liesAlong(int64_t axis) const;
  /// Whether elements from each multiple of `count` on, along the axis in which they lie
  /// side by side, are at multiples of their bytes.
  bool isAligned(mlir::MemRefType buffer, int64_t count) const;
  graph::Exprs at(KernelBuilder &b, llvm::ArrayRef<graph::Expr> place) const;
};

/// What a thread has of some queries: the largest score of each so far, its part of the
/// total of the weights, and some weighed values.
struct AttentionState {
  graph::Exprs largest, total, sums;

  AttentionState(graph::Exprs largest, graph::Exprs total, graph::Exprs sums)
      : largest(std::move(largest)), total(std::move(total)),
        sums(std::move(sums)) {}
  /// Of so many queries, from the values that a loop carries.
  AttentionState(llvm::ArrayRef<graph::Expr> carried, int64_t queries)
      : largest(carried.take_front(queries)),
        total(carried.slice(queries, queries)),
        sums(carried.drop_front(2 * queries)) {}
  graph::Exprs carried() const;
};

/// Emits the parts of a kernel that are the same however its products are computed.
class AttentionBlock {
public:
  AttentionBlock(KernelBuilder &b, AttentionAnchor anchor);

  /// Runs `body` on each thread of the blocks for all parts of `queries` queries of a head,
  /// with the number of the part.
  void forBlocks(
      int64_t queries, int64_t threads,
      llvm::function_ref<void(graph::Expr part, graph::Expr thread)> body);

  mlir::Value queryOperand() const { return anchor.scores.getA(); }
  mlir::Value keyOperand() const { return anchor.scores.getB(); }
  mlir::Value valueOperand() const { return anchor.product.getB(); }
  /// Where an operand of a product has the element (row, column) of this head.
  graph::Exprs operandAt(mlir::Value operand, graph::Expr row,
                         graph::Expr column) const;
  /// That element, in f32.
  graph::Expr operand(mlir::Value operand, graph::Expr row,
                      graph::Expr column) const;

  /// Whether scores are the products of queries and keys as they are.
  bool scoresAreProducts() const { return areScoresProducts; }
  /// The score of a query and a key whose product is `sum`.
  graph::Expr score(graph::Expr sum, graph::Expr query, graph::Expr key);
  /// A score, or -inf for a key that is not there; `key` may be any.
  graph::Expr scoreInside(graph::Expr sum, graph::Expr query, graph::Expr key,
                          bool isInside);
  /// e^(score - shift) for what `shiftOf` makes of the largest score, which is 0 for -inf; and
  /// as the second product takes it.
  graph::Expr weight(graph::Expr score, graph::Expr shift) const;
  graph::Expr rounded(graph::Expr weight) const;
  /// What scores are shifted by: -inf is no number to shift by.
  graph::Expr shiftOf(graph::Expr largest) const;
  graph::Expr lowest() const;
  graph::Expr zero() const;
  /// A value of each of `threads` neighbouring threads merged; all of them get the result.
  graph::Expr
  across(int64_t threads, graph::Expr value,
         llvm::function_ref<graph::Expr(graph::Expr, graph::Expr)> merge);

  /// The state of a thread that has seen nothing yet, of so many queries and values.
  AttentionState firstState(int64_t queries, int64_t values) const;
  /// Multiplies the weighed values of query `of(n)` by its correction.
  static void correct(AttentionState &state, llvm::ArrayRef<graph::Expr> by,
                      llvm::function_ref<int64_t(int64_t n)> of);
  /// Merges what the slices of a block have, each of `threads` threads that have seen other
  /// keys: the first slice gets it. `parts`: shared memory as partsOfSlices says.
  void mergeSlices(AttentionState &state, int64_t slices, graph::Expr slice,
                   graph::Expr inSlice, mlir::Value parts,
                   llvm::function_ref<int64_t(int64_t n)> of);
  static llvm::SmallVector<int64_t> partsOfSlices(int64_t slices,
                                                  int64_t threads,
                                                  int64_t queries,
                                                  int64_t values) {
    return {slices / 2, 2 * queries + values, threads};
  }

  /// What becomes of the weighed sum of values, with all that follows in the group; and
  /// stores it, or two of neighbouring columns, of which the first one is even and inside.
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
  /// Whether two neighbouring columns of the result are stored at once.
  bool storesPairs() const;
  /// Whether weights are powers of 2 (kernel.exp2), and shifts in units of these.
  bool hasPowers() const { return powersOfScore > 0; }

  /// By how many powers of 2 a score counts. Where scores are the products as they are, this
  /// has the factor in it that they would be multiplied by.
  double powersOfScore = 0;
  bool areScoresProducts = false;

  llvm::SmallVector<int64_t> axes;
};

/// NaN is ignored: the total will find it.
graph::Expr largerOf(graph::Expr x, graph::Expr y);
graph::Expr sumOf(graph::Expr x, graph::Expr y);

/// What strategies for attention on devices share.
class AttentionStrategyOnDevice : public Strategy {
public:
  bool takesRunTimeSizes() const override { return true; }
  bool takesDevices() const override { return true; }
  bool matches(GroupView group, const TargetDescription &target) const override;
  llvm::SmallVector<mlir::Operation *>
  takes(mlir::Operation *producer,
        llvm::function_ref<bool(mlir::Operation *)> isMember,
        llvm::function_ref<bool(mlir::Operation *)> isFree,
        const TargetDescription &target, bool packs) const override;

protected:
  /// What a kernel may declare without asking the driver for more.
  static constexpr int64_t mostShared = 48 << 10;
  virtual bool suits(const AttentionAnchor &anchor,
                     const TargetDescription &target) const = 0;
  /// Why a block of so many threads and bytes of shared memory, whose threads take about so
  /// many registers, is none; empty if it is one.
  static std::string refuseBlock(int64_t threads, int64_t bytes,
                                 int64_t registers,
                                 const TargetDescription &target);
  /// What blocks are made of, and what takes their time.
  struct Work {
    int64_t queries, threads, sharedBytes, registers;
    /// Cycles in which a processor computes a block if it has threads `enough`, and those
    /// that a block takes even alone.
    double cycles, latency;
    int64_t enough;
  };
  static double seconds(const AttentionAnchor &anchor, const Work &work,
                        const TargetDescription &target);
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_ATTENTIONBLOCK_H
