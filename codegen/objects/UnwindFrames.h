// Stack frames as debuggers see them.
//
// Functions of a compiler's library come without a file that says what stack
// they use, but mostly with tables for debuggers, which describe their frames.

#ifndef INGOT_CODEGEN_OBJECTS_UNWINDFRAMES_H
#define INGOT_CODEGEN_OBJECTS_UNWINDFRAMES_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELFObjectFile.h"

namespace ingot {

/// Bytes of stack of the functions in a relocatable object, by the index of
/// their section and their offset there; without those that have no table.
using UnwindFrames = llvm::DenseMap<std::pair<uint64_t, uint64_t>, int64_t>;
llvm::Expected<UnwindFrames>
readUnwindFrames(const llvm::object::ELFObjectFileBase &file);

} // namespace ingot

#endif // INGOT_CODEGEN_OBJECTS_UNWINDFRAMES_H
