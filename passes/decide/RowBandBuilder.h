// Chains of groups that are computed in row bands.

#ifndef INGOT_PASSES_DECIDE_ROWBANDBUILDER_H
#define INGOT_PASSES_DECIDE_ROWBANDBUILDER_H

#include "passes/decide/GroupRows.h"

#include <vector>

namespace ingot::decide {

/// Consecutive groups, of which only the last one's result is stored as a
/// whole. All groups compute their part of a band of `height` rows of this
/// result before the next band.
struct Chain {
  std::vector<graph::GroupOp> groups;
  int64_t height = 0;
  /// Whether rows that the next band reads too are kept; otherwise each band
  /// recomputes all rows that it reads.
  bool keeps = false;
  /// The operand whose last reader is the chain, so that the result may
  /// overwrite its rows; null if there is none.
  mlir::OpOperand *input = nullptr;

  bool isAs(const Chain &other) const {
    return groups == other.groups && height == other.height &&
           keeps == other.keeps;
  }
};

/// The rows of each group's result in one row band.
struct RowBand {
  /// The rows that the group computes; empty if the rows computed for previous
  /// bands suffice.
  std::vector<Rows> computed;
  /// The rows that are live for other groups: the computed rows and those kept
  /// from the previous band. For the last group only the computed rows.
  std::vector<Rows> held;

  /// Returns the rows of a group that are kept from the previous band.
  Rows kept(size_t group, bool fromEnd) const {
    return fromEnd ? Rows{computed[group].end, held[group].end}
                   : Rows{held[group].begin, computed[group].begin};
  }
};

/// Returns the number of rows of which a group computes multiples
/// (Strategy::rowsTogether).
int64_t rowsTogether(graph::GroupOp group);

using ReadRows =
    llvm::function_ref<const std::optional<llvm::SmallVector<OperandRows>> &(
        graph::GroupOp, Rows)>;

/// Returns the row bands of a chain in the order of computation, which is from
/// the last row if `fromEnd`, otherwise from the first row; nothing if the
/// chain cannot be computed row by row. `read` is operandRows, perhaps with a
/// cache.
std::optional<std::vector<RowBand>> rowBandsOf(const Chain &chain, bool fromEnd,
                                               ReadRows read);

/// Returns the rows of each group that a band computes for the rows `last` of
/// the last group, if no rows are kept. Nothing if the chain cannot be computed
/// row by row.
std::optional<std::vector<Rows>>
rowsOfBand(llvm::ArrayRef<graph::GroupOp> groups, Rows last, ReadRows read);

/// Returns, for each group of a chain, the last group of the chain that reads
/// its result; the number of groups if none does.
std::vector<size_t> lastReaders(llvm::ArrayRef<graph::GroupOp> groups);

/// Given an operand's rows `part` that a group of a row band needs, returns the
/// value to read instead, for example a copy in VTCM.
using PlacePart = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, const OperandRows &, mlir::Value part)>;

/// Replaces the groups of a chain by groups for its row bands; returns the
/// result.
mlir::Value buildRowBands(const Chain &chain, bool fromEnd,
                          const TargetDescription &target,
                          PlacePart place = nullptr);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_ROWBANDBUILDER_H
