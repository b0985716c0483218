// The command `ingot MODEL -o FILE`.

#include "codegen/files/OutputFiles.h"
#include "codegen/kernel/Names.h"
#include "compiler/Faults.h"
#include "compiler/evidence/Evidence.h"
#include "compiler/measure/Footprint.h"
#include "compiler/report/Suggest.h"
#include "compiler/tools/ingot/Commands.h"
#include "compiler/tools/ingot/EmitTest.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/ValueNames.h"
#include "targets/ModuleForm.h"

#include "codegen/objects/TemporaryFolder.h"
#include "targets/ProgramForm.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

/// Prints the module after a stage. A file gets the complete module; on the
/// terminal, locations and the data of large weights are omitted.
static void printModule(ModuleOp module, StringRef output,
                        Diagnostics &diagnostics) {
  OpPrintingFlags flags;
  if (output.empty() || output == "-") {
    // Local scope omits the section that holds the data of large constants.
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

/// Prints the module after the stage of --stop-after.
static void stopAfterStage(const Arguments &arguments, MLIRContext &context,
                           Diagnostics &diagnostics) {
  if (!refuseUnused(arguments,
                    {"arena-section", "cxx", "emit-test", "evidence",
                     "max-flash", "name", "trace", "weights"},
                    "with --stop-after, which writes no C++", diagnostics) ||
      !requireOneTarget(arguments, "--stop-after", diagnostics))
    return;
  if (*arguments.stopAfter < Stage::Decide &&
      !refuseUnused(arguments, {"tune"}, "before the stage `decide`",
                    diagnostics))
    return;
  // Rejects C++ extensions, since build tools would compile the MLIR as C++.
  StringRef extension = llvm::sys::path::extension(arguments.output);
  if (llvm::is_contained({".c", ".cpp", ".cc", ".cxx", ".cu", ".h", ".o"},
                         extension)) {
    diagnostics.report(DiagnosticId::BadOption,
                       "-o: --stop-after writes MLIR, which does not belong in "
                       "a `" +
                           extension + "` file",
                       "name a .mlir file");
    return;
  }
  if (!arguments.output.empty() && arguments.output != "-" &&
      !checkReplaceable(arguments, arguments.output, diagnostics))
    return;
  Compilation compilation(arguments.compile, context, diagnostics);
  if (compilation.advance(*arguments.stopAfter))
    printModule(compilation.module(), arguments.output, diagnostics);
}

/// Returns the names of the targets for which the source can be C.
static std::string targetsWithC() {
  std::string names;
  for (const TargetDescription &target : allTargets())
    if (target.hasC)
      names += (names.empty() ? "" : ", ") + target.name.str();
  return names;
}

/// Returns whether -o names an object file or a module (.wasm) instead of a
/// source file; nullopt with a diagnostic for an invalid name.
static std::optional<bool> isObjectName(StringRef output,
                                        const TargetDescription &target,
                                        Diagnostics &diagnostics) {
  StringRef extension = llvm::sys::path::extension(output);
  const ModuleForm *form = moduleForm(target);
  bool isObject = extension == ".o" || (form && extension == form->extension);
  bool isSource = llvm::is_contained({".cpp", ".cc", ".cxx"}, extension) ||
                  (extension == ".c" && target.hasC);
  StringRef wanted = target.sourceExtension;
  bool isOther =
      extension == ".c" || llvm::any_of(allTargets(), [&](const auto &other) {
        return other.sourceExtension == extension;
      });
  if (extension == ".c" && !isSource && wanted == ".cpp")
    diagnostics.report(
        DiagnosticId::BadOption,
        "-o: C is written for the targets " + targetsWithC() + ", not for " +
            target.name,
        "name a .cpp file, or choose one of these targets with --target");
  else if (!isObject && (isSource || isOther) &&
           (wanted == ".cpp" ? !isSource : wanted != extension))
    diagnostics.report(DiagnosticId::BadOption,
                       "-o: `" + printable(output) + "` has the extension `" +
                           printable(extension) + "`, but the target " +
                           target.name + " needs a " + wanted + " file",
                       "name a " + wanted +
                           " file, or choose another target with --target");
  else if (!isObject && !isSource && !isOther)
    diagnostics.report(
        DiagnosticId::BadOption,
        "-o: `" + printable(output) + "` " +
            (extension.empty()
                 ? Twine("has no extension")
                 : "has the extension `" + printable(extension) + "`"),
        "name a .cpp file (.cc, .cxx) for C++, a .c file for C, a .cu file "
        "for a GPU, a .o file for an object, a .wasm file for a module "
        "(--target wasm32), or - for standard output");
  else if (llvm::sys::path::stem(output).empty())
    diagnostics.report(DiagnosticId::BadOption,
                       "-o: `" + printable(output) +
                           "` has no name before its extension",
                       "example: model" + extension);
  else if (llvm::sys::path::filename(output).find_first_of("\"\\\n\r") !=
           StringRef::npos)
    diagnostics.report(DiagnosticId::BadOption,
                       "-o: `" + printable(output) +
                           "` has a character that #include cannot name",
                       "leave out quotes, backslashes and line breaks");
  else
    return isObject;
  return std::nullopt;
}

/// Checks that the options are compatible; false with a diagnostic if not.
static bool checkOptions(const Arguments &arguments, bool isObject,
                         Diagnostics &diagnostics) {
  bool hasBudget = arguments.compile.maxRam || arguments.compile.maxFlash;
  bool hasTest = !arguments.emitTest.empty();
  bool hasEvidence = !arguments.evidence.empty();
  // For a GPU, --tune times the plans (loop parameters of kernels) in a program
  // that is built with the compiler of --cxx.
  bool isTuned = !arguments.compile.tune.empty() && arguments.compile.target &&
                 programForm(*arguments.compile.target).timesLaunches;
  if (isObject &&
      !refuseUnused(arguments, {"evidence"},
                    "with an object file: the tables refer to lines of C++",
                    diagnostics))
    return false;
  if (!isObject && !hasBudget && !hasEvidence && !isTuned &&
      !refuseUnused(arguments, {"cxx"},
                    "when C++ is written without --max-ram, --max-flash or "
                    "--evidence",
                    diagnostics))
    return false;
  bool hasTrace = arguments.compile.trace;
  if (!arguments.compile.entries.empty() &&
      !refuseUnused(arguments, {"emit-test"},
                    "with --entry: a test program calls a single function",
                    diagnostics))
    return false;
  if (!arguments.compile.states.empty() &&
      !refuseUnused(arguments, {"emit-test"},
                    "with --state: a test program passes all inputs",
                    diagnostics))
    return false;
  if (arguments.compile.stream &&
      (!refuseUnused(arguments, {"emit-test"},
                     "with --stream: a test program passes the whole input",
                     diagnostics) ||
       !requireOneTarget(arguments, "--stream", diagnostics)))
    return false;
  if (arguments.compile.target &&
      !refuseUnused(arguments, programForm(*arguments.compile.target).lacks,
                    "for a target whose kernels run on a device", diagnostics))
    return false;
  return (!hasBudget || requireOneTarget(arguments, "--max-ram or --max-flash",
                                         diagnostics)) &&
         (!hasTest ||
          requireOneTarget(arguments, "--emit-test", diagnostics)) &&
         (!hasEvidence ||
          requireOneTarget(arguments, "--evidence", diagnostics)) &&
         (!hasTrace || requireOneTarget(arguments, "--trace", diagnostics));
}

/// Checks that the options are compatible with --start-from: options of earlier
/// stages have no effect, since the module determines their results.
static bool checkStart(Arguments &arguments, Diagnostics &diagnostics) {
  Stage start = *arguments.compile.startFrom;
  std::string with =
      ("with --start-from " + nameOf(start) + ": the module determines it")
          .str();
  SmallVector<StringRef> decided = {"dim",   "entry",  "bind",  "fast",
                                    "state", "stream", "strict"};
  if (start >= Stage::Decide)
    decided.append({"max-ram", "tune"});
  StringRef memory =
      arguments.compile.target ? arguments.compile.target->tcmName : "";
  if (start >= Stage::Decide && !memory.empty())
    decided.push_back(memory);
  if (!refuseUnused(arguments, decided, with, diagnostics) ||
      !refuseUnused(arguments, {"emit-test", "evidence", "quantize"},
                    "with --start-from", diagnostics) ||
      !requireOneTarget(arguments, "--start-from", diagnostics))
    return false;
  if (arguments.stopAfter && *arguments.stopAfter < start) {
    diagnostics.report(
        DiagnosticId::BadOption,
        "--stop-after: the stage `" + nameOf(*arguments.stopAfter) +
            "` comes before the stage `" + nameOf(start) + "` of --start-from");
    return false;
  }
  if (!llvm::is_contained(arguments.given, "target"))
    arguments.compile.target = nullptr;
  return true;
}

/// Quantizes the model in memory if requested; false with diagnostics on
/// failure.
static bool quantizeFirst(Arguments &arguments, MLIRContext &context,
                          Diagnostics &diagnostics) {
  if (!arguments.quantizes)
    return true;
  for (const EntryPoint &entry : arguments.compile.entries)
    if (!entry.model.empty()) {
      diagnostics.report(
          DiagnosticId::BadOption,
          "--quantize: only the model of the command line is quantized, but "
          "--entry " +
              printable(entry.name) + " names another one, `" +
              printable(entry.model) + "`",
          "quantize each model with `ingot quantize`, and compile the results");
      return false;
    }
  quantize::QuantizeReport report;
  arguments.compile.makeModel = quantize::quantizedModel(
      arguments.compile, arguments.quantize, context, report, diagnostics);
  if (diagnostics.empty())
    arguments.json ? report.printJson(llvm::outs())
                   : report.print(llvm::outs());
  return diagnostics.empty();
}

/// Returns the paths of all files that a compilation to `output` may write,
/// `output` first.
static std::vector<std::string> outputsOf(StringRef output, bool hasTest,
                                          StringRef evidence) {
  std::vector<std::string> paths{output.str()};
  auto add = [&](StringRef extension) {
    SmallString<128> path(output);
    llvm::sys::path::replace_extension(path, extension);
    paths.push_back(path.str().str());
  };
  add(".h");
  add(".constants.inc");
  add(".weights.o");
  add(".weights");
  if (hasTest) {
    SmallString<128> path(output);
    llvm::sys::path::replace_extension(path, "");
    paths.push_back((path + "_test.cpp").str());
  }
  if (!evidence.empty())
    for (StringRef file : evidenceFiles()) {
      SmallString<128> path(evidence);
      llvm::sys::path::append(path, file);
      paths.push_back(path.str().str());
    }
  return paths;
}

/// Formats 7328 as "7,328".
static std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t i = text.size(); i > 3;)
    text.insert(i -= 3, ",");
  return text;
}

