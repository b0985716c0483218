// The stages, in order.

#include "compiler/Pipeline.h"

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "passes/decide/Passes.h"
#include "passes/evaluate/Evaluate.h"
#include "passes/legalize/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/plan/Passes.h"
#include "passes/schedule/Passes.h"
#include "passes/schedule/Strategy.h"
#include "passes/simplify/Passes.h"

using namespace mlir;

namespace ingot {

/// Contractions of quantized operands are of integers where the target has them.
static void addWiden(OpPassManager &functions, const PipelineOptions &options) {
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  functions.addPass(simplify::createTakeSigns({options.target->name.str()}));
  functions.addPass(simplify::createHoistScales(
      {options.target->name.str(), options.strict}));
  functions.addPass(simplify::createWidenContractions(
      {options.target->name.str(), options.strict}));
}

LogicalResult widenContractions(ModuleOp module,
                                const PipelineOptions &options) {
  PassManager pm(module.getContext());
  addWiden(pm.nest<func::FuncOp>(), options);
  return pm.run(module);
}

/// Constants folded, composites in one canonical form, dead code gone;
/// convolutions and pools channels-last with no transpose left that could go.
static void addSimplify(OpPassManager &pm, const PipelineOptions &options) {
  if (options.evaluating)
    return;
  // Before the layouts of all that reads states follow.
  pm.addPass(simplify::createLayOutStates({options.stateInOnePlace}));
  // Before dequantized weights become constants.
  addWiden(pm.nest<func::FuncOp>(), options);
  pm.addNestedPass<func::FuncOp>(simplify::createNarrowWeights());
  pm.addPass(simplify::createFoldConstants());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // Once their constants are numbers, and before transposes move into them.
  if (!options.strict) {
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
    functions.addPass(simplify::createRaiseComposites());
  }
  functions.addPass(simplify::createAssignLayout({options.strict}));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  // When channels are last, and before the parts of weights become constants.
  if (!options.strict) {
    functions.addPass(simplify::createSplitPhases());
    functions.addPass(simplify::createHoistConvolutions());
  }
  // When transposes are where they stay.
  functions.addPass(simplify::createSplitJoined());
  pm.addPass(simplify::createFoldConstants());
  if (!options.strict) {
    pm.addNestedPass<func::FuncOp>(simplify::createFoldScales());
    pm.addPass(simplify::createFoldConstants());
    pm.addNestedPass<func::FuncOp>(simplify::createJoinConvolutions());
  }
}

namespace {
/// Lets the caller choose among plans, before anything is packed by them.
struct ChoosePlansPass : PassWrapper<ChoosePlansPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChoosePlansPass)
  explicit ChoosePlansPass(PipelineOptions::PlanChooser choose)
      : choose(std::move(choose)) {}
  void runOnOperation() override {
    if (failed(choose(getOperation())))
      signalPassFailure();
  }
  PipelineOptions::PlanChooser choose;
};
} // namespace

/// Each operator belongs to a fusion group with a strategy; the last stage at
/// which facts of the target steer the graph.
static void addDecide(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.evaluating && !options.strict) {
    OpPassManager &functions = pm.nest<func::FuncOp>();
    // Before keys and values are moved for heads that share them.
    functions.addPass(decide::createShareHeads({options.target->name.str()}));
    // Before what they read and store is narrowed.
    functions.addPass(decide::createJoinProducts({options.target->name.str()}));
    functions.addPass(decide::createNarrowContractions(
        {options.target->name.str(), options.fast}));
    // Of conversions there and back, one is left.
    if (!options.fast.empty())
      functions.addPass(createCanonicalizerPass());
    // When operands have the types that are multiplied.
    functions.addPass(decide::createJoinColumns({options.target->name.str()}));
  }
  if (!options.evaluating) {
    OpPassManager &functions = pm.nest<func::FuncOp>();
    // While scales and functions are as the model has them.
    functions.addPass(
        decide::createFormTables({options.target->name.str(), options.strict}));
    // What is left of other signs changes in front of each product.
    functions.addPass(decide::createAgreeSigns({options.target->name.str()}));
    // Before inputs get the padding and the channels that windows read.
    functions.addPass(
        decide::createJoinPositions({options.target->name.str()}));
    functions.addPass(
        decide::createFormIntegerProducts({options.target->name.str()}));
    // Of sums over windows that zero points have left.
    functions.addPass(
        decide::createJoinPositions({options.target->name.str()}));
    // Weights of another sign are constants again, which can be packed.
    pm.addPass(simplify::createFoldConstants());
    OpPassManager &folded = pm.nest<func::FuncOp>();
    folded.addPass(createCSEPass());
    // When the terms of biases are one constant; --strict keeps ONNX's definition of
    // scales, in floats, and has no lanes for forests.
    if (!options.strict) {
      // Before quantizations take in what they read.
      folded.addPass(
          decide::createFormFixedPoint({options.target->name.str()}));
      folded.addPass(
          decide::createFormIntegerScales({options.target->name.str()}));
      folded.addPass(
          decide::createFormForestMasks({options.target->name.str()}));
    }
  }
  pm.addNestedPass<func::FuncOp>(decide::createFormGroups(
      {options.target->name.str(), /*packs=*/!options.evaluating,
       options.savesMemory}));
  // When it is known what is in memory between kernels.
  if (!options.evaluating && !options.strict)
    pm.addNestedPass<func::FuncOp>(decide::createNarrowStorage(
        {options.target->name.str(), options.fast, options.savesMemory}));
  // Before plans are timed, which may find that panels of their own are faster.
  if (!options.evaluating)
    pm.addPass(decide::createAgreePanels({options.target->name.str()}));
  if (options.choosePlans)
    pm.addPass(std::make_unique<ChoosePlansPass>(options.choosePlans));
  if (!options.evaluating) {
    OpPassManager &packing = pm.nest<func::FuncOp>();
    packing.addPass(decide::createPackWeights({options.target->name.str()}));
    // While it is still known what the panels are made from.
    packing.addPass(decide::createTieWeights());
    pm.addPass(simplify::createFoldConstants());
  }
  // When weights are in the order of the plans, which the stages of a chain keep.
  if (!options.evaluating)
    pm.addNestedPass<func::FuncOp>(
        decide::createChainRows({options.target->name.str()}));
  // When groups are what they stay. Near memory is filled by stripes of its own.
  bool savesByDefault = !options.evaluating && !options.target->isDevice() &&
                        !options.target->freestanding &&
                        options.target->nearMemory.empty();
  if (options.maxArena || savesByDefault)
    pm.addPass(decide::createStripeRows(
        {options.target->name.str(),
         options.maxArena ? std::max<int64_t>(*options.maxArena, 1) : 0}));
  // Of what is no chain of rows. Fewer bytes are a matter of rows.
  if (savesByDefault && !options.maxArena)
    pm.addNestedPass<func::FuncOp>(
        decide::createSplitBatches({options.target->name.str()}));
  // Of what is in the arena then.
  if (options.nearBytes)
    pm.addPass(decide::createFillNear(
        {options.target->name.str(), *options.nearBytes}));
}

