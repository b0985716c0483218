//===- Passes.td - passes on tensors --------------------------------------===//

#ifndef INGOT_PASSES_GRAPH_PASSES_TD
#define INGOT_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormGroups : Pass<"graph-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Decide which operators become one kernel, and by which strategy";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

#endif
