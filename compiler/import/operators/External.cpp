// Imports CallExternal, the body of a custom operator that is a C function.
//
// The attributes of the node contain the declaration of the operator: see
// custom/CustomOperators.h. The function gets tensors without gaps in memory: a
// tensor whose strides leave gaps is first reshaped to one axis, which closes
// them.

#include "compiler/import/custom/OperandPattern.h"
#include "compiler/import/operators/OnnxImport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot::graph {

namespace {

class ExternalCall {
public:
  explicit ExternalCall(OnnxNode &node)
      : node(node), name(node.stringAttr("external_operator", "")) {}

  ImportResult run() {
    if (failed(readAttributes()) || failed(bindInputs()) ||
        failed(addOutputs()))
      return failure();
    return build();
  }

private:
  LogicalResult invalid(const Twine &why) {
    return node.invalid("`" + name + "`: " + why);
  }
  template <typename T> FailureOr<T> valueOf(llvm::Expected<T> parsed) {
    if (parsed)
      return std::move(*parsed);
    return invalid(llvm::toString(parsed.takeError()));
  }

  LogicalResult readAttributes() {
    Builder &b = node.builder;
    for (const std::string &text : node.stringsAttr("external_attributes")) {
      auto attribute = valueOf(parseAttribute(text));
      if (failed(attribute))
        return failure();
      StringRef key = attribute->name, type = attribute->type;
      if (!node.hasAttr(key))
        return invalid("the attribute `" + key + "` is missing");
      constantNames.push_back(attribute->name);
      if (type == "int") {
        integers[key] = {node.intAttr(key, 0)};
        constants.push_back(b.getI64IntegerAttr(integers[key].front()));
      } else if (type == "ints") {
        integers[key] = node.intsAttr(key);
        constants.push_back(b.getDenseI64ArrayAttr(integers[key]));
      } else if (type == "float") {
        constants.push_back(
            b.getF32FloatAttr(static_cast<float>(node.floatAttr(key, 0))));
      } else if (type == "floats") {
        SmallVector<double> given = node.floatsAttr(key);
        constants.push_back(b.getDenseF32ArrayAttr(
            SmallVector<float>(given.begin(), given.end())));
      } else {
        constants.push_back(b.getStringAttr(node.stringAttr(key, "")));
      }
    }
    auto list = valueOf(parseLetters(node.stringAttr("external_types", "")));
    if (failed(list))
      return failure();
    letters = std::move(*list);
    return success();
  }

  /// Returns the name in `types` that denotes the element type `type`; empty if
  /// there is none.
  std::string nameAmong(ArrayRef<std::string> types, Type type) {
    for (const std::string &candidate : types)
      if (node.elementType(elementTypeOf(candidate)) == type)
        return candidate;
    return "";
  }

  LogicalResult checkType(const OperandPattern &operand, Type type) {
    std::vector<std::string> allowed{operand.type};
    for (const TypeLetter &letter : letters)
      if (letter.letter == operand.type)
        allowed = letter.types;
    auto [bound, isNew] = types.try_emplace(operand.type, type);
    std::string found = nameAmong(allowed, type);
    if (found.empty())
      return invalid("the element type of the input `" + operand.name +
                     "` is not " + llvm::join(allowed, " or "));
    if (!isNew && bound->second != type)
      return invalid("the inputs of type `" + operand.type +
                     "` have different element types");
    typeNames[operand.type] = found;
    return success();
  }

