// The texts around a network in a WebAssembly module, and its dot products.

#ifndef INGOT_TARGETS_WASM_MODULE_H
#define INGOT_TARGETS_WASM_MODULE_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

/// The family of the targets whose sources are modules (ModuleForm.h).
inline constexpr llvm::StringLiteral moduleFamily = "wasm32";

/// `hostLibraryText`: files for programs that `nodeCommand` runs; the command
/// contains no spaces within words.
extern const llvm::StringLiteral hostLibraryText, nodeCommand;

/// Dot products of pairs of 16-bit integers.
std::vector<Product> pairProducts();

} // namespace ingot::targets

#endif // INGOT_TARGETS_WASM_MODULE_H
