// The replacement for a C library in programs for an emulated Hexagon.

#ifndef INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H
#define INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H

#include "llvm/ADT/StringRef.h"

namespace ingot::targets {

/// `linuxLibraryText` is C++ text with functions for files and memory, which
/// make system calls, and functions for divisions, which compilers call.
/// `linuxProgramText` is the entry point of a program.
extern const llvm::StringLiteral linuxLibraryText, linuxProgramText;

} // namespace ingot::targets

#endif // INGOT_TARGETS_HEXAGON_LINUXPROGRAM_H
