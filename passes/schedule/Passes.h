// The pass of stage `schedule`: turns operators into loops.

#ifndef INGOT_PASSES_SCHEDULE_PASSES_H
#define INGOT_PASSES_SCHEDULE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::schedule {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/schedule/Passes.h.inc"
} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_PASSES_H
