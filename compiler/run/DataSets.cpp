#include "compiler/run/DataSets.h"
#include "compiler/report/ReadJson.h"

#include "compiler/import/TensorData.h"
#include "compiler/run/DynamicSizes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace ingot {

std::string inFolder(StringRef folder, const Twine &name) {
  SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

std::string outputFile(StringRef folder, size_t index) {
  return inFolder(folder, "output_" + Twine(index) + ".pb");
}

std::vector<std::string> dataSetsIn(StringRef folder) {
  std::vector<std::pair<unsigned, std::string>> sets;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    unsigned number;
    if ((name.consume_front("test_data_set_") ||
         name.consume_front("test_data_")) &&
        !name.getAsInteger(10, number))
      sets.emplace_back(number, it->path());
  }
  llvm::sort(sets);
  std::vector<std::string> paths;
  paths.reserve(sets.size());
  for (auto &[number, path] : sets)
    paths.push_back(path);
  if (paths.empty() && (llvm::sys::fs::exists(outputFile(folder, 0)) ||
                        llvm::sys::fs::exists(inFolder(folder, "input_0.pb"))))
    paths.push_back(folder.str());
  return paths;
}

std::optional<Tolerance> readTolerance(StringRef folder,
                                       Diagnostics &diagnostics) {
  Tolerance tolerance;
  std::string path = inFolder(folder, "case.json");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (buffer.getError() == std::errc::no_such_file_or_directory) {
    tolerance.ofRange = 1e-5;
    return tolerance;
  }
  auto invalid = [&](const Twine &reason) {
    diagnostics.reportFile(DiagnosticId::CannotRead, path,
                           "`" + printable(path) + "`: " + reason,
                           "case.json contains an object with the tolerances "
                           "`rtol` and `atol`; without it, defaults apply");
    return std::nullopt;
  };
  if (!buffer)
    return invalid(buffer.getError().message());
  auto json = readJson((*buffer)->getBuffer());
  if (!json)
    return invalid(llvm::toString(json.takeError()));
  const llvm::json::Object *fields = json->getAsObject();
  if (!fields)
    return invalid("it is no object");
  for (auto [name, number] : {std::pair("rtol", &tolerance.relative),
                              std::pair("atol", &tolerance.absolute)})
    if (const llvm::json::Value *value = fields->get(name)) {
      std::optional<double> given = value->getAsNumber();
      if (!given || !(*given >= 0))
        return invalid("`" + Twine(name) + "` is not a number from 0");
      *number = *given;
    }
  return tolerance;
}

/// Some model inputs, such as sequences, are passed as several tensors. Returns
/// the index of the first tensor of each input, followed by the total number of
/// tensors.
static std::vector<size_t> firstOfEach(ArrayRef<GraphInput> inputs) {
  std::vector<size_t> firsts;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (firsts.size() == input.value)
      firsts.push_back(i);
  firsts.push_back(inputs.size());
  return firsts;
}

/// Reads the value of an input from a file, as the tensors that a caller passes
/// for it; false with the reason in `error`.
static bool readInput(const GraphInput &input, StringRef path,
                      MutableArrayRef<std::optional<Tensor>> data,
                      MLIRContext *context, std::string &error) {
  auto parts = readParts(path, *input.type, context, error);
  if (!parts)
    return false;
  for (auto [part, tensor] : llvm::zip_equal(data, *parts))
    part = std::move(tensor);
  return true;
}

bool readValues(Compilation &compilation, StringRef folder,
                std::vector<ModelValue> &values) {
  ModelFile *file = compilation.open();
  if (!file)
    return false;
  MLIRContext *context = &compilation.context();
  std::vector<GraphInput> inputs = fedInputs(file->model(), context);
  values.clear();
  std::vector<size_t> firsts = firstOfEach(inputs);
  for (size_t first : ArrayRef(firsts).drop_back()) {
    const GraphInput &input = inputs[first];
    std::string error;
    auto value =
        readValue(inFolder(folder, "input_" + Twine(values.size()) + ".pb"),
                  emptyValue(*input.type), context, error);
    if (!value) {
      compilation.getDiagnostics().reportFile(
          DiagnosticId::CannotRead,
          inFolder(folder, "input_" + Twine(values.size()) + ".pb"),
          "the input `" + printable(input.valueName) + "`: " + error);
      return false;
    }
    values.push_back(std::move(*value));
  }
  return true;
}

