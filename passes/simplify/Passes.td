// The passes of the stage `simplify`, which rewrites imported operators as
// fewer and simpler ones.

#ifndef INGOT_PASSES_SIMPLIFY_PASSES_TD
#define INGOT_PASSES_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

/// Runs on the module, since functions share the data of constants.
def FoldConstants : Pass<"simplify-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Evaluate operations whose operands are all constant";
}

/// Runs on the module, since entry points share states.
def LayOutStates : Pass<"simplify-lay-out-states", "::mlir::ModuleOp"> {
  let summary = "Give states layouts in which they grow without moving, and append to them in place";
  let options = [Option<"onePlace", "one-place", "bool", "true",
                        "A call may write a state to the memory from which it reads it">];
}

def RaiseComposites : Pass<"simplify-raise-composites", "::mlir::func::FuncOp"> {
  let summary = "Find normalizations, softmax and activations that exporters decompose, and raise them";
}

def TakeSigns : Pass<"simplify-take-signs", "::mlir::func::FuncOp"> {
  let summary = "Quantize to signed or unsigned int8, whichever the target multiplies with the weights";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target, whose dot products decide the signedness">];
}

def HoistScales : Pass<"simplify-hoist-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply quantized operands as integers and scale their sums";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target, which may have dot products of 8-bit floats">,
                 Option<"strict", "strict", "bool", "false",
                        "Leave biases, means and the scales of results where they are">];
}

def WidenContractions : Pass<"simplify-widen-contractions", "::mlir::func::FuncOp"> {
  let summary = "Contract the int8 values of quantized operands, with 32-bit sums";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target: one without int8 dot products keeps float sums">,
                 Option<"strict", "strict", "bool", "false",
                        "Keep float sums that are rounded where integer sums would be exact">];
}

def NarrowWeights : Pass<"simplify-narrow-weights", "::mlir::func::FuncOp"> {
  let summary = "Keep dequantized constant weights of 2, 4 or 8 bits packed in matmuls and gathers";
}

def AssignLayout : Pass<"simplify-assign-layout", "::mlir::func::FuncOp"> {
  let summary = "Move transposes through operators until they cancel or fold into weights";
  let options = [Option<"strict", "strict", "bool", "false", "Keep the order in which norms sum the elements of a row">];
}

/// Runs when convolutions are channels-last and contractions of int8 operands
/// are integer, so that states have the layout and the types that kernels read.
def StreamAxis : Pass<"simplify-stream-axis", "::mlir::func::FuncOp"> {
  let summary = "Compute only the new columns of a window that moves, and keep the others in states";
  let options = [Option<"inPlace", "in-place", "bool", "true",
                        "A call may move the columns of a state within its memory">];
}

def SplitPhases : Pass<"simplify-split-phases", "::mlir::func::FuncOp"> {
  let summary = "Rewrite transposed convolutions as convolutions, one per group of phases with equally many taps";
}

def HoistConvolutions : Pass<"simplify-hoist-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Move pointwise convolutions before gathers that repeat positions";
}

def SplitJoined : Pass<"simplify-split-joined", "::mlir::func::FuncOp"> {
  let summary = "Move operators that compute each position separately before a concatenation of positions";
}

def FoldScales : Pass<"simplify-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Multiply per-channel factors into weights, add per-channel terms to biases";
}

def JoinConvolutions : Pass<"simplify-join-convolutions", "::mlir::func::FuncOp"> {
  let summary = "Merge a sum of convolutions of the same tensor into one convolution";
}

#endif
