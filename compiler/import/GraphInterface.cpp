// Imports the inputs and outputs of the main graph.
//
// Determines the shape of each input (from its declaration, from --dim, or from
// data that the user gave for it) and makes the inputs the arguments of main.

#include "compiler/import/GraphImporter.h"
#include "compiler/import/Summary.h"
#include "compiler/import/TensorData.h"
#include "compiler/report/Suggest.h"
#include "dialects/graph/ops/Movement.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot {

static std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(
                        shape, [](int64_t d) { return std::to_string(d); }),
                    ",") +
         "]";
}

/// Returns the inputs that a caller of the generated function passes: the
/// model's inputs without an initializer.
static std::vector<const onnx::ValueInfoProto *>
fedInputs(const onnx::GraphProto &graph) {
  llvm::StringSet<> constants;
  for (const auto &tensor : graph.initializer())
    constants.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    constants.insert(tensor.values().name());
  std::vector<const onnx::ValueInfoProto *> inputs;
  for (const auto &input : graph.input())
    if (!constants.contains(input.name()))
      inputs.push_back(&input);
  return inputs;
}

static std::string rangeText(SizeRange range) {
  std::string most = std::to_string(range.most);
  return range.isOne() ? most : std::to_string(range.least) + ".." + most;
}

Dim GraphImporter::dimOf(StringRef name, SizeRange range) {
  if (range.isOne())
    return range.most;
  return Dim(kernel::SymbolAttr::get(&context, name, range.least, range.most));
}

static std::string placeName(const onnx::ValueInfoProto &input, int axis) {
  return input.name() + ":" + std::to_string(axis);
}

/// Returns the symbol of a dimension; empty if it has none. The names `?`, `-1`
/// and `None` do not count: exporters write them for any unknown size, so that
/// two dimensions called `?` may have different sizes.
static StringRef symbolOf(const onnx::TensorShapeProto::Dimension &dim) {
  StringRef name = dim.dim_param();
  bool isAnonymous = name == "?" || name == "-1" || name == "None";
  return isAnonymous ? "" : name;
}

/// Returns the size of a dimension if the model fixes it; otherwise nullopt.
/// The size -1, which some exporters write, stands for an unknown size.
static std::optional<int64_t>
fixedSize(const onnx::TensorShapeProto::Dimension &dim) {
  if (dim.has_dim_value() && dim.dim_value() != -1)
    return dim.dim_value();
  return std::nullopt;
}

/// Reports that `option` names an unknown input or dimension, `name`. `what` is
/// the beginning of the message, `known` are the valid names.
void GraphImporter::reportUnknownInput(StringRef option, StringRef what,
                                       StringRef name,
                                       ArrayRef<std::string> known) {
  std::string hint = didYouMean(name, known);
  if (hint.empty() && !known.empty())
    hint = "the model has `" + printable(llvm::join(known, "`, `"), 400) + "`";
  diagnostics.report(DiagnosticId::BadOption,
                     option + ": " + what + " `" + printable(name) + "`", hint);
}

/// Whether `name` could be the name of a data-dependent size of a node's
/// result.
static bool mayBeMade(const onnx::GraphProto &graph, StringRef name) {
  for (const auto &node : graph.node())
    for (StringRef output : node.output())
      if (!output.empty() && name.starts_with((output + "_").str()))
        return true;
  return false;
}

bool GraphImporter::checkDimOptions(const onnx::GraphProto &graph) {
  size_t reported = diagnostics.size();
  std::vector<std::string> known, inputs;
  for (const auto *input : fedInputs(graph)) {
    for (Part part : partsOf(input->type()))
      inputs.push_back(partName(input->name(), part));
    const onnx::TypeProto_Tensor *tensor = tensorIn(input->type());
    if (!tensor)
      continue;
    if (emptyValue(input->type()).isSequence)
      known.push_back(input->name() + "_count");
    const auto &dims = tensor->shape().dim();
    for (int i = 0; i < dims.size(); ++i) {
      std::string place = placeName(*input, i);
      known.push_back(place);
      if (StringRef symbol = symbolOf(dims[i]);
          !symbol.empty() && !llvm::is_contained(known, symbol))
        known.push_back(symbol.str());
      auto wanted = options.dims.find(place);
      auto fixed = fixedSize(dims[i]);
      if (fixed && wanted != options.dims.end() &&
          !(wanted->second.isOne() && wanted->second.has(*fixed)))
        diagnostics.report(DiagnosticId::BadOption,
                           options.optionOf(place) + ": the model fixes `" +
                               printable(place) + "` to " + Twine(*fixed) +
                               ", not " + rangeText(wanted->second),
                           "only dynamic dimensions can be given a size");
    }
    if (!tensor->has_shape())
      for (int i = 0; i < 8; ++i)
        known.push_back(placeName(*input, i));
  }
  for (const auto &[name, range] : options.dims)
    if (llvm::is_contained(known, name))
      symbols[name] = dimOf(name, range);
    else if (name != "*" && !mayBeMade(graph, name))
      reportUnknownInput(options.optionOf(name), "no input has a dimension",
                         name, known);
  for (const auto &[name, text] : options.bind)
    if (!llvm::is_contained(inputs, name))
      reportUnknownInput("--bind", "the model has no input", name, inputs);
  return diagnostics.size() == reported;
}

