// The stages of the compiler and their passes, in order.

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
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/Passes.h"
#include "passes/simplify/Passes.h"
#include "targets/ProgramForm.h"

using namespace mlir;

namespace ingot {

/// Converts contractions of quantized operands to integer contractions, if the
/// target supports them.
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

/// Folds constants, replaces chains of operators that compute one function,
/// such as GELU, by one operator, and removes dead code; makes convolutions and
/// pools channels-last and removes transposes.
static void addSimplify(OpPassManager &pm, const PipelineOptions &options) {
  if (options.evaluating)
    return;
  // States (values kept from one run to the next) get their layouts first,
  // since the layouts of the operators that read states depend on them.
  pm.addPass(simplify::createLayOutStates({options.stateInOnePlace}));
  // Contractions become integer before FoldConstants turns dequantized weights
  // into floats.
  addWiden(pm.nest<func::FuncOp>(), options);
  pm.addNestedPass<func::FuncOp>(simplify::createNarrowWeights());
  pm.addPass(simplify::createFoldConstants());
  OpPassManager &functions = pm.nest<func::FuncOp>();
  // RaiseComposites replaces a chain of operators that computes one function,
  // such as GELU, by one operator. It runs after constants are folded, and
  // before transposes are moved between the operators of a chain.
  if (!options.strict) {
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
    functions.addPass(simplify::createRaiseComposites());
  }
  functions.addPass(simplify::createAssignLayout({options.strict}));
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  // StreamAxis runs when the operators have the layouts and the types that
  // kernels read, so that the states that it adds have them, too.
  functions.addPass(simplify::createStreamAxis(
      {options.stateInOnePlace && !programForm(*options.target).hasHandle}));
  functions.addPass(createCanonicalizerPass());
  // Transposed convolutions are split into convolutions after layouts are
  // channels-last, and before slices of their weights are folded.
  if (!options.strict) {
    functions.addPass(simplify::createSplitPhases());
    functions.addPass(simplify::createHoistConvolutions());
  }
  // SplitJoined moves operators before concatenations. It runs after transposes
  // have their final positions.
  functions.addPass(simplify::createSplitJoined());
  pm.addPass(simplify::createFoldConstants());
  if (!options.strict) {
    pm.addNestedPass<func::FuncOp>(simplify::createFoldScales());
    pm.addPass(simplify::createFoldConstants());
    pm.addNestedPass<func::FuncOp>(simplify::createJoinConvolutions());
  }
}

namespace {
/// Calls options.choosePlans, which may replace the plans (loop parameters) of
/// groups, before weights are packed as these plans require.
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

/// Assigns each operator to a fusion group with a strategy, a way to build the
/// loops of its kernel; the last stage in which target properties affect the
/// graph.
static void addDecide(OpPassManager &pm, const PipelineOptions &options) {
  if (!options.evaluating && !options.strict) {
    OpPassManager &functions = pm.nest<func::FuncOp>();
    // If several attention heads share keys and values, operators repeat the
    // keys and values for each head. ShareHeads runs before later passes move
    // these operators.
    functions.addPass(decide::createShareHeads({options.target->name.str()}));
    // Runs before NarrowContractions narrows the operands and results of
    // matmuls.
    functions.addPass(decide::createJoinProducts({options.target->name.str()}));
    functions.addPass(decide::createNarrowContractions(
        {options.target->name.str(), options.fast}));
    // Removes conversions from a narrow type to f32 that are followed by the
    // conversion back.
    if (!options.fast.empty())
      functions.addPass(createCanonicalizerPass());
    // Runs after NarrowContractions, when operands have the types in which they
    // are multiplied.
    functions.addPass(decide::createJoinColumns({options.target->name.str()}));
  }
  if (!options.evaluating) {
    OpPassManager &functions = pm.nest<func::FuncOp>();
    // FormTables replaces scales and functions by lookup tables. It runs before
    // later passes rewrite these scales and functions.
    functions.addPass(
        decide::createFormTables({options.target->name.str(), options.strict}));
    // Runs before FormIntegerDots, which inserts a conversion before each
    // contraction whose operand has the wrong signedness.
    functions.addPass(decide::createAgreeSigns({options.target->name.str()}));
    // Runs before inputs are padded to the numbers of channels and to the
    // windows that kernels read.
    functions.addPass(
        decide::createJoinPositions({options.target->name.str()}));
    functions.addPass(
        decide::createFormIntegerDots({options.target->name.str()}));
    // JoinPositions runs again, for the sums over windows that FormIntegerDots
    // has added for zero points.
    functions.addPass(
        decide::createJoinPositions({options.target->name.str()}));
    // Folds the conversions of constant weights to another signedness, so that
    // the weights can be packed.
    pm.addPass(simplify::createFoldConstants());
    OpPassManager &folded = pm.nest<func::FuncOp>();
    folded.addPass(createCSEPass());
    // Scales become integers after FoldConstants, which adds up the constant
    // terms of biases. With --strict, scales stay floats as ONNX defines them,
    // and decision forests are not vectorized.
    if (!options.strict) {
      // Runs before FormIntegerScales merges operators into quantizations.
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
  // Runs after FormGroups, which defines the tensors that are stored between
  // kernels.
  if (!options.evaluating && !options.strict)
    pm.addNestedPass<func::FuncOp>(decide::createNarrowStorage(
        {options.target->name.str(), options.fast, options.savesMemory}));
  // A panel is the packed weights of some columns. Gives groups with the same
  // weights the same panels. Runs before plans are timed: timing may find that
  // different panels for two groups are faster.
  if (!options.evaluating)
    pm.addPass(decide::createAgreePanels({options.target->name.str()}));
  if (options.choosePlans)
    pm.addPass(std::make_unique<ChoosePlansPass>(options.choosePlans));
  if (!options.evaluating) {
    OpPassManager &packing = pm.nest<func::FuncOp>();
    packing.addPass(decide::createPackWeights({options.target->name.str()}));
    // Records which constant each tensor of packed weights was packed from.
    // Runs before FoldConstants evaluates the packing, after which this is
    // unknown.
    packing.addPass(decide::createTieWeights());
    pm.addPass(simplify::createFoldConstants());
  }
  // ChainRows joins each chain of groups to one kernel, which keeps the plans
  // (loop parameters) of the groups. So it runs after weights are packed for
  // these plans.
  if (!options.evaluating)
    pm.addNestedPass<func::FuncOp>(
        decide::createChainRows({options.target->name.str()}));
  // Row bands (a few rows of all layers of a chain, computed together) are
  // formed when groups are final. Targets with VTCM, a fast local memory, are
  // excluded, since PlaceInVtcm forms row bands of its own.
  bool savesByDefault =
      !options.evaluating && schedule::modelOf(*options.target).fitsCaches &&
      !options.target->freestanding && options.target->tcmName.empty();
  if (options.maxArena || savesByDefault)
    pm.addPass(decide::createRowBands(
        {options.target->name.str(),
         options.maxArena ? std::max<int64_t>(*options.maxArena, 1) : 0}));
  // Computes groups that form no row bands image by image, to use caches
  // better. If the arena (the memory of intermediate tensors) has a limit, this
  // is omitted: only row bands are used to meet the limit.
  if (savesByDefault && !options.maxArena)
    pm.addNestedPass<func::FuncOp>(
        decide::createSplitBatches({options.target->name.str()}));
  // Moves tensors that are still in the arena, the memory of intermediate
  // tensors, to VTCM, the target's fast local memory.
  if (options.vtcmBytes)
    pm.addPass(decide::createPlaceInVtcm(
        {options.target->name.str(), *options.vtcmBytes}));
}

/// Outlines each fusion group into a private kernel; equal groups share one
/// kernel.
static void addLower(OpPassManager &pm, const PipelineOptions &) {
  pm.addPass(lower::createOutlineGroups());
}

/// Builds the loops, vectors and buffers of each kernel.
static void addSchedule(OpPassManager &pm, const PipelineOptions &options) {
  pm.addPass(schedule::createScheduleKernels({options.target->name.str()}));
}

/// Assigns every buffer a memory region (an argument, a constant, or the arena
/// for intermediate tensors), an offset and a size. Once memory is planned,
/// calls of one kernel may pass buffers of different shapes, so that more calls
/// can share a kernel.
static void addPlan(OpPassManager &pm, const PipelineOptions &options) {
  // Copies between host and device are inserted before kernel calls (launches)
  // are ordered and memory is planned.
  if (!options.evaluating && programForm(*options.target).hasHandle)
    pm.addPass(plan::createCopyToHost());
  if (!options.evaluating)
    pm.addPass(plan::createOrderLaunches({options.target->bufferAlign}));
  // Lets independent kernel calls (launches) run concurrently. Runs before
  // memory is planned, since concurrent launches have longer live ranges.
  if (!options.evaluating)
    pm.addPass(plan::createForkBranches({options.target->name.str()}));
  pm.addPass(plan::createPlanMemory({options.target->bufferAlign}));
  // Runs after memory planning, when it is known which buffers are states and
  // when they are read.
  if (!options.evaluating)
    pm.addPass(plan::createPlanState(
        {options.target->bufferAlign, options.stateInOnePlace}));
  if (options.target->smallCode)
    pm.addPass(plan::createShareKernels());
  // Prefetches are inserted when the order of kernel calls (launches) is final.
  if (!options.evaluating && options.target->fetchesRanges())
    pm.addPass(plan::createPrefetchWeights({options.target->name.str()}));
  // Worker groups (threads that compute consecutive short kernels together) are
  // formed when all operations between launches, such as prefetches, are known.
  if (!options.evaluating)
    pm.addPass(plan::createFormTeams({options.target->name.str()}));
}

/// Leaves only operations that the printer supports on this target.
static void addLegalize(OpPassManager &pm, const PipelineOptions &options) {
  std::string target = options.target->name.str();
  // Matches conversions between f16 and f32 before they are expanded, and
  // exponentials before they are outlined.
  pm.addPass(legalize::createFormHalves({target}));
  // Outlined functions only make generated code readable, so they are not
  // needed for constants evaluated at compile time.
  if (!options.evaluating) {
    pm.addPass(legalize::createOutlineMath({target}));
    pm.addPass(legalize::createOutlineQuantization({target}));
  }
  pm.addPass(legalize::createOutlineStrings());
  pm.addPass(legalize::createExpandMath({target}));
  pm.addPass(legalize::createExpandOperations({target}));
  if (!options.evaluating)
    pm.addPass(legalize::createOutlineExtrema({target}));
  pm.addPass(legalize::createMarkReadOnly());
  pm.addPass(legalize::createMarkAligned({target}));
  pm.addPass(legalize::createMarkScalarLoops({target}));
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

/// Lowers constant subgraphs, which are evaluated at compile time, by the same
/// stages for a scalar target.
static LogicalResult lowerForEvaluation(ModuleOp module) {
  PipelineOptions options;
  options.target = lookupTarget("generic");
  options.evaluating = true;
  // The values of constants must not depend on the options of the compilation.
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
