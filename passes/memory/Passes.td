//===- Passes.td - where buffers lie --------------------------------------===//

#ifndef INGOT_PASSES_MEMORY_PASSES_TD
#define INGOT_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def PlanMemory : Pass<"memory-plan", "::mlir::ModuleOp"> {
  let summary = "Give every tensor of @main a place: argument, constant or arena offset";
  let options = [Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

def OrderLaunches : Pass<"memory-order-launches", "::mlir::ModuleOp"> {
  let summary = "Reorder the launches of @main where less is alive at a time then";
  let options = [Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

#endif
