// The passes of the stage `lower`, which turns groups into kernels.

#ifndef INGOT_PASSES_LOWER_PASSES_H
#define INGOT_PASSES_LOWER_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::lower {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/lower/Passes.h.inc"
} // namespace ingot::lower

#endif // INGOT_PASSES_LOWER_PASSES_H
