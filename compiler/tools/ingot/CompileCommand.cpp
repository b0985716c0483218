// Ingot MODEL -o FILE.

#include "codegen/files/OutputFiles.h"
#include "codegen/kernel/Names.h"
#include "compiler/Faults.h"
#include "compiler/measure/Footprint.h"
#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Commands.h"
#include "compiler/tools/ingot/EmitTest.h"
#include "dialects/kernel/ValueNames.h"

#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

/// Prints the module after a stage: complete into a file; without locations and
/// the bytes of large weights to the terminal.
static void printModule(ModuleOp module, StringRef output,
                        Diagnostics &diagnostics) {
  OpPrintingFlags flags;
  if (output.empty() || output == "-") {
    // Local scope: no section for the resources whose bytes are left out.
    flags.elideLargeElementsAttrs(16).useLocalScope();
    flags.printNameLocAsPrefix();
    module.print(llvm::outs(), flags);
    return;
  }
  kernel::spellArgumentNames(module);
  auto print = [&](llvm::raw_ostream &os) {
    module.print(os, flags.enableDebugInfo());
  };
  if (llvm::Error error = writeFile(output, print))
    reportFault(std::move(error), diagnostics);
}

/// Prints the program after the stage of --stop-after.
static void stopAfterStage(const Arguments &arguments, MLIRContext &context,
                           Diagnostics &diagnostics) {
  if (!refuseUnused(arguments,
                    {"arena-section", "cxx", "emit-test", "max-flash", "name",
                     "trace", "weights"},
                    "with --stop-after, which writes no C++", diagnostics) ||
      !requireOneTarget(arguments, "--stop-after", diagnostics))
    return;
  if (*arguments.stopAfter < Stage::Decide &&
      !refuseUnused(arguments, {"tune"}, "before the stage `decide`",
                    diagnostics))
    return;
  Compilation compilation(arguments.compile, context, diagnostics);
  if (compilation.advance(*arguments.stopAfter))
    printModule(compilation.module(), arguments.output, diagnostics);
}

/// Says what kind of file -o names; none with a diagnostic.
static std::optional<bool> isObjectName(StringRef output,
                                        const TargetDescription &target,
                                        Diagnostics &diagnostics) {
  StringRef extension = llvm::sys::path::extension(output);
  bool isObject = extension == ".o";
  bool isSource = llvm::is_contained({".cpp", ".cc", ".cxx"}, extension);
  StringRef wanted = target.sourceExtension;
  bool isOther = llvm::any_of(allTargets(), [&](const auto &other) {
    return other.sourceExtension == extension;
  });
  if (!isObject && (isSource || isOther) &&
      (wanted == ".cpp" ? !isSource : wanted != extension))
    diagnostics.report(
        DiagnosticId::BadOption,
        "-o `" + printable(output) + "` has the extension `" +
            printable(extension) + "`, but code for the target " + target.name +
            " is a " + wanted + " file",
        "name a " + wanted + " file, or another target with --target");
  else if (!isObject && !isSource && !isOther)
    diagnostics.report(DiagnosticId::BadOption,
                       "-o `" + printable(output) + "` " +
                           (extension.empty() ? Twine("has no extension")
                                              : "has the extension `" +
                                                    printable(extension) + "`"),
                       "name a .cpp file (.cc, .cxx) for C++, a .cu file for a "
                       "GPU, or a .o file for an object");
  else if (llvm::sys::path::stem(output).empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "-o `" + printable(output) +
                           "` has no name before its extension",
                       "for example model" + extension);
  else
    return isObject;
  return std::nullopt;
}

/// Checks that the options go together.
static bool checkOptions(const Arguments &arguments, bool isObject,
                         Diagnostics &diagnostics) {
  bool hasBudget = arguments.compile.maxRam || arguments.compile.maxFlash;
  bool hasTest = !arguments.emitTest.empty();
  // Plans of a device are timed in a program of that compiler.
  bool isTuned = !arguments.compile.tune.empty() && arguments.compile.target &&
                 arguments.compile.target->isDevice();
  if (!isObject && !hasBudget && !isTuned &&
      !refuseUnused(arguments, {"cxx"},
                    "on C++ without a budget: it compiles the .o and measures "
                    "sizes",
                    diagnostics))
    return false;
  bool hasTrace = arguments.compile.trace;
  if (!arguments.compile.entries.empty() &&
      !refuseUnused(arguments, {"emit-test"},
                    "with --entry: a test is of one function", diagnostics))
    return false;
  if (!arguments.compile.states.empty() &&
      !refuseUnused(arguments, {"emit-test"},
                    "with --state: a test passes all inputs", diagnostics))
    return false;
  if (arguments.compile.target && arguments.compile.target->isDevice() &&
      !refuseUnused(
          arguments,
          {"arena-section", "emit-test", "max-flash", "max-ram", "trace"},
          "for a target whose kernels run on a device", diagnostics))
    return false;
  return (!hasBudget || requireOneTarget(arguments, "a budget", diagnostics)) &&
         (!hasTest ||
          requireOneTarget(arguments, "--emit-test", diagnostics)) &&
         (!hasTrace || requireOneTarget(arguments, "--trace", diagnostics));
}

