// Restricts a group to some rows of its result.
//
// Rows are positions on axis 1 of a channels-last tensor; images are positions
// on axis 0. operandRows computes which rows of its operands a group reads for
// some rows of its result; buildForRows builds the group for just these rows
// (low: the number of padded positions before the input):
//
//   group(%x: 1x8x8x4) { conv 3x3, low 1 }   rows [0, 4) of the result
//     ->
//   group(%slice: 1x5x8x4) { conv 3x3, low 1 on this axis at the top only }

#ifndef INGOT_PASSES_DECIDE_GROUPROWS_H
#define INGOT_PASSES_DECIDE_GROUPROWS_H

#include "dialects/graph/GraphDialect.h"
#include "targets/TargetDescription.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ingot::decide {

/// Positions [begin, end) of one axis.
struct Rows {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Rows &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// The part of an operand that is read: a range of positions of an axis, or all
/// of the operand (axis -1).
struct OperandRows {
  unsigned operand;
  int64_t axis;
  Rows rows;
};

/// Returns the part of its operands that `group` reads to compute the positions
/// `rows` of its result along `axis`: an entry per operand, or several entries
/// if an operand is read in several ranges. Returns nothing if the group cannot
/// be computed for some rows only.
std::optional<llvm::SmallVector<OperandRows>>
operandRows(graph::GroupOp group, Rows rows, int64_t axis = 1);

/// Builds a copy of `group` that computes only the positions `rows` of the
/// result along `axis`. `part` returns the value for each entry of operandRows.
/// If the value is a slice that is not contiguous, the copy reads it with the
/// strides of the sliced tensor.
graph::GroupOp
buildForRows(mlir::OpBuilder &builder, graph::GroupOp group, Rows rows,
             const TargetDescription &target,
             llvm::function_ref<mlir::Value(const OperandRows &)> part,
             int64_t axis = 1);

/// Builds a group that copies `part`, which may be a slice with gaps. Returns
/// the copy; with `inSecondMemory`, it is in VTCM.
mlir::Value copyPart(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value part, const TargetDescription &target,
                     bool inSecondMemory = false);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_GROUPROWS_H
