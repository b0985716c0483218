// The passes of the stage `decide`, which partitions the operators into kernels
// and chooses how each is computed.

#ifndef INGOT_PASSES_DECIDE_PASSES_H
#define INGOT_PASSES_DECIDE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::decide {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/decide/Passes.h.inc"
} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_PASSES_H
