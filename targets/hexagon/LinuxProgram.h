// What programs on an emulated Hexagon need in place of a C library.

#ifndef INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H
#define INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H

#include "llvm/ADT/StringRef.h"

namespace ingot::targets {

/// Files and memory by system calls, and the divisions that compilers call; and the
/// entry point.
extern const llvm::StringLiteral linuxLibraryText, linuxProgramText;

} // namespace ingot::targets

#endif // INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H
