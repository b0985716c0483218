// The texts of files in runtime_support that are copied into generated files.

#ifndef INGOT_CODEGEN_FILES_RUNTIMEHEADER_H
#define INGOT_CODEGEN_FILES_RUNTIMEHEADER_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// The text of runtime_support/ingot.h, inserted by the build.
extern const llvm::StringRef kRuntimeHeaderText;
/// The text of runtime_support/ingot_test.h.
extern const llvm::StringRef kTestHeaderText;
/// The text of runtime_support/precise_floats.inc. It consists of parts for
/// several positions in a generated file; a line "//? NAME" precedes the part
/// called NAME.
extern const llvm::StringRef kPreciseFloatsText;
/// The text of runtime_support/ingot_team.h.
extern const llvm::StringRef kTeamText;

} // namespace ingot

#endif // INGOT_CODEGEN_FILES_RUNTIMEHEADER_H
