//===- Passes.td - from operators to loops --------------------------------===//

#ifndef INGOT_PASSES_KERNEL_PASSES_TD
#define INGOT_PASSES_KERNEL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleKernels : Pass<"kernel-schedule", "::mlir::ModuleOp"> {
  let summary = "Turn each kernel function on tensors into loops over buffers, by its strategy";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to schedule for">];
}

def ShareKernels : Pass<"kernel-share", "::mlir::ModuleOp"> {
  let summary = "Make one kernel of those that differ in integers only, with these as arguments";
}

def ExpandMath : Pass<"kernel-expand-math"> {
  let summary = "Rewrite exp, erf, floor, ... to plain arithmetic, so that no math library is needed";
}

#endif
