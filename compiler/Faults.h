// Attributes errors to the environment, the user's compiler or Ingot.

#ifndef INGOT_COMPILER_FAULTS_H
#define INGOT_COMPILER_FAULTS_H

#include "compiler/report/Diagnostics.h"
#include "llvm/Support/Error.h"

namespace ingot {

/// Reports an error from writing, compiling or running generated code.
/// Environment errors, such as a full disk or a missing compiler, are reported
/// by their cause; errors of a compiler that the user has named
/// (`userCompiler`) by the compiler's first message; all others as internal
/// errors, described by `what` ("the generated C++ did not compile").
void reportFault(llvm::Error error, Diagnostics &diagnostics,
                 llvm::StringRef what = "", llvm::StringRef userCompiler = "");

/// Returns the first line in `messages`, the output of a failed program, that
/// contains a word such as "error"; the last 600 characters if there is none.
/// The first line, which is the command, is skipped.
std::string firstError(llvm::StringRef messages);

} // namespace ingot

#endif // INGOT_COMPILER_FAULTS_H
