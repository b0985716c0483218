// What is true after each stage of a compilation.

#ifndef INGOT_COMPILER_STAGES_H
#define INGOT_COMPILER_STAGES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// The stages of a compilation that leave a module behind, in order; printing
/// follows.
enum class Stage { Import, Simplify, Decide, Lower, Schedule, Plan, Legalize };

/// Names of the stages, in order, as `--stop-after` takes them.
std::vector<std::string> stageNames();
std::optional<Stage> parseStage(llvm::StringRef name);
llvm::StringRef nameOf(Stage stage);

/// Checks that `module` is one that `stage` leaves behind: that it has no
/// operation of an earlier or later stage, and what each is to say by then. On
/// failure the operation at fault has an error.
mlir::LogicalResult verifyStage(mlir::ModuleOp module, Stage stage);

/// The same as a pass.
std::unique_ptr<mlir::Pass> createVerifyStage(Stage stage);

} // namespace ingot

#endif // INGOT_COMPILER_STAGES_H
