// Suggests corrections for misspelt names.

#ifndef INGOT_COMPILER_REPORT_SUGGEST_H
#define INGOT_COMPILER_REPORT_SUGGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ingot {

/// Returns up to four of `candidates` that are close to `name`, best first:
/// within one edit for names of 3 to 5 letters, within two for longer ones.
std::vector<std::string> suggestions(llvm::StringRef name,
                                     llvm::ArrayRef<std::string> candidates);

/// Returns "did you mean `a`, `b`?" for the suggestions; empty if there are
/// none.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<std::string> candidates);

} // namespace ingot

#endif // INGOT_COMPILER_REPORT_SUGGEST_H
