#include "compiler/verify/RandomInputs.h"

#include "compiler/import/TensorData.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace ingot::verify {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// A dimension without a size in the model.
struct OpenDimension {
  std::string key;
  /// The axis of the input at which the dimension first occurs, and the rank of
  /// that input.
  int64_t axis, rank;
};
} // namespace

static std::string keyOf(const onnx::TensorShapeProto_Dimension &dim,
                         const std::string &input, int64_t axis) {
  return dim.dim_param().empty() ? input + ":" + std::to_string(axis)
                                 : dim.dim_param();
}

/// Whether a symbol is a sum such as "past + 1".
static bool isFormula(StringRef symbol) {
  return symbol.find_first_of(" +-*()/") != StringRef::npos &&
         symbol.contains_insensitive("+");
}

/// Returns the value of a sum of symbols and numbers; nothing if it has other
/// operators or unknown symbols.
static std::optional<int64_t> sumOf(StringRef formula, const Sizes &sizes) {
  int64_t sum = 0;
  SmallVector<StringRef> terms;
  formula.split(terms, '+');
  for (StringRef term : terms) {
    term = term.trim();
    int64_t number;
    auto known = sizes.find(term.str());
    if (!term.getAsInteger(10, number))
      sum += number;
    else if (known != sizes.end())
      sum += known->second;
    else
      return std::nullopt;
  }
  return sum;
}

static const onnx::TypeProto_Tensor *tensorType(const GraphInput &input) {
  return input.type && input.type->has_tensor_type()
             ? &input.type->tensor_type()
             : nullptr;
}

