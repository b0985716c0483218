// Compiles the kernels of a module for this host and runs them.

#ifndef INGOT_PASSES_EVALUATE_JIT_H
#define INGOT_PASSES_EVALUATE_JIT_H

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// The kernels of a module, compiled to machine code by LLVM for this host;
/// they take buffers as bare pointers.
class Jit {
public:
  ~Jit();
  /// Compiles a copy of the kernels of `module`. With `optimize`, LLVM
  /// optimizes them, which pays off if they run long.
  static mlir::FailureOr<std::unique_ptr<Jit>> compile(mlir::ModuleOp module,
                                                       bool optimize);
  /// Calls a kernel. `arguments` are pointers to the kernel's arguments. Each
  /// argument is a pointer or an index.
  void call(llvm::StringRef kernel, llvm::MutableArrayRef<void *> arguments);

private:
  struct Code;
  Jit();
  /// Compiles `kernels`, a module of the LLVM dialect, and loads the code.
  llvm::Error load(mlir::ModuleOp kernels, bool optimize);

  std::unique_ptr<Code> code;
};

} // namespace ingot

#endif // INGOT_PASSES_EVALUATE_JIT_H
