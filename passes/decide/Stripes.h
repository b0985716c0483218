// Chains of groups that are computed some rows at a time.

#ifndef INGOT_PASSES_DECIDE_STRIPES_H
#define INGOT_PASSES_DECIDE_STRIPES_H

#include "passes/decide/GroupRows.h"

#include <vector>

namespace ingot::decide {

/// Consecutive groups of which only the last one's result is stored as a whole.
/// It is computed `height` rows at a time, by all of the groups in turn.
struct Chain {
  std::vector<graph::GroupOp> groups;
  int64_t height = 0;
  /// Rows that the next stripe reads as well are kept for it; otherwise each stripe
  /// computes all that it reads.
  bool keeps = false;
  /// The operand whose rows are read for the last time by the chain, so that
  /// the result may creep over them; null if there is none.
  mlir::OpOperand *input = nullptr;

  bool isAs(const Chain &other) const {
    return groups == other.groups && height == other.height &&
           keeps == other.keeps;
  }
};

/// What one stripe is of each group's result.
struct Stripe {
  /// The rows that the group computes; none where those before are enough.
  std::vector<Rows> computed;
  /// The rows that are there for the others: the computed ones and those that are kept
  /// from the stripe before. Of the last group just the computed ones.
  std::vector<Rows> held;

  /// The rows of a group that are kept from the stripe before.
  Rows kept(size_t group, bool fromEnd) const {
    return fromEnd ? Rows{computed[group].end, held[group].end}
                   : Rows{held[group].begin, computed[group].begin};
  }
};

/// How many rows of a group are computed together: Strategy::rowsTogether.
int64_t rowsTogether(graph::GroupOp group);

using ReadRows =
    llvm::function_ref<const std::optional<llvm::SmallVector<OperandRows>> &(
        graph::GroupOp, Rows)>;

/// The stripes of a chain in the order in which they are computed, from the first row on
/// or from the last one; none if the chain is not computed row by row. `read` is
/// operandRows.
std::optional<std::vector<Stripe>> stripesOf(const Chain &chain, bool fromEnd,
                                             ReadRows read);

/// For `last` rows of the last group's result, the rows of each group's that a stripe
/// computes which keeps none. None if the chain is not computed row by row.
std::optional<std::vector<Rows>>
rowsOfStripe(llvm::ArrayRef<graph::GroupOp> groups, Rows last, ReadRows read);

/// For each group of a chain the last one of the chain that reads its result; the number
/// of groups where none does.
std::vector<size_t> lastReaders(llvm::ArrayRef<graph::GroupOp> groups);

/// What a group of a stripe reads in place of `part`, the rows of an operand.
using PlacePart = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, const OperandRows &, mlir::Value part)>;

/// Replaces the groups of a chain by those of its stripes; returns the result.
mlir::Value buildStripes(const Chain &chain, bool fromEnd,
                         const TargetDescription &target,
                         PlacePart place = nullptr);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_STRIPES_H
