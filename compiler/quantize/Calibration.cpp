#include "compiler/quantize/Calibration.h"

#include "compiler/import/TensorData.h"
#include "compiler/quantize/NpzFile.h"
#include "compiler/report/Suggest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;

namespace ingot::quantize {

struct Calibration::Reading {
  StringRef path;
  MLIRContext &context;
  Diagnostics &diagnostics;

  bool fail(const Twine &message, const Twine &hint = "") {
    diagnostics.reportFile(DiagnosticId::Calibration, path, message, hint);
    return false;
  }
};

static std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

static std::string sizesText(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ",") +
            (size < 0 ? std::string("?") : std::to_string(size));
  return "[" + text + "]";
}

/// Returns the shape of an array with N samples along its first axis, such as
/// "[N,1,28,28]".
static std::string stackedText(ArrayRef<int64_t> shape) {
  std::string text = "[N";
  for (int64_t size : shape.drop_front(std::min<size_t>(1, shape.size())))
    text += "," + (size < 0 ? std::string("?") : std::to_string(size));
  return text + "]";
}

/// Whether the shapes `wanted` (of a model's input) and `got` (of data) have
/// equal sizes from axis `first` on; a negative size in `wanted` matches any
/// size.
static bool fitsFrom(size_t first, ArrayRef<int64_t> wanted,
                     ArrayRef<int64_t> got) {
  if (wanted.size() != got.size())
    return false;
  for (size_t d = first; d < got.size(); ++d)
    if (wanted[d] >= 0 && wanted[d] != got[d])
      return false;
  return true;
}

bool Calibration::cut(std::vector<std::optional<Tensor>> &arrays,
                      Reading &reading) {
  std::vector<int64_t> counts;
  int64_t count = 1;
  for (auto [input, array] : llvm::zip(inputs, arrays)) {
    ArrayRef<int64_t> shape = array->type.getShape();
    int64_t batch =
        input.shape.empty() || input.shape[0] < 0 ? 1 : input.shape[0];
    if (batch == 0)
      return reading.fail("the input `" + printable(input.name) +
                              "` cannot take samples: its shape is " +
                              sizesText(input.shape),
                          "--calibrate none quantizes without data");
    bool fits = !input.hasRank ||
                (fitsFrom(1, input.shape, shape) && !shape.empty()) ||
                (shape.empty() && input.shape.empty());
    if (fits && !shape.empty() && shape[0] == 0)
      return reading.fail("the data of `" + printable(input.name) +
                              "` contains no samples: its shape is " +
                              sizesText(shape),
                          "--calibrate none quantizes without data");
    if (!fits || (!shape.empty() && shape[0] % batch != 0))
      return reading.fail(
          "array `" + printable(input.name) + "` has shape " +
              sizesText(shape) + "; expected " + stackedText(input.shape),
          "stack the samples along axis 0" +
              (batch > 1 ? ", " + Twine(batch) + " for each call" : Twine()));
    counts.push_back(shape.empty() ? 1 : shape[0] / batch);
    count = std::max(count, counts.back());
  }
  for (auto [input, own] : llvm::zip(inputs, counts))
    if (own != 1 && own != count)
      return reading.fail("the data of `" + printable(input.name) + "` has " +
                          Twine(own) + " samples, but that of another input " +
                          Twine(count));
  samples.assign(count, {});
  for (auto [input, array, own] : llvm::zip(inputs, arrays, counts)) {
    Shape shape(array->type.getShape());
    if (!shape.empty())
      shape[0] /= own;
    auto type = RankedTensorType::get(shape, array->type.getElementType());
    size_t bytes = array->bytes.size() / own;
    for (int64_t i = 0; i < count; ++i) {
      const char *from = array->bytes.data() + (own == 1 ? 0 : i * bytes);
      samples[i].push_back({type, std::vector<char>(from, from + bytes)});
    }
    array.reset();
  }
  return true;
}

