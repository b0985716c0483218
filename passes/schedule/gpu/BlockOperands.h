#ifndef INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H
#define INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// A matrix product, or a convolution as one: the rows are positions of the result, the
/// steps are those of a window with its channels.
///
///     result[batch, row, column] = first(column)
///         + sum over step of left(batch, row, step) * right(batch, step, column)
class BlockOperands {
public:
  virtual ~BlockOperands() = default;
  /// That of the group's anchor; null if it is not such a product of f32.
  static std::unique_ptr<BlockOperands> of(GroupView group);

  graph::Dim batches = 1, rows;
  int64_t columns = 0, steps = 0;

  /// Elements of the operands, for indices that are inside.
  virtual graph::Expr left(KernelBuilder &b, graph::Expr batch, graph::Expr row,
                           graph::Expr step) const = 0;
  virtual graph::Expr right(KernelBuilder &b, graph::Expr batch,
                            graph::Expr step, graph::Expr column) const = 0;
  /// What a sum begins with.
  virtual graph::Expr first(KernelBuilder &b, graph::Expr column) const = 0;
  /// Where the anchor's result has an element.
  virtual graph::Exprs place(KernelBuilder &b, graph::Expr batch,
                             graph::Expr row, graph::Expr column) const = 0;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_GPU_BLOCKOPERANDS_H
