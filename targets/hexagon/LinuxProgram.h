// The replacement for a C library in programs for an emulated Hexagon.

#ifndef INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H
#define INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H

#include "llvm/ADT/StringRef.h"

namespace ingot::targets {

/// Files and memory by system calls, the divisions that compilers call, and the
/// entry point.
extern const llvm::StringLiteral linuxLibraryText, linuxProgramText;

} // namespace ingot::targets

#endif // INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H
