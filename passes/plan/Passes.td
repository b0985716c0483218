// The passes of the stage `plan`: where buffers lie.

#ifndef INGOT_PASSES_PLAN_PASSES_TD
#define INGOT_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderLaunches : Pass<"plan-order-launches", "::mlir::ModuleOp"> {
  let summary = "Reorder the launches of @main where less is alive at a time then";
  let options = [Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

def CopyToHost : Pass<"plan-copy-to-host", "::mlir::ModuleOp"> {
  let summary = "Copy what kernels of the host read and write beside a device";
}

def ForkBranches : Pass<"plan-fork-branches", "::mlir::ModuleOp"> {
  let summary = "Let launches of a device run beside each other where that is predicted to be faster";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose device runs them">];
}

def FormTeams : Pass<"plan-form-teams", "::mlir::ModuleOp"> {
  let summary = "Let threads of the host stay together for short launches that follow each other";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose threads run them">];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every tensor of @main a place: argument, constant or arena offset";
  let options = [Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

def PlanState : Pass<"plan-state", "::mlir::ModuleOp"> {
  let summary = "Give what lives from run to run its places";
  let options = [
    Option<"alignment", "alignment", "int64_t", "64", "Alignment of each place in bytes">,
    Option<"onePlace", "one-place", "bool", "true", "Values that are read before the next ones are written take one place">];
}

def ShareKernels : Pass<"plan-share-kernels", "::mlir::ModuleOp"> {
  let summary = "Make one kernel of those that differ in integers only, with these as arguments";
}

def PrefetchWeights : Pass<"plan-prefetch-weights", "::mlir::ModuleOp"> {
  let summary = "Have the constants of each launch fetched during the one before";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose second cache they go to">];
}

#endif
