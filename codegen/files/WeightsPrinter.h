// Weights in the C++ text.

#ifndef INGOT_CODEGEN_FILES_WEIGHTSPRINTER_H
#define INGOT_CODEGEN_FILES_WEIGHTSPRINTER_H

#include "codegen/files/Interface.h"
#include "codegen/kernel/TextWriter.h"

namespace ingot {

/// `const T name[] = {...};` of elements as they lie in memory, with a blank
/// line after it.
void printArray(mlir::Type element, llvm::ArrayRef<char> bytes,
                llvm::StringRef name, TextWriter &out);

/// A weight as an array called `name`, with a blank line after it.
void printWeightArray(mlir::memref::GlobalOp global, llvm::StringRef name,
                      TextWriter &out);

/// What stands before <name>_run if the weights are not in the source: their
/// declaration, or the check of the file that has them.
void printWeightsElsewhere(const Interface &interface, const Weights &weights,
                           TextWriter &out);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_WEIGHTSPRINTER_H
