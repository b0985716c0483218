//===- Passes.h - the memory passes -----------------------------*- C++ -*-===//

#ifndef INGOT_PASSES_MEMORY_PASSES_H
#define INGOT_PASSES_MEMORY_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::memory {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/memory/Passes.h.inc"
} // namespace ingot::memory

#endif // INGOT_PASSES_MEMORY_PASSES_H
