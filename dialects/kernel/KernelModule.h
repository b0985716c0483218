// Questions about a module of kernels and of the program that launches them.

#ifndef INGOT_DIALECTS_KERNEL_KERNELMODULE_H
#define INGOT_DIALECTS_KERNEL_KERNELMODULE_H

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::kernel {

/// The name of the entry point that the functions of an output are called after alone.
inline constexpr llvm::StringLiteral kMainName = "main";

/// The entry points, each of which becomes a function of the header, in their order.
llvm::SmallVector<ProgramOp> entryPrograms(mlir::ModuleOp module);
/// The first of them; null if there is none.
ProgramOp mainProgram(mlir::ModuleOp module);

/// The programs that `op` runs: those of an if or a loop, none of anything else.
llvm::SmallVector<ProgramOp> programsRunBy(mlir::Operation *op);
/// All programs of a module, each behind those that it runs.
llvm::SmallVector<ProgramOp> programsInOrder(mlir::ModuleOp module);
/// `entry` and the programs that it runs, in the same order.
llvm::SmallVector<ProgramOp> programsInOrder(ProgramOp entry);
/// Whether a program does anything but launch: it runs others, or reads sizes that it makes.
bool decidesOnHost(ProgramOp program);

/// The buffer that a load or store goes to, through views: an argument, an
/// alloca, a global.
mlir::Value bufferRoot(mlir::Value memref);

/// What the threads of a block share, one buffer after another at its alignment.
int64_t sharedBytes(FuncOp kernel);

/// How many branches the widest fork of a program has; 1 if it has none.
int64_t mostBranches(ProgramOp program);
/// Checks a program on buffers: no branch of a fork writes bytes that another one reads or
/// writes.
llvm::LogicalResult checkBranches(ProgramOp program,
                                  const mlir::SymbolTable &symbols);

/// Calls `use` with the bytes of an initial value, one or more pieces in order;
/// false if it has none (a resource that is missing).
bool forEachPiece(mlir::memref::GlobalOp global,
                  llvm::function_ref<void(llvm::ArrayRef<char>)> use);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELMODULE_H
