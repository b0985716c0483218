// The passes of the stage `simplify`, which rewrites imported operators as
// fewer and simpler ones.

#ifndef INGOT_PASSES_SIMPLIFY_PASSES_H
#define INGOT_PASSES_SIMPLIFY_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::simplify {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/simplify/Passes.h.inc"
} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_PASSES_H