bool readInputFolder(Compilation &compilation, StringRef folder,
                     InputData &data) {
  ModelFile *file = compilation.open();
  if (!file)
    return false;
  MLIRContext *context = &compilation.context();
  std::vector<GraphInput> inputs = fedInputs(file->model(), context);
  data.assign(inputs.size(), std::nullopt);
  std::vector<size_t> firsts = firstOfEach(inputs);
  for (size_t i = 0; i + 1 < firsts.size(); ++i) {
    size_t first = firsts[i], count = firsts[i + 1] - first;
    std::string path = inFolder(folder, "input_" + Twine(i) + ".pb"), error;
    // Skips inputs of unsupported types: the importer reports a better error
    // for them.
    if (!inputs[first].elementType ||
        readInput(inputs[first], path,
                  MutableArrayRef(data).slice(first, count), context, error))
      continue;
    compilation.getDiagnostics().reportFile(
        DiagnosticId::CannotRead, path,
        "the input `" + printable(inputs[first].valueName) + "`: " + error);
    return false;
  }
  return true;
}

bool readGivenFiles(Compilation &compilation,
                    ArrayRef<std::pair<std::string, std::string>> files,
                    InputData &data) {
  ModelFile *file = compilation.open();
  if (!file)
    return false;
  Diagnostics &diagnostics = compilation.getDiagnostics();
  std::vector<GraphInput> inputs =
      fedInputs(file->model(), &compilation.context());
  data.assign(inputs.size(), std::nullopt);
  std::vector<size_t> firsts = firstOfEach(inputs);
  std::vector<std::string> names;
  names.reserve(inputs.size());
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
    // A .pb file contains the whole value of an input, or one of the tensors of
    // this value.
    if (StringRef(path).ends_with(".pb") && name == input->valueName &&
        input->elementType) {
      size_t first = firsts[input->value],
             count = firsts[input->value + 1] - first;
      (void)readInput(*input, path, MutableArrayRef(data).slice(first, count),
                      &compilation.context(), error);
    } else if (StringRef(path).ends_with(".pb"))
      tensor = readTensorProto(path, &compilation.context(), error);
    else if (input->elementType)
      tensor = readNpy(path, input->elementType, error);
    if (!tensor && input->elementType)
      diagnostics.reportFile(DiagnosticId::CannotRead, path,
                             "the input `" + printable(name) + "`: " + error);
  }
  return diagnostics.empty();
}

bool readInputFiles(Compilation &compilation,
                    ArrayRef<std::pair<std::string, std::string>> files,
                    InputData &data) {
  if (!readGivenFiles(compilation, files, data))
    return false;
  Diagnostics &diagnostics = compilation.getDiagnostics();
  std::vector<GraphInput> inputs =
      fedInputs(compilation.open()->model(), &compilation.context());
  for (auto [input, tensor] : llvm::zip(inputs, data))
    if (!tensor && input.elementType)
      diagnostics.report(DiagnosticId::BadOption,
                         "the input `" + printable(input.name) +
                             "` has no data",
                         "add --input " + printable(input.name) + "=FILE.npy");
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
    // Inputs with more elements never become constants; see requireConstant.
    if (tensor->elements() <= 1024 && !tensor->isOfStrings())
      import.data[input.name] = denseFromBytes(tensor->type, tensor->bytes);
  }
}

DataRunner::DataRunner(CompileOptions options, bool dynamic,
                       MLIRContext &context, Diagnostics &diagnostics)
    : options(std::move(options)), dynamic(dynamic), context(context),
      diagnostics(diagnostics) {}

Compilation &DataRunner::fresh() {
  if (!next)
    next = std::make_unique<Compilation>(options, context, diagnostics);
  return *next;
}

/// Reports the sizes and values that were taken from the data, because neither
/// the model nor the command line gives these.
void DataRunner::noteBound() {
  std::vector<std::string> taken;
  std::vector<GraphInput> inputs =
      fedInputs(current->open()->model(), &context);
  for (auto [input, type] : llvm::zip(inputs, model->inputTypes()))
    if (!input.hasShape && options.import.dims.empty())
      taken.push_back("the shape of `" + printable(input.name) + "`, " +
                      describe(type));
  for (const BuiltModel::Bound &bound : model->bound) {
    const std::string &name = inputs[bound.input].name;
    if (!options.import.bind.count(name))
      taken.push_back("the values of `" + printable(name) + "`");
  }
  if (!taken.empty())
    llvm::errs() << "note: taken from the data: " << llvm::join(taken, ", ")
                 << "; --dynamic compiles from the model alone\n";
}

