// Chains of groups that are computed in row bands: a few rows of all groups at
// a time.

#ifndef INGOT_PASSES_DECIDE_ROWBANDBUILDER_H
#define INGOT_PASSES_DECIDE_ROWBANDBUILDER_H

#include "passes/decide/GroupRows.h"

#include <vector>

namespace ingot::decide {

/// Consecutive groups, of which only the last one's result is stored as a
/// whole. The groups compute the result band by band: for each band of `height`
/// rows of the result, all groups compute the rows that this band needs.
struct Chain {
  std::vector<graph::GroupOp> groups;
  int64_t height = 0;
  /// Whether rows that the next band needs too are kept; otherwise each band
  /// recomputes all rows that it needs.
  bool keeps = false;
  /// An operand of the chain that no later group reads, so that the chain's
  /// result may overwrite rows of it; null if there is none.
  mlir::OpOperand *input = nullptr;

  bool isAs(const Chain &other) const {
    return groups == other.groups && height == other.height &&
           keeps == other.keeps;
  }
};

/// The rows of each group's result in one row band.
struct RowBand {
  /// For each group, the rows that it computes; empty if the rows computed for
  /// previous bands suffice.
  std::vector<Rows> computed;
  /// For each group, the rows that are in memory for other groups of the chain:
  /// the computed rows and those kept from the previous band. For the last
  /// group, only the computed rows.
  std::vector<Rows> held;

  /// Returns the rows of the group with index `group` that are kept from the
  /// previous band. `fromEnd`: the bands are computed from the last row to the
  /// first.
  Rows kept(size_t group, bool fromEnd) const {
    return fromEnd ? Rows{computed[group].end, held[group].end}
                   : Rows{held[group].begin, computed[group].begin};
  }
};

/// Returns the row granularity of a group: its strategy computes multiples of
/// this number of rows (Strategy::rowsTogether).
int64_t rowsTogether(graph::GroupOp group);

using ReadRows =
    llvm::function_ref<const std::optional<llvm::SmallVector<OperandRows>> &(
        graph::GroupOp, Rows)>;

/// Returns the row bands of a chain in the order of computation: from the last
/// row to the first if `fromEnd`, otherwise from the first to the last. Returns
/// nothing if the chain cannot be computed row by row. `read` returns the
/// result of operandRows, perhaps from a cache.
std::optional<std::vector<RowBand>> rowBandsOf(const Chain &chain, bool fromEnd,
                                               ReadRows read);

/// Returns the rows that each group of a chain must compute for one band if no
/// rows are kept from other bands. The band consists of the rows `last` of the
/// last group's result. Returns nothing if the chain cannot be computed row by
/// row, or if the band needs no rows of some group.
std::optional<std::vector<Rows>>
rowsOfBand(llvm::ArrayRef<graph::GroupOp> groups, Rows last, ReadRows read);

/// Returns, for each group of a chain, the index of the last group of the chain
/// that reads its result; groups.size() if none does.
std::vector<size_t> lastReaders(llvm::ArrayRef<graph::GroupOp> groups);

/// A function that receives `part`, the rows of an operand that a group of a
/// row band reads, and returns the value that the group reads instead: for
/// example a copy of `part` in VTCM.
using PlacePart = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, const OperandRows &, mlir::Value part)>;

/// Replaces the groups of a chain by groups for its row bands; returns the
/// value that replaces the chain's result. With `fromEnd`, the bands are
/// computed from the last row to the first. The new groups read the values that
/// `place`, unless null, returns for their operands.
mlir::Value buildRowBands(const Chain &chain, bool fromEnd,
                          const TargetDescription &target,
                          PlacePart place = nullptr);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_ROWBANDBUILDER_H
