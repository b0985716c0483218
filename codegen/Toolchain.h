//===- Toolchain.h - running a target's compiler ----------------*- C++ -*-===//

#ifndef INGOT_CODEGEN_TOOLCHAIN_H
#define INGOT_CODEGEN_TOOLCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ingot {

struct TargetDescription;

/// How generated sources are compiled, apart from what a target adds.
llvm::ArrayRef<llvm::StringRef> standardCompileFlags();

/// The first of the target's compilers that is installed, as the words of a
/// command, or an error that names them all.
llvm::Expected<std::vector<std::string>>
findCompiler(const TargetDescription &target);
/// The words of a command of a description, the first one being the path of its
/// program; empty if that is not installed.
std::vector<std::string> installedCommand(llvm::StringRef command);

/// Compiles `source` to `object`, with `flags` behind those of the target.
llvm::Error compileSource(const TargetDescription &target,
                          llvm::StringRef source, llvm::StringRef object,
                          llvm::ArrayRef<llvm::StringRef> flags = {});

/// Makes one relocatable object of several objects and libraries (-lNAME).
llvm::Error mergeObjects(const TargetDescription &target,
                         llvm::ArrayRef<std::string> objects,
                         llvm::StringRef merged);

/// Runs a command and waits, for at most `seconds` if that is not 0; what it
/// writes becomes the error.
llvm::Error runProgram(llvm::ArrayRef<std::string> command,
                       unsigned seconds = 0);

} // namespace ingot

#endif // INGOT_CODEGEN_TOOLCHAIN_H
