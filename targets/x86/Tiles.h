// AMX: eight matrix tile registers of 16 rows of 64 bytes, and their products.

#ifndef INGOT_TARGETS_X86_TILES_H
#define INGOT_TARGETS_X86_TILES_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

TileRegisters tileRegisters();
std::vector<Intrinsic> tileIntrinsics();

/// The macros of tile instructions in generated code, and the code that
/// requests the permission to use tiles from the operating system.
extern const llvm::StringLiteral tileFunctions, tilePermissionText;
/// Requests the permission for this process and returns whether it was granted.
bool mayUseTiles();

} // namespace ingot::targets

#endif // INGOT_TARGETS_X86_TILES_H
