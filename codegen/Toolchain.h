//===- Toolchain.h - running a target's compiler ----------------*- C++ -*-===//

#ifndef INGOT_CODEGEN_TOOLCHAIN_H
#define INGOT_CODEGEN_TOOLCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ingot {

struct TargetDescription;

/// How generated sources are compiled, apart from what a target adds.
llvm::ArrayRef<llvm::StringRef> standardCompileFlags();

/// The first of the target's compilers that is installed, or an error that
/// names them all.
llvm::Expected<std::string> findCompiler(const TargetDescription &target);

/// Compiles `source` to `object`.
llvm::Error compileSource(const TargetDescription &target,
                          llvm::StringRef source, llvm::StringRef object);

/// Makes one relocatable object of several.
llvm::Error mergeObjects(const TargetDescription &target,
                         llvm::ArrayRef<std::string> objects,
                         llvm::StringRef merged);

/// Runs a program and waits; what it writes to stderr becomes the error.
llvm::Error runProgram(llvm::StringRef program,
                       llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace ingot

#endif // INGOT_CODEGEN_TOOLCHAIN_H
