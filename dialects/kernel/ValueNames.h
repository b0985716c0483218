// Names of values.
//
// Who builds a value knows what it is to the algorithm: `row`, `kernel_column`,
// `sum_2_1`. The name is part of the value's location, so that it goes wherever
// the location goes: into copies, through text and back. The printer of kernels
// gives the C variable this name, numbered where it is taken.
//
//   %3 = arith.addi %top, %kernel_row : index loc(fused<"input_row">["conv1"])
//
// The first name given to a value stays: a sum of `row` and 0 is `row`.
// Constants get no names: equal ones are merged, and printed as numbers.

#ifndef INGOT_DIALECTS_KERNEL_VALUENAMES_H
#define INGOT_DIALECTS_KERNEL_VALUENAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/Twine.h"

namespace ingot::kernel {

/// Returns `loc` with a name for the value that an operation there yields.
mlir::Location named(mlir::Location loc, const llvm::Twine &name);
/// Returns `loc` without such a name.
mlir::Location unnamed(mlir::Location loc);

/// Returns the name in a location, or an empty string.
llvm::StringRef nameIn(mlir::Location loc);
/// Returns the name of a value; empty if it has none, or if its operation has
/// several results.
llvm::StringRef nameOf(mlir::Value value);

/// Gives a value a name unless it has one or is a constant. Returns the value.
mlir::Value nameValue(mlir::Value value, const llvm::Twine &name);
/// Gives a value this name, whatever name it had, unless it is a constant.
void renameValue(mlir::Value value, const llvm::Twine &name);

/// Writes the names of the arguments of loops below `root` into attributes, and
/// reads them back: the text of a loop has no locations for its arguments.
void spellArgumentNames(mlir::Operation *root);
void readArgumentNames(mlir::Operation *root);

/// Keeps names where operations are replaced by equal ones: the operation that
/// stays takes the name of the one that goes if it has none of its own.
struct KeepNames : mlir::RewriterBase::Listener {
  void notifyOperationReplaced(mlir::Operation *op,
                               mlir::ValueRange replacement) override;
};

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_VALUENAMES_H
