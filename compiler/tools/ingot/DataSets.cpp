//===- DataSets.cpp -------------------------------------------------------===//

#include "compiler/tools/ingot/DataSets.h"

#include "compiler/import/TensorData.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

bool readInputFolder(Compilation &compilation, StringRef folder,
                     InputData &data) {
  ModelFile *file = compilation.open();
  if (!file)
    return false;
  std::vector<GraphInput> inputs =
      fedInputs(file->model(), &compilation.context());
  data.assign(inputs.size(), std::nullopt);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    SmallString<256> path(folder);
    llvm::sys::path::append(path, "input_" + Twine(i) + ".pb");
    std::string error;
    // What is no tensor the importer refuses, with a better reason.
    if (input.elementType)
      data[i] = readTensorProto(path, &compilation.context(), error);
    if (!input.elementType || data[i])
      continue;
    compilation.getDiagnostics().report(DiagnosticId::CannotRead,
                                        "the input `" + printable(input.name) +
                                            "`: " + error);
    return false;
  }
  return true;
}

bool readInputFiles(Compilation &compilation,
                    ArrayRef<std::pair<std::string, std::string>> files,
                    InputData &data) {
  ModelFile *file = compilation.open();
  if (!file)
    return false;
  Diagnostics &diagnostics = compilation.getDiagnostics();
  std::vector<GraphInput> inputs =
      fedInputs(file->model(), &compilation.context());
  data.assign(inputs.size(), std::nullopt);
  std::vector<std::string> names;
  for (const GraphInput &input : inputs)
    names.push_back("`" + printable(input.name) + "`");
  for (const auto &[name, path] : files) {
    auto input = llvm::find_if(
        inputs, [&, &name = name](auto &input) { return input.name == name; });
    std::string error;
    if (input == inputs.end()) {
      diagnostics.report(DiagnosticId::BadOption,
                         "the model has no input `" + printable(name) + "`",
                         "inputs: " + llvm::join(names, ", "));
      continue;
    }
    std::optional<Tensor> &tensor = data[input - inputs.begin()];
    if (StringRef(path).ends_with(".pb"))
      tensor = readTensorProto(path, &compilation.context(), error);
    else if (input->elementType)
      tensor = readNpy(path, input->elementType, error);
    if (!tensor && input->elementType)
      diagnostics.report(DiagnosticId::CannotRead,
                         "the input `" + printable(name) + "`: " + error);
  }
  if (!diagnostics.empty())
    return false;
  for (auto [input, tensor, name] : llvm::zip(inputs, data, names))
    if (!tensor && input.elementType)
      diagnostics.report(DiagnosticId::BadOption,
                         "no data is given for the input " + name,
                         "--input " + printable(input.name) + "=FILE.npy");
  return diagnostics.empty();
}

void bindData(Compilation &compilation, const InputData &data) {
  ImportOptions &import = compilation.options.import;
  std::vector<GraphInput> inputs =
      fedInputs(compilation.open()->model(), &compilation.context());
  for (auto [input, tensor] : llvm::zip(inputs, data)) {
    if (!tensor)
      continue;
    import.shapes[input.name] = tensor->type.getShape().vec();
    // Larger data is never bound; see requireConstant.
    if (tensor->elements() <= 1024)
      import.data[input.name] = denseFromBytes(tensor->type, tensor->bytes);
  }
}

DataRunner::DataRunner(CompileOptions options, MLIRContext &context,
                       Diagnostics &diagnostics)
    : options(std::move(options)), context(context), diagnostics(diagnostics) {}

Compilation &DataRunner::fresh() {
  if (!next)
    next = std::make_unique<Compilation>(options, context, diagnostics);
  return *next;
}

bool DataRunner::fits(const InputData &data) const {
  if (!model || model->inputTypes().size() != data.size())
    return false;
  for (auto [type, tensor] : llvm::zip(model->inputTypes(), data))
    if (!tensor || tensor->type != type)
      return false;
  return llvm::all_of(model->bound, [&](const BuiltModel::Bound &bound) {
    return data[bound.input]->bytes == bound.bytes;
  });
}

bool DataRunner::run(const InputData &data, std::vector<Tensor> &outputs) {
  if (!fits(data)) {
    bindData(fresh(), data);
    model.reset();
    current = std::move(next);
    model = BuiltModel::build(*current, {"-O1"});
  }
  if (!model)
    return false;
  SmallVector<const Tensor *> inputs;
  for (auto [i, type] : llvm::enumerate(model->inputTypes())) {
    if (!data[i] || data[i]->type != type) {
      diagnostics.report(DiagnosticId::InputMismatch,
                         "the data for the input `" +
                             printable(model->inputs()[i].onnxName) + "` is " +
                             (data[i] ? describe(data[i]->type) : "missing") +
                             ", but the model takes " + describe(type));
      return false;
    }
    inputs.push_back(&*data[i]);
  }
  return model->run(inputs, outputs, diagnostics);
}

} // namespace ingot