  LogicalResult bindInputs() {
    for (auto [i, text] :
         llvm::enumerate(node.stringsAttr("external_inputs"))) {
      auto operand = valueOf(parseOperand(text));
      if (failed(operand))
        return failure();
      Value input = node.input(i);
      if (!input)
        return invalid("the input `" + operand->name + "` is missing");
      if (failed(checkType(*operand, elementOf(input))) ||
          failed(bindNames(*operand, dimsOf(input))))
        return failure();
      inputNames.push_back(operand->name);
    }
    // The declaration may state sizes of inputs as formulas. These are checked
    // after all inputs have been read, because a formula may use sizes of any
    // input.
    for (const auto &[size, stated, what] : claims) {
      FailureOr<Dim> expected = sizeOf(stated);
      if (failed(expected))
        return failure();
      if (kernel::surelyDiffer(size, *expected))
        return invalid("a size of the input `" + what + "` is " +
                       kernel::sizeText(size) + ", but should be " +
                       kernel::sizeText(*expected));
      // If no symbol can be replaced so that the sizes become equal, the
      // generated program checks that they are equal.
      if (!node.takeEqual(size, *expected))
        node.checkEqual(size, *expected);
    }
    for (unsigned i = 0; i < inputNames.size(); ++i)
      inputs.push_back(flat(node.input(i)));
    return success();
  }

  /// Defines the names in the pattern of an input as the sizes of its axes. If
  /// the pattern has a formula for the size of an axis, adds it to `claims`,
  /// which are checked later.
  LogicalResult bindNames(const OperandPattern &operand, ArrayRef<Dim> dims) {
    size_t axes = operand.axes.size();
    bool hasList = llvm::any_of(operand.axes,
                                [](const auto &axis) { return axis.isList; });
    if (hasList ? dims.size() + 1 < axes : dims.size() != axes)
      return invalid("the input `" + operand.name + "` has " +
                     Twine(dims.size()) + " axes, not " +
                     (hasList ? "at least " : "") +
                     Twine(hasList ? axes - 1 : axes));
    for (const OperandPattern::Axis &axis : operand.axes) {
      const std::string &key = axis.size.text;
      if (axis.isList) {
        Dims own(dims.take_front(dims.size() + 1 - axes));
        dims = dims.drop_front(own.size());
        --axes;
        auto [known, isNew] = lists.insert({key, own});
        if (isNew) {
          sizes.insert({key, product(own)});
          continue;
        }
        if (known->second.size() != own.size())
          return invalid("the axes `" + key + "...` of `" + operand.name +
                         "` are not as many as those of another input");
        for (size_t i = 0; i < own.size(); ++i)
          claims.push_back(
              {own[i],
               {Formula::Apply,
                0,
                "[]",
                {{Formula::Name, 0, key, {}},
                 {Formula::Number, double(i), std::to_string(i), {}}}},
               operand.name});
        continue;
      }
      Dim size = dims.front();
      dims = dims.drop_front();
      --axes;
      if (!axis.size.isName() || integers.count(key) ||
          !sizes.insert({key, size}).second)
        claims.push_back({size, axis.size, operand.name});
    }
    return success();
  }

  /// Returns the value of a formula of sizes and attributes, as a size. Fails,
  /// with a diagnostic, if the formula is not an integer expression.
  FailureOr<Dim> sizeOf(const Formula &formula) {
    if (formula.kind == Formula::Number) {
      auto number = static_cast<int64_t>(formula.number);
      if (static_cast<double>(number) != formula.number)
        return invalid("`" + formula.text + "` is not an integer");
      return Dim(number);
    }
    if (formula.isName()) {
      if (auto size = sizes.find(formula.text); size != sizes.end())
        return size->second;
      auto list = integers.find(formula.text);
      if (list != integers.end() && list->second.size() == 1)
        return Dim(list->second.front());
      return invalid("`" + formula.text + "` is not an integer");
    }
    if (formula.applies("[]"))
      return elementOfList(formula);
    Dims x;
    for (const Formula &operand : formula.operands) {
      FailureOr<Dim> size = sizeOf(operand);
      if (failed(size))
        return failure();
      x.push_back(*size);
    }
    return applied(formula.text, x);
  }