/// Checks the size that the user's data for `input` have along one axis, and
/// binds the symbol of the axis to this size. A --dim option for this axis of
/// the input has precedence over an option for the symbol.
void GraphImporter::bindDataSize(const onnx::ValueInfoProto &input, int axis,
                                 const onnx::TensorShapeProto::Dimension *dim,
                                 int64_t size, const std::string &shown) {
  std::string place = placeName(input, axis);
  StringRef symbol = dim ? symbolOf(*dim) : "";
  if (auto wanted = options.dims.find(place); wanted != options.dims.end()) {
    if (!wanted->second.has(size))
      diagnostics.report(DiagnosticId::InputMismatch,
                         shown + ", but --dim sets " + printable(place) + "=" +
                             rangeText(wanted->second));
    return;
  }
  if (auto fixed = dim ? fixedSize(*dim) : std::nullopt) {
    if (*fixed != size)
      diagnostics.report(DiagnosticId::InputMismatch,
                         shown + ", but the model declares " + Twine(*fixed) +
                             " at axis " + Twine(axis));
    return;
  }
  std::string name = symbol.empty() ? place : symbol.str();
  // If --dim gives a range for a size, the size of the user's data must be
  // within this range, but the size stays dynamic.
  auto all = options.dims.find("*");
  auto [it, isNew] = symbols.try_emplace(
      name, all == options.dims.end() ? Dim(size) : dimOf(name, all->second));
  if (it->second.least() <= size && size <= it->second.most())
    return;
  bool isOption = options.dims.count(name) || all != options.dims.end();
  diagnostics.report(
      DiagnosticId::InputMismatch,
      isOption ? shown + ", but --dim sets " + printable(name) + "=" +
                     rangeText({it->second.least(), it->second.most()})
               : shown + ", but `" + printable(name) + "` is " +
                     Twine(it->second.most()) + " at another axis",
      isOption ? ""
               : "if one name stands for several sizes, set each axis: --dim " +
                     printable(place) + "=" + Twine(size));
}

void GraphImporter::bindDataShapes(const onnx::GraphProto &graph) {
  for (const auto *input : fedInputs(graph)) {
    auto given = options.shapes.find(input->name());
    const auto &type = input->type().tensor_type();
    if (given == options.shapes.end() || !input->type().has_tensor_type())
      continue;
    std::string shown = "the data for the input `" + printable(input->name()) +
                        "` has the shape " + shapeText(given->second);
    if (type.has_shape() &&
        int(given->second.size()) != type.shape().dim_size()) {
      diagnostics.report(DiagnosticId::InputMismatch,
                         shown + ", but the model declares " +
                             Twine(type.shape().dim_size()) + " dimensions");
      continue;
    }
    for (auto [axis, size] : llvm::enumerate(given->second))
      bindDataSize(*input, axis,
                   type.has_shape() ? &type.shape().dim(axis) : nullptr, size,
                   shown);
  }
}

/// Returns the value of a symbol's name if the name is a formula, such as
/// `past_sequence_length + sequence_length`, which exporters write for the
/// length of a mask. A formula is a sum of products of numbers and of symbols
/// in `sizes`. Returns nullopt for other names.
static std::optional<Dim>
sizeOfFormula(StringRef name, const std::map<std::string, Dim> &sizes) {
  if (!name.contains('+') && !name.contains('*'))
    return std::nullopt;
  Dim sum = 0;
  SmallVector<StringRef> terms, factors;
  name.split(terms, '+');
  for (StringRef term : terms) {
    Dim product = 1;
    factors.clear();
    term.split(factors, '*');
    for (StringRef factor : factors) {
      int64_t number;
      auto size = sizes.find(factor.trim().str());
      if (size != sizes.end())
        product *= size->second;
      else if (!factor.trim().getAsInteger(10, number) && number >= 0)
        product *= number;
      else
        return std::nullopt;
    }
    sum += product;
  }
  return sum;
}

