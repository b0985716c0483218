// The passes of the stage `legalize`, after which every operation can be
// printed.

#ifndef INGOT_PASSES_LEGALIZE_PASSES_H
#define INGOT_PASSES_LEGALIZE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::legalize {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/legalize/Passes.h.inc"
} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_PASSES_H
