// Functions of numbers that kernels call.
//
// Small functions beside the kernels, `exp_f32(x)`, which C compilers inline:
// code that a reader takes in at a glance, and that is there once.

#ifndef INGOT_PASSES_LEGALIZE_NUMBERFUNCTIONS_H
#define INGOT_PASSES_LEGALIZE_NUMBERFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace ingot::legalize {

class NumberFunctions {
public:
  explicit NumberFunctions(mlir::ModuleOp module)
      : module(module), symbols(module) {}

  /// Returns the function `stem`_f32, or `stem`_f32x8 and so on, from values of
  /// `type` named `arguments` to one of `type`. If there is none yet, makes it:
  /// `body` builds what it returns.
  mlir::func::FuncOp
  get(llvm::StringRef stem, mlir::Type type,
      llvm::ArrayRef<llvm::StringRef> arguments, const llvm::Twine &comment,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)>
          body);

  /// Replaces the one result of `op` by a call.
  static void replaceByCall(mlir::Operation *op, mlir::func::FuncOp function,
                            mlir::ValueRange operands);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> made;
};

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_NUMBERFUNCTIONS_H