bool Calibration::readSets(ArrayRef<std::string> folders, Reading &reading) {
  for (const std::string &folder : folders) {
    Sample &sample = samples.emplace_back();
    for (auto [i, input] : llvm::enumerate(inputs)) {
      std::string error, path = inFolder(folder, "input_" + Twine(i) + ".pb");
      auto tensor = readTensorProto(path, &reading.context, error);
      if (!tensor)
        return reading.fail("the input `" + printable(input.name) +
                            "`: " + error);
      if (tensor->type.getElementType() != input.elementType ||
          (input.hasRank && !fitsFrom(0, input.shape, tensor->type.getShape())))
        return reading.fail(
            "`" + printable(path) + "` is " + describe(tensor->type) +
            ", but the input `" + printable(input.name) + "` takes " +
            describe(input.elementType) + sizesText(input.shape));
      sample.push_back(std::move(*tensor));
      if (sample[i].type != samples[0][i].type)
        return reading.fail(
            "the samples of `" + printable(input.name) +
                "` have different shapes: " + describe(samples[0][i].type) +
                " and " + describe(sample[i].type),
            "use samples of one shape");
    }
  }
  return true;
}

bool Calibration::check(Reading &reading) {
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (!isa<FloatType>(input.elementType))
      continue;
    double first = samples[0][i].elements() ? samples[0][i].number(0) : 0;
    bool isConstant = true;
    int64_t elements = 0;
    for (auto [s, sample] : llvm::enumerate(samples))
      for (int64_t e = 0; e < sample[i].elements(); ++e, ++elements) {
        double value = sample[i].number(e);
        if (!std::isfinite(value))
          return reading.fail(
              "the data of `" + printable(input.name) + "` has " +
                  (std::isnan(value) ? "NaN" : "an infinite number") +
                  " in sample " + Twine(s) + ", at element " + Twine(e),
              "quantization ranges come from this data; remove such samples");
        isConstant &= value == first;
      }
    if (isConstant && elements > 1)
      return reading.fail(
          "the data of `" + printable(input.name) + "` is " +
              numberText(first) + " everywhere",
          "use samples of real data; --calibrate none quantizes without data");
  }
  return true;
}