std::optional<Dim>
GraphImporter::dimension(const onnx::ValueInfoProto &input, int axis,
                         const onnx::TensorShapeProto::Dimension &dim) {
  if (auto fixed = fixedSize(dim))
    return Dim(*fixed);
  if (auto it = symbols.find(placeName(input, axis)); it != symbols.end())
    return it->second;
  std::string symbol = symbolOf(dim).str();
  if (auto it = symbols.find(symbol); it != symbols.end() && !symbol.empty())
    return it->second;
  bool isNamed = !symbol.empty();
  std::string name = isNamed ? symbol : placeName(input, axis);
  if (auto all = options.dims.find("*"); all != options.dims.end())
    return dimOf(name, all->second);
  // The size of this dimension is not known yet. Its upper bound is
  // `mostDetermined` until other nodes of the model determine the size. If no
  // node does, the user is asked for the size, once for each symbol.
  constexpr int64_t mostDetermined = int64_t(1) << 16;
  std::optional<Dim> formula = sizeOfFormula(symbol, symbols);
  if (formula && formula->known())
    return *formula;
  if (unbound.insert(name).second) {
    std::string option = StringRef(name).contains(' ')
                             ? "--dim '" + printable(name)
                             : "--dim " + printable(name);
    std::string end = StringRef(name).contains(' ') ? "'" : "";
    questions.push_back(
        {name,
         "the input `" + printable(input.name()) + "` has a dynamic dimension" +
             (isNamed ? " `" + printable(name) + "`" : "") + " at axis " +
             std::to_string(axis) + ", and no option sets it",
         "fix it with " + option + "=SIZE" + end + ", or bound it with " +
             option + "=1..64" + end});
  }
  return dimOf(name, formula ? SizeRange(formula->least(), formula->most())
                             : SizeRange(1, mostDetermined));
}

void GraphImporter::followFormulas() {
  for (const Question &question : questions)
    if (std::optional<Dim> formula = sizeOfFormula(question.symbol, symbols))
      (void)requireEqual(
          dimOf(question.symbol, {formula->least(), formula->most()}),
          *formula);
}

bool GraphImporter::isDetermined(StringRef symbol) const {
  auto size = assumed.find(symbol.str());
  if (size == assumed.end())
    return false;
  return llvm::none_of(size->second.given(), [&](kernel::SymbolAttr other) {
    return unbound.contains(other.getName());
  });
}

bool GraphImporter::reportUnbound(const Diagnostics &before) {
  if (llvm::all_of(questions, [&](const Question &question) {
        return isDetermined(question.symbol);
      }))
    return false;
  // Diagnostics that were reported during the import may be consequences of the
  // missing sizes. They are dropped, except those of unknown and unsupported
  // operators, which do not depend on sizes. Data that cannot be read may
  // determine the missing sizes, so then only this data is reported.
  Diagnostics all = std::exchange(diagnostics, before);
  bool isUnreadable = false;
  for (const Diagnostic &fault : all.list().drop_front(before.list().size()))
    if (fault.id == DiagnosticId::ExternalData) {
      diagnostics.report(fault);
      isUnreadable = true;
    }
  if (isUnreadable)
    return true;
  for (const Question &question : questions)
    if (!isDetermined(question.symbol))
      diagnostics.report(DiagnosticId::UnboundDimension, question.message,
                         question.hint);
  for (const Diagnostic &fault : all.list().drop_front(before.list().size()))
    if (fault.id == DiagnosticId::UnsupportedOperator ||
        fault.id == DiagnosticId::UnknownOperator)
      diagnostics.report(fault);
  return true;
}

