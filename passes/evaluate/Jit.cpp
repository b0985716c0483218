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
#include "mlir/IR/IRMapping.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace ingot {

/// Owns the machine code of the kernels. The code is loaded without LLVM's ORC,
/// which alone takes longer to start than most evaluations.
struct Jit::Code {
  /// Kernels throw nothing. Their unwind tables are not registered, since the
  /// process would still read them after the kernels have been freed.
  struct Memory : llvm::SectionMemoryManager {
    void registerEHFrames(uint8_t *, uint64_t, size_t) override {}
  };

  Memory memory;
  llvm::RuntimeDyld loader{memory, memory};
};

Jit::Jit() : code(std::make_unique<Code>()) {}
Jit::~Jit() = default;

/// Returns the name of the wrapper that calls a kernel. The wrapper takes an
/// array of argument addresses.
static std::string callerOf(StringRef kernel) {
  return ("call." + kernel).str();
}

/// Replaces each kernel.view by a memref.reinterpret_cast, which the conversion
/// to LLVM supports.
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

/// Inlines the body of each kernel.parallel: a single thread processes its
/// whole range.
static void runStepsAlone(ModuleOp module) {
  SmallVector<kernel::ParallelOp> steps;
  module.walk([&](kernel::ParallelOp step) { steps.push_back(step); });
  for (kernel::ParallelOp step : steps) {
    OpBuilder b(step);
    Block *body = &step.getBody().front();
    body->getTerminator()->erase();
    Value begin = arith::ConstantIndexOp::create(b, step.getLoc(), 0),
          end = arith::ConstantIndexOp::create(b, step.getLoc(),
                                               int64_t(step.getExtent()));
    IRRewriter(b).inlineBlockBefore(body, step, {begin, end});
    step.erase();
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

/// Disables optimization of kernels that run for less time than LLVM would take
/// to optimize them.
static void leaveSmallKernelsUnoptimized(ModuleOp kernels,
                                         const llvm::StringSet<> &small) {
  Builder builder(kernels.getContext());
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    if (small.contains(function.getName()))
      function.setPassthroughAttr(
          builder.getStrArrayAttr({"noinline", "optnone"}));
}

/// Hoists invariant arithmetic out of loops, removes common subexpressions, and
/// unrolls the loops that copy the rows of packed weights. A full LLVM pipeline
/// would take longer than it could save, since each kernel runs once.
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

/// Adds the wrapper through which `kernel` is called: it takes an array of the
/// addresses of the arguments.
static void addCaller(llvm::Function &kernel) {
  llvm::LLVMContext &context = kernel.getContext();
  llvm::Type *address = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), address,
                                       /*isVarArg=*/false);
  auto *caller =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                             callerOf(kernel.getName()), kernel.getParent());
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", caller));
  SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : kernel.args()) {
    llvm::Value *place =
        b.CreateLoad(address, b.CreateConstGEP1_32(address, caller->getArg(0),
                                                   argument.getArgNo()));
    arguments.push_back(b.CreateLoad(argument.getType(), place));
  }
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

/// Returns a copy of the kernels of `module`, and of the functions that they
/// call, in the LLVM dialect.
static FailureOr<OwningOpRef<ModuleOp>> lowerKernels(ModuleOp module) {
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
  runStepsAlone(*kernels);
  if (failed(toLLVM(*kernels)))
    return failure();
  leaveSmallKernelsUnoptimized(*kernels, small);
  return kernels;
}

/// Creates a target machine for this host. It is not shared between uses, since
/// several threads may evaluate constants at the same time.
static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(llvm::CodeGenOptLevel level) {
  static const auto host = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  }();
  llvm::orc::JITTargetMachineBuilder builder = host;
  return builder.setCodeGenOptLevel(level).createTargetMachine();
}

llvm::Error Jit::load(ModuleOp kernels, bool optimize) {
  auto machine = createMachine(optimize ? llvm::CodeGenOptLevel::Default
                                        : llvm::CodeGenOptLevel::None);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context);
  if (!module)
    return llvm::createStringError("a kernel is not LLVM IR");
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple((*machine)->getTargetTriple());
  // Only kernels get a wrapper. They return nothing, while the functions that
  // they call return a value.
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
    if (isa<LLVM::LLVMVoidType>(function.getFunctionType().getReturnType()))
      addCaller(*module->getFunction(function.getName()));
  if (optimize)
    if (llvm::Error error = optimizeLoops(module.get(), **machine))
      return error;
  auto object = llvm::orc::SimpleCompiler(**machine)(*module);
  if (!object)
    return object.takeError();
  auto file = llvm::object::ObjectFile::createObjectFile(**object);
  if (!file)
    return file.takeError();
  code->loader.loadObject(**file);
  code->loader.finalizeWithMemoryManagerLocking();
  if (code->loader.hasError())
    return llvm::createStringError(code->loader.getErrorString());
  return llvm::Error::success();
}

FailureOr<std::unique_ptr<Jit>> Jit::compile(ModuleOp module, bool optimize) {
  FailureOr<OwningOpRef<ModuleOp>> kernels = lowerKernels(module);
  if (failed(kernels))
    return failure();
  std::unique_ptr<Jit> jit(new Jit());
  if (llvm::Error error = jit->load(**kernels, optimize))
    return module.emitError("evaluating constants: " +
                            llvm::toString(std::move(error)));
  return jit;
}

void Jit::call(StringRef kernel, MutableArrayRef<void *> arguments) {
  auto symbol = code->loader.getSymbol(callerOf(kernel));
  reinterpret_cast<void (*)(void **)>(symbol.getAddress())(arguments.data());
}

} // namespace ingot
