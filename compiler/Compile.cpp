#include "compiler/Compile.h"

#include "codegen/kernel/Names.h"
#include "compiler/Commit.h"
#include "compiler/EntryPoints.h"
#include "compiler/Faults.h"
#include "compiler/measure/TunePlans.h"
#include "compiler/report/Progress.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/MappedData.h"
#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/Notes.h"
#include "dialects/kernel/ValueNames.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "passes/evaluate/Evaluate.h"
#include "targets/ProgramForm.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace ingot {

std::string nameOfModel(StringRef path) {
  StringRef stem = llvm::sys::path::stem(path);
  StringRef folder =
      llvm::sys::path::filename(llvm::sys::path::parent_path(path));
  // A model in a file called `model.onnx` is named after its folder.
  if (stem == "model" && !folder.empty() && folder != "." && folder != "..")
    stem = folder;
  return toIdentifier(stem);
}

std::optional<int64_t> CompileOptions::maxArena() const {
  if (!maxRam)
    return std::nullopt;
  return std::max<int64_t>(*maxRam - reservedRam, 0);
}

bool CompileOptions::runsOnThisHost() const {
  // The output contains the code of `target` and of `fallbacks`, and runs here
  // if this machine supports one of these targets. A fallback of another
  // architecture than that of `target` does not count.
  auto runs = [&](const TargetDescription *level) {
    return level->elf.machine == target->elf.machine && level->runsOnThisHost &&
           level->runsOnThisHost();
  };
  return runs(target) || llvm::any_of(fallbacks, runs);
}

bool checkWritable(StringRef output, Diagnostics &diagnostics) {
  StringRef folder = llvm::sys::path::parent_path(output);
  std::error_code error = llvm::sys::fs::access(
      folder.empty() ? "." : folder, llvm::sys::fs::AccessMode::Write);
  if (!error && llvm::sys::fs::is_directory(output))
    error = std::make_error_code(std::errc::is_a_directory);
  if (error)
    diagnostics.reportFile(DiagnosticId::CannotWrite, output,
                           "`" + printable(output) +
                               "` cannot be written: " + error.message());
  return !error;
}

std::unique_ptr<MLIRContext> makeContext() {
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  loadPipelineDialects(*context);
  return context;
}

Compilation::Compilation(CompileOptions options, MLIRContext &context,
                         Diagnostics &diagnostics)
    : options(std::move(options)), mlirContext(context),
      diagnostics(diagnostics) {
  if (this->options.name.empty())
    this->options.name = nameOfModel(this->options.model);
}

Compilation::~Compilation() = default;

ModelFile *Compilation::open() {
  if (!file && diagnostics.empty())
    file = options.makeModel ? options.makeModel()
                             : ModelFile::open(options.model, diagnostics);
  return file.get();
}

bool Compilation::importEntries() {
  moduleRef = ModuleOp::create(UnknownLoc::get(&mlirContext));
  for (const EntryPoint &entry : options.entries) {
    Progress progress("importing " + printable(entry.name));
    // Uses the ModelFile that open() has created, unless the entry point has a
    // model of its own. The import moves the data out of a ModelFile, so the
    // next entry point needs another one.
    std::unique_ptr<ModelFile> own = std::move(file);
    if (!own || !entry.model.empty())
      own = options.makeModel && entry.model.empty()
                ? options.makeModel()
                : ModelFile::open(entry.model.empty() ? options.model
                                                      : entry.model,
                                  diagnostics);
    if (!own)
      return false;
    ImportOptions import = options.import;
    for (const auto &[name, size] : entry.dims)
      import.dims[name] = size,
      import.dimOptions[name] = "--entry " + entry.name;
    filesOfEntries.push_back(std::move(own));
    OwningOpRef<ModuleOp> module =
        importOnnx(*filesOfEntries.back(), import, diagnostics, mlirContext);
    if (!module)
      return false;
    addEntryPoint(*moduleRef, *module, entry.name);
    shareConstants(*moduleRef);
    graph::MappedData::of(&mlirContext).releasePages();
  }
  return true;
}

