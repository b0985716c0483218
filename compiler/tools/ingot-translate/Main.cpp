// The program ingot-translate.
//
// Runs only the last stage (Legalize), for tests: reads a module as text, as it
// is after stage Plan, and prints its C++ (or the header, or the legalized
// module), or writes all files.

#include "codegen/Codegen.h"
#include "compiler/Pipeline.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string>
    inputFile(cl::Positional, cl::desc("<planned.mlir>"), cl::init("-"));
static cl::opt<std::string>
    outputFile("o", cl::desc("write .cpp (with .h beside it) or .o"));
static cl::opt<std::string> targetName("target", cl::init("generic"));
static cl::opt<std::string> modelName("name", cl::init("model"));
static cl::opt<bool> header("header", cl::desc("print the header"));
static cl::opt<bool> legalizeOnly("legalize",
                                  cl::desc("print the legalized module"));
static cl::opt<bool> trace("trace", cl::desc("call the trace hook"));
static cl::opt<ingot::WeightsMode>
    weightsMode("weights", cl::init(ingot::WeightsMode::Auto),
                cl::values(clEnumValN(ingot::WeightsMode::Source, "source", ""),
                           clEnumValN(ingot::WeightsMode::Object, "object", ""),
                           clEnumValN(ingot::WeightsMode::File, "file", "")));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "planned module to C++\n");

  MLIRContext context;
  context.loadDialect<affine::AffineDialect, arith::ArithDialect,
                      func::FuncDialect, math::MathDialect,
                      memref::MemRefDialect, scf::SCFDialect,
                      vector::VectorDialect, ingot::kernel::KernelDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return 1;

  ingot::CodegenOptions options;
  options.name = modelName;
  options.producer = "ingot-translate";
  options.weights = weightsMode;
  options.trace = trace;
  options.language.isC = llvm::StringRef(outputFile).ends_with(".c");
  ingot::Variant variant{*module, ingot::lookupTarget(targetName)};
  if (!variant.target) {
    llvm::errs() << "no target is called '" << targetName << "'\n";
    return 1;
  }
  ingot::PipelineOptions pipeline;
  pipeline.target = variant.target;
  if (failed(ingot::runPipeline(*module, pipeline, ingot::Stage::Legalize,
                                ingot::Stage::Plan)))
    return 1;
  if (!outputFile.empty()) {
    llvm::Error error = ingot::emitFiles(variant, options, outputFile);
    if (!error)
      return 0;
    llvm::errs() << "ingot-translate: " << llvm::toString(std::move(error))
                 << "\n";
    return 1;
  }
  if (legalizeOnly)
    module->print(llvm::outs());
  else if (header)
    ingot::printHeader(variant, options, llvm::outs());
  else
    ingot::printSource(variant, options, llvm::outs());
  return 0;
}
