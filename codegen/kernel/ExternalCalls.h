// Declarations of the C functions of custom operators.

#ifndef INGOT_CODEGEN_KERNEL_EXTERNALCALLS_H
#define INGOT_CODEGEN_KERNEL_EXTERNALCALLS_H

#include "dialects/kernel/KernelDialect.h"
#include <string>

namespace ingot {

/// Returns the declaration of the function that `call` calls, without a
/// semicolon: "void my_scale(const float *__restrict x, float *__restrict y,
/// int64_t n, float factor)". Pointers are to the first element of a tensor in
/// row-major order.
std::string declarationOf(kernel::CallExternalOp call);

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_EXTERNALCALLS_H
