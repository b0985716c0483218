#include "compiler/verify/Reference.h"

#include "codegen/objects/TemporaryFolder.h"
#include "codegen/objects/Toolchain.h"
#include "compiler/Faults.h"
#include "compiler/import/TensorData.h"
#include "compiler/report/Progress.h"
#include "compiler/run/NodeReference.h"
#include "mlir/IR/Diagnostics.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace ingot::verify {

CompileOptions withOutputs(const CompileOptions &compile,
                           ArrayRef<std::string> others) {
  CompileOptions options = compile;
  if (others.empty())
    return options;
  auto make = compile.makeModel;
  options.makeModel = [make, path = compile.model,
                       names = others.vec()]() -> std::unique_ptr<ModelFile> {
    Diagnostics ignored;
    auto file = make ? make() : ModelFile::open(path, ignored);
    if (file)
      for (const std::string &name : names)
        file->model().mutable_graph()->add_output()->set_name(name);
    return file;
  };
  return options;
}

static bool writeText(StringRef path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error)
    os << text;
  return !error;
}

static std::string textOf(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().trim().str() : "";
}

/// Reads the values NAME_0.pb, NAME_1.pb, and so on; nothing for a value whose
/// file is missing or unreadable. `kinds` tells which of the values are
/// sequences; values after the end of `kinds` are tensors.
static std::vector<std::optional<ModelValue>>
readAll(const TemporaryFolder &folder, StringRef name, size_t count,
        ArrayRef<ModelValue> kinds, MLIRContext &context) {
  std::vector<std::optional<ModelValue>> values(count);
  for (size_t i = 0; i < count; ++i) {
    std::string path = folder.file((name + "_" + Twine(i) + ".pb").str()),
                error;
    if (llvm::sys::fs::exists(path))
      values[i] = readValue(path, i < kinds.size() ? kinds[i] : ModelValue(),
                            &context, error);
  }
  return values;
}

/// Evaluates the imported model by the definitions of its operators. Returns
/// nullopt, with diagnostics or the reason in `reason`, if that is impossible.
static std::optional<Expected>
evaluateDefinitions(const CompileOptions &compile, const InputData &data,
                    MLIRContext &context, Diagnostics &diagnostics,
                    std::string &reason) {
  Compilation compilation(compile, context, diagnostics);
  if (!compilation.open())
    return std::nullopt;
  bindData(compilation, data);
  if (!compilation.advance(Stage::Import))
    return std::nullopt;
  SmallVector<const Tensor *> inputs;
  for (const std::optional<Tensor> &tensor : data)
    inputs.push_back(&*tensor);
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &fault) {
    if (reason.empty())
      reason = fault.str();
    return success();
  });
  Progress progress("evaluating the definitions");
  std::optional<NodeReference> reference;
  bool isFixed = !compilation.usesStrings();
  compilation.module().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        isFixed &= tensor.hasStaticShape() && !tensor.getEncoding();
  });
  if (isFixed)
    reference = NodeReference::evaluate(compilation.module(), inputs);
  else
    reason = "the model has strings or sizes that depend on data";
  if (reference && !reference->isComplete()) {
    reason = "an output depends on an if or loop";
    reference.reset();
  }
  if (!reference)
    return std::nullopt;
  Expected expected;
  expected.engine = "the definitions of the operators, evaluated by Ingot";
  for (const Tensor &tensor : reference->outputs())
    expected.values.push_back(ModelValue{false, false, true, {tensor}});
  return expected;
}

std::optional<Expected>
computeExpected(const CompileOptions &compile, const InputData &data,
                ArrayRef<std::string> others, const ReferenceOptions &options,
                MLIRContext &context, Diagnostics &diagnostics) {
  std::string reasons;
  Compilation reader(compile, context, diagnostics);
  ModelFile *file = reader.open();
  if (!file)
    return std::nullopt;
  auto folder = TemporaryFolder::create();
  if (!folder) {
    reportFault(folder.takeError(), diagnostics);
    return std::nullopt;
  }
  std::vector<std::string> command;
  if (options.engine != Engine::Definition) {
    for (StringRef name : {"python3", "python"})
      if (command.empty())
        command =
            installedCommand(options.python.empty() ? name : options.python);
    if (command.empty())
      reasons = "there is no Python";
  }
  if (!command.empty()) {
    std::string error;
    std::vector<GraphInput> inputs = fedInputs(file->model(), &context);
    for (auto [i, input] : llvm::enumerate(inputs))
      if (!writeTensorProto(folder->file("input_" + std::to_string(i) + ".pb"),
                            input.name, *data[i], error)) {
        diagnostics.report(DiagnosticId::CannotWrite, error);
        return std::nullopt;
      }
    std::string extra;
    for (const std::string &name : others)
      extra += name + "\n";
    std::string script = folder->file("reference.py"), model = compile.model;
    writeText(script, kReferenceScript);
    writeText(folder->file("extra.txt"), extra);
    if (options.move > 0)
      writeText(folder->file("move.txt"), std::to_string(options.move));
    command.insert(command.end(), {script, model, folder->path().str()});
    if (options.engine != Engine::Onnx)
      command.push_back("onnxruntime");
    if (options.engine != Engine::OnnxRuntime)
      command.push_back("onnx");
    Progress progress("running the reference");
    std::string fault;
    if (llvm::Error failure = runProgram(command))
      fault = llvm::toString(std::move(failure));
    std::string engine = textOf(folder->file("reference.txt"));
    reasons = textOf(folder->file("reasons.txt"));
    if (engine.empty() && reasons.empty())
      reasons = printable(fault, 300);
    if (!engine.empty()) {
      std::vector<ModelValue> kinds;
      for (const auto &output : file->model().graph().output())
        kinds.push_back(emptyValue(output.type()));
      size_t count = kinds.size() + others.size();
      return Expected{engine, reasons,
                      readAll(*folder, "output", count, kinds, context),
                      readAll(*folder, "moved", count, kinds, context)};
    }
  }
  if (options.engine == Engine::Any || options.engine == Engine::Definition) {
    std::string reason;
    size_t before = diagnostics.size();
    if (auto expected = evaluateDefinitions(withOutputs(compile, others), data,
                                            context, diagnostics, reason)) {
      expected->passedOver = reasons;
      return expected;
    }
    if (diagnostics.size() != before)
      return std::nullopt;
    reasons += (reasons.empty() ? "" : "; ") + reason;
  }
  diagnostics.report(
      DiagnosticId::MissingProgram,
      "nothing can compute the expected outputs: " + printable(reasons, 600),
      "install onnxruntime in the Python that is found (`python3`, or the "
      "one of --python), or compare with stored outputs by `ingot test`");
  return std::nullopt;
}

} // namespace ingot::verify
