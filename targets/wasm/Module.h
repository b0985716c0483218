// C++ text that is added to a generated source for WebAssembly, and dot
// products of the target.

#ifndef INGOT_TARGETS_WASM_MODULE_H
#define INGOT_TARGETS_WASM_MODULE_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// The family of the targets whose generated sources can become modules
/// (ModuleForm.h).
inline constexpr llvm::StringLiteral moduleFamily = "wasm32";

/// `hostLibraryText` is C++ text with file functions for programs that Node.js
/// runs. `nodeCommand` is the command by which Node.js runs them; its words
/// contain no spaces.
extern const llvm::StringLiteral hostLibraryText, nodeCommand;

/// Returns dot products of pairs of 16-bit integers.
std::vector<Product> pairProducts();

} // namespace ingot::targets

#endif // INGOT_TARGETS_WASM_MODULE_H