std::vector<Sizes> sizesToRun(const onnx::ModelProto &model,
                              const ImportOptions &import,
                              const InputData &given, MLIRContext &context) {
  std::vector<OpenDimension> open;
  llvm::StringSet<> seen;
  // The sizes that are known from given data.
  Sizes fixed;
  bool hasRange = false;
  for (auto [input, data] : llvm::zip(fedInputs(model, &context), given)) {
    const onnx::TypeProto_Tensor *type = tensorType(input);
    if (!type || !type->has_shape())
      continue;
    for (auto [axis, dim] : llvm::enumerate(type->shape().dim())) {
      if (dim.has_dim_value())
        continue;
      std::string key = keyOf(dim, input.name, axis);
      if (data && data->type.getRank() == type->shape().dim_size())
        fixed[key] = data->type.getDimSize(axis);
      if (seen.insert(key).second && !isFormula(key))
        open.push_back({key, int64_t(axis), type->shape().dim_size()});
    }
  }
  // Up to three sets of sizes: one with small sizes, one with larger sizes and,
  // if --dim gives ranges, one with sizes in between.
  std::vector<Sizes> sets(3, fixed);
  bool isOpen = false;
  for (const OpenDimension &dim : open) {
    if (fixed.count(dim.key))
      continue;
    auto option = import.dims.find(dim.key);
    if (option == import.dims.end())
      option = import.dims.find("*");
    if (option != import.dims.end()) {
      SizeRange range = option->second;
      // An upper bound may be far more than a test needs.
      int64_t most = std::min<int64_t>(range.most, range.least + 64);
      int64_t sizes[] = {range.least, most, (range.least + most) / 2};
      hasRange |= !range.isOne();
      for (auto [set, size] : llvm::zip(sets, sizes))
        set[dim.key] = size;
      continue;
    }
    isOpen = true;
    StringRef name = dim.key;
    bool isBatch = name.contains_insensitive("batch") ||
                   (dim.axis == 0 && dim.rank > 1) || name == "N";
    bool isPlane = dim.rank == 4 && dim.axis >= 2;
    bool isPast = name.contains_insensitive("past");
    int64_t sizes[] = {isBatch   ? 1
                       : isPlane ? 64
                       : isPast  ? 4
                                 : 8,
                       isBatch   ? 2
                       : isPlane ? 96
                       : isPast  ? 7
                                 : 13};
    for (size_t i : {0, 1})
      sets[i][dim.key] = sizes[i];
    sets[2][dim.key] = sizes[0];
  }
  // If --dim gives ranges, the model is compiled once for all sets of sizes. So
  // dimensions without a range must have the same size in each set.
  if (hasRange)
    for (const OpenDimension &dim : open)
      if (!fixed.count(dim.key) && !import.dims.count(dim.key) &&
          !import.dims.count("*"))
        for (Sizes &set : sets)
          set[dim.key] = sets.front()[dim.key];
  sets.resize(hasRange ? 3 : isOpen ? 2 : 1);
  for (Sizes &set : sets)
    for (const auto &entry : seen)
      if (isFormula(entry.getKey()) && !set.count(entry.getKey().str()))
        if (auto sum = sumOf(entry.getKey(), set))
          set[entry.getKey().str()] = *sum;
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

namespace {
/// How the graph uses an input, as far as it limits the input's numbers.
struct Use {
  /// If the input contains indices: the number that all of them must be below.
  std::optional<int64_t> rows;
  /// If the input is quantized: the range of numbers that the quantized type
  /// can represent.
  std::optional<NumberRange> quantized;
  /// The node whose shape the input determines; empty: none.
  std::string shapeOf;
};

/// Follows the uses of inputs through the graph.
class Uses {
public:
  Uses(const onnx::ModelProto &model, ModelFile &file, MLIRContext &context)
      : graph(model.graph()), file(file), context(context) {
    for (const onnx::NodeProto &node : graph.node())
      for (auto [i, input] : llvm::enumerate(node.input()))
        readers[input].push_back({&node, int(i)});
    for (const onnx::TensorProto &tensor : graph.initializer())
      constants[tensor.name()] = &tensor;
    for (const auto *list :
         {&graph.value_info(), &graph.input(), &graph.output()})
      for (const onnx::ValueInfoProto &value : *list)
        declared[value.name()] = &value;
  }

  Use of(StringRef input) {
    Use use;
    SmallVector<std::string> pending{input.str()};
    llvm::StringSet<> seen;
    while (!pending.empty()) {
      std::string tensor = pending.pop_back_val();
      for (auto [node, operand] : readers.lookup(tensor))
        if (follow(*node, operand, use))
          for (const std::string &output : node->output())
            if (seen.insert(output).second)
              pending.push_back(output);
    }
    return use;
  }

private:
  /// Records in `use` how `node` uses its operand. Returns true if the results
  /// of the node contain the same numbers as the operand: then the uses of the
  /// results also limit the numbers.
  bool follow(const onnx::NodeProto &node, int operand, Use &use) {
    StringRef type = node.op_type();
    int64_t axis = 0;
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.name() == "axis")
        axis = attribute.i();
    auto bound = [&](int64_t rows) {
      if (rows > 0)
        use.rows = std::min(rows, use.rows.value_or(rows));
    };
    if (type == "Gather" && operand == 1)
      bound(sizeOf(node.input(0), axis));
    else if ((type == "GatherElements" || type == "ScatterElements" ||
              type == "Scatter") &&
             operand == 1)
      bound(sizeOf(node.input(0), axis));
    else if ((type == "GatherND" || type == "ScatterND") && operand == 1)
      bound(sizeOf(node.input(0), 0));
    else if (type == "OneHot" && operand == 0)
      bound(numberOf(node.input(1)));
    bool isShape =
        (llvm::is_contained({"Reshape", "Expand", "Tile"}, type) &&
         operand == 1) ||
        ((type == "ConstantOfShape" || type == "Range") && operand <= 2) ||
        (type == "TopK" && operand == 1) || (type == "Pad" && operand == 1) ||
        (type == "Slice" && operand >= 1) || (type == "Resize" && operand >= 2);
    if (isShape && use.shapeOf.empty())
      use.shapeOf = (node.name().empty() ? node.op_type() : node.name());
    if (type == "QuantizeLinear" && operand == 0 && node.input_size() > 1)
      noteStep(node, use);
    return llvm::is_contained({"Identity", "Cast", "Reshape", "Squeeze",
                               "Unsqueeze", "Flatten", "Transpose", "Expand",
                               "Slice", "Concat", "Split", "Tile"},
                              type) &&
           operand == 0;
  }

  void noteStep(const onnx::NodeProto &node, Use &use) {
    std::optional<double> step = elementOf(node.input(1)), zero = 0.0;
    bool isSigned = false;
    if (node.input_size() > 2) {
      zero = elementOf(node.input(2));
      if (auto it = constants.find(node.input(2)); it != constants.end())
        isSigned = it->second->data_type() == onnx::TensorProto::INT8;
    }
    if (!step || !zero)
      return;
    double least = isSigned ? -128 : 0;
    use.quantized = {*step * (least - *zero), *step * (least + 255 - *zero)};
  }

  /// Returns the size of a tensor along an axis; 0 if it is unknown.
  int64_t sizeOf(StringRef tensor, int64_t axis) {
    SmallVector<int64_t> shape;
    if (auto it = constants.find(tensor); it != constants.end())
      shape.assign(it->second->dims().begin(), it->second->dims().end());
    else if (auto it = declared.find(tensor); it != declared.end())
      for (const auto &dim : it->second->type().tensor_type().shape().dim())
        shape.push_back(dim.dim_value());
    if (axis < 0)
      axis += int64_t(shape.size());
    return axis >= 0 && axis < int64_t(shape.size()) ? shape[axis] : 0;
  }

  /// Returns the first element of a constant; nothing if the tensor is not a
  /// constant.
  std::optional<double> elementOf(StringRef tensor) {
    auto it = constants.find(tensor);
    std::string error;
    if (it == constants.end())
      return std::nullopt;
    auto value = denseTensorAttr(*it->second, &file, &context, error);
    if (failed(value) || value->empty())
      return std::nullopt;
    if (isa<FloatType>(value->getElementType())) {
      llvm::APFloat number = *value->getValues<llvm::APFloat>().begin();
      bool losesInfo;
      number.convert(llvm::APFloat::IEEEdouble(),
                     llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      return number.convertToDouble();
    }
    llvm::APInt number = *value->getValues<llvm::APInt>().begin();
    return value->getElementType().isUnsignedInteger()
               ? double(number.getZExtValue())
               : double(number.getSExtValue());
  }
  int64_t numberOf(StringRef tensor) {
    return int64_t(elementOf(tensor).value_or(0));
  }

  const onnx::GraphProto &graph;
  ModelFile &file;
  MLIRContext &context;
  llvm::StringMap<SmallVector<std::pair<const onnx::NodeProto *, int>>> readers;
  llvm::StringMap<const onnx::TensorProto *> constants;
  llvm::StringMap<const onnx::ValueInfoProto *> declared;
};

/// Pseudo-random numbers that are the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 1) {}
  /// Returns a number from 0 (included) to 1 (excluded).
  double next() {
    state = state * 6364136223846793005 + 1442695040888963407;
    return double(state >> 40) / double(1 << 24);
  }

private:
  uint64_t state;
};
} // namespace

