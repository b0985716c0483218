#include "compiler/import/custom/CustomOperators.h"

#include "compiler/import/custom/ElementExpression.h"
#include "compiler/import/custom/OperandPattern.h"
#include "onnx/defs/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLTraits.h"

#include <fstream>
#include <set>

using namespace llvm;

namespace ingot {

namespace {
/// One entry of a file of custom operators; its fields are the text in the
/// file.
struct Declaration {
  std::string name, types, element, definition, function, scratch, parallel,
      scale;
  int64_t version = 1;
  std::vector<std::string> inputs, outputs, attributes, counts, sources;
};
} // namespace

} // namespace ingot

LLVM_YAML_IS_SEQUENCE_VECTOR(ingot::Declaration)

template <> struct llvm::yaml::MappingTraits<ingot::Declaration> {
  static void mapping(IO &io, ingot::Declaration &d) {
    io.mapOptional("name", d.name);
    io.mapOptional("version", d.version);
    io.mapOptional("types", d.types);
    io.mapOptional("inputs", d.inputs);
    io.mapOptional("outputs", d.outputs);
    io.mapOptional("attributes", d.attributes);
    io.mapOptional("element", d.element);
    io.mapOptional("definition", d.definition);
    io.mapOptional("function", d.function);
    io.mapOptional("counts", d.counts);
    io.mapOptional("scratch", d.scratch);
    io.mapOptional("parallel", d.parallel);
    io.mapOptional("source", d.sources);
    io.mapOptional("scale", d.scale);
  }
};