bool GraphImporter::inputShape(const onnx::ValueInfoProto &input, Dims &shape) {
  const auto &type = input.type().tensor_type();
  if (type.has_shape()) {
    bool known = true;
    for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
      auto size = dimension(input, axis, type.shape().dim(axis));
      known &= size.has_value();
      shape.push_back(size.value_or(Dim(1)));
    }
    return known;
  }
  if (auto given = options.shapes.find(input.name());
      given != options.shapes.end()) {
    shape.append(given->second.begin(), given->second.end());
    return true;
  }
  for (auto it = symbols.find(placeName(input, 0)); it != symbols.end();
       it = symbols.find(placeName(input, shape.size())))
    shape.push_back(it->second);
  for (int axis = shape.size() + 1; axis < 8 && !shape.empty(); ++axis)
    if (symbols.count(placeName(input, axis))) {
      diagnostics.report(DiagnosticId::BadOption,
                         "--dim sets " + printable(placeName(input, axis)) +
                             ", but not " +
                             printable(placeName(input, shape.size())));
      return false;
    }
  if (!shape.empty())
    return true;
  diagnostics.report(DiagnosticId::UnboundDimension,
                     "the model declares no shape for the input `" +
                         printable(input.name()) + "`",
                     "set all its sizes: --dim " +
                         printable(placeName(input, 0)) + "=SIZE --dim " +
                         printable(placeName(input, 1)) + "=SIZE ...");
  return false;
}

static std::string kindOfType(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kSequenceType:
    return "a sequence";
  case onnx::TypeProto::kMapType:
    return "a map";
  case onnx::TypeProto::kOptionalType:
    return "an optional value";
  case onnx::TypeProto::kSparseTensorType:
    return "a sparse tensor";
  default:
    return "not a tensor";
  }
}

/// Returns the type of an argument or result of main. Callers pass dense
/// tensors, while the program lays out a tensor with dynamic sizes with the
/// strides of its upper bounds. If the two layouts differ, the argument is
/// one-dimensional.
static RankedTensorType typeInProgram(RankedTensorType type) {
  Dims sizes = dimsOf(type);
  return isCompact(sizes) ? type
                          : tensorOf({product(sizes)}, type.getElementType());
}

Type GraphImporter::elementTypeOf(const std::string &shown, int64_t dataType) {
  Type element = elementType(dataType, &context);
  if (!element && !dataTypeName(dataType).empty())
    diagnostics.report(DiagnosticId::UnsupportedType,
                       shown + " has the element type " +
                           dataTypeName(dataType));
  else if (!element)
    diagnostics.report(DiagnosticId::InvalidType,
                       shown + " has the undefined element type " +
                           Twine(dataType));
  return element;
}

RankedTensorType GraphImporter::inputType(const onnx::ValueInfoProto &input) {
  std::string shown = "the input `" + printable(input.name()) + "`";
  if (!input.type().has_tensor_type()) {
    bool isKnown = input.type().value_case() != onnx::TypeProto::VALUE_NOT_SET;
    diagnostics.report(
        isKnown ? DiagnosticId::UnsupportedType : DiagnosticId::InvalidType,
        shown + (isKnown ? " is " + kindOfType(input.type()) : " has no type"));
    return {};
  }
  Type element = elementTypeOf(shown, input.type().tensor_type().elem_type());
  Dims sizes;
  if (!element || !inputShape(input, sizes))
    return {};
  auto shape =
      llvm::map_to_vector(sizes, [](const Dim &d) { return d.most(); });
  bool isUnbound = llvm::any_of(sizes, [&](const Dim &size) {
    return llvm::any_of(size.given(), [&](kernel::SymbolAttr symbol) {
      return unbound.contains(symbol.getName());
    });
  });
  if (isUnbound && !checkedElements(shape, 8 * elementBytes(element)))
    return {};
  if (!checkedElements(shape, 8 * elementBytes(element)) &&
      !llvm::all_of(sizes, [](const Dim &size) { return size.known(); })) {
    diagnostics.report(
        DiagnosticId::UnsupportedForm,
        shown + " is too large with all dimensions at their upper bounds, " +
            shapeText(shape),
        "reduce the bounds with --dim");
    return {};
  }
  if (!checkedElements(shape, 8 * elementBytes(element))) {
    diagnostics.report(DiagnosticId::InvalidShape,
                       shown + " has the invalid shape " + shapeText(shape));
    return {};
  }
  return tensorOf(sizes, element);
}

