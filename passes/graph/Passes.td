//===- Passes.td - passes on tensors --------------------------------------===//

#ifndef INGOT_PASSES_GRAPH_PASSES_TD
#define INGOT_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldConstants : Pass<"graph-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluate what depends on constants alone";
}

def HoistScales : Pass<"graph-hoist-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply quantized operands as integers and scale the sums, as integer kernels do";
}

def AssignLayout : Pass<"graph-assign-layout", "::mlir::func::FuncOp"> {
  let summary = "Move transposes through operators until they cancel or fold into weights";
}

def FoldScales : Pass<"graph-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply per-channel factors into weights, add per-channel terms to biases";
}

def PackWeights : Pass<"graph-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Put the weights of convolutions and matrix products into panels";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to pack for">];
}

def TieWeights : Pass<"graph-tie-weights", "::mlir::func::FuncOp"> {
  let summary = "Gather from the packed weights that a table is the transpose of, instead of storing both";
}

def FormGroups : Pass<"graph-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Decide which operators become one kernel, and by which strategy";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def StripeRows : Pass<"graph-stripe-rows", "::mlir::ModuleOp"> {
  let summary = "Compute chains of groups some rows at a time where the arena would be too large";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to choose kernels for">,
                 Option<"maxBytes", "max-bytes", "int64_t", "0", "What the arena may take">,
                 Option<"alignment", "alignment", "int64_t", "64", "Alignment of arena buffers in bytes">];
}

#endif
