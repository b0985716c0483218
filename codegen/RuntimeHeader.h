//===- RuntimeHeader.h - the text that every header contains ----*- C++ -*-===//

#ifndef INGOT_CODEGEN_RUNTIMEHEADER_H
#define INGOT_CODEGEN_RUNTIMEHEADER_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// runtime_support/ingot.h, put here by the build.
extern const llvm::StringRef kRuntimeHeaderText;

} // namespace ingot

#endif // INGOT_CODEGEN_RUNTIMEHEADER_H
