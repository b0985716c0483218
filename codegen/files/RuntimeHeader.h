// Texts that generated files contain.

#ifndef INGOT_CODEGEN_FILES_RUNTIMEHEADER_H
#define INGOT_CODEGEN_FILES_RUNTIMEHEADER_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// runtime_support/ingot.h, put here by the build.
extern const llvm::StringRef kRuntimeHeaderText;
/// runtime_support/ingot_test.h likewise.
extern const llvm::StringRef kTestHeaderText;
/// runtime_support/precise_floats.inc likewise: parts for several places of a file, each
/// after a line "//? " with its name.
extern const llvm::StringRef kPreciseFloatsText;
/// runtime_support/ingot_team.h likewise.
extern const llvm::StringRef kTeamText;

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_RUNTIMEHEADER_H
