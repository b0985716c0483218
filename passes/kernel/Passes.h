//===- Passes.h - the kernel passes -----------------------------*- C++ -*-===//

#ifndef INGOT_PASSES_KERNEL_PASSES_H
#define INGOT_PASSES_KERNEL_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::kernel {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/kernel/Passes.h.inc"
} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_PASSES_H
