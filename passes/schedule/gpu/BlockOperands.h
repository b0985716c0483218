#ifndef INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H
#define INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H

#include "passes/schedule/Strategy.h"

namespace ingot::schedule {

/// Bytes of a vector access of one thread.
inline constexpr int64_t vectorAccessBytes = 16;

inline int64_t bytesOf(mlir::Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

/// A matrix product, or a convolution that is computed as one (implicit GEMM).
/// The rows of a convolution are its output positions, its steps (indices along
/// K) are the elements of the window with their channels, and each of its
/// groups of channels is a batch.
///
///   result[batch, row, column] = first(batch, column)
///       + sum over step of left(batch, row, step) * right(batch, step, column)
class BlockOperands {
public:
  virtual ~BlockOperands() = default;
  /// Returns the product that a group's anchor computes: of floats of one type,
  /// of 8-bit floats with f32 sums, of int8 with int32 sums, or of f32 and
  /// weights of 2, 4 or 8 bits. Null if the anchor computes anything else
  /// (including int8 products with zero points), if the group has several
  /// results or one whose shape differs from the anchor's, or if a size other
  /// than that of the first axis is dynamic.
  static std::unique_ptr<BlockOperands> of(GroupView group) {
    return of(group, group.anchor());
  }
  /// Returns the product that `anchor`, one of several anchors of a group,
  /// computes; null as above.
  static std::unique_ptr<BlockOperands> of(GroupView group,
                                           mlir::Operation *anchor);

  graph::Dim batches = 1, rows;
  int64_t columns = 0, steps = 0;
  /// The operands, and how many steps (K) of the left one and columns of the
  /// right one are contiguous in memory.
  mlir::Value leftTensor, rightTensor;
  int64_t leftRun = 0, rightRun = 0;

  mlir::Type leftType() const { return graph::elementOf(leftTensor); }
  mlir::Type rightType() const { return graph::elementOf(rightTensor); }
  /// The number of consecutive steps (K) for which rightSteps loads elements
  /// together. The first of these steps is a multiple of this number.
  int64_t together = 1;
  /// Bytes of the right operand per element.
  double rightBytes = 0;
  /// Whether elements of the right operand are unpacked or dequantized after
  /// the load.
  virtual bool isUnpacked() const { return false; }
  /// The type to which tensor cores round the operands, if it has fewer bits
  /// than the operands' own type (for example tf32); null otherwise.
  mlir::Type multiplied;
  /// Whether batches are groups of channels of a convolution.
  bool areGroups = false;
  /// Returns the index of column `column` of group `batch` among the columns of
  /// all groups, which packed weights store one group after the other.
  graph::Expr packedColumn(graph::Expr batch, graph::Expr column) const {
    return areGroups ? batch * double(columns) + column : column;
  }
  /// Estimates the time of a kernel with one thread per result element, which
  /// loads both operands of each multiply-add: an SM loads for one warp per
  /// cycle (NVIDIA, Programming Guide, table of throughputs).
  double elementSeconds(const Device &device) const;
  bool areBytes() const { return mlir::isa<mlir::IntegerType>(leftType()); }

  /// The index of an operand's element. If the condition `inside` is present
  /// and false, the element is zero and must not be loaded.
  struct Place {
    graph::Exprs at;
    std::optional<graph::Expr> inside;
  };
  virtual Place leftPlace(KernelBuilder &b, graph::Expr batch, graph::Expr row,
                          graph::Expr step) const = 0;
  virtual Place rightPlace(KernelBuilder &b, graph::Expr batch,
                           graph::Expr step, graph::Expr column) const = 0;
  /// Load element [batch, row, step (K)] of the left operand, or element
  /// [batch, step (K), column] of the right operand.
  graph::Expr left(KernelBuilder &b, graph::Expr batch, graph::Expr row,
                   graph::Expr step) const;
  virtual graph::Expr right(KernelBuilder &b, graph::Expr batch,
                            graph::Expr step, graph::Expr column) const;
  /// Loads the elements of `column` of the right operand for `together` steps
  /// (K) from `step` on, which is a multiple of `together`.
  virtual graph::Exprs rightSteps(KernelBuilder &b, graph::Expr batch,
                                  graph::Expr step, graph::Expr column) const {
    return {right(b, batch, step, column)};
  }
  /// Returns the initial value of a sum: the bias or zero.
  virtual graph::Expr first(KernelBuilder &b, graph::Expr batch,
                            graph::Expr column) const = 0;
  /// Returns the index in the anchor's result of element [batch, row, column]
  /// of the product.
  virtual graph::Exprs place(KernelBuilder &b, graph::Expr batch,
                             graph::Expr row, graph::Expr column) const = 0;
};

/// Packs constant weights so that the steps (K) of each column are contiguous,
/// padded to multiples of 16 bytes. Does nothing for batched right operands and
/// for weights of 2, 4 or 8 bits (NarrowMatMulOp).
void packColumns(graph::GroupOp group, mlir::Operation *anchor);
inline void packColumns(graph::GroupOp group) {
  packColumns(group, GroupView(group).anchor());
}
/// Whether the right operand is packed as by packColumns, or not packed at all.
bool isInColumns(const BlockOperands &operands);

/// Whether each run of `run` contiguous elements of `tensor` consists of
/// aligned 16-byte vectors, if the tensor's buffer is aligned. False if the
/// tensor has no buffer.
bool hasVectors(KernelBuilder &b, mlir::Value tensor, int64_t run);
llvm::SmallVector<mlir::Value> valuesOf(llvm::ArrayRef<graph::Expr> exprs);
/// Starts an asynchronous 16-byte copy from `from` at indices `at` to `to` at
/// indices `place`. Copies zeros if `inside` is present and false.
void copyAhead(KernelBuilder &b, mlir::Value from,
               llvm::ArrayRef<graph::Expr> at, mlir::Value to,
               llvm::ArrayRef<graph::Expr> place,
               std::optional<graph::Expr> inside);

/// Minimum number of rows, of columns and of steps (K) of a product that thread
/// blocks compute. With fewer, most of a block's work would be wasted.
inline constexpr int64_t fewestOfBlock = 8;

/// Base class of the strategies that compute BlockOperands products by thread
/// blocks.
class BlockStrategy : public Strategy {
public:
  bool takesDynamicSizes() const override { return true; }
  bool matches(GroupOnTarget group) const override;

protected:
  static constexpr int64_t fewest = fewestOfBlock;
  virtual bool fits(const BlockOperands &operands,
                    GroupOnTarget group) const = 0;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H
