// Prints the text that precedes the kernels of a target: its prologue, the
// vector types, and the functions for memory accesses.

#ifndef INGOT_CODEGEN_FILES_PROLOGUE_H
#define INGOT_CODEGEN_FILES_PROLOGUE_H

#include "codegen/kernel/KernelPrinter.h"

#include <set>
#include <string>

namespace ingot {

void printVectorTypes(const SourceContext &context, TextWriter &out);

/// Prints the helper functions for memory accesses that `programs` calls.
/// `programs` is the text of the functions that launch kernels.
void printMemoryFunctions(llvm::StringRef programs, TextWriter &out);

/// Prints `opening`, text of a target that precedes the kernels, without macros
/// that are used neither in `kernels` nor by other macros that are printed. A
/// macro ends with the first line that does not end in a backslash; comments
/// before it belong to it. Other optional text begins with a line "//? NAME"
/// and ends before the next line with "//?"; it is printed if NAME occurs in
/// `kernels` or in later text that is printed.
/// Returns the names of the printed macros.
std::set<std::string> printOpening(llvm::StringRef opening,
                                   llvm::StringRef kernels, TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_PROLOGUE_H
