// The passes of the stage `lower`, which turns groups into kernels.

#ifndef INGOT_PASSES_LOWER_PASSES_TD
#define INGOT_PASSES_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineGroups : Pass<"lower-outline-groups", "::mlir::ModuleOp"> {
  let summary = "Outline each fusion group into a kernel; equal groups share one";
}

#endif
