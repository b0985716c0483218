// A block of constants as a linkable object.

#ifndef INGOT_CODEGEN_OBJECTS_ELFOBJECT_H
#define INGOT_CODEGEN_OBJECTS_ELFOBJECT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace ingot {

struct ElfIdentity;

/// A relocatable ELF object whose .rodata is `bytes` bytes that `payload`
/// writes, aligned as weights are, named by one hidden symbol. No assembler is
/// involved and nothing is copied.
void writeDataObject(llvm::StringRef symbol, int64_t bytes,
                     const ElfIdentity &elf, llvm::raw_ostream &os,
                     llvm::function_ref<void(llvm::raw_ostream &)> payload);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_ELFOBJECT_H
