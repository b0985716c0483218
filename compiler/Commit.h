// Which sources this program was built from.

#ifndef INGOT_COMPILER_COMMIT_H
#define INGOT_COMPILER_COMMIT_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// The commit of the sources, as the build found it; empty if they were no repository.
extern const llvm::StringRef ingotCommit;

} // namespace ingot

#endif // INGOT_COMPILER_COMMIT_H
