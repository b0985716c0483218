// Scalar and vector helper functions that kernels call.
//
// A kernel calls small functions such as `exp_f32(x)`, which C compilers
// inline. Each function is printed once and keeps the kernels readable.

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

  /// Returns the function `stem`_f32, or `stem`_f32x8 and so on. Its arguments,
  /// whose names are `arguments`, have the type `type`; its result has the type
  /// `result` or, if that is null, `type`. If the function does not exist,
  /// creates it: `body` builds the result, and the function gets the comment
  /// `comment` in the generated code.
  mlir::func::FuncOp
  get(llvm::StringRef stem, mlir::Type type,
      llvm::ArrayRef<llvm::StringRef> arguments, const llvm::Twine &comment,
      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> body,
      mlir::Type result = {});

  /// Replaces the single result of `op` by a call of `function`.
  static void replaceByCall(mlir::Operation *op, mlir::func::FuncOp function,
                            mlir::ValueRange operands);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> made;
};

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_NUMBERFUNCTIONS_H