/// Each group is one private function; equal groups share one.
static void addLower(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(lower::createOutlineGroups());
}

/// Loops, vectors and buffers of each kernel are explicit.
static void addSchedule(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(schedule::createScheduleKernels({options.target->name.str()}));
}

/// Every buffer is (region, offset, size). Launches that are planned may pass
/// buffers of any shape, so that kernels can serve several.
static void addPlan(OpPassManager &pm, const PipelineOptions &options) {
  // Before launches are ordered, and memory is planned.
  if (!options.evaluating && options.target->isDevice())
    pm.addPass(plan::createCopyToHost());
  if (!options.evaluating)
    pm.addPass(plan::createOrderLaunches({options.target->bufferAlign}));
  // Before memory is planned, which has to know what is alive at the same time.
  if (!options.evaluating && options.target->isDevice())
    pm.addPass(plan::createForkBranches({options.target->name.str()}));
  pm.addPass(plan::createPlanMemory({options.target->bufferAlign}));
  // Which buffers of the caller are places in the state; what is read when is known now.
  if (!options.evaluating)
    pm.addPass(plan::createPlanState(
        {options.target->bufferAlign, options.stateInOnePlace}));
  if (options.target->smallCode)
    pm.addPass(plan::createShareKernels());
  // When launches are in their last order.
  if (!options.evaluating && options.target->fetchesRanges())
    pm.addPass(plan::createPrefetchWeights({options.target->name.str()}));
  // When it is known what is between launches.
  if (!options.evaluating)
    pm.addPass(plan::createFormTeams({options.target->name.str()}));
}

/// Only operations are left that the printer knows on this target.
static void addLegalize(OpPassManager &pm, const PipelineOptions &options) {
  std::string target = options.target->name.str();
  // Functions are for readers: what is evaluated has none.
  if (!options.evaluating)
    pm.addPass(legalize::createOutlineMath({target}));
  pm.addPass(legalize::createOutlineStrings());
  pm.addPass(legalize::createExpandMath({target}));
  pm.addPass(legalize::createExpandOperations({target}));
  if (!options.evaluating)
    pm.addPass(legalize::createOutlineExtrema());
  pm.addPass(legalize::createMarkReadOnly());
  pm.addPass(legalize::createMarkAligned({target}));
  pm.addPass(legalize::createAwaitInputs({target}));
  pm.addPass(legalize::createCheckPrintable({target}));
}

LogicalResult runPipeline(ModuleOp module, const PipelineOptions &options,
                          Stage last, Stage done) {
  PassManager pm(module.getContext());
  pm.enableVerifier(options.verifyEach);
  if (options.timePasses)
    pm.enableTiming();
  const std::pair<Stage, void (*)(OpPassManager &, const PipelineOptions &)>
      stages[] = {
          {Stage::Simplify, addSimplify}, {Stage::Decide, addDecide},
          {Stage::Lower, addLower},       {Stage::Schedule, addSchedule},
          {Stage::Plan, addPlan},         {Stage::Legalize, addLegalize},
      };
  for (auto [stage, build] : stages)
    if (stage > done && stage <= last) {
      build(pm, options);
      if (options.verify)
        pm.addPass(createVerifyStage(stage));
    }
  if (options.strict)
    module->setAttr(kernel::kStrictAttr, UnitAttr::get(module.getContext()));
  if (last >= Stage::Decide)
    module->setAttr(kernel::kTargetAttr,
                    StringAttr::get(module.getContext(), options.target->name));
  return pm.run(module);
}

/// How constant subgraphs become code: the same stages, for a scalar target.
static LogicalResult lowerForEvaluation(ModuleOp module) {
  PipelineOptions options;
  options.target = lookupTarget("generic");
  options.evaluating = true;
  // The same constants whatever the options.
  options.strict = true;
  options.verify = false;
  return runPipeline(module, options);
}

void loadPipelineDialects(MLIRContext &context) {
  context.loadDialect<graph::GraphDialect, kernel::KernelDialect,
                      arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                      math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                      vector::VectorDialect>();
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  setEvaluationLowering(lowerForEvaluation);
}

} // namespace ingot
