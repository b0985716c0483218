// Whose fault an error is.

#ifndef INGOT_COMPILER_FAULTS_H
#define INGOT_COMPILER_FAULTS_H

#include "compiler/report/Diagnostics.h"
#include "llvm/Support/Error.h"

namespace ingot {

/// Reports an error of writing, compiling or running what was generated: a full
/// disk, a missing compiler and the like by their reason; a compiler that the
/// user has named (`userCompiler`) by its first message; all else as our own
/// fault, which `what` describes ("the generated C++ did not compile").
void reportFault(llvm::Error error, Diagnostics &diagnostics,
                 llvm::StringRef what = "", llvm::StringRef userCompiler = "");

/// Returns the line of a failed program's messages that tells most.
std::string firstError(llvm::StringRef messages);

} // namespace ingot

#endif // INGOT_COMPILER_FAULTS_H