namespace ingot {

static Error fault(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// The metadata key of an ONNX function; the value "keep" says that the
/// function's result has the same range as its first input.
static constexpr const char *scaleKey = "ingot.scale";

static StringRef canonical(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

/// Converts declarations of custom operators to ONNX functions.
class DeclarationReader {
public:
  DeclarationReader(CustomOperators &result, StringRef path)
      : result(result), folder(sys::path::parent_path(path)) {}

  Error read(const Declaration &entry) {
    int forms = !entry.element.empty() + !entry.definition.empty() +
                !entry.function.empty();
    if (forms != 1)
      return fault("an operator needs exactly one of `element`, `definition` "
                   "and `function`");
    if (entry.version < 1)
      return fault("`version` must be positive");
    if (!entry.scale.empty() && entry.scale != "keep")
      return fault("`scale` must be `keep`, not `" + entry.scale + "`");
    if (!entry.definition.empty())
      return readDefinition(entry);
    auto [domain, name] = StringRef(entry.name).rsplit("::");
    if (domain.empty() || name.empty())
      return fault("expected the name as DOMAIN::NAME, not `" + entry.name +
                   "`");
    onnx::FunctionProto function;
    function.set_domain(domain.str());
    function.set_name(name.str());
    Names names;
    for (const std::string &text : entry.attributes) {
      Expected<AttributePattern> attribute = parseAttribute(text);
      if (!attribute)
        return attribute.takeError();
      addAttribute(*attribute, function);
      names.attributes.insert(attribute->name);
    }
    if (Error error = entry.element.empty()
                          ? fillCall(entry, std::move(names), function)
                          : fillElement(entry, function))
      return error;
    add(entry, std::move(function));
    return Error::success();
  }

private:
  std::string inFolder(StringRef file) const {
    SmallString<128> path(file);
    if (sys::path::is_relative(path) && !folder.empty()) {
      path = folder;
      sys::path::append(path, file);
    }
    return path.str().str();
  }

  void add(const Declaration &entry, onnx::FunctionProto function) {
    if (!entry.scale.empty()) {
      auto *property = function.add_metadata_props();
      property->set_key(scaleKey);
      property->set_value(entry.scale);
    }
    result.operators.push_back({std::move(function), entry.version});
  }

  /// Adds an attribute with its default; an attribute without a default is
  /// required.
  static void addAttribute(const AttributePattern &attribute,
                           onnx::FunctionProto &function) {
    using Proto = onnx::AttributeProto;
    if (!attribute.hasDefault) {
      function.add_attribute(attribute.name);
      return;
    }
    Proto &proto = *function.add_attribute_proto();
    proto.set_name(attribute.name);
    StringRef value = attribute.byDefault;
    if (attribute.type == "int") {
      int64_t number = 0;
      (void)value.getAsInteger(10, number);
      proto.set_type(Proto::INT);
      proto.set_i(number);
    } else if (attribute.type == "float") {
      double number = 0;
      (void)value.getAsDouble(number);
      proto.set_type(Proto::FLOAT);
      proto.set_f(static_cast<float>(number));
    } else {
      proto.set_type(Proto::STRING);
      proto.set_s(value.str());
    }
  }

  static Error fillElement(const Declaration &entry,
                           onnx::FunctionProto &function) {
    if (!entry.scratch.empty() || !entry.parallel.empty() ||
        !entry.sources.empty() || !entry.counts.empty())
      return fault("`scratch`, `parallel`, `counts` and `source` belong to "
                   "`function`");
    if (entry.outputs.size() != 1)
      return fault("an element expression has exactly one output");
    // Declared types of the operands are dropped: the operators in the
    // expression determine the types and sizes.
    for (StringRef input : entry.inputs)
      function.add_input(input.split(':').first.trim().str());
    function.add_output(
        StringRef(entry.outputs[0]).split(':').first.trim().str());
    Expected<Formula> formula = parseFormula(entry.element);
    if (!formula)
      return formula.takeError();
    return appendNodes(*formula, function);
  }

  /// The names that the size formulas of a custom operator may use. The names
  /// in `lists`, which are also in `sizes`, stand for any number of axes.
  struct Names {
    std::set<std::string, std::less<>> sizes, attributes, lists;

    Error check(const Formula &formula) const {
      std::string unknown;
      formula.forEachName([&](StringRef name) {
        if (!sizes.count(name.str()) && !attributes.count(name.str()))
          unknown = name.str();
      });
      return unknown.empty()
                 ? Error::success()
                 : fault("`" + unknown +
                         "` is neither a size of an input nor an attribute");
    }
    Error check(StringRef text) const {
      Expected<Formula> formula = parseFormula(text);
      return formula ? check(*formula) : formula.takeError();
    }
  };

  /// Checks the operands in `list`, and adds their names to `names` and
  /// `function`.
  static Error addOperands(const std::vector<std::string> &list, bool areInputs,
                           Names &names, ArrayRef<TypeLetter> letters,
                           onnx::FunctionProto &function) {
    std::vector<Formula> formulas;
    for (const std::string &text : list) {
      Expected<OperandPattern> operand = parseOperand(text);
      if (!operand)
        return operand.takeError();
      bool isLetter = operand->type.size() == 1;
      if (isLetter && none_of(letters, [&](const TypeLetter &letter) {
            return letter.letter == operand->type;
          }))
        return fault("`types` does not say what `" + operand->type + "` in `" +
                     text + "` stands for");
      for (const OperandPattern::Axis &axis : operand->axes) {
        const std::string &name = axis.size.text;
        bool isNew = areInputs && axis.size.isName() &&
                     !names.attributes.count(name) && !names.sizes.count(name);
        if (axis.isList && isNew)
          names.lists.insert(name);
        if (axis.isList && !names.lists.count(name))
          return fault("`" + name + "...` in `" + text + "`: `" + name +
                       "` is not the name of a list of axes of an input");
        if (isNew)
          names.sizes.insert(name);
        else
          formulas.push_back(axis.size);
      }
      *(areInputs ? function.add_input() : function.add_output()) =
          operand->name;
    }
    for (const Formula &formula : formulas)
      if (Error error = names.check(formula))
        return error;
    return Error::success();
  }

  /// Fills in `function` for an operator that is a C function: its body is one
  /// CallExternal node. `names` contains the names of the attributes.
  Error fillCall(const Declaration &entry, Names names,
                 onnx::FunctionProto &function) {
    Expected<std::vector<TypeLetter>> letters = parseLetters(entry.types);
    if (!letters)
      return letters.takeError();
    if (Error error =
            addOperands(entry.inputs, true, names, *letters, function))
      return error;
    for (StringRef count : entry.counts) {
      auto [name, bound] = count.split('=');
      if (Error error = names.check(bound.trim()))
        return error;
      names.sizes.insert(name.trim().str());
    }
    if (entry.outputs.empty())
      return fault("a function needs at least one output");
    if (Error error =
            addOperands(entry.outputs, false, names, *letters, function))
      return error;
    for (StringRef formula :
         {StringRef(entry.scratch), StringRef(entry.parallel)})
      if (!formula.empty())
        if (Error error = names.check(formula))
          return error;
    StringRef symbol = entry.function;
    if (symbol.empty() || isDigit(symbol.front()) ||
        !all_of(symbol, [](char c) {
          return isAlnum(c) || c == '_' || c == '{' || c == '}';
        }))
      return fault("`" + symbol + "` is not the name of a C function");
    // In the name of the C function, {T} stands for the element type that the
    // letter T has in a call.
    for (StringRef rest = symbol.split('{').second; !rest.empty();
         rest = rest.split('{').second)
      if (rest.size() < 2 || rest[1] != '}' ||
          none_of(*letters, [&](const TypeLetter &letter) {
            return letter.letter == rest.take_front(1);
          }))
        return fault("`{" + rest.take_front(2) + "` in `" + symbol +
                     "` is not a letter of `types` in braces");
    for (const std::string &source : entry.sources)
      result.files.push_back(inFolder(source));

    auto *import = function.add_opset_import();
    import->set_domain("ingot");
    import->set_version(1);
    onnx::NodeProto &node = *function.add_node();
    node.set_domain("ingot");
    node.set_op_type("CallExternal");
    *node.mutable_input() = function.input();
    *node.mutable_output() = function.output();
    auto text = [&](const char *name, const std::string &value) {
      onnx::AttributeProto &attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::STRING);
      attribute.set_s(value);
    };
    auto texts = [&](const char *name, const std::vector<std::string> &values) {
      onnx::AttributeProto &attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::STRINGS);
      for (const std::string &value : values)
        attribute.add_strings(value);
    };
    text("external_operator", entry.name);
    text("external_function", entry.function);
    text("external_types", entry.types);
    text("external_scratch", entry.scratch);
    text("external_parallel", entry.parallel);
    texts("external_inputs", entry.inputs);
    texts("external_outputs", entry.outputs);
    texts("external_counts", entry.counts);
    texts("external_attributes", entry.attributes);
    for (const std::string &name : names.attributes) {
      onnx::AttributeProto &attribute = *node.add_attribute();
      attribute.set_name(name);
      attribute.set_ref_attr_name(name);
    }
    return Error::success();
  }

  Error readDefinition(const Declaration &entry) {
    if (!entry.name.empty() || !entry.inputs.empty() ||
        !entry.outputs.empty() || !entry.attributes.empty())
      return fault("with `definition`, the name, the operands and the "
                   "attributes are those of the definition");
    if (StringRef(entry.definition).trim().starts_with("<")) {
      onnx::FunctionProto function;
      onnx::Common::Status status =
          onnx::OnnxParser::Parse(function, entry.definition.c_str());
      if (!status.IsOK())
        return fault("`definition` is not the text of an ONNX function: " +
                     status.ErrorMessage());
      add(entry, std::move(function));
      return Error::success();
    }
    std::string path = inFolder(entry.definition);
    std::ifstream file(path, std::ios::binary);
    onnx::ModelProto model;
    if (!file || !model.ParseFromIstream(&file))
      return fault("`" + path + "` cannot be read as an ONNX model");
    if (model.functions_size() == 0)
      return fault("the model `" + path + "` has no functions");
    for (const onnx::FunctionProto &function : model.functions())
      add(entry, function);
    return Error::success();
  }

  CustomOperators &result;
  std::string folder;
};

bool CustomOperators::read(StringRef path, Diagnostics &diagnostics) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    diagnostics.reportFile(DiagnosticId::CannotRead, path,
                           "cannot be read: " + file.getError().message());
    return false;
  }
  std::string problem;
  auto note = [](const SMDiagnostic &diagnostic, void *to) {
    auto &text = *static_cast<std::string *>(to);
    if (text.empty())
      text = "line " + itostr(diagnostic.getLineNo()) + ": " +
             diagnostic.getMessage().str();
  };
  yaml::Input input((*file)->getBuffer(), nullptr, note, &problem);
  std::vector<Declaration> entries;
  input >> entries;
  if (input.error()) {
    diagnostics.reportFile(DiagnosticId::CustomOperator, path,
                           "is not a list of operators: " + printable(problem));
    return false;
  }
  DeclarationReader reader(*this, path);
  for (auto [i, entry] : enumerate(entries)) {
    Error error = Error::success();
    try {
      error = reader.read(entry);
    } catch (const std::exception &thrown) {
      error = fault(thrown.what());
    }
    if (!error)
      continue;
    diagnostics.reportFile(
        DiagnosticId::CustomOperator, path,
        "operator " + Twine(i + 1) +
            (entry.name.empty() ? "" : " `" + printable(entry.name) + "`") +
            ": " + printable(toString(std::move(error)), 400));
  }
  return diagnostics.empty();
}

