// The stages of a compilation and their postconditions.

#ifndef INGOT_COMPILER_STAGES_H
#define INGOT_COMPILER_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// The stages of a compilation that produce a module, in order; the last module
/// is printed as C++.
enum class Stage { Import, Simplify, Decide, Lower, Schedule, Plan, Legalize };

/// Returns the names of the stages, in order, as for `--stop-after`.
std::vector<std::string> stageNames();
std::optional<Stage> parseStage(llvm::StringRef name);
llvm::StringRef nameOf(Stage stage);

/// Checks that `module` is a valid result of `stage`: that it contains no
/// operation that only other stages produce, and that required attributes are
/// present. Emits an error on each invalid operation.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// Creates a pass that calls verifyStage.
std::unique_ptr<mlir::Pass> createVerifyStage(Stage stage);

} // namespace ingot

#endif // INGOT_COMPILER_STAGES_H
