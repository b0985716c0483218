#include "compiler/import/custom/ElementExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace ingot {

namespace {

/// The ONNX opset of the operators in the generated functions.
constexpr int64_t opset = 18;

template <typename... Args> Error fault(const char *format, Args... args) {
  return createStringError(inconvertibleErrorCode(), format, args...);
}

class NodeBuilder {
public:
  explicit NodeBuilder(onnx::FunctionProto &function) : function(function) {
    append_range(names, function.input());
    append_range(names, function.output());
  }

  Expected<std::string> build(const Formula &formula) {
    switch (formula.kind) {
    case Formula::Number:
      return number(formula);
    case Formula::Name:
      return buildName(formula.text);
    case Formula::Apply:
      return apply(formula);
    }
    llvm_unreachable("unknown formula");
  }

  /// Adds a node of an ONNX operator, and returns the name of its result.
  std::string node(StringRef operation, ArrayRef<std::string> operands) {
    onnx::NodeProto &node = *function.add_node();
    node.set_op_type(operation.str());
    for (const std::string &operand : operands)
      node.add_input(operand);
    std::string result;
    do
      result = operation.lower() + "_" + utostr(numbered++);
    while (is_contained(names, result));
    names.push_back(result);
    node.add_output(result);
    return result;
  }

private:
  /// Adds a constant whose value `set` defines, cast to the type of the first
  /// input.
  std::string constant(function_ref<void(onnx::AttributeProto &)> set) {
    std::string value = node("Constant", {});
    onnx::NodeProto &last = *function.mutable_node(function.node_size() - 1);
    set(*last.add_attribute());
    return node("CastLike", {value, function.input(0)});
  }

  /// Adds a number. An int64 holds whole numbers and a double the others, so
  /// that the cast to the type of the first input is the only rounding.
  std::string number(const Formula &formula) {
    return constant([&](onnx::AttributeProto &value) {
      int64_t whole;
      if (!StringRef(formula.text).getAsInteger(10, whole)) {
        value.set_name("value_int");
        value.set_type(onnx::AttributeProto::INT);
        value.set_i(whole);
        return;
      }
      value.set_name("value");
      value.set_type(onnx::AttributeProto::TENSOR);
      value.mutable_t()->set_data_type(onnx::TensorProto::DOUBLE);
      value.mutable_t()->add_double_data(formula.number);
    });
  }

  Expected<std::string> buildName(const std::string &name) {
    if (is_contained(function.input(), name))
      return name;
    auto type = onnx::AttributeProto::UNDEFINED;
    for (const onnx::AttributeProto &attribute : function.attribute_proto())
      if (attribute.name() == name)
        type = attribute.type();
    if (type != onnx::AttributeProto::FLOAT &&
        type != onnx::AttributeProto::INT)
      return fault("`%s` is neither an input nor a number attribute with a "
                   "default",
                   name.c_str());
    return constant([&](onnx::AttributeProto &value) {
      bool isFloat = type == onnx::AttributeProto::FLOAT;
      value.set_name(isFloat ? "value_float" : "value_int");
      value.set_ref_attr_name(name);
      value.set_type(type);
    });
  }

  /// Returns the ONNX operator whose name equals `name` except for case; null
  /// if there is none or if it does not accept `operands` inputs.
  static const onnx::OpSchema *operatorOf(StringRef name, int operands) {
    for (const onnx::OpSchema &schema :
         onnx::OpSchemaRegistry::get_all_schemas()) {
      if (!schema.domain().empty() || !name.equals_insensitive(schema.Name()))
        continue;
      const onnx::OpSchema *at =
          onnx::OpSchemaRegistry::Schema(schema.Name(), opset, "");
      return at && at->min_input() <= operands && operands <= at->max_input()
                 ? at
                 : nullptr;
    }
    return nullptr;
  }

  Expected<std::string> apply(const Formula &formula) {
    StringRef spelled = formula.text;
    std::vector<std::string> operands;
    for (const Formula &operand : formula.operands) {
      Expected<std::string> value = build(operand);
      if (!value)
        return value;
      operands.push_back(std::move(*value));
    }
    if (spelled == "!=")
      return node("Not", {node("Equal", operands)});
    if (spelled == "%") {
      // As in C, the remainder has the sign of the dividend.
      std::string remainder = node("Mod", operands);
      onnx::NodeProto &last = *function.mutable_node(function.node_size() - 1);
      onnx::AttributeProto &truncates = *last.add_attribute();
      truncates.set_name("fmod");
      truncates.set_type(onnx::AttributeProto::INT);
      truncates.set_i(1);
      return remainder;
    }
    StringRef name = StringSwitch<StringRef>(spelled)
                         .Case("+", "Add")
                         .Case("-", operands.size() == 1 ? "Neg" : "Sub")
                         .Case("*", "Mul")
                         .Case("/", "Div")
                         .Case("<", "Less")
                         .Case(">", "Greater")
                         .Case("<=", "LessOrEqual")
                         .Case(">=", "GreaterOrEqual")
                         .Case("==", "Equal")
                         .Case("&&", "And")
                         .Case("||", "Or")
                         .Case("!", "Not")
                         .Case("?:", "Where")
                         .Default("");
    if (name.empty()) {
      const onnx::OpSchema *schema =
          operatorOf(spelled, static_cast<int>(operands.size()));
      if (!schema)
        return fault("`%s` with %zu operands is not an operator of ONNX",
                     spelled.str().c_str(), operands.size());
      name = schema->Name();
    }
    return node(name, operands);
  }

  onnx::FunctionProto &function;
  std::vector<std::string> names;
  unsigned numbered = 0;
};

} // namespace

Error appendNodes(const Formula &formula, onnx::FunctionProto &function) {
  if (function.input().empty())
    return fault("an element expression needs an input");
  auto *import = function.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  NodeBuilder builder(function);
  Expected<std::string> result = builder.build(formula);
  if (!result)
    return result.takeError();
  builder.node("Identity", {*result});
  function.mutable_node(function.node_size() - 1)
      ->set_output(0, function.output(0));
  return Error::success();
}

} // namespace ingot