void CustomOperators::addTo(onnx::ModelProto &model) const {
  auto same = [](const onnx::FunctionProto &a, const onnx::FunctionProto &b) {
    return a.name() == b.name() &&
           canonical(a.domain()) == canonical(b.domain());
  };
  for (const Operator &entry : operators) {
    StringRef domain = canonical(entry.function.domain());
    int64_t opset = 0, newest = 0;
    for (const Operator &other : operators)
      if (canonical(other.function.domain()) == domain)
        newest = std::max(newest, other.version);
    for (const auto &import : model.opset_import())
      if (canonical(import.domain()) == domain)
        opset = import.version();
    // A model may omit the opset import of the domain of its custom operators;
    // the newest version of each of them then applies.
    if (!opset) {
      auto *import = model.add_opset_import();
      import->set_domain(entry.function.domain());
      import->set_version(newest);
      opset = newest;
    }
    bool isReplaced = any_of(operators, [&](const Operator &other) {
      return same(other.function, entry.function) &&
             other.version > entry.version && other.version <= opset;
    });
    bool isDefined = any_of(model.functions(), [&](const auto &function) {
      return same(function, entry.function);
    });
    if (!isReplaced && !isDefined && entry.version <= opset)
      *model.add_functions() = entry.function;
  }
}

bool CustomOperators::keepsScale(const onnx::FunctionProto &function) {
  return any_of(function.metadata_props(), [](const auto &property) {
    return property.key() == scaleKey && property.value() == "keep";
  });
}

} // namespace ingot