/// Formats 133000 as "133 KB", 999 as "999 bytes".
static std::string sizeText(uint64_t bytes) {
  if (bytes < 1000)
    return std::to_string(bytes) + " bytes";
  std::string text;
  llvm::raw_string_ostream os(text);
  bytes < 1000000 ? os << llvm::format("%.3g KB", bytes / 1e3)
                  : os << llvm::format("%.3g MB", bytes / 1e6);
  return text;
}

/// Returns the names of the generated entry functions.
static std::vector<std::string> functionsOf(const CompileOptions &options) {
  std::string prefix = toIdentifier(options.name);
  std::vector<std::string> names;
  for (const EntryPoint &entry : options.entries)
    names.push_back(prefix + "_" + entry.name + "_run");
  if (names.empty())
    names.push_back(prefix + "_run");
  return names;
}

namespace {
/// The files that a compilation has written, and the sizes for its summary.
struct Written {
  std::vector<std::string> files;
  std::vector<std::string> functions;
  int64_t arena = 0, state = 0;
  /// The bytes of code and constants, if they were measured.
  std::optional<int64_t> flash;
  /// For a streamed input (--stream): the columns that a call takes, the
  /// columns of the window, and the multiply-adds of a call and of the window.
  std::optional<std::array<int64_t, 4>> stream;
};
} // namespace

