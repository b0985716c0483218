// Attributes of modules that are printed in comments of generated files and
// have no other use.

#ifndef INGOT_DIALECTS_KERNEL_NOTES_H
#define INGOT_DIALECTS_KERNEL_NOTES_H

#include "llvm/ADT/StringRef.h"

namespace ingot::kernel {

/// The command that compiles the model with the same options, without the
/// options that name the output and its functions.
inline constexpr llvm::StringLiteral kCommandAttr = "kernel.command";

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_NOTES_H
