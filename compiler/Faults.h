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

/// Returns the most informative line of a failed program's messages.
std::string firstError(llvm::StringRef messages);

} // namespace ingot

#endif // INGOT_COMPILER_FAULTS_H
