// Several entry points in one output.
//
//   func.func @main(..)          of one import        func.func @prefill(..)
//   func.func private @body(..)                  ->   func.func private @body(..)
//   func.func @main(..)          of another one       func.func @decode(..)
//   func.func private @body(..)                       func.func private @body_0(..)
//
// Later stages share what is equal: kernels, and constants by their bytes.

#ifndef INGOT_COMPILER_ENTRYPOINTS_H
#define INGOT_COMPILER_ENTRYPOINTS_H

#include "compiler/report/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// Moves all of `from` into `module`, with its main function as a public function
/// `name`. Private functions whose names are taken get others.
void addEntryPoint(mlir::ModuleOp module, mlir::ModuleOp from,
                   llvm::StringRef name);

/// Marks inputs as what the last run has stored as outputs (kernel.state). Each of
/// `states` is an input and an output; an entry point may have one of them, or none.
/// False with diagnostics where that cannot be.
bool markStates(mlir::ModuleOp module,
                llvm::ArrayRef<std::pair<std::string, std::string>> states,
                Diagnostics &diagnostics);

} // namespace ingot

#endif // INGOT_COMPILER_ENTRYPOINTS_H
