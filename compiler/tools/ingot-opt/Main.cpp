// The program ingot-opt.
//
// Runs passes on a module in text form, for tests: each pass of Ingot by its
// flag, and MLIR's canonicalizer and CSE.

#include "compiler/Pipeline.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "passes/decide/Passes.h"
#include "passes/legalize/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/plan/Passes.h"
#include "passes/schedule/Passes.h"
#include "passes/simplify/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);

  ingot::simplify::registerIngotSimplifyPasses();
  ingot::decide::registerIngotDecidePasses();
  ingot::lower::registerIngotLowerPasses();
  ingot::schedule::registerIngotSchedulePasses();
  ingot::plan::registerIngotPlanPasses();
  ingot::legalize::registerIngotLegalizePasses();
  registerCanonicalizerPass();
  registerCSEPass();

  DialectRegistry registry;
  registry.insert<ingot::graph::GraphDialect, ingot::kernel::KernelDialect,
                  affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  // Loads all dialects, since passes create operations of dialects that the
  // input does not contain.
  registry.addExtension(+[](MLIRContext *context, BuiltinDialect *) {
    ingot::loadPipelineDialects(*context);
  });

  return asMainReturnCode(
      MlirOptMain(argc, argv, "Runs passes of Ingot on a module\n", registry));
}
