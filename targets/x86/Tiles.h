// AMX: eight matrix tile registers of 16 rows of 64 bytes, and their products.

#ifndef INGOT_TARGETS_X86_TILES_H
#define INGOT_TARGETS_X86_TILES_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

TileRegisters tileRegisters();
std::vector<Intrinsic> tileIntrinsics();

/// C++ text: the macros for tile instructions, and the function that requests
/// permission from the operating system to use tiles.
extern const llvm::StringLiteral tileFunctions, tilePermissionText;
/// Requests permission for this process to use tiles; returns whether it was
/// granted.
bool mayUseTiles();

} // namespace ingot::targets

#endif // INGOT_TARGETS_X86_TILES_H
