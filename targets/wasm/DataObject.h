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

/// Writes an object whose only data segment consists of `bytes` bytes that
/// `payload` writes, aligned to `align`, with one hidden symbol. See
/// ModuleForm::writeDataObject.
void writeWasmDataObject(llvm::StringRef symbol, int64_t bytes, uint32_t align,
                         llvm::raw_ostream &os,
                         llvm::function_ref<void(llvm::raw_ostream &)> payload);

} // namespace ingot::targets

#endif // INGOT_TARGETS_WASM_DATAOBJECT_H