/// Returns the file name of a model and the SHA-256 of the file; the name alone
/// if the file cannot be read. The file is read in blocks, since a model may be
/// larger than memory.
static std::string identityOf(StringRef path) {
  std::string name = llvm::sys::path::filename(path).str();
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return name;
  }
  auto close =
      llvm::make_scope_exit([&] { (void)llvm::sys::fs::closeFile(*file); });
  llvm::SHA256 hash;
  std::vector<char> chunk(1 << 20);
  for (;;) {
    llvm::Expected<size_t> bytes = llvm::sys::fs::readNativeFile(*file, chunk);
    if (!bytes) {
      llvm::consumeError(bytes.takeError());
      return name;
    }
    if (*bytes == 0)
      break;
    hash.update(StringRef(chunk.data(), *bytes));
  }
  return name + " (SHA-256 " + llvm::toHex(hash.final(), /*LowerCase=*/true) +
         ")";
}

bool Compilation::import() {
  options.import.evaluate = [](ArrayRef<Value> values) {
    return evaluate(values);
  };
  if (!options.entries.empty()) {
    if (!importEntries())
      return false;
  } else {
    if (!open())
      return false;
    Progress progress("importing " + printable(options.model));
    moduleRef = importOnnx(*file, options.import, diagnostics, mlirContext);
    if (!moduleRef)
      return false;
  }
  if (!markStates(*moduleRef, options.states, diagnostics) ||
      (options.stream && !markStream(*moduleRef, *options.stream, diagnostics)))
    return false;
  Builder b(&mlirContext);
  (*moduleRef)
      ->setAttr(kernel::kModelAttr, b.getStringAttr(identityOf(options.model)));
  if (!options.commandLine.empty())
    (*moduleRef)
        ->setAttr(kernel::kCommandAttr, b.getStringAttr(options.commandLine));
  if (StringRef text = file ? file->description() : ""; !text.empty())
    (*moduleRef)
        ->setAttr(kernel::kCommentAttr, b.getStringAttr(text.take_front(4000)));
  if (options.strict)
    (*moduleRef)->setAttr(kernel::kStrictAttr, b.getUnitAttr());
  done = Stage::Import;
  return true;
}

namespace {
/// As long as an object of this class exists, errors that MLIR reports become
/// diagnostics of Ingot.
class FaultHandler {
public:
  FaultHandler(MLIRContext &context, Diagnostics &diagnostics,
               std::function<Diagnostic(StringRef fault)> describe)
      : handler(&context, [&diagnostics, describe](mlir::Diagnostic &fault) {
          if (fault.getSeverity() != DiagnosticSeverity::Error)
            return success();
          std::string where;
          llvm::raw_string_ostream(where) << fault.getLocation();
          Diagnostic diagnostic = describe(fault.str());
          diagnostic.node = "at " + printable(where, 200);
          diagnostics.report(std::move(diagnostic));
          return success();
        }) {}

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

bool Compilation::readModule() {
  auto buffer = llvm::MemoryBuffer::getFile(options.model);
  if (!buffer) {
    diagnostics.report(DiagnosticId::CannotRead,
                       "`" + printable(options.model) +
                           "` cannot be read: " + buffer.getError().message());
    return false;
  }
  FaultHandler handler(mlirContext, diagnostics, [](StringRef fault) {
    Diagnostic diagnostic;
    diagnostic.id = DiagnosticId::InvalidModule;
    diagnostic.message = printable(fault, 600);
    return diagnostic;
  });
  Progress progress("reading " + printable(options.model));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  moduleRef = parseSourceFile<ModuleOp>(sources, &mlirContext);
  if (moduleRef)
    kernel::readArgumentNames(*moduleRef);
  if (!moduleRef || failed(verifyStage(*moduleRef, *options.startFrom)))
    return false;
  auto target = (*moduleRef)->getAttrOfType<StringAttr>(kernel::kTargetAttr);
  if (target && options.target && options.target->name != target.getValue()) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--target: the module was compiled for " +
                           Twine(target.getValue()) + ", not for " +
                           options.target->name,
                       "leave --target out, or start from the stage "
                       "`simplify`");
    return false;
  }
  if (!options.target)
    options.target = lookupTarget(target ? target.getValue() : "native");
  done = *options.startFrom;
  return true;
}

bool Compilation::usesStrings() {
  auto isOfStrings = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && isa<kernel::StringType>(shaped.getElementType());
  };
  bool found = false;
  moduleRef->walk([&](Operation *op) {
    found |= llvm::any_of(op->getResultTypes(), isOfStrings);
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      found |= llvm::any_of(function.getArgumentTypes(), isOfStrings);
  });
  return found;
}

