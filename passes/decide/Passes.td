// The passes of the stage `decide`, which partitions the operators into kernels
// and chooses how each is computed.

#ifndef INGOT_PASSES_DECIDE_PASSES_TD
#define INGOT_PASSES_DECIDE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NarrowContractions : Pass<"decide-narrow-contractions", "::mlir::func::FuncOp"> {
  let summary = "Accumulate contractions of bf16 in f32, and with `fast` contract floats as bf16, f16 or tf32";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target: one without products of bf16 leaves all as it is">,
                 Option<"fast", "fast", "std::string", "\"\"",
                        "What the operands of contractions of f32 are rounded to: bf16, f16 or tf32; empty: nothing">];
}

def ShareHeads : Pass<"decide-share-heads", "::mlir::func::FuncOp"> {
  let summary = "Compute attention with one query as one matmul for all heads that share keys and values";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"",
                        "The target: one without vectors keeps repetitions, which are computed">];
}

def AgreeSigns : Pass<"decide-agree-signs", "::mlir::func::FuncOp"> {
  let summary = "Choose signed or unsigned int8 between layers, whichever core registers multiply faster";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def JoinPositions : Pass<"decide-join-positions", "::mlir::func::FuncOp"> {
  let summary = "Merge neighbouring output positions of convolutions with few filters into channels, to fill vectors";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def JoinColumns : Pass<"decide-join-columns", "::mlir::func::FuncOp"> {
  let summary = "Merge neighbouring columns of inputs with few channels, for 16-byte accesses of device matrix units";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def JoinProducts : Pass<"decide-join-products", "::mlir::func::FuncOp"> {
  let summary = "Merge matmuls of one tensor with constant weights whose columns are heads (devices)";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormIntegerDots : Pass<"decide-form-integer-dots", "::mlir::func::FuncOp"> {
  let summary = "Rewrite contractions of narrow integers into forms that the target's dot products support";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormFixedPoint : Pass<"decide-form-fixed-point", "::mlir::func::FuncOp"> {
  let summary = "Compute softmax, layer normalization and sums of integers in fixed point, on targets without float vectors";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormIntegerScales : Pass<"decide-form-integer-scales", "::mlir::func::FuncOp"> {
  let summary = "Requantize integers by multiply-high and shift, where that is cheaper than floats";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def FormTables : Pass<"decide-form-tables", "::mlir::func::FuncOp"> {
  let summary = "Replace functions of 8-bit integers by tables, on targets that look up registers of 8-bit indices";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">,
                 Option<"strict", "strict", "bool", "false", "Scales between integers stay floats">];
}

def FormForestMasks : Pass<"decide-form-forest-masks", "::mlir::func::FuncOp"> {
  let summary = "Evaluate decision trees by bit masks of leaves, where rows fill vectors and masks are faster than walks";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def AgreePanels : Pass<"decide-agree-panels", "::mlir::ModuleOp"> {
  let summary = "Choose one panel width for groups that read the same weights";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target that plans are for">];
}

def PackWeights : Pass<"decide-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Pack the weights of each group in the order in which its strategy reads them";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to pack for">];
}

def TieWeights : Pass<"decide-tie-weights", "::mlir::func::FuncOp"> {
  let summary = "Gather from packed weights instead of storing a table and its packed transpose";
}

def FormGroups : Pass<"decide-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Partition operators into fusion groups, each with a strategy and a plan";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">,
                 Option<"packs", "packs", "bool", "true", "Weights that are known will be packed for the strategies">,
                 Option<"savesMemory", "saves-memory", "bool", "false", "Kernels have no scratch memory that others do without">];
}

def NarrowStorage : Pass<"decide-narrow-storage", "::mlir::func::FuncOp"> {
  let summary = "With `fast` as bf16 or f16, store intermediate tensors of device kernels in that type";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target: only devices store so">,
                 Option<"fast", "fast", "std::string", "\"\"", "The type: bf16 or f16; otherwise nothing changes">,
                 Option<"savesMemory", "saves-memory", "bool", "false", "Kernels have no scratch memory that others do without">];
}

def ChainRows : Pass<"decide-chain-rows", "::mlir::func::FuncOp"> {
  let summary = "Fuse depthwise convolutions and their neighbours row by row, if intermediate tensors exceed the cache";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def RowBands : Pass<"decide-row-bands", "::mlir::ModuleOp"> {
  let summary = "Compute chains of groups in row bands (patch-based execution) to reduce the arena";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to choose kernels for">,
                 Option<"maxBytes", "max-bytes", "int64_t", "0", "What the arena may take; 0: half of what it takes without, as far as that costs no time">];
}

def SplitBatches : Pass<"decide-split-batches", "::mlir::func::FuncOp"> {
  let summary = "Compute consecutive groups image by image if intermediate tensors then stay in a cache";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to decide for">];
}

def PlaceInVtcm : Pass<"decide-place-in-vtcm", "::mlir::ModuleOp"> {
  let summary = "Place data that vectors read, except constants, in fast local memory (VTCM)";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to choose kernels for">,
                 Option<"maxBytes", "max-bytes", "int64_t", "0", "Bytes of second memory (VTCM) that the caller provides">];
}

#endif
