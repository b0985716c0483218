// Text that is printed in both the header and the source of a model.

#ifndef INGOT_CODEGEN_FILES_HEADERTEXT_H
#define INGOT_CODEGEN_FILES_HEADERTEXT_H

#include "codegen/files/Interface.h"

namespace ingot {

/// Returns the comment at the top of a generated file: model, producer,
/// targets, hash, command and license.
std::string fileComment(const Interface &interface,
                        llvm::ArrayRef<Variant> variants,
                        const CodegenOptions &options);

/// Returns a hash of the declarations of the header as a C literal. The header
/// defines the hash, and the source compares it, so that a header and a source
/// of different compilations are not built together.
std::string headerId(llvm::ArrayRef<Variant> variants,
                     llvm::ArrayRef<Interface> interfaces,
                     const CodegenOptions &options, const Weights &weights);

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_HEADERTEXT_H
