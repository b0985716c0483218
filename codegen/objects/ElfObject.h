// Writes a block of constants as a linkable object.

#ifndef INGOT_CODEGEN_OBJECTS_ELFOBJECT_H
#define INGOT_CODEGEN_OBJECTS_ELFOBJECT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace ingot {

struct ElfIdentity;

/// Writes a relocatable ELF object whose .rodata consists of `bytes` bytes
/// written by `payload`, aligned like weights, with one hidden symbol. The
/// object is written without an assembler and without a copy of the bytes.
void writeDataObject(llvm::StringRef symbol, int64_t bytes,
                     const ElfIdentity &elf, llvm::raw_ostream &os,
                     llvm::function_ref<void(llvm::raw_ostream &)> payload);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_ELFOBJECT_H
