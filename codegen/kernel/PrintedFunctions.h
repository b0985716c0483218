// The small functions, constants and macros of generated files that the printer
// itself adds, each with its text.
//
// Other helper functions, such as max_f32, are functions of the IR, which
// `legalize` creates (passes/legalize/NumberFunctions.h).

#ifndef INGOT_CODEGEN_KERNEL_PRINTEDFUNCTIONS_H
#define INGOT_CODEGEN_KERNEL_PRINTEDFUNCTIONS_H

#include "codegen/kernel/KernelPrinter.h"

namespace ingot {

/// Whether a constant or function that `printHelpers` can print has this name.
bool isHelper(llvm::StringRef name);

/// Prints the constants and functions in `context.helpers` and
/// `context.parts`. The functions use vector types, which precede them.
void printHelpers(const SourceContext &context, TextWriter &out);

/// Prints definitions of those macros that `text` uses: with GCC's extensions
/// for compilers that accept these, without extensions for others. Returns the
/// names of the macros.
std::vector<llvm::StringRef> printCompilerMacros(llvm::StringRef text,
                                                 TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_PRINTEDFUNCTIONS_H
