#include "compiler/run/BuiltModel.h"

#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/custom/CustomOperators.h"
#include "compiler/run/DynamicSizes.h"
#include "compiler/run/EmulatedModel.h"
#include "compiler/run/HostModel.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "targets/ProgramForm.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

StringRef statusText(ingot_status status) {
  switch (status) {
  case INGOT_OK:
    return "no error";
  case INGOT_ERROR_NULL:
    return "a required pointer is null";
  case INGOT_ERROR_ALIGNMENT:
    return "the arena, the weights or a tensor is misaligned";
  case INGOT_ERROR_SPECIALIZED:
    return "an input differs from the value it was bound to when compiling";
  case INGOT_ERROR_WEIGHTS:
    return "the weights file belongs to another model";
  case INGOT_ERROR_TARGET:
    return "this machine supports none of the compiled targets";
  case INGOT_ERROR_SHAPE:
    return "a size is out of bounds or contradicts another one";
  case INGOT_ERROR_DEVICE:
    return "no device was found, or the device failed";
  case INGOT_ERROR_CAPACITY:
    return "the device or the host has too little memory";
  case INGOT_ERROR_PLACE:
    return "a tensor is not in the memory that the call declares for it";
  case INGOT_ERROR_BUSY:
    return "another thread is using the handle";
  }
  return "an unknown error";
}

/// Runs the target's compiler. Returns an error if the compiler is missing or
/// rejects the source.
static llvm::Error runCompiler(const TargetDescription &target,
                               ArrayRef<std::string> arguments) {
  llvm::Expected<std::vector<std::string>> command = findCompiler(target);
  if (!command)
    return command.takeError();
  command->insert(command->end(), {"-std=c++17", "-w"});
  for (StringRef flag : llvm::concat<const StringRef>(
           programForm(target).programFlags, target.compilerFlags))
    command->push_back(flag.str());
  llvm::append_range(*command, arguments);
  return runProgram(*command);
}

bool compileGenerated(const TargetDescription &target,
                      ArrayRef<std::string> arguments,
                      Diagnostics &diagnostics) {
  llvm::Error error = runCompiler(target, arguments);
  if (!error)
    return true;
  reportFault(std::move(error), diagnostics,
              "the generated C++ did not compile");
  return false;
}

bool compileCustom(const CompileOptions &options,
                   const TargetDescription &target, TemporaryFolder &folder,
                   ArrayRef<std::string> flags,
                   std::vector<std::string> &objects,
                   Diagnostics &diagnostics) {
  if (!options.import.custom)
    return true;
  for (const std::string &source : options.import.custom->sources()) {
    if (!llvm::sys::fs::exists(source)) {
      diagnostics.reportFile(DiagnosticId::CannotRead, source,
                             "the source of a custom operator does not exist");
      return false;
    }
    std::string object =
        folder.file("custom" + std::to_string(objects.size()) + ".o");
    std::vector<std::string> arguments(flags);
    arguments.insert(arguments.end(), {"-c", source, "-o", object});
    if (llvm::Error error = runCompiler(target, arguments)) {
      if (error.isA<llvm::StringError>())
        diagnostics.reportFile(DiagnosticId::CustomOperator, source,
                               "does not compile as C++17: " +
                                   printable(toString(std::move(error)), 600));
      else
        reportFault(std::move(error), diagnostics);
      return false;
    }
    objects.push_back(object);
  }
  return true;
}

std::unique_ptr<BuiltModel> BuiltModel::build(Compilation &compilation,
                                              ArrayRef<std::string> flags) {
  if (compilation.options.runsOnThisHost())
    return HostModel::build(compilation, flags);
  return EmulatedModel::build(compilation, flags);
}

BuiltModel::~BuiltModel() = default;

bool BuiltModel::generate(Compilation &compilation, StringRef source) {
  if (!compilation.advance(Stage::Import))
    return false;
  auto main = compilation.module().lookupSymbol<func::FuncOp>("main");
  llvm::append_range(inTypes, inputTypesOf(main));
  llvm::append_range(outTypes, outputTypesOf(main));
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    if (auto value =
            main.getArgAttrOfType<DenseElementsAttr>(i, kernel::kBoundAttr))
      bound.push_back({i, bytesOf(value)});
  if (!compilation.emit(source))
    return false;
  Interface interface(compilation.module(), compilation.codegenOptions(source));
  for (const InterfaceTensor &tensor : interface.tensors)
    (tensor.isOutput ? outputTensors : inputTensors).push_back(tensor);
  sizes = interface.sizes;
  name = interface.name;
  arenaSize = interface.arenaBytes;
  arenaAlign = interface.arenaAlign;
  vtcmSize = interface.vtcmBytes;
  return true;
}

std::vector<Tensor> BuiltModel::makeOutputs(ArrayRef<int64_t> values) const {
  std::vector<Tensor> outputs;
  for (RankedTensorType type : outTypes) {
    Tensor &tensor = outputs.emplace_back();
    tensor.type = typeAt(type, sizes, values);
    tensor.bytes.resize(tensor.type.getNumElements() *
                        elementBytes(type.getElementType()));
  }
  return outputs;
}

} // namespace ingot
