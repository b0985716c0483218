//===- Passes.h - passes on tensors -----------------------------*- C++ -*-===//

#ifndef INGOT_PASSES_GRAPH_PASSES_H
#define INGOT_PASSES_GRAPH_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace ingot::graph {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/graph/Passes.h.inc"
} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_PASSES_H
