// Turns kernel functions on tensors into loops over buffers.
//
//   kernel.func @k(%x: tensor<8xf32>) -> tensor<8xf32>
//       attributes {strategy = "elementwise"} { relu; return }
// ->
//   kernel.func @k(%x: memref<8xf32>, %y: memref<8xf32>) { loops }
//
// Arguments are the operands, the results, the scratch buffers, the dynamic
// sizes, and `begin` and `end` of the parallel loop. Launches get an additional
// result for each scratch buffer, and an attribute that says which results may
// be written over which operands.

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/schedule/ArgumentRoles.h"
#include "passes/schedule/ExecutionModel.h"
#include "passes/schedule/Passes.h"

using namespace mlir;
using namespace ingot::kernel;
using namespace ingot::graph;

namespace ingot::schedule {
#define GEN_PASS_DEF_SCHEDULEKERNELS
#include "passes/schedule/Passes.h.inc"

namespace {

struct ScheduleKernelsPass : impl::ScheduleKernelsBase<ScheduleKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const TargetDescription &target = *lookupTarget(targetName);
    SymbolTable symbols(module);
    findStarts(module);
    llvm::StringMap<KernelBuilder::Promises> promises;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<FuncOp>()))
      if (isOnTensors(kernel)) {
        if (std::string why =
                refusal({&kernel.getBody().front(), target},
                        *kernel.getStrategy(), kernel.getPlanAttr());
            !why.empty()) {
          kernel.emitError("'")
              << kernel.getName() << "' cannot be scheduled: " << why;
          return signalPassFailure();
        }
        // The function that schedule() creates replaces the kernel; it has the
        // same name.
        std::string name = kernel.getName().str();
        promises[name] = schedule(kernel, symbols, target);
      }
    SmallVector<LaunchOp> launches;
    module.walk([&](LaunchOp launch) { launches.push_back(launch); });
    for (LaunchOp launch : launches)
      if (auto known = promises.find(launch.getCallee());
          known != promises.end())
        adjust(launch, known->second);
  }

