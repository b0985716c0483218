// Prints the functions that divide the work of kernels among the caller's
// threads.

#ifndef INGOT_CODEGEN_FILES_THREADSPRINTER_H
#define INGOT_CODEGEN_FILES_THREADSPRINTER_H

#include "codegen/kernel/TextWriter.h"
#include "dialects/kernel/KernelDialect.h"

namespace ingot {

class NameScope;

/// Whether a kernel can divide its work among the caller's threads. In C, the
/// parallel loops inside a kernel run on one thread.
bool usesThreads(kernel::FuncOp kernel, const Language &language);

/// Reserves the names of the functions that printThreads() prints.
void reserveThreadNames(NameScope &names);

/// Prints the functions by which kernels and launches run on the caller's
/// threads: `parallel` for a single loop, and runtime_support/ingot_team.h for
/// worker groups, sequences of short kernels that the same threads process.
/// Prints nothing if all kernels run on a single thread. `modules` are modules
/// of CPU targets.
void printThreads(llvm::ArrayRef<mlir::ModuleOp> modules, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_THREADSPRINTER_H