NamedAttrList GraphImporter::interfaceAttrs(StringRef name, Type type,
                                            Part part) {
  NamedAttrList attrs;
  StringRef kind = part == Part::Elements  ? kernel::kElementsPart
                   : part == Part::Shapes  ? kernel::kShapesPart
                   : part == Part::Present ? kernel::kPresentPart
                                           : "";
  if (!kind.empty())
    attrs.set(kernel::kPartAttr, builder.getStringAttr(kind));
  else if (auto note = notes.find(name); note != notes.end())
    attrs.set(kernel::kCommentAttr, builder.getStringAttr(note->second));
  attrs.set(kernel::kOnnxNameAttr, builder.getStringAttr(name));
  attrs.set(kernel::kOnnxTypeAttr,
            builder.getStringAttr(dataTypeName(
                onnxDataType(cast<RankedTensorType>(type).getElementType()))));
  return attrs;
}

bool GraphImporter::importInputs(const onnx::GraphProto &graph, Scope &scope) {
  if (!checkDimOptions(graph))
    return false;
  size_t reported = diagnostics.size();
  bindDataShapes(graph);
  std::vector<SmallVector<RankedTensorType>> types;
  llvm::StringSet<> names;
  for (const auto *input : fedInputs(graph)) {
    types.push_back(partTypes(*input));
    for (Part part : partsOf(input->type()))
      if (std::string name = partName(input->name(), part);
          !names.insert(name).second)
        diagnostics.report(
            DiagnosticId::UnsupportedForm,
            "two inputs have the same name in the generated code, `" +
                printable(name) + "`",
            "rename one of them");
  }
  auto isMissing = [](RankedTensorType type) { return !type; };
  if (diagnostics.size() != reported ||
      llvm::any_of(types, [&](ArrayRef<RankedTensorType> own) {
        return llvm::any_of(own, isMissing);
      }))
    return false;
  std::vector<SmallVector<Value>> values;
  for (auto [input, own] : llvm::zip(fedInputs(graph), types)) {
    values.emplace_back();
    SmallVector<Part> parts = partsOf(input->type());
    for (auto [part, type] : llvm::zip(parts, own))
      values.back().push_back(
          addInput(partName(input->name(), part), type, part));
    // If the declared type fixes the shape of all elements of a sequence, a
    // caller of the generated function passes no table of their shapes. The
    // fixed shape then becomes an attribute of the argument.
    if (!parts.empty() && parts.back() == Part::Elements) {
      Dims element;
      for (const auto &dim : tensorIn(input->type())->shape().dim())
        element.push_back(Dim(dim.dim_value()));
      main.setArgAttr(argumentNames.size() - 1, kernel::kElementAttr,
                      kernel::sizesAttr(element, &context));
    }
  }
  followFormulas();
  for (const auto &[name, text] : options.bind)
    bindOption(name, text);
  if (diagnostics.size() == reported)
    for (auto [input, own] : llvm::zip(fedInputs(graph), values))
      scope.bindings[input->name()] = valueOfParts(*input, own);
  return diagnostics.size() == reported;
}

Value GraphImporter::addInput(StringRef name, RankedTensorType type,
                              Part part) {
  unsigned i = argumentNames.size();
  Location loc = NameLoc::get(builder.getStringAttr(printable(name)));
  NamedAttrList attrs = interfaceAttrs(name, type, part);
  (void)main.insertArgument(i, typeInProgram(type),
                            attrs.getDictionary(&context), loc);
  argumentNames.push_back(name.str());
  givenSizes.push_back(dimsOf(type));
  Value value = main.getArgument(i);
  return value.getType() == type
             ? value
             : buildReshape(builder, loc, value, dimsOf(type));
}

void GraphImporter::bindOption(const std::string &name,
                               const std::string &text) {
  BlockArgument argument =
      main.getArgument(llvm::find(argumentNames, name) - argumentNames.begin());
  auto type = cast<RankedTensorType>(argument.getType());
  Type element = type.getElementType();
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, ',', -1, /*KeepEmpty=*/false);
  auto fail = [&](const Twine &message) {
    diagnostics.report(DiagnosticId::BadOption,
                       "--bind " + printable(name) + ": " + message,
                       "the input is " + describe(type) +
                           "; list its values in order, separated by commas");
  };
  if (isa<kernel::StringType>(element))
    return fail("strings cannot be bound");
  if (int64_t(parts.size()) != type.getNumElements())
    return fail(Twine(parts.size()) + " values given, " +
                Twine(type.getNumElements()) + " needed");
  SmallVector<Attribute> values;
  for (StringRef part : parts) {
    double number;
    int64_t integer;
    part = part.trim();
    if (auto floating = dyn_cast<FloatType>(element)) {
      if (part.getAsDouble(number))
        return fail("`" + printable(part) + "` is not a number");
      values.push_back(FloatAttr::get(floating, number));
    } else {
      if (part == "true" || part == "false")
        integer = part == "true";
      else if (part.getAsInteger(10, integer))
        return fail("`" + printable(part) + "` is not an integer");
      values.push_back(IntegerAttr::get(
          element,
          APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(integer),
                /*isSigned=*/true, /*implicitTrunc=*/true)));
    }
  }
  bindInput(argument, DenseElementsAttr::get(type, values));
}

