// The commit from which this program was built.

#ifndef INGOT_COMPILER_COMMIT_H
#define INGOT_COMPILER_COMMIT_H

#include "llvm/ADT/StringRef.h"

namespace ingot {

/// The git commit of the sources, as found by the build; empty if they were not
/// in a repository.
extern const llvm::StringRef ingotCommit;

} // namespace ingot

#endif // INGOT_COMPILER_COMMIT_H
