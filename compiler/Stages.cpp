#include "compiler/Stages.h"

#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"
#include "passes/schedule/Strategy.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot {

static constexpr StringLiteral names[] = {
    "import", "simplify", "decide", "lower", "schedule", "plan", "legalize"};

std::vector<std::string> stageNames() {
  return {std::begin(names), std::end(names)};
}

std::optional<Stage> parseStage(StringRef name) {
  const auto *found = llvm::find(names, name);
  if (found == std::end(names))
    return std::nullopt;
  return static_cast<Stage>(found - std::begin(names));
}

StringRef nameOf(Stage stage) { return names[static_cast<int>(stage)]; }

namespace {

/// Reports operations that must not exist after the stage, and missing
/// attributes.
class StageVerifier {
public:
  StageVerifier(ModuleOp module, Stage stage)
      : module(module), symbols(module), stage(stage) {}

  LogicalResult run() {
    checkTarget();
    for (Operation &op : module.getOps()) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        check(function);
      else if (auto kernel = dyn_cast<kernel::FuncOp>(op))
        check(kernel);
      else if (auto program = dyn_cast<kernel::ProgramOp>(op))
        check(program);
      else if (!isa<memref::GlobalOp>(op) || stage < Stage::Schedule)
        refuse(&op, "is not allowed after this stage");
    }
    if (entries == 0)
      refuse(module, "has no public entry point");
    return success(valid);
  }

private:
  void refuse(Operation *op, const Twine &why) {
    op->emitError("after the stage `" + nameOf(stage) + "`: '" +
                  op->getName().getStringRef() + "' " + why);
    valid = false;
  }

  void checkTarget() {
    auto target = module->getAttrOfType<StringAttr>(kernel::kTargetAttr);
    if (stage >= Stage::Decide && !target)
      refuse(module, "has no attribute that names its target");
    else if (target && !lookupTarget(target.getValue()))
      refuse(module, "names an unknown target: " + target.getValue());
  }

  /// Checks a function. Before stage Lower, a function is a graph of operators;
  /// after it, a function is a helper that kernels call.
  void check(func::FuncOp function) {
    if (stage >= Stage::Lower) {
      if (function.isPublic())
        refuse(function, "must have been converted to a program");
      return;
    }
    entries += function.isPublic();
    if (function.isExternal())
      return refuse(function, "has no body");
    if (!llvm::all_of(llvm::concat<const Type>(function.getArgumentTypes(),
                                               function.getResultTypes()),
                      [](Type type) {
                        auto tensor = dyn_cast<RankedTensorType>(type);
                        return tensor && tensor.hasStaticShape();
                      }))
      refuse(function,
             "has arguments or results that are not tensors of known sizes");
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (!isa<graph::GraphDialect>(op.getDialect()))
        refuse(&op, "is not an operator on tensors");
      auto group = dyn_cast<graph::GroupOp>(op);
      if (stage < Stage::Decide && group)
        refuse(group, "does not exist before the stage `decide`");
      else if (group)
        checkDecision(group, &group.getBody().front(), group.getStrategy(),
                      group.getPlanAttr());
      else if (stage == Stage::Decide && !group && !isData(&op) &&
               !isa<graph::IfOp, graph::LoopOp, graph::ReadSizesOp,
                    graph::CheckSizesOp>(op))
        refuse(&op, "is not inside a group");
    }
  }

  /// Checks that `strategy`, a way to build the loops of a kernel, can build
  /// the operators of `block` with the parameters in `plan`.
  void checkDecision(Operation *op, Block *block, StringRef strategy,
                     DictionaryAttr plan) {
    auto target = module->getAttrOfType<StringAttr>(kernel::kTargetAttr);
    const TargetDescription *known =
        target ? lookupTarget(target.getValue()) : nullptr;
    std::string why =
        known ? schedule::refusal({block, *known}, strategy, plan) : "";
    if (!why.empty())
      refuse(op, "cannot be built: " + why);
  }

  /// Whether the operation is a constant, or shares the memory of its operands.
  static bool isData(Operation *op) {
    return isa<graph::ConstantOp, graph::ReshapeOp, graph::SliceOp,
               graph::ConcatOp>(op);
  }

  void check(kernel::FuncOp kernel) {
    if (stage < Stage::Lower)
      return refuse(kernel, "does not exist before the stage `lower`");
    if (kernel.isExternal())
      return refuse(kernel, "has no body");
    bool onTensors = !kernel.getResultTypes().empty();
    if (onTensors != (stage == Stage::Lower))
      return refuse(kernel, onTensors ? "has no loops yet"
                                      : "has loops before `schedule`");
    // Until the loops of a kernel are built, its strategy, which builds them,
    // must be able to use its plan, the parameters of the loops. After that,
    // the kernel keeps the plan for information only.
    if (stage == Stage::Lower)
      checkDecision(kernel, &kernel.getBody().front(),
                    kernel.getStrategy().value_or(""), kernel.getPlanAttr());
  }

  void check(kernel::ProgramOp program) {
    if (stage < Stage::Lower)
      return refuse(program, "does not exist before the stage `lower`");
    entries += program.isPublic();
    if (program.isExternal())
      return refuse(program, "has no body");
    bool isPlanned = stage >= Stage::Plan;
    bool usesArena = !program.getOps<kernel::ArenaOp>().empty();
    bool hasArena = program.getArenaBytes() && program.getArenaAlign();
    if (isPlanned ? usesArena && !hasArena : usesArena || hasArena)
      refuse(program, isPlanned ? "has no attribute with the size of its arena"
                                : "has an arena before `plan`");
    if (isPlanned && failed(kernel::checkBranches(program, symbols)))
      valid = false;
    for (Operation &op : program.getBody().front().without_terminator()) {
      bool onTensors = llvm::any_of(
          op.getResultTypes(), [](Type type) { return isa<TensorType>(type); });
      if (isPlanned && onTensors)
        refuse(&op, "has results without a buffer");
      else if (!isPlanned && !isData(&op) &&
               !isa<kernel::LaunchOp, kernel::IfOp, kernel::LoopOp,
                    kernel::ReadSizesOp, kernel::CheckSizesOp>(op))
        refuse(&op, "is neither a kernel launch, nor constant data, nor a call "
                    "of a program");
    }
  }

  ModuleOp module;
  SymbolTable symbols;
  Stage stage;
  unsigned entries = 0;
  bool valid = true;
};

struct VerifyStagePass : PassWrapper<VerifyStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStagePass)
  explicit VerifyStagePass(Stage stage) : stage(stage) {}
  StringRef getArgument() const override { return "verify-stage"; }

  void runOnOperation() override {
    if (failed(verifyOperations()) ||
        failed(verifyStage(getOperation(), stage)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// Runs the operations' verifiers. After `plan`, kernels are skipped; they
  /// are verified after `schedule` and after `legalize`.
  LogicalResult verifyOperations() {
    if (stage != Stage::Plan)
      return verify(getOperation());
    return success(llvm::all_of(getOperation().getOps(), [](Operation &op) {
      return isa<kernel::FuncOp>(op) || succeeded(verify(&op));
    }));
  }

  Stage stage;
};

} // namespace

LogicalResult verifyStage(ModuleOp module, Stage stage) {
  return StageVerifier(module, stage).run();
}

std::unique_ptr<Pass> createVerifyStage(Stage stage) {
  return std::make_unique<VerifyStagePass>(stage);
}

} // namespace ingot
