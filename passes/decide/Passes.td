// The passes of the stage `decide`: which operators become one kernel, and how.

#ifndef INGOT_PASSES_DECIDE_PASSES_TD
#define INGOT_PASSES_DECIDE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NarrowContractions : Pass<"decide-narrow-contractions", "::mlir::func::FuncOp"> {
  let summary = "Sum products of bf16 in f32, and with `fast` contract floats as bf16, f16 or tf32";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target: one without products of bf16 leaves all as it is">,
                 Option<"fast", "fast", "std::string", "\"\"",
                        "What the operands of contractions of f32 are rounded to: bf16, f16 or tf32; empty: nothing">];
}

def ShareHeads : Pass<"decide-share-heads", "::mlir::func::FuncOp"> {
  let summary = "One product of the queries of all heads that share keys and values, where each has one query";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target: one without vectors keeps repetitions, which are computed">];
}

def AgreeSigns : Pass<"decide-agree-signs", "::mlir::func::FuncOp"> {
  let summary = "Bytes between layers of the sign that the target multiplies faster, where core registers take them";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def JoinPositions : Pass<"decide-join-positions", "::mlir::func::FuncOp"> {
  let summary = "Neighbouring results of convolutions with few filters as channels, where sums fill whole vectors";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def JoinColumns : Pass<"decide-join-columns", "::mlir::func::FuncOp"> {
  let summary = "Neighbouring columns of few channels as channels of one, where devices bring pieces to matrix units";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def JoinProducts : Pass<"decide-join-products", "::mlir::func::FuncOp"> {
  let summary = "Products of one tensor by known weights, whose columns are heads, as one product of a device";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormIntegerProducts : Pass<"decide-form-integer-products", "::mlir::func::FuncOp"> {
  let summary = "Products of narrow integers without zero points, of the signs that the target multiplies";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormFixedPoint : Pass<"decide-form-fixed-point", "::mlir::func::FuncOp"> {
  let summary = "Softmax, layer normalization and sums between integers as integers with a fixed point, where vectors hold no floats";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormIntegerScales : Pass<"decide-form-integer-scales", "::mlir::func::FuncOp"> {
  let summary = "Scales between integers as products with their upper halves, where that is cheaper than floats";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormTables : Pass<"decide-form-tables", "::mlir::func::FuncOp"> {
  let summary = "Functions from bytes to bytes as tables, where the target looks up registers of bytes";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">,
                 Option<"strict", "strict", "bool", "false", "Scales between integers stay floats">];
}

def FormForestMasks : Pass<"decide-form-forest-masks", "::mlir::func::FuncOp"> {
  let summary = "Decision trees as bits of their leaves, where rows fill vectors and that is faster";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def AgreePanels : Pass<"decide-agree-panels", "::mlir::ModuleOp"> {
  let summary = "Have groups that read the same weights read them in the same order";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target that plans are for">];
}

def PackWeights : Pass<"decide-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Put the weights of each group into the order that its strategy reads by its plan";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to pack for">];
}

def TieWeights : Pass<"decide-tie-weights", "::mlir::func::FuncOp"> {
  let summary = "Gather from the packed weights that a table is the transpose of, instead of storing both";
}

def FormGroups : Pass<"decide-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Decide which operators become one kernel, by which strategy and which plan";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">,
                 Option<"packs", "packs", "bool", "true", "Weights that are known will be packed for the strategies">,
                 Option<"savesMemory", "saves-memory", "bool", "false", "Kernels have no scratch memory that others do without">];
}

def NarrowStorage : Pass<"decide-narrow-storage", "::mlir::func::FuncOp"> {
  let summary = "With `fast` as bf16 or f16, store what kernels of a device leave for each other in that type";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target: only devices store so">,
                 Option<"fast", "fast", "std::string", "\"\"", "The type: bf16 or f16; otherwise nothing changes">,
                 Option<"savesMemory", "saves-memory", "bool", "false", "Kernels have no scratch memory that others do without">];
}

def ChainRows : Pass<"decide-chain-rows", "::mlir::func::FuncOp"> {
  let summary = "Depthwise convolutions and their neighbours as one kernel, row by row, where what passes between them leaves the cache";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def StripeRows : Pass<"decide-stripe-rows", "::mlir::ModuleOp"> {
  let summary = "Compute chains of groups some rows at a time where the arena would be too large";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to choose kernels for">,
                 Option<"maxBytes", "max-bytes", "int64_t", "0", "What the arena may take; 0: half of what it takes without, as far as that costs no time">];
}

def SplitBatches : Pass<"decide-split-batches", "::mlir::func::FuncOp"> {
  let summary = "Compute groups that follow one another image by image where what passes between them stays in a cache then";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FillNear : Pass<"decide-fill-near", "::mlir::ModuleOp"> {
  let summary = "Have vectors read what is no constant from near memory";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to choose kernels for">,
                 Option<"maxBytes", "max-bytes", "int64_t", "0", "Bytes of near memory that the caller lends">];
}

#endif
