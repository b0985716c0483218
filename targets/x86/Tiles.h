// AMX: eight registers of 16 rows of 64 bytes, and their products.

#ifndef INGOT_TARGETS_X86_TILES_H
#define INGOT_TARGETS_X86_TILES_H

#include "targets/TargetDescription.h"

namespace ingot::targets {

TileRegisters tileRegisters();
std::vector<Intrinsic> tileIntrinsics();

/// What of them is a macro in generated text, and how that asks for the permission to use
/// them.
extern const llvm::StringLiteral tileFunctions, tilePermissionText;
/// Asks for this very process.
bool mayUseTiles();

} // namespace ingot::targets

#endif // INGOT_TARGETS_X86_TILES_H
