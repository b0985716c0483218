// Names of values in generated code.
//
// Code that builds a value knows its role in the algorithm: `row`,
// `kernel_column`, `sum_2_1`. The name is part of the value's location, so it
// is kept by copies and by printing and parsing. The kernel printer gives the
// C++ variable this name, with a number if it is taken.
//
//   %3 = arith.addi %top, %kernel_row : index loc(fused<"input_row">["conv1"])
//
// A value keeps its first name: the sum of `row` and 0 is named `row`.
// Constants get no names, since equal constants are merged and printed as
// numbers.

#ifndef INGOT_DIALECTS_KERNEL_VALUENAMES_H
#define INGOT_DIALECTS_KERNEL_VALUENAMES_H

#include "mlir/IR/Location.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/Twine.h"

namespace ingot::kernel {

/// Returns `loc` with a name for the result of an operation at this location.
mlir::Location named(mlir::Location loc, const llvm::Twine &name);
/// Returns `loc` without the name that `named` has added.
mlir::Location unnamed(mlir::Location loc);

/// Returns the name in a location, or an empty string.
llvm::StringRef nameIn(mlir::Location loc);
/// Returns the name of a value; empty if it has none, or if its operation has
/// several results.
llvm::StringRef nameOf(mlir::Value value);

/// Gives a value a name unless it has one, is a constant, or is one of several
/// results of an operation. Returns the value.
mlir::Value nameValue(mlir::Value value, const llvm::Twine &name);
/// Gives a value this name, replacing any other, unless it is a constant or one
/// of several results of an operation.
void renameValue(mlir::Value value, const llvm::Twine &name);

/// spellArgumentNames writes the names of all loop arguments below `root` into
/// attributes, and readArgumentNames reads them back. Printed IR does not
/// contain the locations of loop arguments.
void spellArgumentNames(mlir::Operation *root);
void readArgumentNames(mlir::Operation *root);

/// Keeps the name of an operation that is replaced by an equal one: the
/// remaining operation gets the name, unless it has one.
struct KeepNames : mlir::RewriterBase::Listener {
  void notifyOperationReplaced(mlir::Operation *op,
                               mlir::ValueRange replacement) override;
};

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_VALUENAMES_H
