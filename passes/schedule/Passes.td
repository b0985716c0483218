// The pass of stage `schedule`: turns operators into loops.

#ifndef INGOT_PASSES_SCHEDULE_PASSES_TD
#define INGOT_PASSES_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleKernels : Pass<"schedule-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn each kernel function on tensors into loops over buffers, by its strategy";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to schedule for">];
}

#endif
