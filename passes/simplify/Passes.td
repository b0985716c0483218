// The passes of the stage `simplify`: operators on tensors, made fewer.

#ifndef INGOT_PASSES_SIMPLIFY_PASSES_TD
#define INGOT_PASSES_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

/// Of the module, since functions share the bytes of constants.
def FoldConstants : Pass<"simplify-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Evaluate what depends on constants alone";
}

/// Of the module, since entry points share states.
def LayOutStates : Pass<"simplify-lay-out-states", "::mlir::ModuleOp"> {
  let summary = "Give states the axis along which they grow first, and append to them in place";
  let options = [Option<"onePlace", "one-place", "bool", "true",
                        "A run may write a state where it reads it">];
}

def RaiseComposites : Pass<"simplify-raise-composites", "::mlir::func::FuncOp"> {
  let summary = "Find normalizations, softmax and activations that exporters have spelled out";
}

def TakeSigns : Pass<"simplify-take-signs", "::mlir::func::FuncOp"> {
  let summary = "Quantize to bytes of the sign that the target multiplies with that of the weights";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target whose products are asked for">];
}

def HoistScales : Pass<"simplify-hoist-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply quantized operands as integers and scale the sums, as integer kernels do";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target whose products are asked for">,
                 Option<"strict", "strict", "bool", "false",
                        "Leave biases, means and the scales of results where they are">];
}

def WidenContractions : Pass<"simplify-widen-contractions", "::mlir::func::FuncOp"> {
  let summary = "Contract the bytes of quantized operands, with sums of 32 bits";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target: one without products of bytes keeps sums of floats">,
                 Option<"strict", "strict", "bool", "false",
                        "Sum floats as they are where integers would be exact">];
}

def NarrowWeights : Pass<"simplify-narrow-weights", "::mlir::func::FuncOp"> {
  let summary = "Multiply by dequantized constants of few bits as they are stored";
}

def AssignLayout : Pass<"simplify-assign-layout", "::mlir::func::FuncOp"> {
  let summary = "Move transposes through operators until they cancel or fold into weights";
  let options = [Option<"strict", "strict", "bool", "false", "Rows of norms are summed in their order">];
}

def SplitPhases : Pass<"simplify-split-phases", "::mlir::func::FuncOp"> {
  let summary = "Make convolutions of transposed convolutions, one for phases with equally many kernel positions";
}

def HoistConvolutions : Pass<"simplify-hoist-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Compute pointwise convolutions before what repeats positions";
}

def SplitJoined : Pass<"simplify-split-joined", "::mlir::func::FuncOp"> {
  let summary = "Compute what is computed of each position of joined tensors of each tensor alone";
}

def FoldScales : Pass<"simplify-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply per-channel factors into weights, add per-channel terms to biases";
}

def JoinConvolutions : Pass<"simplify-join-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Make one convolution of a sum of convolutions of one tensor";
}

#endif