/// Compares the type of an output with its declaration in the model. A
/// different shape is only a warning, because converters of tree models declare
/// the shape for a batch of one. A declared sequence of maps from labels to
/// scores is also only a warning: the output is a tensor with a column per
/// label.
void GraphImporter::checkDeclared(const onnx::ValueInfoProto &output,
                                  RankedTensorType type) {
  const onnx::TypeProto &declared = output.type();
  if (declared.value_case() == onnx::TypeProto::VALUE_NOT_SET)
    return;
  bool isMaps = declared.has_sequence_type() &&
                declared.sequence_type().elem_type().has_map_type();
  bool hasElement = isMaps, hasShape = !isMaps;
  std::string text = isMaps                       ? "a sequence of maps"
                     : declared.has_tensor_type() ? typeText(declared)
                                                  : kindOfType(declared);
  if (declared.has_tensor_type()) {
    int64_t dataType = declared.tensor_type().elem_type();
    hasElement = !dataType || dataType == onnxDataType(type.getElementType());
  }
  if (declared.has_tensor_type() && declared.tensor_type().has_shape()) {
    const auto &dims = declared.tensor_type().shape().dim();
    hasShape = dims.size() == type.getRank();
    for (int i = 0; i < dims.size() && hasShape; ++i)
      hasShape = !dims[i].has_dim_value() || dims[i].dim_value() == -1 ||
                 mayBe(dimsOf(type)[i], dims[i].dim_value());
  }
  if (hasElement && hasShape)
    return;
  diagnostics.report(
      hasElement ? DiagnosticId::DeclaredShape : DiagnosticId::OutputMismatch,
      "the output `" + printable(output.name()) + "` is declared as " + text +
          ", but is computed as " + describe(type));
}

bool GraphImporter::importOutputs(const onnx::GraphProto &graph, Scope &scope) {
  if (!diagnostics.empty())
    return false;
  std::vector<OutputPart> parts;
  for (const auto &output : graph.output()) {
    Binding binding = scope.lookup(output.name());
    binding.forEachValue([&](Value &value) { value = resolve(value); });
    if (binding.kind == Binding::Undefined)
      diagnostics.report(DiagnosticId::UndefinedValue,
                         "nothing produces the graph's output `" +
                             printable(output.name()) + "`");
    else if (!addOutputParts(output, binding, scope, parts))
      continue;
  }
  if (!diagnostics.empty())
    return false;
  SmallVector<Value> values;
  SmallVector<Type> inProgram;
  for (const OutputPart &part : parts) {
    auto own = cast<RankedTensorType>(part.value.getType()),
         type = typeInProgram(own);
    values.push_back(own == type ? part.value
                                 : buildReshape(builder, part.value.getLoc(),
                                                part.value, dimsOf(type)));
    inProgram.push_back(type);
  }
  auto isEmpty = [](Type type) {
    return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
  };
  if (!options.dims.empty() && !inProgram.empty() &&
      llvm::all_of(inProgram, isEmpty))
    diagnostics.report(DiagnosticId::EmptyTensors,
                       "every output of the model is empty: a dimension is 0",
                       "set dimensions to 1 or more with --dim");
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  main.setFunctionType(
      builder.getFunctionType(main.getArgumentTypes(), inProgram));
  for (auto [i, part] : llvm::enumerate(parts)) {
    Type own = part.value.getType();
    main.setResultAttrs(
        i, interfaceAttrs(part.name, own, part.part).getDictionary(&context));
    if (own != inProgram[i])
      main.setResultAttr(i, kernel::kSizesAttr, kernel::SizesAttr::of(own));
    if (part.element)
      main.setResultAttr(i, kernel::kElementAttr,
                         kernel::sizesAttr(*part.element, &context));
  }
  describeInputSizes();
  return true;
}

} // namespace ingot
