//===- HostModel.cpp ------------------------------------------------------===//

#include "compiler/HostModel.h"

#include "compiler/import/TensorData.h"
#include "compiler/report/Progress.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;

namespace ingot {

TemporaryFolder::TemporaryFolder() {
  SmallString<128> path;
  if (!llvm::sys::fs::createUniqueDirectory("ingot", path))
    folder = path.str().str();
}

TemporaryFolder::~TemporaryFolder() {
  if (valid())
    llvm::sys::fs::remove_directories(folder);
}

std::string TemporaryFolder::file(StringRef name) const {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

StringRef statusText(ingot_status status) {
  switch (status) {
  case INGOT_OK:
    return "no error";
  case INGOT_ERROR_NULL:
    return "a pointer that is needed is null";
  case INGOT_ERROR_ALIGNMENT:
    return "the arena or the weights are not aligned";
  case INGOT_ERROR_SPECIALIZED:
    return "an input differs from the value it was bound to when compiling";
  case INGOT_ERROR_WEIGHTS:
    return "the weights file is not that of this model";
  }
  return "an unknown error";
}

/// The first compiler of the target that this machine has.
static std::string findCompiler(const TargetDescription &target,
                                Diagnostics &diagnostics) {
  for (StringRef name : target.compilers)
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  diagnostics.report(DiagnosticId::RunFailed,
                     "no C++ compiler is installed that can build for " +
                         target.name,
                     "install one of: " + llvm::join(target.compilers, ", "));
  return "";
}

/// The compiler's own words matter only where it fails: then it is our text
/// that was wrong.
static bool runCompiler(ArrayRef<std::string> arguments, StringRef log,
                        Diagnostics &diagnostics) {
  SmallVector<StringRef> argv(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), log, log};
  std::string error;
  int code = llvm::sys::ExecuteAndWait(argv[0], argv, std::nullopt, redirects,
                                       0, 0, &error);
  if (code == 0)
    return true;
  std::string said = error;
  if (auto buffer = llvm::MemoryBuffer::getFile(log)) {
    // The first error line tells most.
    SmallVector<StringRef> lines;
    (*buffer)->getBuffer().split(lines, '\n');
    auto line = llvm::find_if(
        lines, [](StringRef line) { return line.contains("error"); });
    said = line == lines.end() ? (*buffer)->getBuffer().take_front(300).str()
                               : line->str();
  }
  diagnostics.report(DiagnosticId::Internal,
                     "the generated C++ did not compile: " +
                         printable(said, 600));
  return false;
}

HostModel::HostModel() = default;

HostModel::~HostModel() {
  if (library)
    dlclose(library);
  std::free(arena);
}

static void readTypes(ModuleOp module,
                      SmallVectorImpl<RankedTensorType> &inputs,
                      SmallVectorImpl<RankedTensorType> &outputs) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (Type type : main.getArgumentTypes())
    inputs.push_back(cast<RankedTensorType>(type));
  for (Type type : main.getResultTypes())
    outputs.push_back(cast<RankedTensorType>(type));
}

std::unique_ptr<HostModel> HostModel::build(Compilation &compilation,
                                            ArrayRef<std::string> flags) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  const TargetDescription &target = *compilation.options.target;
  if (!target.runsOnThisHost || !target.runsOnThisHost()) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "this machine cannot run code for the target " +
                           target.name,
                       "see `ingot targets`");
    return nullptr;
  }
  if (!compilation.advance(Stage::Import))
    return nullptr;
  std::unique_ptr<HostModel> model(new HostModel);
  readTypes(compilation.module(), model->inTypes, model->outTypes);
  auto main = compilation.module().lookupSymbol<func::FuncOp>("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto value = main.getArgAttrOfType<DenseElementsAttr>(i, "ingot.bound"))
      model->bound.push_back({i, bytesOf(value)});

  TemporaryFolder folder;
  if (!folder.valid()) {
    diagnostics.report(DiagnosticId::CannotWrite,
                       "no temporary folder can be made");
    return nullptr;
  }
  std::string source = folder.file("model.cpp"),
              object = folder.file("model.weights.o"),
              shared = folder.file("model.so");
  std::string compiler = findCompiler(target, diagnostics);
  if (compiler.empty() || !compilation.emit(source))
    return nullptr;
  Interface interface(compilation.module(), compilation.codegenOptions(source));
  for (const InterfaceTensor &tensor : interface.tensors)
    (tensor.isOutput ? model->outputTensors : model->inputTensors)
        .push_back(tensor);
  model->arenaSize = interface.arenaBytes;
  model->arenaAlign = interface.arenaAlign;

  std::vector<std::string> command{compiler,   "-std=c++17", "-shared",
                                   "-fPIC",    "-w",         "-fno-exceptions",
                                   "-fno-rtti"};
  for (StringRef flag : target.compilerFlags)
    command.push_back(flag.str());
  command.insert(command.end(), flags.begin(), flags.end());
  command.push_back(source);
  if (llvm::sys::fs::exists(object))
    command.push_back(object);
  command.insert(command.end(), {"-o", shared});
  Progress progress("building the C++");
  if (!runCompiler(command, folder.file("log"), diagnostics))
    return nullptr;
  model->library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (model->library)
    model->function = reinterpret_cast<Function>(
        dlsym(model->library, (interface.name + "_run").c_str()));
  if (!model->function) {
    const char *reason = dlerror();
    diagnostics.report(DiagnosticId::Internal,
                       "the generated library cannot be loaded: " +
                           Twine(reason ? printable(reason) : ""));
    return nullptr;
  }
  size_t align = std::max<size_t>(model->arenaAlign, 64);
  model->arena = std::aligned_alloc(
      align, llvm::alignTo(std::max<int64_t>(model->arenaSize, 1), align));
  if (!model->arena) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "there is no memory for an arena of " +
                           Twine(model->arenaSize) + " bytes");
    return nullptr;
  }
  return model;
}

ingot_status HostModel::run(ArrayRef<void *> io, const ingot_context *context) {
  return function(io.data(), arena, context);
}

ingot_status HostModel::run(ArrayRef<const Tensor *> inputs,
                            std::vector<Tensor> &outputs) {
  std::vector<void *> io;
  for (const Tensor *tensor : inputs)
    io.push_back(const_cast<char *>(tensor->bytes.data()));
  outputs.clear();
  outputs.reserve(outTypes.size());
  for (RankedTensorType type : outTypes) {
    Tensor &tensor = outputs.emplace_back();
    tensor.type = type;
    tensor.bytes.resize(type.getNumElements() *
                        elementBytes(type.getElementType()));
    io.push_back(tensor.bytes.data());
  }
  // An empty tensor still has to be somewhere.
  static char nothing;
  for (void *&pointer : io)
    pointer = pointer ? pointer : &nothing;
  return run(io, nullptr);
}

} // namespace ingot