static void printJson(const Written &written, StringRef target) {
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  auto strings = [&](StringRef key, ArrayRef<std::string> values) {
    json.attributeArray(key, [&] {
      for (const std::string &value : values)
        json.value(llvm::json::fixUTF8(value));
    });
  };
  json.object([&] {
    strings("files", written.files);
    strings("functions", written.functions);
    json.attribute("target", target);
    json.attribute("arena_bytes", written.arena);
    json.attribute("state_bytes", written.state);
    if (written.flash)
      json.attribute("flash_bytes", *written.flash);
    if (written.stream)
      json.attributeObject("stream", [&] {
        auto [columns, window, macs, macsOfWindow] = *written.stream;
        json.attribute("columns", columns);
        json.attribute("window", window);
        json.attribute("macs", macs);
        json.attribute("macs_of_window", macsOfWindow);
      });
  });
  llvm::outs() << "\n";
}

/// Prints the summary of a compilation, such as "wrote net.cpp (130 KB), net.h
/// (3 KB): net_run for generic, arena 14,336 bytes".
static void printSummary(const Written &written, StringRef target) {
  llvm::raw_ostream &os = llvm::errs();
  os << "wrote ";
  for (auto [i, file] : llvm::enumerate(written.files)) {
    uint64_t size = 0;
    (void)llvm::sys::fs::file_size(file, size);
    os << (i ? ", " : "") << printable(file, 400) << " (" << sizeText(size)
       << ")";
  }
  os << ": " << llvm::join(written.functions, ", ") << " for " << target;
  if (written.arena)
    os << ", arena " << grouped(written.arena) << " bytes";
  if (written.state)
    os << ", state " << grouped(written.state) << " bytes";
  if (written.flash)
    os << ", flash " << grouped(*written.flash) << " bytes";
  if (written.stream) {
    auto [columns, window, macs, macsOfWindow] = *written.stream;
    os << ", a call takes " << columns << " of " << window << " columns";
    if (macsOfWindow)
      os << " and does "
         << llvm::format("%.1f%%", 100.0 * double(macs) / double(macsOfWindow))
         << " of the multiplications";
  }
  os << "\n";
  for (StringRef file : written.files)
    if (file.ends_with(".weights.o"))
      os << "link " << printable(file, 400) << " with "
         << printable(written.files.front(), 400)
         << ": it contains the weights\n";
}