/// Returns the names of two targets that support strings, as examples in the
/// hint of a diagnostic; "generic" if only that target does.
static std::string exampleOfStrings() {
  SmallVector<StringRef> names;
  for (const TargetDescription &target : allTargets())
    if (holdsStrings(target) && target.name != "generic")
      names.push_back(target.name);
  return names.empty() ? "generic"
                       : (names.front() + " or " + names.back()).str();
}

/// Rejects strings on targets without 64-bit host pointers: a string tensor
/// holds pointers.
bool Compilation::checkStrings() {
  const TargetDescription &target = *options.target;
  if (holdsStrings(target) || !usesStrings())
    return true;
  diagnostics.report(DiagnosticId::UnsupportedType,
                     "string tensors are not supported on " + target.name,
                     "they need a 64-bit CPU target, for example " +
                         exampleOfStrings());
  return false;
}

/// Some vector instructions read an operand only from VTCM, the target's fast
/// local memory. Rejects a VTCM size that is too small for such operands. In
/// that case, the pass PlaceInVtcm has recorded the least sufficient size in
/// kVtcmLeastAttr.
bool Compilation::checkVtcm() {
  int64_t least = 0;
  for (Operation &op : *moduleRef->getBody())
    if (auto bytes = op.getAttrOfType<IntegerAttr>(kernel::kVtcmLeastAttr))
      least = std::max(least, bytes.getInt());
  if (least == 0)
    return true;
  std::string option = ("--" + options.target->tcmName).str();
  diagnostics.report(DiagnosticId::OverBudget,
                     option + ": " + Twine(options.vtcmBytes.value_or(0)) +
                         " bytes are too small; the model needs at least " +
                         Twine(least),
                     "give " + option + " " + Twine(least) +
                         ", or leave the option out: kernels then read through "
                         "the caches");
  return false;
}

/// Rejects a model whose constants and arena (the buffer of intermediate
/// tensors) exceed the addresses of a 32-bit target.
static bool checkAddresses(ModuleOp module, const TargetDescription &target,
                           Diagnostics &diagnostics) {
  int64_t bytes = 0;
  for (kernel::ProgramOp entry : kernel::entryPrograms(module))
    bytes = std::max<int64_t>(bytes, entry.getArenaBytes().value_or(0));
  for (auto global : module.getOps<memref::GlobalOp>())
    bytes += kernel::spanBytes(global.getType());
  if (target.pointerBytes != 4 || bytes <= UINT32_MAX)
    return true;
  diagnostics.report(DiagnosticId::OverBudget,
                     "the constants and the arena need " + Twine(bytes) +
                         " bytes; " + target.name + " addresses 4294967296",
                     "reduce sizes with --dim, quantize the model, or choose a "
                     "64-bit target");
  return false;
}

bool Compilation::advance(Stage stage) {
  if (!diagnostics.empty())
    return false;
  if (!done && !(options.startFrom ? readModule() : import()))
    return false;
  if (stage <= *done)
    return true;
  if (!checkStrings())
    return false;
  // The model is valid, so any later failure is an internal error, except that
  // a model cannot be streamed.
  FaultHandler handler(mlirContext, diagnostics, [](StringRef fault) {
    Diagnostic diagnostic;
    if (fault.starts_with("--stream: ")) {
      diagnostic.id = DiagnosticId::BadOption;
      diagnostic.message = printable(fault.split('\n').first, 600);
      diagnostic.hints.push_back(printable(fault.split('\n').second, 600));
      return diagnostic;
    }
    diagnostic.message =
        "a compiler pass failed: " + printable(fault.split('\n').first, 600);
    diagnostic.hints.push_back("please report it with the model; `ingot MODEL "
                               "--stop-after=STAGE` shows the stages before");
    return diagnostic;
  });
  Progress progress("compiling for " + options.target->name.str());
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.strict = options.strict;
  pipeline.fast = options.fast;
  pipeline.verifyEach = options.verifyEach;
  pipeline.timePasses = options.timePasses;
  pipeline.maxArena = options.maxArena();
  pipeline.savesMemory = options.savesMemory;
  pipeline.vtcmBytes = options.vtcmBytes;
  pipeline.stateInOnePlace = options.fallbacks.empty() && !options.isFallback;
  if (!options.tune.empty())
    pipeline.choosePlans = [&](ModuleOp module) {
      return success(tunePlans(module, options, diagnostics));
    };
  if (failed(runPipeline(*moduleRef, pipeline, stage, *done)) &&
      diagnostics.empty())
    diagnostics.report(DiagnosticId::Internal,
                       "a compiler pass failed without a message");
  done = stage;
  return checkVtcm() &&
         checkAddresses(*moduleRef, *options.target, diagnostics) &&
         diagnostics.empty();
}

