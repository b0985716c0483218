#include "passes/evaluate/Jit.h"

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace ingot {

Jit::Jit() = default;
Jit::~Jit() = default;

/// Views become casts that the memref conversion knows.
static void replaceViews(ModuleOp module) {
  SmallVector<kernel::ViewOp> views;
  module.walk([&](kernel::ViewOp view) { views.push_back(view); });
  for (kernel::ViewOp view : views) {
    OpBuilder b(view);
    auto type = cast<MemRefType>(view.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    (void)offset;
    auto cast = memref::ReinterpretCastOp::create(
        b, view.getLoc(), type, view.getSource(), /*offset=*/int64_t(0),
        type.getShape(), strides);
    view.getResult().replaceAllUsesWith(cast);
    view.erase();
  }
}

static LogicalResult toLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet expansions(context);
  arith::populateArithExpandOpsPatterns(expansions);
  if (failed(applyPatternsGreedily(module, std::move(expansions))))
    return failure();
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// Kernels that run for less time than LLVM would take to optimize them.
static void leaveSmallKernelsUnoptimized(ModuleOp kernels,
                                         const llvm::StringSet<> &small) {
  Builder builder(kernels.getContext());
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    if (small.contains(function.getName()))
      function.setPassthroughAttr(
          builder.getStrArrayAttr({"noinline", "optnone"}));
}

/// Moves invariant arithmetic out of the loops, removes what is computed twice, and
/// unrolls the loops that copy the rows of a packed weight. A whole pipeline of
/// LLVM's would take longer than the kernels, which run once, could gain by it.
static llvm::Error optimizeLoops(llvm::Module *module,
                                 llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(
          passes, "function(early-cse<memssa>,simplifycfg,"
                  "loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,"
                  "loop(indvars),loop-unroll<O1;no-runtime>)"))
    return error;
  passes.run(*module, modules);
  return llvm::Error::success();
}

FailureOr<std::unique_ptr<Jit>> Jit::compile(ModuleOp module, bool optimize) {
  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(kernels->getBody());
  llvm::StringSet<> small;
  for (auto kernel : module.getOps<kernel::FuncOp>()) {
    int64_t elements = 0;
    for (Type type : kernel.getArgumentTypes())
      if (auto memref = dyn_cast<MemRefType>(type))
        elements += memref.getNumElements();
    if (elements < 500'000)
      small.insert(kernel.getName());
    auto function = func::FuncOp::create(
        builder, kernel.getLoc(), kernel.getName(), kernel.getFunctionType());
    IRMapping mapping;
    kernel.getBody().cloneInto(&function.getBody(), mapping);
    Operation *end = function.getBody().front().getTerminator();
    OpBuilder atEnd(end);
    func::ReturnOp::create(atEnd, end->getLoc());
    end->erase();
  }
  for (auto helper : module.getOps<func::FuncOp>())
    builder.clone(*helper);
  replaceViews(*kernels);
  if (failed(toLLVM(*kernels)))
    return failure();
  leaveSmallKernelsUnoptimized(*kernels, small);

  static llvm::Expected<llvm::orc::JITTargetMachineBuilder> host =
      llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return module.emitError("no code generator for this host");
  auto level =
      optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None;
  host->setCodeGenOptLevel(level);
  auto machine = host->createTargetMachine();
  if (!machine)
    return module.emitError("no code generator for this host: " +
                            llvm::toString(machine.takeError()));
  ExecutionEngineOptions engineOptions;
  llvm::TargetMachine &forLoops = **machine;
  auto transformer = [&](llvm::Module *m) {
    return optimizeLoops(m, forLoops);
  };
  if (optimize)
    engineOptions.transformer = transformer;
  engineOptions.jitCodeGenOptLevel = level;
  engineOptions.enableGDBNotificationListener = false;
  engineOptions.enablePerfNotificationListener = false;
  auto second = host->createTargetMachine();
  if (!second)
    return module.emitError("no code generator for this host: " +
                            llvm::toString(second.takeError()));
  auto engine =
      ExecutionEngine::create(*kernels, engineOptions, std::move(*second));
  if (!engine)
    return module.emitError("evaluating constants: " +
                            llvm::toString(engine.takeError()));
  std::unique_ptr<Jit> jit(new Jit());
  jit->engine = std::move(*engine);
  // Compilation is lazy: look everything up while the machine lives.
  for (auto kernel : module.getOps<kernel::FuncOp>())
    if (auto symbol = jit->engine->lookupPacked(kernel.getName()); !symbol)
      return module.emitError("evaluating constants: " +
                              llvm::toString(symbol.takeError()));
  return jit;
}

void Jit::call(StringRef kernel, MutableArrayRef<void *> arguments) {
  auto function = engine->lookupPacked(kernel);
  (*function)(arguments.data());
}

} // namespace ingot