/// Returns the identity of the file at `path`, to detect whether a compilation
/// replaces it; nothing if the file does not exist.
static std::optional<llvm::sys::fs::UniqueID> identify(StringRef path) {
  llvm::sys::fs::UniqueID id;
  if (llvm::sys::fs::getUniqueID(path, id))
    return std::nullopt;
  return id;
}

static void addSizes(Compilation &compilation, Written &written) {
  ModuleOp module = compilation.module();
  for (kernel::ProgramOp entry : kernel::entryPrograms(module))
    written.arena =
        std::max<int64_t>(written.arena, entry.getArenaBytes().value_or(0));
  if (auto bytes = module->getAttrOfType<IntegerAttr>(kernel::kStateBytesAttr))
    written.state = bytes.getInt();
  if (compilation.options.measured)
    written.flash = compilation.options.measured->flash;
  for (kernel::ProgramOp entry : kernel::entryPrograms(module))
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto stream = entry.getArgAttrOfType<DenseI64ArrayAttr>(
              i, kernel::kStreamedAttr))
        written.stream = {stream[1], stream[2], stream[3], stream[4]};
}

/// Warns if the prefix of the generated names differs from --name, and rejects
/// the prefix `ingot`, which the runtime header uses.
static bool checkName(StringRef wanted, bool isGiven,
                      Diagnostics &diagnostics) {
  std::string name = toIdentifier(wanted);
  if (name == "ingot") {
    diagnostics.report(DiagnosticId::BadOption,
                       "the prefix `ingot` is reserved for the runtime header",
                       "choose another one with --name");
    return false;
  }
  if (isGiven && name != wanted)
    diagnostics.report(DiagnosticId::RenamedPrefix,
                       "--name: `" + printable(wanted) +
                           "` cannot be used in C++; the prefix is `" + name +
                           "`");
  return true;
}

/// Prints the header and the source as one file on standard output (-o -).
static int printToTerminal(Arguments &arguments, MLIRContext &context,
                           Diagnostics &diagnostics) {
  CompileOptions &options = arguments.compile;
  if (!refuseUnused(arguments, {"emit-test", "evidence", "json"}, "with -o -",
                    diagnostics))
    return diagnostics.exitCode();
  if (options.weights == WeightsMode::Auto)
    options.weights = WeightsMode::Source;
  if (options.weights != WeightsMode::Source) {
    diagnostics.report(DiagnosticId::BadOption,
                       "-o - cannot write the weights to another file",
                       "use --weights source, or name a file");
    return diagnostics.exitCode();
  }
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return diagnostics.exitCode();
  }
  const TargetDescription &target =
      options.target ? *options.target : *lookupTarget("generic");
  if (options.name.empty())
    options.name = nameOfModel(options.model);
  std::string name = toIdentifier(options.name);
  std::string output = folder->file(name + target.sourceExtension.str());
  Compilation compilation(options, context, diagnostics);
  if (!compilation.emit(output))
    return diagnostics.exitCode();
  auto source = llvm::MemoryBuffer::getFile(output);
  auto header = llvm::MemoryBuffer::getFile(folder->file(name + ".h"));
  if (!source || !header) {
    diagnostics.report(DiagnosticId::CannotRead,
                       "a temporary file cannot be read");
    return diagnostics.exitCode();
  }
  std::string include = "#include \"" + name + ".h\"\n";
  auto [before, after] = (*source)->getBuffer().split(include);
  llvm::outs() << before << (*header)->getBuffer() << "\n" << after;
  return diagnostics.exitCode();
}