  FailureOr<Dim> elementOfList(const Formula &formula) {
    const std::string &key = formula.operands[0].text;
    auto i = static_cast<size_t>(formula.operands[1].number);
    if (auto list = integers.find(key);
        list != integers.end() && i < list->second.size())
      return Dim(list->second[i]);
    if (auto list = lists.find(key);
        list != lists.end() && i < list->second.size())
      return list->second[i];
    return invalid("`" + key + "` has no element " + Twine(i));
  }

  FailureOr<Dim> applied(StringRef name, ArrayRef<Dim> x) {
    if (x.size() == 1 && name == "-")
      return Dim(0) - x[0];
    if (x.size() == 2) {
      if (name == "+")
        return x[0] + x[1];
      if (name == "-")
        return x[0] - x[1];
      if (name == "*")
        return x[0] * x[1];
      if (name == "min")
        return kernel::smallerOf(x[0], x[1]);
      if (name == "max")
        return kernel::largerOf(x[0], x[1]);
      if (name == "/" || name == "%") {
        if (!node.requireAtLeast(x[1], 1))
          return invalid("a size is divided by a number that may be 0");
        Dim quotient = kernel::floorDiv(x[0], x[1]);
        return name == "/" ? quotient : x[0] - quotient * x[1];
      }
    }
    return invalid("`" + name +
                   "` cannot be computed for sizes; they allow + - * "
                   "/ % min max");
  }

  FailureOr<Dim> sizeOf(StringRef text) {
    auto formula = valueOf(parseFormula(text));
    return succeeded(formula) ? sizeOf(*formula) : FailureOr<Dim>(failure());
  }

  /// Returns `x` without gaps in memory: reshapes it to one axis if its strides
  /// leave gaps.
  Value flat(Value x) {
    return kernel::isCompact(dimsOf(x)) ? x
                                        : node.reshape(x, {product(dimsOf(x))});
  }

  LogicalResult addOutputs() {
    for (StringRef text : node.stringsAttr("external_counts")) {
      auto [key, bound] = text.split('=');
      FailureOr<Dim> most = sizeOf(bound.trim());
      if (failed(most))
        return failure();
      countNames.push_back(key.trim().str());
      mostOfCounts.push_back(most->most());
    }
    for (StringRef text : node.stringsAttr("external_outputs")) {
      auto operand = valueOf(parseOperand(text));
      if (failed(operand))
        return failure();
      Output output;
      auto bound = types.find(operand->type);
      output.element = bound != types.end()
                           ? bound->second
                           : node.elementType(elementTypeOf(operand->type));
      if (!output.element)
        return invalid("no input has the type `" + operand->type +
                       "` of the output `" + operand->name + "`");
      for (auto [axis, pattern] : llvm::enumerate(operand->axes)) {
        if (pattern.isList) {
          llvm::append_range(output.sizes, lists[pattern.size.text]);
          continue;
        }
        auto count = llvm::find(countNames, pattern.size.text);
        if (pattern.size.isName() && count != countNames.end()) {
          if (axis != 0)
            return invalid("only the first axis of an output can be counted");
          output.count = count - countNames.begin();
          output.sizes.push_back(mostOfCounts[*output.count]);
          continue;
        }
        FailureOr<Dim> size = sizeOf(pattern.size);
        if (failed(size))
          return failure();
        if (!node.requireAtLeast(*size, 0))
          return invalid("a size of the output `" + operand->name +
                         "` is negative");
        output.sizes.push_back(*size);
      }
      outputNames.push_back(operand->name);
      outputs.push_back(std::move(output));
    }
    return success();
  }

