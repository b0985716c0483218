// Queries of a module of kernels and of the programs that launch them: entry
// points, and bodies of ifs and loops.

#ifndef INGOT_DIALECTS_KERNEL_KERNELMODULE_H
#define INGOT_DIALECTS_KERNEL_KERNELMODULE_H

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::kernel {

/// The name of the main entry point. The names of its generated functions do
/// not contain the name of the entry point.
inline constexpr llvm::StringLiteral kMainName = "main";

/// Returns the entry points in the order of the module; each becomes a function
/// of the generated header.
llvm::SmallVector<ProgramOp> entryPrograms(mlir::ModuleOp module);
/// Returns the first entry point; null if there is none.
ProgramOp mainProgram(mlir::ModuleOp module);

/// Returns the bodies (each is a kernel.program) of `op` if it is a kernel.if
/// or kernel.loop; otherwise none.
llvm::SmallVector<ProgramOp> programsRunBy(mlir::Operation *op);
/// Returns all programs of a module (entry points, and bodies of ifs and
/// loops), each after the programs that it runs.
llvm::SmallVector<ProgramOp> programsInOrder(mlir::ModuleOp module);
/// Returns `entry` and the programs that it runs, directly or indirectly: the
/// bodies of its ifs and loops. Each program follows those that it runs.
llvm::SmallVector<ProgramOp> programsInOrder(ProgramOp entry);
/// Whether a program for a device makes decisions or computes on the host, that
/// is, has ifs or loops, reads or checks data-dependent sizes, copies to or
/// from the host, or launches a kernel that the host executes.
bool decidesOnHost(ProgramOp program);

/// Returns the buffer of which `memref` is a view, or `memref` itself: an
/// argument, or the result of a kernel.arena, an alloca or a get_global.
mlir::Value bufferRoot(mlir::Value memref);

/// Returns the bytes of shared memory that a thread block needs: the sum of its
/// buffers, each aligned.
int64_t sharedBytes(FuncOp kernel);

/// Returns the number of branches of a program's widest fork (launches that run
/// concurrently); 1 if it has no fork.
int64_t mostBranches(ProgramOp program);
/// Checks, once launches work on buffers, that no branch of a fork writes bytes
/// that another branch, which runs concurrently, reads or writes.
llvm::LogicalResult checkBranches(ProgramOp program,
                                  const mlir::SymbolTable &symbols);

/// Calls `use` with consecutive chunks of the bytes of the initial value of
/// `global`. Returns false if there is no initial value, or if it has no data,
/// since its resource is missing.
bool forEachChunk(mlir::memref::GlobalOp global,
                  llvm::function_ref<void(llvm::ArrayRef<char>)> use);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELMODULE_H
