// Kernels of a planned module, run in place.

#ifndef INGOT_PASSES_EVALUATE_JIT_H
#define INGOT_PASSES_EVALUATE_JIT_H

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// The kernel functions of a module (buffers as bare pointers), compiled to
/// machine code by LLVM for this host.
class Jit {
public:
  ~Jit();
  /// Takes the kernels out of `module` (a copy is compiled). `optimize`: worth
  /// it when the kernels run long.
  static mlir::FailureOr<std::unique_ptr<Jit>> compile(mlir::ModuleOp module,
                                                       bool optimize);
  /// Calls a kernel: pointers to its arguments, each a pointer or an index.
  void call(llvm::StringRef kernel, llvm::MutableArrayRef<void *> arguments);

private:
  struct Code;
  Jit();
  /// Makes code of `kernels`, a module of LLVM's dialect.
  llvm::Error load(mlir::ModuleOp kernels, bool optimize);

  std::unique_ptr<Code> code;
};

} // namespace ingot

#endif // INGOT_PASSES_EVALUATE_JIT_H
