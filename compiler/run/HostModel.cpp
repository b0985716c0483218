#include "compiler/run/HostModel.h"

#include "codegen/objects/TemporaryFolder.h"
#include "compiler/Faults.h"
#include "compiler/report/Progress.h"
#include "compiler/run/DynamicSizes.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;

namespace ingot {

HostModel::HostModel() = default;

HostModel::~HostModel() {
  if (library)
    dlclose(library);
  std::free(arena);
}

std::unique_ptr<HostModel> HostModel::build(Compilation &compilation,
                                            ArrayRef<std::string> flags) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  const TargetDescription &target = *compilation.options.target;
  if (!compilation.options.runsOnThisHost()) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "cannot time " + target.name +
                           " code on this host (emulated time is meaningless)",
                       "use `ingot inspect --target " + target.name +
                           "` for MACs and sizes");
    return nullptr;
  }
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return nullptr;
  }
  std::string source = folder->file("model.cpp"),
              object = folder->file("model.weights.o"),
              shared = folder->file("model.so");
  std::unique_ptr<HostModel> model(new HostModel);
  if (!model->generate(compilation, source))
    return nullptr;
  std::vector<std::string> arguments{"-shared", "-fPIC"};
  llvm::append_range(arguments, flags);
  arguments.push_back(source);
  if (llvm::sys::fs::exists(object))
    arguments.push_back(object);
  Progress progress("building the C++");
  std::vector<std::string> custom, customFlags(flags);
  customFlags.push_back("-fPIC");
  if (!compileCustom(compilation.options, target, *folder, customFlags, custom,
                     diagnostics))
    return nullptr;
  llvm::append_range(arguments, custom);
  arguments.insert(arguments.end(), {"-o", shared});
  if (!compileGenerated(target, arguments, diagnostics))
    return nullptr;
  model->library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (model->library)
    model->function = reinterpret_cast<Function>(
        dlsym(model->library, (model->name + "_run").c_str()));
  if (!model->function) {
    const char *error = dlerror();
    StringRef reason = error ? error : "";
    // A segment cannot be mapped if the file system forbids execution or if
    // memory is exhausted. Both are faults of the machine.
    bool isMachine = reason.contains("failed to map segment");
    if (auto [before, missing] = reason.split("undefined symbol: ");
        !missing.empty() && compilation.options.import.custom) {
      diagnostics.report(DiagnosticId::CustomOperator,
                         "no source defines the function `" +
                             printable(missing) + "` of a custom operator",
                         "name the file that defines it with `source:`, and "
                         "declare it as extern \"C\" there");
      return nullptr;
    }
    diagnostics.report(
        isMachine ? DiagnosticId::MachineFault : DiagnosticId::Internal,
        "the generated library cannot be loaded: " + Twine(printable(reason)));
    return nullptr;
  }
  size_t align = std::max<size_t>(model->arenaAlign, 64);
  model->arena = std::aligned_alloc(
      align, llvm::alignTo(std::max<int64_t>(model->arenaSize, 1), align));
  if (!model->arena) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "not enough memory for an arena of " +
                           Twine(model->arenaSize) + " bytes");
    return nullptr;
  }
  return model;
}

ingot_status HostModel::run(ArrayRef<void *> io, const ingot_context *context) {
  return function(static_cast<const void *>(io.data()), arena, context);
}

bool HostModel::run(ArrayRef<const Tensor *> inputs,
                    std::vector<Tensor> &outputs, Diagnostics &diagnostics) {
  std::string why;
  std::optional<std::vector<int64_t>> values = valuesOf(
      sizes, inTypes,
      llvm::map_to_vector(inputs, [](const Tensor *t) { return t->type; }),
      why);
  if (!values) {
    diagnostics.report(DiagnosticId::InputMismatch, printable(why));
    return false;
  }
  // The io struct: sizes, which are as wide as pointers, then the tensors.
  std::vector<void *> io = fieldsOf(sizes, *values);
  // An empty tensor also needs a valid pointer.
  static char nothing;
  auto add = [&](const char *bytes) {
    io.push_back(bytes ? const_cast<char *>(bytes) : &nothing);
  };
  for (const Tensor *tensor : inputs)
    add(tensor->bytes.data());
  outputs = makeOutputs(*values);
  for (Tensor &tensor : outputs)
    add(tensor.bytes.data());
  ingot_status status = run(io, nullptr);
  // Input sizes have been checked before. So if a data-dependent size exceeds
  // its bound, or two sizes do not broadcast, the data is at fault.
  if (status != INGOT_OK)
    diagnostics.report(status == INGOT_ERROR_SHAPE ? DiagnosticId::InputMismatch
                                                   : DiagnosticId::Internal,
                       "the compiled model failed: " + statusText(status));
  // Outputs were allocated for the largest data-dependent sizes, so they are
  // cut to the actual sizes.
  for (auto [tensor, made] : llvm::zip(outputs, makeOutputs(*values))) {
    tensor.type = made.type;
    tensor.bytes.resize(made.bytes.size());
    if (status == INGOT_OK)
      tensor.internStrings();
  }
  return status == INGOT_OK;
}

} // namespace ingot