  ImportResult build() {
    Builder &b = node.builder;
    Type i64 = b.getIntegerType(64, true), i8 = b.getIntegerType(8, true);
    SmallVector<Type> results;
    for (const Output &output : outputs)
      results.push_back(tensorOf(kernel::isCompact(output.sizes)
                                     ? output.sizes
                                     : Dims{product(output.sizes)},
                                 output.element));
    SmallVector<std::string> names(inputNames);
    llvm::append_range(names, outputNames);
    for (const std::string &count : countNames) {
      results.push_back(RankedTensorType::get({1}, i64));
      names.push_back(count);
    }
    if (std::string scratch = node.stringAttr("external_scratch", "");
        !scratch.empty()) {
      FailureOr<Dim> bytes = sizeOf(StringRef(scratch));
      if (failed(bytes))
        return failure();
      results.push_back(tensorOf({*bytes}, i8));
      names.push_back("scratch");
    }
    Dims numbers;
    for (const auto &[key, size] : sizes) {
      numbers.push_back(size);
      names.push_back(key);
    }
    kernel::SizesAttr parallel;
    if (std::string text = node.stringAttr("external_parallel", "");
        !text.empty()) {
      FailureOr<Dim> calls = sizeOf(StringRef(text));
      if (failed(calls))
        return failure();
      parallel = kernel::sizesAttr({*calls}, b.getContext());
      names.push_back("index");
    }
    llvm::append_range(names, constantNames);
    SmallVector<StringRef> parameters(names.begin(), names.end());
    auto call = CallExternalOp::create(
        node.builder, node.loc, results, inputs, functionName(),
        b.getStrArrayAttr(parameters),
        numbers.empty() ? kernel::SizesAttr()
                        : kernel::sizesAttr(numbers, b.getContext()),
        parallel, b.getArrayAttr(constants));
    return valuesOf(call);
  }

  /// Returns the results of the call, reshaped to the sizes of the outputs.
  ImportResult valuesOf(CallExternalOp call) {
    Dims counts;
    for (size_t i = 0; i < countNames.size(); ++i) {
      auto read =
          node.readSizes(call.getResult(outputs.size() + i), {mostOfCounts[i]});
      if (failed(read))
        return failure();
      counts.push_back(read->front());
    }
    SmallVector<Value> values;
    for (auto [i, output] : llvm::enumerate(outputs)) {
      Value value = node.reshape(call.getResult(i), output.sizes);
      if (output.count) {
        value = node.slice(value, 0, 0, counts[*output.count]);
      }
      values.push_back(value);
    }
    return values;
  }

  /// Returns the name of the C function, in which {LETTER} is replaced by the
  /// name of the element type that the letter stands for.
  std::string functionName() {
    std::string function = node.stringAttr("external_function", "");
    for (const auto &[letter, type] : typeNames) {
      std::string hole = "{" + letter + "}";
      for (size_t at; (at = function.find(hole)) != std::string::npos;)
        function.replace(at, hole.size(), type);
    }
    return function;
  }

  struct Output {
    Dims sizes;
    Type element;
    /// If the C function determines the size of the first axis and returns it
    /// as a count: the index of this count in `countNames`.
    std::optional<size_t> count;
  };

  /// A size of an input for which the declaration states a formula, and which
  /// must be equal to the formula.
  struct Claim {
    Dim size;
    Formula stated;
    std::string input;
  };

  OnnxNode &node;
  std::string name;
  std::vector<Claim> claims;
  std::vector<TypeLetter> letters;
  std::map<std::string, Type> types;
  std::map<std::string, std::string> typeNames;
  llvm::StringMap<SmallVector<int64_t>> integers;
  /// Maps each name to a size of an input, in the order in which sizes are
  /// passed to the function. The entry of a name for several axes (name...) is
  /// the product of their sizes.
  llvm::MapVector<std::string, Dim, std::map<std::string, unsigned>> sizes;
  std::map<std::string, Dims> lists;
  SmallVector<Value> inputs;
  SmallVector<std::string> inputNames, outputNames, countNames, constantNames;
  SmallVector<int64_t> mostOfCounts;
  SmallVector<Output> outputs;
  SmallVector<Attribute> constants;
};

} // namespace

static ImportResult importCallExternal(OnnxNode &node) {
  return ExternalCall(node).run();
}

void registerExternalImports(OnnxRegistry &registry) {
  registry.add("CallExternal", importCallExternal, "", "ingot");
}

} // namespace ingot::graph