bool Calibration::read(StringRef path, const Graph &graph,
                       Diagnostics &diagnostics) {
  Reading reading{path, graph.context(), diagnostics};
  std::vector<std::string> names;
  for (const GraphInput &fed : fedInputs(graph.model(), &graph.context())) {
    Input &input = inputs.emplace_back();
    input.name = fed.name;
    input.elementType = fed.elementType;
    names.push_back("`" + printable(fed.name) + "`");
    if (!fed.elementType)
      return reading.fail("the input " + names.back() +
                          " is not a numeric tensor");
    for (const auto &given : graph.proto().input())
      if (given.name() == fed.name && given.type().tensor_type().has_shape()) {
        input.hasRank = true;
        for (const auto &dim : given.type().tensor_type().shape().dim())
          input.shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
      }
  }
  std::string shown = "`" + printable(path) + "`", error;
  std::vector<std::optional<Tensor>> arrays(inputs.size());
  auto take = [&](StringRef name, auto &&read) {
    for (auto [input, array] : llvm::zip(inputs, arrays))
      if (input.name == name) {
        array = read(input.elementType);
        return array ? true
                     : reading.fail("the data of `" + printable(name) +
                                    "`: " + error);
      }
    return reading.fail(shown + " contains an array `" + printable(name) +
                            "`, but the model has no such input",
                        "inputs: " + llvm::join(names, ", "));
  };
  if (!llvm::sys::fs::exists(path))
    return reading.fail(shown + " does not exist",
                        "--calibrate takes a folder, an .npz or .npy file, or "
                        "none");
  if (llvm::sys::fs::is_directory(path)) {
    std::vector<std::string> sets = dataSetsIn(path);
    if (!sets.empty())
      return readSets(sets, reading) && check(reading);
    std::vector<std::string> files;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(path, code), end;
         it != end && !code; it.increment(code))
      if (llvm::sys::path::extension(it->path()) == ".npy")
        files.push_back(it->path());
    llvm::sort(files);
    for (const std::string &file : files)
      if (!take(llvm::sys::path::stem(file),
                [&](Type type) { return readNpy(file, type, error); }))
        return false;
    if (files.empty())
      return reading.fail("the folder " + shown +
                              " has neither test_data_set_* folders nor .npy "
                              "files",
                          "see `ingot quantize --help`");
  } else if (StringRef(path).ends_with(".npz")) {
    auto entries = readNpz(path, error);
    if (!entries)
      return reading.fail(error);
    for (NpzEntry &entry : *entries) {
      if (!take(entry.name, [&](Type type) {
            return parseNpy(entry.bytes, "it", type, error);
          }))
        return false;
      entry.bytes = std::string();
    }
  } else if (StringRef(path).ends_with(".npy")) {
    if (inputs.size() != 1)
      return reading.fail("the model has " + Twine(inputs.size()) +
                              " inputs, but an .npy file is data for one",
                          "use an .npz file with an array for each of " +
                              llvm::join(names, ", "));
    if (!take(inputs[0].name,
              [&](Type type) { return readNpy(path, type, error); }))
      return false;
  } else {
    return reading.fail(shown + " is not a folder, an .npz or an .npy file",
                        "--calibrate takes a folder, an .npz or .npy file, or "
                        "none");
  }
  for (auto [input, array, name] : llvm::zip(inputs, arrays, names))
    if (!array)
      return reading.fail(shown + " contains no data for the input " + name,
                          "inputs: " + llvm::join(names, ", "));
  return cut(arrays, reading) && check(reading);
}

void Calibration::park(std::shared_ptr<Scratch> given) {
  constexpr size_t worthParking = 16 << 20;
  size_t bytes = 0;
  for (const Sample &sample : samples)
    for (const Tensor &tensor : sample)
      bytes += tensor.bytes.size();
  if (bytes < worthParking)
    return;
  scratch = std::move(given);
  for (Sample &sample : samples)
    for (auto [i, tensor] : llvm::enumerate(sample)) {
      uint64_t offset = scratch->append(tensor.bytes);
      if (i == 0)
        offsets.push_back(offset);
      tensor.bytes = std::vector<char>();
    }
}

const Sample &Calibration::operator[](size_t index) const {
  if (!scratch)
    return samples[index];
  current = samples[index];
  uint64_t offset = offsets[index];
  for (auto [tensor, input] : llvm::zip(current, inputs)) {
    tensor.bytes.resize(tensor.elements() * elementBytes(input.elementType));
    scratch->read(offset, tensor.bytes);
    offset = Scratch::behind(offset, tensor.bytes.size());
  }
  return current;
}

bool Calibration::readLabels(StringRef path, MLIRContext &context,
                             Diagnostics &diagnostics) {
  Reading reading{path, context, diagnostics};
  std::string error;
  std::optional<Tensor> labels;
  // Tries one type of integers after the other; the error message is the one
  // for the last type.
  for (unsigned bits : {8, 16, 32, 64}) {
    for (auto sign : {IntegerType::Unsigned, IntegerType::Signed})
      if (!labels)
        labels = readNpy(path, IntegerType::get(&context, bits, sign), error);
  }
  if (!labels)
    return reading.fail("the labels: " + error,
                        "labels are an .npy file of integers");
  if (labels->elements() != int64_t(samples.size()))
    return reading.fail("there are " + Twine(labels->elements()) +
                        " labels for " + Twine(samples.size()) + " samples");
  for (int64_t i = 0; i < labels->elements(); ++i)
    classes.push_back(int64_t(labels->number(i)));
  return true;
}

} // namespace ingot::quantize
