#ifndef INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H
#define INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H

#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// Bytes that a thread loads or copies at once.
inline constexpr int64_t pieceBytes = 16;

inline int64_t bytesOf(mlir::Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// A matrix product, or a convolution as one: the rows are positions of the result, the
/// steps are those of a window with its channels, and each group of channels is a batch.
///
///     result[batch, row, column] = first(batch, column)
///         + sum over step of left(batch, row, step) * right(batch, step, column)
class BlockOperands {
public:
  virtual ~BlockOperands() = default;
  /// That of the group's anchor; null if it is not such a product: of floats of one
  /// type, of bytes that are summed in 32 bits, or of floats by weights of few bits.
  static std::unique_ptr<BlockOperands> of(GroupView group) {
    return of(group, group.anchor());
  }
  /// The same of one of several operators of a group that are no cheap ones.
  static std::unique_ptr<BlockOperands> of(GroupView group,
                                           mlir::Operation *anchor);

  graph::Dim batches = 1, rows;
  int64_t columns = 0, steps = 0;
  /// The operands, and how many neighbouring steps of the left one, and columns of the
  /// right one, lie side by side in them.
  mlir::Value leftTensor, rightTensor;
  int64_t leftRun = 0, rightRun = 0;

  mlir::Type leftType() const { return graph::elementOf(leftTensor); }
  mlir::Type rightType() const { return graph::elementOf(rightTensor); }
  /// Steps of a column that share what is loaded for the right operand, at multiples of
  /// their number.
  int64_t together = 1;
  /// Bytes of the right operand for each element.
  double rightBytes = 0;
  /// Whether its elements are computed from what the operands hold.
  virtual bool isUnpacked() const { return false; }
  /// What both operands are numbers of, where that has less bits than their type.
  mlir::Type multiplied;
  /// Whether batches are groups of channels of a convolution.
  bool areGroups = false;
  /// The number of a column among those of all groups, which packed weights have.
  graph::Expr packedColumn(graph::Expr batch, graph::Expr column) const {
    return areGroups ? batch * double(columns) + column : column;
  }
  /// Estimates the time of a thread for each element, which loads both operands of each
  /// product: a processor loads numbers for one warp a cycle (NVIDIA, Programming
  /// Guide, table of throughputs).
  double elementSeconds(const Device &device) const;
  bool areBytes() const { return mlir::isa<mlir::IntegerType>(leftType()); }

  /// Where an operand has an element; without a condition it surely has one there, and
  /// where the condition does not hold the element is zero.
  struct Place {
    graph::Exprs at;
    std::optional<graph::Expr> inside;
  };
  virtual Place leftPlace(KernelBuilder &b, graph::Expr batch, graph::Expr row,
                          graph::Expr step) const = 0;
  virtual Place rightPlace(KernelBuilder &b, graph::Expr batch,
                           graph::Expr step, graph::Expr column) const = 0;
  /// Elements of the operands, for indices that are inside.
  graph::Expr left(KernelBuilder &b, graph::Expr batch, graph::Expr row,
                   graph::Expr step) const;
  virtual graph::Expr right(KernelBuilder &b, graph::Expr batch,
                            graph::Expr step, graph::Expr column) const;
  /// Those of `together` steps from `step` on, which is a multiple of that.
  virtual graph::Exprs rightSteps(KernelBuilder &b, graph::Expr batch,
                                  graph::Expr step, graph::Expr column) const {
    return {right(b, batch, step, column)};
  }
  /// What a sum begins with.
  virtual graph::Expr first(KernelBuilder &b, graph::Expr batch,
                            graph::Expr column) const = 0;
  /// Where the anchor's result has an element.
  virtual graph::Exprs place(KernelBuilder &b, graph::Expr batch,
                             graph::Expr row, graph::Expr column) const = 0;
};

/// Packs the weights of such a product, if they are known, with the steps of each column
/// side by side, filled up to pieces of 16 bytes.
void packColumns(graph::GroupOp group, mlir::Operation *anchor);
inline void packColumns(graph::GroupOp group) {
  packColumns(group, GroupView{&group.getBody().front()}.anchor());
}
/// Whether the right operand is packed so, or not at all.
bool isInColumns(const BlockOperands &operands);

/// Whether pieces of a tensor's buffer in which `run` elements lie side by side are at
/// multiples of 16 bytes, if the buffer is.
bool hasPieces(KernelBuilder &b, mlir::Value tensor, int64_t run);
llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<graph::Expr> exprs);
/// Begins to copy a piece of `from`, the one `at` those indices, to `place` in `to`: zeros
/// if it is not `inside`.
void copyAhead(KernelBuilder &b, mlir::Value from,
               llvm::ArrayRef<graph::Expr> at, mlir::Value to,
               llvm::ArrayRef<graph::Expr> place,
               std::optional<graph::Expr> inside);

/// Below this many rows, columns or steps most of what a block does would be in vain.
inline constexpr int64_t fewestOfBlock = 8;

/// What strategies share that compute such products by the threads of a block.
class BlockStrategy : public Strategy {
public:
  bool takesRunTimeSizes() const override { return true; }
  bool takesDevices() const override { return true; }
  bool matches(GroupView group, const TargetDescription &target) const override;

protected:
  static constexpr int64_t fewest = fewestOfBlock;
  virtual bool fits(const BlockOperands &operands, GroupView group,
                    const TargetDescription &target) const = 0;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H