private:
  static bool isOnTensors(FuncOp kernel) {
    return kernel.getStrategy() && !kernel.isExternal() &&
           !kernel.getResultTypes().empty();
  }

  /// Computes startsOutside: for each kernel, how many launches would start one
  /// by one if that kernel ran on the host. The program that launches it could
  /// then not be a launch graph, which starts all launches at once. Programs
  /// that other programs call are never launch graphs.
  void findStarts(ModuleOp module) {
    for (auto program : module.getOps<ProgramOp>()) {
      int64_t count = 0;
      program.walk([&](LaunchOp) { ++count; });
      if (!program.isPublic() || decidesOnHost(program))
        count = 0;
      program.walk([&](LaunchOp launch) {
        int64_t &starts = startsOutside[launch.getCallee()];
        starts = std::max(starts, count);
      });
    }
  }

  KernelBuilder::Promises schedule(FuncOp tensors, SymbolTable &symbols,
                                   const TargetDescription &target) {
    OpBuilder builder(tensors);
    SmallVector<Type> types;
    std::optional<ArrayAttr> inputStrides = tensors.getInputStrides();
    for (auto [i, type] : llvm::enumerate(tensors.getArgumentTypes()))
      types.push_back(bufferFor(
          type, inputStrides ? cast<DenseI64ArrayAttr>((*inputStrides)[i])
                             : DenseI64ArrayAttr()));
    size_t inputs = types.size();
    for (Type type : tensors.getResultTypes())
      types.push_back(bufferFor(type, tensors.getOutputStridesAttr()));
    auto function = FuncOp::create(builder, tensors.getLoc(), tensors.getName(),
                                   builder.getFunctionType(types, {}));
    function.setCommentAttr(tensors.getCommentAttr());
    function.setStrategyAttr(tensors.getStrategyAttr());
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    Block &block = tensors.getBody().front();
    SmallVector<Value> outputs(entry->getArguments().begin() + inputs,
                               entry->getArguments().end());
    auto made =
        modelOf(target).builder(builder, function, {&block, target}, outputs);
    KernelBuilder &b = *made;
    b.addSizes();
    b.plan = Plan(tensors.getPlanAttr());
    for (size_t i = 0; i < inputs; ++i)
      b.bindBuffer(block.getArgument(i), entry->getArgument(i));
    lookupStrategy(*tensors.getStrategy())->emit(b);
    if (failed(b.finish(startsOutside.lookup(function.getName()))))
      signalPassFailure();
    b.dropUnusedSizes();
    builder.setInsertionPointToEnd(entry);
    ReturnOp::create(builder, function.getLoc());
    function.setFunctionType(
        builder.getFunctionType(entry->getArgumentTypes(), {}));
    nameArguments(function, block, outputs.size(), b.promises);
    symbols.erase(tensors);
    symbols.insert(function);
    KeepNames names;
    IRRewriter rewriter(function.getContext(), &names);
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    return b.promises;
  }

  /// Returns the buffer type of a tensor, with `strides` if the tensor is part
  /// of a larger one.
  static MemRefType bufferFor(Type tensor, DenseI64ArrayAttr strides) {
    MemRefType buffer = storageType(cast<RankedTensorType>(tensor));
    if (!strides || strides.empty())
      return buffer;
    return MemRefType::get(
        buffer.getShape(), buffer.getElementType(),
        StridedLayoutAttr::get(buffer.getContext(), 0, strides.asArrayRef()));
  }

  static void nameArguments(FuncOp function, Block &block, size_t outputs,
                            const KernelBuilder::Promises &promises) {
    Builder b(function.getContext());
    size_t inputs = block.getNumArguments();
    llvm::StringMap<unsigned> roles, numbered;
    for (BlockArgument input : block.getArguments())
      ++roles[roleOf(input)];
    bool parallel = partArguments(function) > 0;
    size_t count = function.getNumArguments();
    Dims sizes = function.getSizes() ? dimsOf(*function.getSizes()) : Dims();
    size_t firstSize = count - (parallel ? 2 : 0) - sizes.size();
    for (size_t i = 0; i < count; ++i) {
      if (i < inputs)
        function.setArgAttr(i, kReadAttr, b.getUnitAttr());
      if (i < inputs + outputs &&
          elementOf(i < inputs ? Value(block.getArgument(i))
                               : block.getTerminator()->getOperand(i - inputs))
              .isUnsignedInteger())
        function.setArgAttr(i, kUnsignedAttr, b.getUnitAttr());
      std::string role = i < inputs ? roleOf(block.getArgument(i)).str() : "";
      std::string name =
          i < inputs
              ? (roles[role] == 1 ? role
                                  : role + std::to_string(numbered[role]++))
          : i < inputs + outputs
              ? (outputs == 1 ? "y" : "y" + std::to_string(i - inputs))
          : i >= firstSize && i < firstSize + sizes.size()
              ? sizeText(sizes[i - firstSize])
          : parallel && i == count - 2 ? "begin"
          : parallel && i == count - 1
              ? "end"
              : "scratch" + std::to_string(i - inputs - outputs);
      function.setArgAttr(i, kNameAttr, b.getStringAttr(name));
    }
    for (size_t number : promises.cleared)
      function.setArgAttr(inputs + outputs + number, kClearedAttr,
                          b.getUnitAttr());
    for (auto [result, operand] : promises.inPlace) {
      function.setArgAttr(inputs + result, kMayAliasAttr, b.getUnitAttr());
      function.setArgAttr(operand, kMayAliasAttr, b.getUnitAttr());
    }
  }

  /// For each kernel, the largest number of launches in a program that launches
  /// it. If the kernel runs on the host, these launches start one by one, not
  /// in a launch graph.
  llvm::StringMap<int64_t> startsOutside;

  static void adjust(LaunchOp launch, const KernelBuilder::Promises &promises) {
    SmallVector<Type> results(launch.getResultTypes());
    llvm::append_range(results, promises.scratch);
    SmallVector<int64_t> pairs;
    for (auto [result, operand] : promises.inPlace)
      pairs.append({result, operand});
    OpBuilder builder(launch);
    auto copy =
        LaunchOp::create(builder, launch.getLoc(), results,
                         launch.getCalleeAttr(), launch.getOperands(),
                         pairs.empty() ? DenseI64ArrayAttr()
                                       : builder.getDenseI64ArrayAttr(pairs));
    copy.setSecondMemory(launch.getSecondMemory());
    copy.setAppends(launch.getAppends());
    launch->replaceAllUsesWith(
        copy->getResults().take_front(launch.getNumResults()));
    launch->erase();
  }
};

} // namespace
} // namespace ingot::schedule
