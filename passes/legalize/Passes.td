// The passes of the stage `legalize`: only what prints is left.

#ifndef INGOT_PASSES_LEGALIZE_PASSES_TD
#define INGOT_PASSES_LEGALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineMath : Pass<"legalize-outline-math", "::mlir::ModuleOp"> {
  let summary = "Give exp, erf, floor, ... a function each, which kernels call";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose intrinsics need no function">];
}

def OutlineStrings : Pass<"legalize-outline-strings", "::mlir::ModuleOp"> {
  let summary = "Give lengths and comparisons of strings a function each, which kernels call";
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
}

def ExpandMath : Pass<"legalize-expand-math"> {
  let summary = "Rewrite exp, erf, floor, ... to plain arithmetic, so that no math library is needed";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose intrinsics need no rewriting">];
}

def ExpandOperations : Pass<"legalize-expand-operations", "::mlir::ModuleOp"> {
  let summary = "Rewrite what C or the target has no form for, and drop what nothing reads";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose intrinsics need no rewriting">];
}

def OutlineExtrema : Pass<"legalize-outline-extrema", "::mlir::ModuleOp"> {
  let summary = "Give the larger and the smaller of two floats a function each, which kernels call";
}

def MarkReadOnly : Pass<"legalize-mark-read-only", "::mlir::ModuleOp"> {
  let summary = "Mark the arguments of kernels that nothing is stored to: const in C";
}

def MarkAligned : Pass<"legalize-mark-aligned", "::mlir::ModuleOp"> {
  let summary = "Mark the loads and stores of vectors whose address is a multiple of their size";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target, which may have no use for this">];
}

def AwaitInputs : Pass<"legalize-await-inputs", "::mlir::ModuleOp"> {
  let summary = "Place where kernels that begin early wait for the one in front of them";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target, whose kernels may not begin early">];
}

def CheckPrintable : Pass<"legalize-check-printable", "::mlir::ModuleOp"> {
  let summary = "Check that the printer knows every operation and type that is left";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to print for">];
}

#endif
