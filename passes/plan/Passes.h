// The passes of the stage `plan`, which assigns memory to buffers.

#ifndef INGOT_PASSES_PLAN_PASSES_H
#define INGOT_PASSES_PLAN_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::plan {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"
} // namespace ingot::plan

#endif // INGOT_PASSES_PLAN_PASSES_H
