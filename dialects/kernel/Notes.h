// Attributes of modules that only comments in generated text show.

#ifndef INGOT_DIALECTS_KERNEL_NOTES_H
#define INGOT_DIALECTS_KERNEL_NOTES_H

#include "llvm/ADT/StringRef.h"

namespace ingot::kernel {

/// The command that compiles the model with the same options, without the names
/// of the output and of its functions.
inline constexpr llvm::StringLiteral kCommandAttr = "kernel.command";

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_NOTES_H
