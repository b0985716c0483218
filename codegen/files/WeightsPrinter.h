// Prints weights as C++.

#ifndef INGOT_CODEGEN_FILES_WEIGHTSPRINTER_H
#define INGOT_CODEGEN_FILES_WEIGHTSPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// Prints `const T name[] = {...};` with the elements in memory order, followed
/// by a blank line.
void printArray(mlir::Type element, llvm::ArrayRef<char> bytes,
                llvm::StringRef name, TextWriter &out);

/// Prints a weight as an array called `name`, followed by a blank line.
void printWeightArray(const Weight &weight, llvm::StringRef name,
                      TextWriter &out);

/// Prints the text before <name>_run for weights that are not in the source:
/// their declaration, or the check of the weights file.
void printWeightsElsewhere(const Interface &interface, const Weights &weights,
                           TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_WEIGHTSPRINTER_H