bool DataRunner::fits(const InputData &data) const {
  if (dynamic)
    return model != nullptr;
  if (!model || model->inputTypes().size() != data.size())
    return false;
  for (auto [type, tensor] : llvm::zip(model->inputTypes(), data))
    if (!tensor || !takes(type, tensor->type))
      return false;
  return llvm::all_of(model->bound, [&](const BuiltModel::Bound &bound) {
    return data[bound.input]->bytes == bound.bytes;
  });
}

std::vector<ModelValue> joinOutputs(ArrayRef<InterfaceTensor> tensors,
                                    ArrayRef<Tensor> outputs) {
  std::vector<ModelValue> values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    ModelValue value;
    std::optional<bool> present;
    if (tensors[i].part == kernel::kPresentPart)
      present = outputs[i++].bytes[0] != 0;
    if (tensors[i].part == kernel::kElementsPart) {
      const auto &shape = tensors[i].element;
      value = joinSequence(
          outputs[i], shape ? std::optional(ArrayRef(*shape)) : std::nullopt,
          shape ? nullptr : &outputs[i + 1]);
      i += !shape;
    } else {
      value.tensors.push_back(outputs[i]);
    }
    value.isOptional = present.has_value();
    value.isPresent = present.value_or(true);
    values.push_back(std::move(value));
  }
  return values;
}

void widenRows(ArrayRef<InterfaceTensor> inputs,
               ArrayRef<RankedTensorType> types, InputData &data) {
  for (auto [input, type, tensor] : llvm::zip(inputs, types, data))
    if (input.part == kernel::kElementsPart && tensor &&
        tensor->type.getRank() == 2 &&
        tensor->type.getElementType() == type.getElementType() &&
        tensor->type.getDimSize(1) < type.getDimSize(1))
      tensor = withRowsOf(*tensor, type.getDimSize(1));
}

bool DataRunner::run(InputData data, std::vector<Tensor> &outputs) {
  if (!fits(data)) {
    if (!dynamic)
      bindData(fresh(), data);
    model.reset();
    current = std::move(next);
    model = BuiltModel::build(*current, {"-O1"});
    if (!model)
      return false;
    if (reportsTaken)
      noteBound();
  }
  widenRows(model->inputs(), model->inputTypes(), data);
  SmallVector<const Tensor *> inputs;
  for (auto [i, type] : llvm::enumerate(model->inputTypes())) {
    if (!data[i] || !takes(type, data[i]->type)) {
      diagnostics.report(DiagnosticId::InputMismatch,
                         "the data for the input `" +
                             printable(model->inputs()[i].onnxName) + "` is " +
                             (data[i] ? describe(data[i]->type) : "missing") +
                             ", but the model takes " + describe(type));
      return false;
    }
    inputs.push_back(&*data[i]);
  }
  for (const BuiltModel::Bound &bound : model->bound)
    if (data[bound.input]->bytes != bound.bytes) {
      diagnostics.report(DiagnosticId::InputMismatch,
                         "the data for the input `" +
                             printable(model->inputs()[bound.input].onnxName) +
                             "` differs from the value of --bind");
      return false;
    }
  return model->run(inputs, outputs, diagnostics);
}

void fillWithNumbers(Tensor &tensor, uint64_t seed) {
  Type element = tensor.type.getElementType();
  unsigned size = elementBytes(element);
  tensor.bytes.resize(tensor.elements() * size);
  uint64_t state = seed * 0x9e3779b97f4a7c15 + 1;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    double unit = double(state >> 40) / double(1 << 24);
    uint64_t bits = unit < 0.5;
    if (tensor.isOfStrings())
      bits = reinterpret_cast<uintptr_t>(intern(std::to_string(state % 100)));
    if (auto floating = dyn_cast<FloatType>(element)) {
      llvm::APFloat value(unit);
      bool losesInfo;
      value.convert(floating.getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      bits = value.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(tensor.bytes.data() + i * size, &bits, size);
  }
}

} // namespace ingot
