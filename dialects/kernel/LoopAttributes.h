// Attributes of loops that tell compilers how often to unroll them.

#ifndef INGOT_DIALECTS_KERNEL_LOOPATTRIBUTES_H
#define INGOT_DIALECTS_KERNEL_LOOPATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace ingot::kernel {

/// `kernel.unroll_count` (i64): compilers shall unroll the loop this many times.
inline constexpr llvm::StringLiteral kUnrollCountAttr = "kernel.unroll_count";
/// `kernel.clang_unroll_count` (i64): the same for clang only, for a loop whose
/// values just fit the registers: g++ 12 loads the operands of all copies of the
/// body early, and spills.
inline constexpr llvm::StringLiteral kClangUnrollCountAttr =
    "kernel.clang_unroll_count";

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_LOOPATTRIBUTES_H