CodegenOptions Compilation::codegenOptions(StringRef output) const {
  CodegenOptions codegen;
  codegen.name = options.name;
  auto model = moduleRef
                   ? (*moduleRef)->getAttrOfType<StringAttr>(kernel::kModelAttr)
                   : StringAttr();
  codegen.model =
      model ? model.str() : llvm::sys::path::filename(options.model).str();
  codegen.producer =
      ("ingot " + ingotVersion +
       (ingotCommit.empty() ? Twine() : " (commit " + ingotCommit + ")"))
          .str();
  codegen.headerName = (llvm::sys::path::stem(output) + ".h").str();
  if (options.weights == WeightsMode::Auto)
    codegen.constantsName =
        (llvm::sys::path::stem(output) + ".constants.inc").str();
  auto note = [&](StringRef name) -> std::string {
    auto text = moduleRef ? (*moduleRef)->getAttrOfType<StringAttr>(name)
                          : StringAttr();
    return text ? text.str() : "";
  };
  codegen.description = note(kernel::kCommentAttr);
  codegen.commandLine = note(kernel::kCommandAttr);
  if (!codegen.commandLine.empty()) {
    if (codegen.name != toIdentifier(llvm::sys::path::stem(output)))
      codegen.commandLine += " --name " + codegen.name;
    codegen.commandLine += " -o " + llvm::sys::path::filename(output).str();
  }
  codegen.language.isC = llvm::sys::path::extension(output) == ".c";
  codegen.weights = options.weights;
  codegen.trace = options.trace;
  codegen.arenaSection = options.arenaSection;
  codegen.measured = options.measured;
  codegen.compiler = options.compiler;
  return codegen;
}

/// An output for several targets contains a variant of each entry point per
/// target, and the caller provides one arena (memory of intermediate tensors)
/// for all of them. Sets the arena's size and alignment in the module of each
/// variant to the largest ones.
static void shareArena(ArrayRef<Variant> variants, size_t entry) {
  int64_t bytes = 0, align = 0;
  for (Variant variant : variants) {
    kernel::ProgramOp program = kernel::entryPrograms(variant.module)[entry];
    bytes = std::max<int64_t>(bytes, program.getArenaBytes().value_or(0));
    align = std::max<int64_t>(align, program.getArenaAlign().value_or(1));
  }
  for (Variant variant : variants) {
    kernel::ProgramOp program = kernel::entryPrograms(variant.module)[entry];
    program.setArenaBytes(bytes);
    program.setArenaAlign(align);
  }
}

bool Compilation::emit(StringRef output) {
  if ((!options.startFrom && !open()) || !checkWritable(output, diagnostics))
    return false;
  // Compiles the model from its file again for each fallback target, since
  // decisions for one target do not apply to another.
  std::vector<std::unique_ptr<Compilation>> others;
  SmallVector<Variant> variants;
  for (const TargetDescription *fallback : options.fallbacks) {
    CompileOptions given = options;
    given.target = fallback;
    given.fallbacks.clear();
    given.isFallback = true;
    others.push_back(
        std::make_unique<Compilation>(given, mlirContext, diagnostics));
    if (!others.back()->advance(Stage::Legalize))
      return false;
    variants.push_back({others.back()->module(), fallback});
  }
  if (!advance(Stage::Legalize))
    return false;
  variants.push_back({*moduleRef, options.target});
  for (size_t entry = 0; entry < kernel::entryPrograms(*moduleRef).size();
       ++entry)
    shareArena(variants, entry);
  FaultHandler handler(mlirContext, diagnostics, [](StringRef fault) {
    Diagnostic diagnostic;
    diagnostic.message = "writing the code failed: " + printable(fault, 2000);
    return diagnostic;
  });
  Progress progress("writing " + printable(output));
  llvm::Error error = emitFiles(variants, codegenOptions(output), output);
  if (error && diagnostics.empty())
    reportFault(std::move(error), diagnostics,
                "the generated C++ did not compile", options.compiler);
  else
    llvm::consumeError(std::move(error));
  return diagnostics.empty();
}

} // namespace ingot
