// From groups to kernel functions.

#ifndef INGOT_PASSES_LOWER_PASSES_TD
#define INGOT_PASSES_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineGroups : Pass<"lower-outline-groups", "::mlir::ModuleOp"> {
  let summary = "Make each fusion group a private function; equal groups share one";
}

#endif
