//===- Pipeline.cpp - the stages, in order --------------------------------===//

#include "compiler/Pipeline.h"

#include "codegen/Codegen.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/Evaluate.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/ExpandMath.h"
#include "passes/kernel/Passes.h"
#include "passes/kernel/Strategy.h"
#include "passes/lower/Passes.h"
#include "passes/memory/Passes.h"

using namespace mlir;

namespace ingot {

/// Constants folded, composites in one canonical form, dead code gone;
/// convolutions and pools channels-last with no transpose left that could go.
static void addSimplify(OpPassManager &pm, const PipelineOptions &options) {
  if (options.evaluating)
    return;
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  // Before dequantized weights become constants.
  if (!options.strict)
    functions.addPass(graph::createHoistScales());
  functions.addPass(graph::createFoldConstants());
  functions.addPass(graph::createAssignLayout());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(graph::createFoldConstants());
  if (!options.strict)
    functions.addPass(graph::createFoldScales());
}

/// Each operator belongs to a fusion group with a strategy; the last stage at
/// which facts of the target steer the graph.
static void addDecide(OpPassManager &pm, const PipelineOptions &options) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  if (!options.evaluating) {
    functions.addPass(graph::createPackWeights({options.target->name.str()}));
    // While it is still known what the panels are made from.
    functions.addPass(graph::createTieWeights());
    functions.addPass(graph::createFoldConstants());
    functions.addPass(createCSEPass());
  }
  functions.addPass(graph::createFormGroups({options.target->name.str()}));
  if (options.maxArena)
    pm.addPass(
        graph::createStripeRows({options.target->name.str(), *options.maxArena,
                                 options.target->bufferAlign}));
}

/// Each group is one private function; equal groups share one.
static void addLower(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(lower::createOutlineGroups());
}

/// Loops, vectors and buffers of each kernel are explicit.
static void addSchedule(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(kernel::createScheduleKernels({options.target->name.str()}));
}

/// Every buffer is (region, offset, size). Launches that are planned may pass
/// buffers of any shape, so that kernels can serve several.
static void addPlan(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.evaluating)
    pm.addPass(memory::createOrderLaunches({options.target->bufferAlign}));
  pm.addPass(memory::createPlanMemory({options.target->bufferAlign}));
  if (options.target->smallCode)
    pm.addPass(kernel::createShareKernels());
}

LogicalResult runPipeline(ModuleOp module, const PipelineOptions &options,
                          Stage stopAfter) {
  PassManager pm(module.getContext());
  pm.enableVerifier(options.verify);
  const std::pair<Stage, void (*)(OpPassManager &, const PipelineOptions &)>
      stages[] = {
          {Stage::Simplify, addSimplify}, {Stage::Decide, addDecide},
          {Stage::Lower, addLower},       {Stage::Schedule, addSchedule},
          {Stage::Plan, addPlan},
      };
  for (auto [stage, build] : stages)
    if (stage <= stopAfter)
      build(pm, options);
  if (options.strict)
    module->setAttr(kernel::kStrictAttr, UnitAttr::get(module.getContext()));
  if (failed(pm.run(module)))
    return failure();
  return stopAfter < Stage::Schedule ? success() : expandMath(module);
}

static constexpr StringLiteral names[] = {"import", "simplify", "decide",
                                          "lower",  "schedule", "plan"};

std::vector<std::string> stageNames() {
  return {std::begin(names), std::end(names)};
}

std::optional<Stage> parseStage(StringRef name) {
  const auto *found = llvm::find(names, name);
  if (found == std::end(names))
    return std::nullopt;
  return static_cast<Stage>(found - std::begin(names));
}

/// How constant subgraphs become code: the same stages, for a scalar target.
static LogicalResult lowerForEvaluation(ModuleOp module) {
  PipelineOptions options;
  options.target = lookupTarget("generic");
  options.evaluating = true;
  // The same constants whatever the options.
  options.strict = true;
  options.verify = false;
  if (failed(runPipeline(module, options)))
    return failure();
  // Narrow floats become operations on bits here as well.
  return legalizeForPrinting(module, *options.target);
}

void loadPipelineDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, kernel::KernelDialect,
                      arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                      memref::MemRefDialect, scf::SCFDialect,
                      vector::VectorDialect>();
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  setEvaluationLowering(lowerForEvaluation);
}

} // namespace ingot
