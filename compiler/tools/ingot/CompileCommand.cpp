//===- CompileCommand.cpp - ingot MODEL -o FILE ---------------------------===//

#include "compiler/Footprint.h"
#include "compiler/tools/ingot/Commands.h"
#include "compiler/tools/ingot/EmitTest.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

/// Prints the module after a stage: complete into a file; without locations and
/// the bytes of large weights to the terminal.
static bool printModule(ModuleOp module, StringRef output,
                        Diagnostics &diagnostics) {
  OpPrintingFlags flags;
  if (output.empty() || output == "-") {
    flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
    module.print(llvm::outs(), flags);
    return true;
  }
  std::error_code error;
  llvm::raw_fd_ostream os(output, error);
  if (error) {
    diagnostics.report(DiagnosticId::CannotWrite,
                       "`" + printable(output) +
                           "` cannot be written: " + error.message());
    return false;
  }
  module.print(os, flags.enableDebugInfo());
  return true;
}

int compileCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.positional.empty()) {
    diagnostics.report(DiagnosticId::BadOption, "no model is given",
                       "ingot MODEL.onnx -o model.cpp; see ingot --help");
    return InvalidInput;
  }
  arguments.compile.model = arguments.positional.front();
  auto context = makeContext();
  if (arguments.stopAfter && *arguments.stopAfter < Stage::Print) {
    Compilation compilation(arguments.compile, *context, diagnostics);
    if (requireOneTarget(arguments, "--stop-after", diagnostics) &&
        compilation.advance(*arguments.stopAfter))
      printModule(compilation.module(), arguments.output, diagnostics);
    return diagnostics.exitCode();
  }
  std::string output = arguments.output;
  if (output.empty())
    output = nameOfModel(arguments.compile.model) + ".cpp";
  bool hasBudget = arguments.compile.maxRam || arguments.compile.maxFlash;
  bool hasTest = !arguments.emitTest.empty();
  if ((hasBudget && !requireOneTarget(arguments, "a budget", diagnostics)) ||
      (hasTest && !requireOneTarget(arguments, "--emit-test", diagnostics)) ||
      (arguments.compile.trace &&
       !requireOneTarget(arguments, "--trace", diagnostics)))
    return InvalidInput;
  EmitTest test;
  if (hasTest &&
      !test.read(arguments.emitTest, arguments.compile, *context, diagnostics))
    return diagnostics.exitCode();
  auto compilation =
      std::make_unique<Compilation>(arguments.compile, *context, diagnostics);
  if (hasBudget) {
    Footprint footprint;
    compilation =
        planAndMeasure(arguments.compile, *context, footprint, diagnostics);
    if (!compilation ||
        !checkBudget(arguments.compile, footprint, *context, diagnostics))
      return diagnostics.exitCode();
  }
  if (compilation->emit(output) && hasTest)
    test.write(*compilation, output);
  return diagnostics.exitCode();
}

} // namespace ingot