/// Stores a number as element `i`.
static void store(Tensor &tensor, int64_t i, double number) {
  Type element = tensor.type.getElementType();
  unsigned size = elementBytes(element);
  uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(number));
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat value(number);
    bool losesInfo;
    value.convert(floating.getFloatSemantics(),
                  llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    bits = value.bitcastToAPInt().getZExtValue();
  }
  std::memcpy(tensor.bytes.data() + i * size, &bits, size);
}

/// Fills a tensor with numbers in the range `wanted` or, if it is null, with
/// numbers that are valid for the input; adds a note for the user about them.
static void fill(Tensor &tensor, const GraphInput &input, const Use &use,
                 const NumberRange *wanted, Random &random,
                 std::vector<std::string> &notes) {
  Type element = tensor.type.getElementType();
  auto shape = tensor.type.getShape();
  StringRef name = input.name;
  int64_t count = tensor.elements();
  int64_t columns = shape.empty() ? 1 : std::max<int64_t>(shape.back(), 1);
  auto note = [&](const Twine &text) {
    notes.push_back(
        (printable(name) + ": " + describe(tensor.type) + ", " + text).str());
  };
  auto between = [&](double least, double most) {
    std::string text;
    llvm::raw_string_ostream(text)
        << llvm::format("numbers from %g to %g", least, most);
    note(text);
    bool isFloat = isa<FloatType>(element);
    for (int64_t i = 0; i < count; ++i) {
      double unit = random.next();
      store(tensor, i,
            isFloat ? least + unit * (most - least)
                    : std::floor(least + unit * (most - least + 1)));
    }
  };
  if (wanted)
    return between(wanted->least, wanted->most);
  if (element.isInteger(1)) {
    note("true and false");
    for (int64_t i = 0; i < count; ++i)
      store(tensor, i,
            name.contains_insensitive("mask") || random.next() < 0.5);
    return;
  }
  if (name.contains_insensitive("mask") && !use.rows) {
    // A mask is 1 for tokens and 0 for the padding at the end of each row.
    int64_t kept = std::max<int64_t>(columns - columns / 4, 1);
    note("1 for the first " + Twine(kept) + " of a row, else 0");
    for (int64_t i = 0; i < count; ++i)
      store(tensor, i, i % columns < kept);
    return;
  }
  if (name.contains_insensitive("position") && !isa<FloatType>(element)) {
    note("0, 1, 2 and so on");
    for (int64_t i = 0; i < count; ++i)
      store(tensor, i,
            double(i % columns %
                   std::max<int64_t>(use.rows.value_or(columns), 1)));
    return;
  }
  if (use.rows)
    return between(0, double(*use.rows - 1));
  if (use.quantized)
    return between(use.quantized->least, use.quantized->most);
  if (isa<FloatType>(element))
    // Images (rank 4) have positive numbers; other data have both signs.
    return tensor.type.getRank() == 4 ? between(0, 1) : between(-1, 1);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits == 8)
    return element.isUnsignedInteger() ? between(0, 255) : between(-128, 127);
  between(0, 1);
}

