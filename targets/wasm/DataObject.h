// Writes a block of constants as a linkable WebAssembly object.

#ifndef INGOT_TARGETS_WASM_DATAOBJECT_H
#define INGOT_TARGETS_WASM_DATAOBJECT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ingot::targets {

/// Writes an object with one data segment, aligned to `align`, and the hidden
/// symbol `symbol` at its beginning. The segment consists of the `bytes` bytes
/// that `payload` writes.
/// See ModuleForm::writeDataObject.
void writeWasmDataObject(llvm::StringRef symbol, int64_t bytes, uint32_t align,
                         llvm::raw_ostream &os,
                         llvm::function_ref<void(llvm::raw_ostream &)> payload);

} // namespace ingot::targets

#endif // INGOT_TARGETS_WASM_DATAOBJECT_H
