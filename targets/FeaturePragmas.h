// Pragmas that let clang and GCC use instructions beyond those enabled on the
// command line. They are printed before and after the generated functions. Both
// compilers take the same list of features.

#ifndef INGOT_TARGETS_FEATUREPRAGMAS_H
#define INGOT_TARGETS_FEATUREPRAGMAS_H

#include "llvm/ADT/StringRef.h"

/// The pragmas before functions that use the instruction sets FEATURES.
/// FEATURES is a string literal such as "avx2,fma".
#define INGOT_OPEN_FEATURES(FEATURES)                                          \
  "// The functions below may use these instructions, whatever the compiler "  \
  "is called with.\n"                                                          \
  "#if defined(__clang__)\n"                                                   \
  "#pragma clang attribute push( \\\n"                                         \
  "    __attribute__((target(\"" FEATURES "\"))), \\\n"                        \
  "    apply_to = function)\n"                                                 \
  "#else\n"                                                                    \
  "#pragma GCC push_options\n"                                                 \
  "#pragma GCC target(\"" FEATURES "\")\n"                                     \
  "#endif\n"

namespace ingot::targets {

inline constexpr llvm::StringLiteral closeFeatures =
    "#if defined(__clang__)\n"
    "#pragma clang attribute pop\n"
    "#else\n"
    "#pragma GCC pop_options\n"
    "#endif\n";

} // namespace ingot::targets

#endif // INGOT_TARGETS_FEATUREPRAGMAS_H