/// Reads the values of --bind, "1,2,3", into a tensor; false if they do not
/// fit.
static bool bindTo(Tensor &tensor, StringRef values) {
  SmallVector<StringRef> words;
  values.split(words, ',', -1, /*KeepEmpty=*/false);
  if (int64_t(words.size()) != tensor.elements())
    return false;
  for (auto [i, word] : llvm::enumerate(words)) {
    double number;
    if (word.trim().getAsDouble(number))
      return false;
    store(tensor, i, number);
  }
  return true;
}

bool makeInputs(Compilation &compilation, const InputChoices &choices,
                const Sizes &sizes, InputData &data,
                std::vector<std::string> &notes) {
  ModelFile *file = compilation.open();
  if (!file)
    return false;
  Diagnostics &diagnostics = compilation.getDiagnostics();
  MLIRContext &context = compilation.context();
  if (!readGivenFiles(compilation, choices.files, data))
    return false;
  std::vector<GraphInput> inputs = fedInputs(file->model(), &context);
  for (const auto &[name, range] : choices.ranges)
    if (llvm::none_of(inputs, [&, &name = name](const GraphInput &input) {
          return input.name == name;
        })) {
      diagnostics.report(DiagnosticId::BadOption,
                         "--range: the model has no input `" + printable(name) +
                             "`");
      return false;
    }
  Uses uses(file->model(), *file, context);
  Random random(choices.seed);
  for (auto [input, tensor] : llvm::zip(inputs, data)) {
    if (tensor) {
      notes.push_back(printable(input.name) + ": " + describe(tensor->type) +
                      ", from the file");
      continue;
    }
    const onnx::TypeProto_Tensor *type = tensorType(input);
    auto ask = [&, &input = input](const Twine &why, const Twine &way = "") {
      diagnostics.report(
          DiagnosticId::BadOption,
          "there are no random numbers for the input `" +
              printable(input.name) + "`: " + why,
          (way.isTriviallyEmpty()
               ? Twine("add --input ") + printable(input.name) + "=FILE.npy"
               : way)
              .str());
    };
    if (!type || !type->has_shape() || !input.elementType) {
      ask(!type || !input.elementType ? "it is not a tensor of numbers"
                                      : "the model does not declare its shape");
      continue;
    }
    SmallVector<int64_t> shape;
    for (auto [axis, dim] : llvm::enumerate(type->shape().dim())) {
      auto known = sizes.find(keyOf(dim, input.name, axis));
      shape.push_back(dim.has_dim_value()    ? dim.dim_value()
                      : known != sizes.end() ? known->second
                                             : 1);
    }
    auto elements = checkedElements(shape, 8);
    if (!elements || *elements > int64_t(1) << 32) {
      ask("it is too large", "bind its dimensions by --dim NAME=SIZE");
      continue;
    }
    Tensor made{RankedTensorType::get(shape, input.elementType), {}};
    if (made.isOfStrings()) {
      ask("it consists of strings",
          "add --input " + printable(input.name) + "=FILE.pb");
      continue;
    }
    made.bytes.resize(*elements * elementBytes(input.elementType));
    Use use = uses.of(input.name);
    auto bound = compilation.options.import.bind.find(input.name);
    auto range = choices.ranges.find(input.name);
    if (bound != compilation.options.import.bind.end()) {
      if (!bindTo(made, bound->second)) {
        ask("--bind has other values than " + describe(made.type));
        continue;
      }
      notes.push_back(printable(input.name) + ": " + bound->second +
                      ", from --bind");
    } else if (!use.shapeOf.empty() && range == choices.ranges.end() &&
               !isa<FloatType>(input.elementType)) {
      ask("its values determine the shape of `" + printable(use.shapeOf) + "`",
          "bind them by --bind " + printable(input.name) +
              "=1,2,3, or add --input " + printable(input.name) + "=FILE.npy");
      continue;
    } else {
      fill(made, input, use,
           range == choices.ranges.end() ? nullptr : &range->second, random,
           notes);
    }
    tensor = std::move(made);
  }
  return diagnostics.empty();
}

} // namespace ingot::verify