/// Checks that the options go with --start-from: what earlier stages were asked
/// for is in the module.
static bool checkStart(Arguments &arguments, Diagnostics &diagnostics) {
  Stage start = *arguments.compile.startFrom;
  std::string with =
      ("with --start-from " + nameOf(start) + ": the module says it").str();
  SmallVector<StringRef> decided = {"dim",  "entry", "bind",
                                    "fast", "state", "strict"};
  if (start >= Stage::Decide)
    decided.append({"max-ram", "tune"});
  StringRef memory =
      arguments.compile.target ? arguments.compile.target->nearMemory : "";
  if (start >= Stage::Decide && !memory.empty())
    decided.push_back(memory);
  if (!refuseUnused(arguments, decided, with, diagnostics) ||
      !refuseUnused(arguments, {"emit-test", "quantize"}, "with --start-from",
                    diagnostics) ||
      !requireOneTarget(arguments, "--start-from", diagnostics))
    return false;
  if (arguments.stopAfter && *arguments.stopAfter < start) {
    diagnostics.report(DiagnosticId::BadOption,
                       "the stage `" + nameOf(*arguments.stopAfter) +
                           "` of --stop-after is before `" + nameOf(start) +
                           "`, which --start-from begins with");
    return false;
  }
  if (!llvm::is_contained(arguments.given, "target"))
    arguments.compile.target = nullptr;
  return true;
}

static int explain(const Arguments &arguments, Diagnostics &diagnostics) {
  SmallVector<StringRef> others(arguments.given.begin(), arguments.given.end());
  llvm::erase(others, "explain");
  if (!refuseUnused(arguments, others, "with --explain", diagnostics))
    return InvalidInput;
  std::vector<std::string> names;
  for (const DiagnosticInfo &info : allDiagnostics()) {
    names.push_back(info.name.str());
    if (info.name != arguments.explain)
      continue;
    llvm::outs() << info.name << ": " << info.meaning << "\n"
                 << "exit code " << exitCodeOf(info.kind) << ": "
                 << meaningOf(info.kind) << "\n";
    return Success;
  }
  std::string close = didYouMean(arguments.explain, names);
  diagnostics.report(DiagnosticId::BadOption,
                     "there is no error `" + printable(arguments.explain) + "`",
                     close.empty() ? "errors: " + llvm::join(names, ", ")
                                   : close);
  return InvalidInput;
}

/// Quantizes the model in memory, if that was asked for; false with diagnostics
/// if that fails.
static bool quantizeFirst(Arguments &arguments, MLIRContext &context,
                          Diagnostics &diagnostics) {
  if (!arguments.quantizes)
    return true;
  quantize::QuantizeReport report;
  arguments.compile.makeModel = quantize::quantizedModel(
      arguments.compile, arguments.quantize, context, report, diagnostics);
  if (diagnostics.empty())
    arguments.json ? report.printJson(llvm::outs())
                   : report.print(llvm::outs());
  return diagnostics.empty();
}

int compileCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (!arguments.explain.empty())
    return explain(arguments, diagnostics);
  CompileOptions &options = arguments.compile;
  options.model = arguments.positional.front();
  auto context = makeContext();
  if (options.startFrom && !checkStart(arguments, diagnostics))
    return InvalidInput;
  if (arguments.stopAfter) {
    if (!quantizeFirst(arguments, *context, diagnostics))
      return diagnostics.exitCode();
    stopAfterStage(arguments, *context, diagnostics);
    return diagnostics.exitCode();
  }
  bool hasOutput = llvm::is_contained(arguments.given, "o");
  const TargetDescription &target =
      options.target ? *options.target : *lookupTarget("generic");
  std::string output =
      hasOutput ? arguments.output
                : nameOfModel(options.model) + target.sourceExtension.str();
  auto isObject = isObjectName(output, target, diagnostics);
  if (!isObject || !checkOptions(arguments, *isObject, diagnostics))
    return InvalidInput;
  // What is called x.cpp declares x_run, whatever the model is called.
  if (options.name.empty())
    options.name = toIdentifier(llvm::sys::path::stem(output));
  if (!checkWritable(output, diagnostics) ||
      !quantizeFirst(arguments, *context, diagnostics))
    return diagnostics.exitCode();
  bool hasTest = !arguments.emitTest.empty();
  EmitTest test;
  if (hasTest && !test.read(arguments.emitTest, options, *context, diagnostics))
    return diagnostics.exitCode();
  auto compilation =
      std::make_unique<Compilation>(options, *context, diagnostics);
  if (options.maxRam || options.maxFlash) {
    Footprint footprint;
    compilation = planAndMeasure(options, *context, footprint, diagnostics);
    if (!compilation || !checkBudget(options, footprint, *context, diagnostics))
      return diagnostics.exitCode();
  }
  if (compilation->emit(output) && hasTest)
    test.write(*compilation, output);
  return diagnostics.exitCode();
}

} // namespace ingot
