// Prints what precedes the kernels of a target: its prologue, the vector types,
// and the functions for memory accesses.

#ifndef INGOT_CODEGEN_FILES_PROLOGUE_H
#define INGOT_CODEGEN_FILES_PROLOGUE_H

#include "codegen/kernel/KernelPrinter.h"

#include <set>
#include <string>

namespace ingot {

void printVectorTypes(const SourceContext &context, TextWriter &out);

/// Prints the helper functions for memory accesses that `programs`, the text of
/// the functions that launch kernels, calls.
void printMemoryFunctions(llvm::StringRef programs, TextWriter &out);

/// Prints the prologue of a target (its `openText`), without macros that
/// neither `kernels` nor other used macros use. A macro ends with the first
/// line that does not end in a backslash; comments before it belong to it.
/// Other optional text is between two marks (//?), the first of which has its
/// name. Returns the names of the macros.
std::set<std::string> printOpening(llvm::StringRef opening,
                                   llvm::StringRef kernels, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_PROLOGUE_H
