// Reads stack frame sizes from debug frame tables. Functions of a compiler's
// library have no stack usage file, but mostly have tables for debuggers, which
// describe their frames.

#ifndef INGOT_CODEGEN_OBJECTS_UNWINDFRAMES_H
#define INGOT_CODEGEN_OBJECTS_UNWINDFRAMES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELFObjectFile.h"

namespace ingot {

/// The stack bytes of the functions in a relocatable object, by the index of
/// the function's section and the function's offset in it; functions without a
/// debug frame table are missing.
using UnwindFrames = llvm::DenseMap<std::pair<uint64_t, uint64_t>, int64_t>;
llvm::Expected<UnwindFrames>
readUnwindFrames(const llvm::object::ELFObjectFileBase &file);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_UNWINDFRAMES_H
