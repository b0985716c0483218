// The passes of the stage `plan`, which assigns memory to buffers.

#ifndef INGOT_PASSES_PLAN_PASSES_TD
#define INGOT_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderLaunches : Pass<"plan-order-launches", "::mlir::ModuleOp"> {
  let summary = "Reorder the launches of @main if this reduces the peak of live memory";
  let options = [Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

def CopyToHost : Pass<"plan-copy-to-host", "::mlir::ModuleOp"> {
  let summary = "Insert copies between device and host for kernels that run on the host";
}

def ForkBranches : Pass<"plan-fork-branches", "::mlir::ModuleOp"> {
  let summary = "Run launches of a device concurrently if that is predicted to be faster";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose device runs them">];
}

def FormTeams : Pass<"plan-form-teams", "::mlir::ModuleOp"> {
  let summary = "Form worker groups of host threads for consecutive short launches";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose threads run them">];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every tensor of @main in an argument, a constant or the arena";
  let options = [Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

def PlanState : Pass<"plan-state", "::mlir::ModuleOp"> {
  let summary = "Place values that are kept from run to run in the state";
  let options = [
    Option<"alignment", "alignment", "int64_t", "64", "Alignment of each place in bytes">,
    Option<"onePlace", "one-place", "bool", "true", "Values that are read before the next ones are written take one place">];
}

def ShareKernels : Pass<"plan-share-kernels", "::mlir::ModuleOp"> {
  let summary = "Merge kernels that differ in integers only, and pass the integers as arguments";
}

def PrefetchWeights : Pass<"plan-prefetch-weights", "::mlir::ModuleOp"> {
  let summary = "Prefetch the constants of each launch during the previous one";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose second cache they go to">];
}

#endif
