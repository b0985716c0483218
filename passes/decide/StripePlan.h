// Which groups are computed in stripes.

#ifndef INGOT_PASSES_DECIDE_STRIPEPLAN_H
#define INGOT_PASSES_DECIDE_STRIPEPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/decide/GroupRows.h"

#include <memory>

namespace ingot::decide {

/// Consecutive groups of which only the last one's result is stored as a whole.
/// It is computed `height` rows at a time, by all of the groups in turn.
struct Chain {
  std::vector<graph::GroupOp> groups;
  int64_t height = 0;
  /// The operand whose rows are read for the last time by the chain, so that
  /// the result may creep over them; null if there is none.
  mlir::OpOperand *input = nullptr;
};

using ReadRows =
    llvm::function_ref<const std::optional<llvm::SmallVector<OperandRows>> &(
        graph::GroupOp, Rows)>;

/// For `last` rows of the last group's result, the rows of each group's. None
/// if the chain is not computed row by row. `read` is operandRows.
std::optional<std::vector<Rows>>
rowsOfStripe(llvm::ArrayRef<graph::GroupOp> groups, Rows last, ReadRows read);

/// What a group of a stripe reads in place of `part`, the rows of an operand.
using PlacePart = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, const OperandRows &, mlir::Value part)>;

/// Replaces the groups of a chain by those of its stripes; returns the result.
mlir::Value buildStripes(const Chain &chain, bool fromEnd,
                         const TargetDescription &target,
                         PlacePart place = nullptr);

/// Chooses chains of one function, for several limits.
class StripePlanner {
public:
  StripePlanner(mlir::func::FuncOp main, int64_t alignment);
  ~StripePlanner();

  /// The chains that bring the memory alive at any time, as estimated, down to
  /// `maxBytes` with the least work done twice; if none do, those that bring it
  /// down most.
  std::vector<Chain> plan(int64_t maxBytes);

private:
  class Search;
  std::unique_ptr<Search> search;
};

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_STRIPEPLAN_H