int compileCommand(Arguments &arguments, Diagnostics &diagnostics) {
  if (arguments.explain) {
    SmallVector<StringRef> others(arguments.given.begin(),
                                  arguments.given.end());
    llvm::erase(others, "explain");
    llvm::erase(others, "color");
    return refuseUnused(arguments, others, "with --explain", diagnostics)
               ? explainCommand(arguments, diagnostics)
               : diagnostics.exitCode();
  }
  CompileOptions &options = arguments.compile;
  options.model = arguments.positional.front();
  options.commandLine = commandText(arguments);
  auto context = makeContext();
  if (options.startFrom && !checkStart(arguments, diagnostics))
    return diagnostics.exitCode();
  if (arguments.stopAfter) {
    if (!quantizeFirst(arguments, *context, diagnostics))
      return diagnostics.exitCode();
    stopAfterStage(arguments, *context, diagnostics);
    return diagnostics.exitCode();
  }
  bool hasOutput = llvm::is_contained(arguments.given, "o");
  if (hasOutput && arguments.output == "-")
    return !checkOptions(arguments, /*isObject=*/false, diagnostics) ||
                   !quantizeFirst(arguments, *context, diagnostics)
               ? int(diagnostics.exitCode())
               : printToTerminal(arguments, *context, diagnostics);
  const TargetDescription &target =
      options.target ? *options.target : *lookupTarget("generic");
  std::string output =
      hasOutput ? arguments.output
                : nameOfModel(options.model) + target.sourceExtension.str();
  auto isObject = isObjectName(output, target, diagnostics);
  if (!isObject || !checkOptions(arguments, *isObject, diagnostics))
    return diagnostics.exitCode();
  // Without --name, a file x.cpp defines x_run, whatever the name of the model.
  if (options.name.empty())
    options.name = llvm::sys::path::stem(output);
  if (!checkName(options.name, llvm::is_contained(arguments.given, "name"),
                 diagnostics))
    return diagnostics.exitCode();
  options.name = toIdentifier(options.name);
  bool hasTest = !arguments.emitTest.empty();
  std::vector<std::string> outputs =
      outputsOf(output, hasTest, arguments.evidence);
  if (!checkWritable(output, diagnostics))
    return diagnostics.exitCode();
  std::vector<std::optional<llvm::sys::fs::UniqueID>> before;
  for (const std::string &path : outputs) {
    checkReplaceable(arguments, path, diagnostics);
    before.push_back(identify(path));
  }
  if (!diagnostics.empty() || !quantizeFirst(arguments, *context, diagnostics))
    return diagnostics.exitCode();
  EmitTest test;
  if (hasTest && !test.read(arguments.emitTest, options, *context, diagnostics))
    return diagnostics.exitCode();
  auto compilation =
      std::make_unique<Compilation>(options, *context, diagnostics);
  std::optional<int64_t> flash;
  bool hasBudget = options.maxRam || options.maxFlash;
  Footprint footprint;
  if (hasBudget || !arguments.evidence.empty()) {
    compilation = planAndMeasure(options, *context, footprint, diagnostics);
    if (!compilation || !checkBudget(options, footprint, *context, diagnostics))
      return diagnostics.exitCode();
    // The header states measured sizes only with --max-ram or --max-flash.
    // Sizes that are measured for --evidence must not appear in it, since
    // --evidence does not change the generated code.
    if (hasBudget)
      flash = footprint.flash();
    else
      compilation->options.measured = std::nullopt;
  }
  if (!compilation->emit(output))
    return diagnostics.exitCode();
  if (hasTest)
    test.write(*compilation, output);
  if (!arguments.evidence.empty() && diagnostics.empty())
    writeEvidence(*compilation, footprint, output, arguments.evidence);
  if (!diagnostics.empty())
    return diagnostics.exitCode();
  Written written;
  for (auto [path, old] : llvm::zip(outputs, before))
    if (auto now = identify(path); now && (!old || *now != *old))
      written.files.push_back(path);
  written.functions = functionsOf(options);
  addSizes(*compilation, written);
  if (flash)
    written.flash = flash;
  StringRef shownTarget = compilation->options.target->name;
  if (arguments.json && !arguments.quantizes)
    printJson(written, shownTarget);
  if (arguments.verbose || (!arguments.quiet && llvm::errs().is_displayed()))
    printSummary(written, shownTarget);
  return diagnostics.exitCode();
}

} // namespace ingot
