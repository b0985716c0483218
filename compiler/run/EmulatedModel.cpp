#include "compiler/run/EmulatedModel.h"

#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/report/Progress.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace ingot {

/// The time limit of a run in seconds. A program that crashes on an emulated
/// board may otherwise keep the emulator running forever.
constexpr unsigned mostSeconds = 3600;

std::unique_ptr<EmulatedModel>
EmulatedModel::build(Compilation &compilation, ArrayRef<std::string> flags) {
  Diagnostics &diagnostics = compilation.getDiagnostics();
  const TargetDescription &target = *compilation.options.target;
  if (installedCommand(target.emulator).empty()) {
    StringRef emulator = target.emulator.split(' ').first;
    diagnostics.report(DiagnosticId::RunFailed,
                       "cannot run " + target.name + " code on this host",
                       emulator.empty()
                           ? "`ingot targets` lists the targets "
                             "that run here"
                           : "install the emulator " + Twine(emulator));
    return nullptr;
  }
  auto scratch = TemporaryFolder::create();
  if (!scratch) {
    reportFault(scratch.takeError(), diagnostics);
    return nullptr;
  }
  std::unique_ptr<EmulatedModel> model(
      new EmulatedModel(target, std::move(*scratch)));
  TemporaryFolder &folder = model->folder;
  std::string source = folder.file("model.cpp"),
              weights = folder.file("model.weights.o");
  if (!model->generate(compilation, source))
    return nullptr;
  if (compilation.usesStrings()) {
    diagnostics.report(DiagnosticId::RunFailed,
                       "models with strings cannot run in an emulator",
                       "use a target that this host runs");
    return nullptr;
  }
  if (!model->sizes.empty()) {
    diagnostics.report(
        DiagnosticId::RunFailed,
        "models with dynamic dimensions cannot run in an emulator",
        "fix the sizes with --dim, or use a target that this host runs");
    return nullptr;
  }
  auto bytes = [](ArrayRef<RankedTensorType> types) {
    SmallVector<int64_t> sizes;
    for (RankedTensorType type : types)
      sizes.push_back(type.getNumElements() *
                      elementBytes(type.getElementType()));
    return sizes;
  };
  model->program.add({model->name, model->arenaSize, model->arenaAlign,
                      bytes(model->inTypes), bytes(model->outTypes),
                      /*sizes=*/{}, model->vtcmSize});
  std::vector<std::string> objects;
  if (llvm::sys::fs::exists(weights))
    objects.push_back(weights);
  Progress progress("building the C++");
  std::vector<std::string> customFlags(flags);
  // The sources of custom operators use qualifiers of device code, such as
  // __device__, which the header of the emulation defines.
  if (!target.emulation.headerName.empty() &&
      compilation.options.import.custom) {
    std::string header = folder.file(target.emulation.headerName);
    if (llvm::Error error =
            llvm::writeToOutput(header, [&](llvm::raw_ostream &os) {
              os << target.emulation.headerText;
              return llvm::Error::success();
            })) {
      reportFault(std::move(error), diagnostics);
      return nullptr;
    }
    customFlags.insert(customFlags.end(), {"-include", header});
  }
  if (!compileCustom(compilation.options, asEmulated(target), folder,
                     customFlags, objects, diagnostics))
    return nullptr;
  if (!model->program.build(source, {folder.file("model.h")}, flags, objects,
                            diagnostics))
    return nullptr;
  return model;
}

bool EmulatedModel::run(ArrayRef<const Tensor *> inputs,
                        std::vector<Tensor> &outputs,
                        Diagnostics &diagnostics) {
  EmulatedProgram::Call call;
  for (const Tensor *tensor : inputs)
    call.inputs.push_back(tensor->bytes);
  auto fail = [&](const Twine &what) {
    diagnostics.report(DiagnosticId::Internal, what);
    return false;
  };
  llvm::Error error = llvm::Error::success();
  auto results = program.run(call, mostSeconds, error);
  if (results.empty()) {
    if (!error)
      return fail("the emulated program wrote no result");
    reportFault(std::move(error), diagnostics, "the emulated program failed");
    return false;
  }
  llvm::consumeError(std::move(error));
  EmulatedProgram::Result &result = results.front();
  std::string failed =
      "the compiled model failed: " + statusText(result.status).str();
  if (result.status == INGOT_ERROR_SHAPE) {
    diagnostics.report(DiagnosticId::InputMismatch, failed);
    return false;
  }
  if (result.status != INGOT_OK)
    return fail(failed);
  if (result.overflow || result.inputWritten)
    return fail(result.overflow
                    ? "the compiled model wrote outside of its buffers"
                    : "the compiled model wrote to an input");
  outputs = makeOutputs();
  for (auto [tensor, bytes] : llvm::zip(outputs, result.outputs))
    tensor.bytes = std::move(bytes);
  return true;
}

} // namespace ingot
