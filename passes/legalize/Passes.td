// The passes of the stage `legalize`, after which every operation can be
// printed.

#ifndef INGOT_PASSES_LEGALIZE_PASSES_TD
#define INGOT_PASSES_LEGALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormHalves : Pass<"legalize-form-halves", "::mlir::ModuleOp"> {
  let summary = "Compute in f16 what is rounded to f16, where the target has the instructions";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose instructions are used">];
}

def OutlineMath : Pass<"legalize-outline-math", "::mlir::ModuleOp"> {
  let summary = "Outline exp, erf, floor, ... into functions, which kernels call";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose intrinsics need no function">];
}

def OutlineStrings : Pass<"legalize-outline-strings", "::mlir::ModuleOp"> {
  let summary = "Outline string length and comparison into functions, which kernels call";
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
}

def ExpandMath : Pass<"legalize-expand-math"> {
  let summary = "Rewrite exp, erf, floor, ... to plain arithmetic, so that no math library is needed";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose intrinsics need no rewriting">];
}

def ExpandOperations : Pass<"legalize-expand-operations", "::mlir::ModuleOp"> {
  let summary = "Expand operations that C or the target lacks, and drop unused values";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target whose intrinsics need no rewriting">];
}

def OutlineQuantization : Pass<"legalize-outline-quantization", "::mlir::ModuleOp"> {
  let summary = "Outline multiply-high, scaling and limiting of integers into functions, which kernels call";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target, whose registers limit the vectors that functions take">];
}

def OutlineExtrema : Pass<"legalize-outline-extrema", "::mlir::ModuleOp"> {
  let summary = "Outline minimum, maximum and the bits of rounded floats into functions, which kernels call";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target, whose compiler may drop NaN from a minimum or maximum">];
}

def MarkReadOnly : Pass<"legalize-mark-read-only", "::mlir::ModuleOp"> {
  let summary = "Mark the arguments that a kernel does not store to: const in C";
}

def MarkAligned : Pass<"legalize-mark-aligned", "::mlir::ModuleOp"> {
  let summary = "Mark vector loads and stores whose address is a multiple of their size";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target; nothing is marked if alignment gains nothing on it">];
}

def MarkScalarLoops : Pass<"legalize-mark-scalar-loops", "::mlir::ModuleOp"> {
  let summary = "Mark the loops that the target's C++ compiler would vectorize wrongly";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target; nothing is marked if its compiler has no such fault">];
}

def AwaitInputs : Pass<"legalize-await-inputs", "::mlir::ModuleOp"> {
  let summary = "Insert the wait for the previous kernel into kernels that start early";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target; nothing is inserted if its kernels do not start early">];
}

def CheckPrintable : Pass<"legalize-check-printable", "::mlir::ModuleOp"> {
  let summary = "Check that the printer can print every remaining operation and type";
  let options = [Option<"targetName", "target", "std::string", "\"generic\"", "The target to print for">];
}

#endif
