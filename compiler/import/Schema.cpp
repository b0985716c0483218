#include "compiler/import/Schema.h"

#include "compiler/import/FurtherSchemas.h"
#include "compiler/import/OperandShapes.h"
#include "compiler/import/TensorData.h"
#include "compiler/import/operators/OnnxImport.h"
#include "onnx/defs/shape_inference.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

StringRef canonicalDomain(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

int64_t newestOpset(StringRef domain) {
  registerFurtherSchemas();
  const auto &map =
      onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto it = map.find(canonicalDomain(domain).str());
  return it == map.end() ? 0 : it->second.second;
}

bool isVendorDomain(StringRef domain) {
  for (StringRef prefix :
       {"com.microsoft", "ai.onnx.contrib", "ai.onnxruntime", "org.pytorch",
        "com.ms", "pkg.onnxscript", "com.intel", "org.openvinotoolkit",
        "com.nvidia", "trt", "onnx.brevitas", "qonnx.custom_op",
        "finn.custom_op"})
    if (domain.starts_with(prefix))
      return true;
  return false;
}

const onnx::OpSchema *lookupSchema(StringRef domain, StringRef name,
                                   int64_t opset) {
  registerFurtherSchemas();
  return onnx::OpSchemaRegistry::Schema(
      name.str(), static_cast<int>(std::min<int64_t>(opset, INT32_MAX)),
      canonicalDomain(domain).str());
}

int64_t firstOpset(StringRef domain, StringRef name) {
  for (int64_t opset = 1, last = newestOpset(domain); opset <= last; ++opset)
    if (lookupSchema(domain, name, opset))
      return opset;
  return 0;
}

std::vector<std::string> operatorNames(StringRef domain) {
  registerFurtherSchemas();
  llvm::StringSet<> names;
  for (const onnx::OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas())
    if (schema.domain() == canonicalDomain(domain))
      names.insert(schema.Name());
  for (const graph::OnnxOperator *op : graph::OnnxRegistry::get().all())
    if (canonicalDomain(op->domain) == canonicalDomain(domain))
      names.insert(op->name);
  std::vector<std::string> sorted;
  for (const auto &entry : names)
    sorted.push_back(entry.first().str());
  llvm::sort(sorted);
  return sorted;
}

/// Given the types that a type constraint of an ONNX operator allows, returns
/// the names of the element types that Ingot supports.
static std::string elementTypes(const onnx::DataTypeSet &allowed) {
  std::vector<int64_t> types;
  MLIRContext context;
  for (onnx::DataType type : allowed) {
    onnx::TypeProto proto = onnx::Utils::DataTypeUtils::ToTypeProto(type);
    int64_t element = proto.tensor_type().elem_type();
    if (proto.has_tensor_type() && elementType(element, &context))
      types.push_back(element);
  }
  llvm::sort(types);
  types.erase(llvm::unique(types), types.end());
  return llvm::join(llvm::map_range(types, dataTypeName), ", ");
}

/// Returns the element types of an operator's operands, grouped by operands of
/// the same type, for example {"X, Y", "float32, float64"}.
static std::vector<std::pair<std::string, std::string>>
elementTypes(const onnx::OpSchema &schema) {
  llvm::MapVector<StringRef, std::pair<std::string, std::string>> ofConstraint;
  auto add = [&](const onnx::OpSchema::FormalParameter &operand) {
    auto &[names, types] = ofConstraint[operand.GetTypeStr()];
    names += (names.empty() ? "" : ", ") + operand.GetName();
    types = elementTypes(operand.GetTypes());
  };
  llvm::for_each(schema.inputs(), add);
  llvm::for_each(schema.outputs(), add);
  std::vector<std::pair<std::string, std::string>> list;
  for (auto &[constraint, entry] : ofConstraint)
    if (!entry.second.empty())
      list.push_back(std::move(entry));
  return list;
}

std::vector<OperatorInfo> standardOperators() {
  registerFurtherSchemas();
  std::map<std::pair<std::string, std::string>, OperatorInfo> all;
  for (const onnx::OpSchema &schema :
       onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    OperatorInfo &info = all[{schema.domain(), schema.Name()}];
    info.versions.push_back(schema.SinceVersion());
  }
  for (const onnx::OpSchema &schema :
       onnx::OpSchemaRegistry::get_all_schemas()) {
    OperatorInfo &info = all[{schema.domain(), schema.Name()}];
    if (schema.Deprecated())
      continue;
    info.domain = schema.domain();
    info.name = schema.Name();
    info.isFunction =
        schema.HasFunction() || schema.HasContextDependentFunction();
    llvm::sort(info.versions);
    info.newest = newestOpset(info.domain);
    info.types = elementTypes(schema);
  }
  std::vector<OperatorInfo> list;
  for (auto &[key, info] : all)
    if (!info.name.empty())
      list.push_back(std::move(info));
  return list;
}

//===----------------------------------------------------------------------===//
// Checks of arity and attributes
//===----------------------------------------------------------------------===//

static const onnx::OpSchema::FormalParameter *
formalOf(const std::vector<onnx::OpSchema::FormalParameter> &list, size_t i) {
  if (list.empty() ||
      (i >= list.size() && list.back().GetOption() != onnx::OpSchema::Variadic))
    return nullptr;
  return &list[std::min(i, list.size() - 1)];
}

static std::string atMost(int count) {
  return count == INT32_MAX ? "any number" : std::to_string(count);
}

static std::optional<SchemaError> checkCount(StringRef what, int has, int least,
                                             int most) {
  if (has >= least && has <= most)
    return std::nullopt;
  return SchemaError{
      DiagnosticId::OperandCount,
      ("the node has " + Twine(has) + " " + what + (has == 1 ? "" : "s")).str(),
      least == most ? std::to_string(least)
                    : std::to_string(least) + " to " + atMost(most)};
}

static StringRef kindName(int kind) {
  static constexpr StringRef names[] = {
      "undefined",      "float",   "int",    "string",
      "tensor",         "graph",   "floats", "ints",
      "strings",        "tensors", "graphs", "sparse_tensor",
      "sparse_tensors", "type",    "types"};
  return kind >= 0 && kind < int(std::size(names)) ? names[kind] : "unknown";
}

/// Returns the type of an attribute. Exporters before IR version 2 omitted the
/// type; it is then derived from the field of the attribute that is set.
static int kindOf(const onnx::AttributeProto &attr) {
  if (attr.type() != onnx::AttributeProto::UNDEFINED)
    return attr.type();
  using A = onnx::AttributeProto;
  const std::pair<bool, int> fields[] = {{attr.has_f(), A::FLOAT},
                                         {attr.has_i(), A::INT},
                                         {attr.has_s(), A::STRING},
                                         {attr.has_t(), A::TENSOR},
                                         {attr.has_g(), A::GRAPH},
                                         {attr.floats_size() > 0, A::FLOATS},
                                         {attr.strings_size() > 0, A::STRINGS}};
  for (auto [isSet, kind] : fields)
    if (isSet)
      return kind;
  return A::INTS;
}

static std::optional<SchemaError>
checkAttributes(const onnx::NodeProto &node, const onnx::OpSchema &schema) {
  const auto &formal = schema.attributes();
  auto error = [](const Twine &message, std::string supported = "") {
    return SchemaError{DiagnosticId::InvalidAttribute, message.str(),
                       std::move(supported)};
  };
  llvm::StringSet<> seen;
  for (const auto &attr : node.attribute()) {
    std::string shown = "`" + printable(attr.name()) + "`";
    if (!seen.insert(attr.name()).second)
      return error("the attribute " + shown + " is given twice");
    auto it = formal.find(attr.name());
    if (it == formal.end()) {
      // An attribute that the operator does not have in this opset is an error,
      // and the message lists the attributes that it has.
      auto names = llvm::map_to_vector(
          formal, [](const auto &entry) { return entry.first; });
      llvm::sort(names);
      return error("`" + schema.Name() + "` has no attribute " + shown +
                       " in the definition of opset " +
                       Twine(schema.SinceVersion()),
                   llvm::join(names, ", "));
    }
    int kind = kindOf(attr), wanted = it->second.type;
    bool emptyList = attr.type() == onnx::AttributeProto::UNDEFINED;
    if (kind != wanted && !emptyList)
      return error("the attribute " + shown + " has the type " + kindName(kind),
                   kindName(wanted).str());
    // Attributes that are flags and must be 0 or 1: implementations interpret
    // other numbers differently.
    static const llvm::StringSet<> flags{"keepdims",  "transA",
                                         "transB",    "exclusive",
                                         "allowzero", "select_last_index"};
    if (kind == onnx::AttributeProto::INT && flags.contains(attr.name()) &&
        attr.ref_attr_name().empty() && attr.i() != 0 && attr.i() != 1)
      return error("the attribute " + shown + " is " + Twine(attr.i()),
                   "0 and 1");
  }
  for (auto &[name, attr] : formal)
    if (attr.required && !seen.contains(name))
      return error("the attribute `" + name + "` is missing");
  return std::nullopt;
}

std::optional<SchemaError> checkForm(const onnx::NodeProto &node,
                                     const onnx::OpSchema &schema) {
  if (auto error = checkCount("input", node.input_size(), schema.min_input(),
                              schema.max_input()))
    return error;
  if (auto error = checkCount("output", node.output_size(), schema.min_output(),
                              schema.max_output()))
    return error;
  auto isGiven = llvm::map_to_vector(
      node.input(), [](const std::string &name) { return !name.empty(); });
  if (auto error = checkGiven(schema, isGiven))
    return error;
  return checkAttributes(node, schema);
}

std::optional<SchemaError> checkGiven(const onnx::OpSchema &schema,
                                      ArrayRef<bool> isGiven) {
  for (auto [i, given] : llvm::enumerate(isGiven)) {
    const auto *formal = formalOf(schema.inputs(), i);
    bool required = formal && formal->GetOption() != onnx::OpSchema::Optional;
    if (required && !given)
      return SchemaError{DiagnosticId::OperandCount,
                         "the input `" + formal->GetName() + "` is missing",
                         ""};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Checks of types and shapes
//===----------------------------------------------------------------------===//

onnx::TypeProto typeProto(Value value) {
  onnx::TypeProto type;
  auto tensor = cast<RankedTensorType>(value.getType());
  type.mutable_tensor_type()->set_elem_type(
      onnxDataType(tensor.getElementType()));
  auto *shape = type.mutable_tensor_type()->mutable_shape();
  for (const graph::Dim &size : graph::dimsOf(tensor)) {
    auto *dim = shape->add_dim();
    if (auto known = size.known())
      dim->set_dim_value(*known);
  }
  return type;
}

namespace {
/// Gives ONNX's shape rule of an operator access to the imported operands of a
/// node.
class NodeInference : public onnx::InferenceContext {
public:
  NodeInference(const onnx::NodeProto &node, const onnx::OpSchema &schema,
                ArrayRef<Value> inputs, std::vector<onnx::TypeProto> &outputs)
      : inputs(inputs), outputs(outputs), types(inputs.size()),
        data(inputs.size()) {
    for (const auto &attr : node.attribute())
      attributes[attr.name()] = &attr;
    // For absent attributes, ONNX's shape rules assume defaults of their own,
    // which are not always those of the schema, so integer defaults of the
    // schema are passed. String defaults are not passed, because the rules
    // treat a present auto_pad as set by the user.
    for (const auto &[name, formal] : schema.attributes())
      if (formal.default_value.type() == onnx::AttributeProto::INT)
        attributes.try_emplace(name, &formal.default_value);
    for (auto [value, type] : llvm::zip(inputs, types))
      if (value)
        type = typeProto(value);
    outputs.resize(node.output_size());
  }
  const onnx::AttributeProto *
  getAttribute(const std::string &name) const override {
    return attributes.lookup(name);
  }
  size_t getNumInputs() const override { return inputs.size(); }
  const onnx::TypeProto *getInputType(size_t i) const override {
    return i < inputs.size() && inputs[i] ? &types[i] : nullptr;
  }
  bool hasInput(size_t i) const override { return getInputType(i); }
  const onnx::TensorProto *getInputData(size_t i) const override;
  size_t getNumOutputs() const override { return outputs.size(); }
  onnx::TypeProto *getOutputType(size_t i) override { return &outputs[i]; }
  onnx::GraphInferencer *
  getGraphAttributeInferencer(const std::string &) override {
    return nullptr;
  }
  const onnx::SparseTensorProto *getInputSparseData(size_t) const override {
    return nullptr;
  }
  const onnx::TensorShapeProto *getSymbolicInput(size_t) const override {
    return nullptr;
  }

private:
  ArrayRef<Value> inputs;
  std::vector<onnx::TypeProto> &outputs;
  std::vector<onnx::TypeProto> types;
  llvm::StringMap<const onnx::AttributeProto *> attributes;
  mutable std::vector<std::unique_ptr<onnx::TensorProto>> data;
};
} // namespace

const onnx::TensorProto *NodeInference::getInputData(size_t i) const {
  if (i >= inputs.size() || !inputs[i])
    return nullptr;
  if (data[i])
    return data[i].get();
  auto constant = inputs[i].getDefiningOp<graph::ConstantOp>();
  auto type = cast<RankedTensorType>(inputs[i].getType());
  // ONNX's shape rules read the values of shapes, axes and scalars, never of
  // larger tensors such as weights.
  if (!constant || type.getNumElements() > 4096)
    return nullptr;
  DenseElementsAttr dense = toDense(constant.getValueAttr());
  // Elements narrower than 8 bits would have to be packed; no shape rule reads
  // them.
  if (!dense || (!type.getElementType().isInteger(1) &&
                 type.getElementTypeBitWidth() < 8))
    return nullptr;
  data[i] = std::make_unique<onnx::TensorProto>();
  data[i]->set_data_type(onnxDataType(type.getElementType()));
  for (int64_t size : type.getShape())
    data[i]->add_dims(size);
  std::vector<char> bytes = bytesOf(dense);
  data[i]->set_raw_data(bytes.data(), bytes.size());
  return data[i].get();
}

/// Returns the message of an exception without the prefixes that the onnx
/// library adds.
static std::string cleanMessage(StringRef message) {
  for (StringRef prefix : {"[ShapeInferenceError] ", "[TypeInferenceError] ",
                           "[ShapeInferenceError]", "[TypeInferenceError]"})
    message.consume_front(prefix);
  message = message.split('\n').first.trim();
  return printable(message, 400);
}

static std::string sortedNames(const onnx::DataTypeSet &types) {
  std::vector<std::string> names;
  for (onnx::DataType type : types)
    names.push_back(*type);
  llvm::sort(names);
  return llvm::join(names, ", ");
}

static std::optional<SchemaError>
checkElementTypes(const onnx::OpSchema &schema, ArrayRef<Value> inputs) {
  llvm::StringMap<std::pair<Type, std::string>> bound;
  for (auto [i, value] : llvm::enumerate(inputs)) {
    const auto *formal = formalOf(schema.inputs(), i);
    if (!value || !formal)
      continue;
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    onnx::DataType type = onnx::Utils::DataTypeUtils::ToType(typeProto(value));
    if (!formal->GetTypes().empty() && !formal->GetTypes().count(type)) {
      return SchemaError{DiagnosticId::OperandType,
                         "the input `" + formal->GetName() +
                             "` has the element type " + describe(element),
                         sortedNames(formal->GetTypes())};
    }
    bool isVariable = schema.typeConstraintMap().count(formal->GetTypeStr());
    if (!isVariable || (formal->GetOption() == onnx::OpSchema::Variadic &&
                        !formal->GetIsHomogeneous()))
      continue;
    auto [it, isNew] =
        bound.try_emplace(formal->GetTypeStr(), element, formal->GetName());
    if (!isNew && it->second.first != element)
      return SchemaError{
          DiagnosticId::OperandType,
          "the inputs `" + it->second.second + "` and `" + formal->GetName() +
              "` must have the same element type, but have " +
              describe(it->second.first) + " and " + describe(element),
          ""};
  }
  return std::nullopt;
}

/// Checks the shapes of a node's inputs against the operator's rule in
/// OperandShapes.def. If `needed` is given, dynamic sizes that may be equal are
/// accepted as equal, and stored in `needed` as pairs.
static std::optional<SchemaError> checkShapes(const onnx::NodeProto &node,
                                              const onnx::OpSchema &schema,
                                              ArrayRef<Value> inputs,
                                              SizePairs *needed = nullptr) {
  StringRef rule = operandRule(schema.domain(), schema.Name());
  SmallVector<OperandShape> shapes;
  for (auto [i, value] : llvm::enumerate(inputs)) {
    const auto *formal = formalOf(schema.inputs(), i);
    if (value && formal)
      shapes.push_back({formal->GetName(), graph::dimsOf(value)});
  }
  auto attribute = [&](StringRef name) -> std::optional<int64_t> {
    for (const auto &attr : node.attribute())
      if (attr.name() == name &&
          (attr.has_i() || attr.type() == onnx::AttributeProto::INT))
        return attr.i();
    auto formal = schema.attributes().find(name.str());
    if (formal == schema.attributes().end() ||
        !formal->second.default_value.has_i())
      return std::nullopt;
    return formal->second.default_value.i();
  };
  auto mismatch = checkOperandShapes(rule, shapes, attribute, needed);
  if (!mismatch)
    return std::nullopt;
  return SchemaError{DiagnosticId::InvalidNode, mismatch->message,
                     mismatch->rule};
}

SizePairs neededSizes(const onnx::NodeProto &node, const onnx::OpSchema &schema,
                      ArrayRef<Value> inputs) {
  SizePairs needed;
  (void)checkShapes(node, schema, inputs, &needed);
  return needed;
}

/// Rejects results of element types that the operator does not define, for
/// example given by the attribute `dtype` or `output_dtype`. Types of the
/// newest opset are accepted in all opsets: models in older opsets use newer
/// narrow types.
static std::optional<SchemaError>
checkResultTypes(const onnx::OpSchema &schema,
                 ArrayRef<onnx::TypeProto> outputs) {
  const onnx::OpSchema *newest = lookupSchema(schema.domain(), schema.Name(),
                                              newestOpset(schema.domain()));
  for (auto [i, proto] : llvm::enumerate(outputs)) {
    const auto *formal = formalOf(schema.outputs(), i);
    if (!formal || formal->GetTypes().empty() || !proto.has_tensor_type() ||
        proto.tensor_type().elem_type() == onnx::TensorProto::UNDEFINED)
      continue;
    onnx::DataType type = onnx::Utils::DataTypeUtils::ToType(proto);
    const auto *later = newest ? formalOf(newest->outputs(), i) : nullptr;
    if (!formal->GetTypes().count(type) &&
        !(later && later->GetTypes().count(type)))
      return SchemaError{DiagnosticId::InvalidNode,
                         "the output `" + formal->GetName() +
                             "` cannot have the type " + *type,
                         sortedNames(formal->GetTypes())};
  }
  return std::nullopt;
}

std::optional<SchemaError> checkTypes(const onnx::NodeProto &node,
                                      const onnx::OpSchema &schema,
                                      ArrayRef<Value> inputs,
                                      std::vector<onnx::TypeProto> &outputs) {
  try {
    if (auto error = checkElementTypes(schema, inputs))
      return error;
    if (auto error = checkShapes(node, schema, inputs))
      return error;
    // If an operator has subgraphs, ONNX's shape rule is not called, because it
    // assumes that all types in the subgraphs are known.
    bool hasGraph = llvm::any_of(schema.attributes(), [](const auto &formal) {
      return formal.second.type == onnx::AttributeProto::GRAPH ||
             formal.second.type == onnx::AttributeProto::GRAPHS;
    });
    outputs.assign(node.output_size(), {});
    // ONNX's shape rule of Range is not called either: it rejects operands of
    // rank 1 with one element, which ONNX's own tests use.
    hasGraph |= node.op_type() == "Range";
    if (hasGraph || !schema.has_type_and_shape_inference_function())
      return std::nullopt;
    NodeInference context(node, schema, inputs, outputs);
    schema.GetTypeAndShapeInferenceFunction()(context);
    return checkResultTypes(schema, outputs);
  } catch (const std::exception &error) {
    return SchemaError{DiagnosticId::InvalidNode, cleanMessage(error.what()),
                       ""};
  }
}

std::string describeOperands(const onnx::OpSchema *schema,
                             ArrayRef<Value> inputs, ArrayRef<Type> outputs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto name = [&](bool isInput, size_t i) -> std::string {
    const auto *formal =
        schema ? formalOf(isInput ? schema->inputs() : schema->outputs(), i)
               : nullptr;
    return formal ? formal->GetName() + ": " : "";
  };
  bool first = true;
  for (auto [i, value] : llvm::enumerate(inputs)) {
    if (!value || i >= 8)
      continue;
    os << (first ? "" : ", ") << name(true, i) << describe(value.getType());
    first = false;
  }
  if (inputs.size() > 8)
    os << ", ... (" << inputs.size() << " inputs)";
  if (!outputs.empty())
    os << " -> ";
  for (auto [i, type] : llvm::enumerate(outputs))
    os << (i ? ", " : "") << name(false, i) << describe(type);
  return text;
}

//===----------------------------------------------------------------------===//
// Function bodies by which ONNX defines operators
//===----------------------------------------------------------------------===//

/// Returns `node` with an element type for each output of its subgraphs, which
/// exporters may omit. ONNX's function builder for SequenceMap asserts that
/// each output has a type, but the type has no effect on Ingot's result, so any
/// type is correct.
static onnx::NodeProto withTypedOutputs(const onnx::NodeProto &node) {
  onnx::NodeProto typed = node;
  for (onnx::AttributeProto &attribute : *typed.mutable_attribute())
    if (attribute.has_g())
      for (onnx::ValueInfoProto &output :
           *attribute.mutable_g()->mutable_output())
        if (!output.type().has_tensor_type())
          output.mutable_type()->mutable_tensor_type()->set_elem_type(
              onnx::TensorProto::FLOAT);
  return typed;
}

std::optional<onnx::FunctionProto>
functionBody(const onnx::NodeProto &node, const onnx::OpSchema &schema,
             int64_t opset, ArrayRef<Value> inputs, ArrayRef<Type> elements) {
  try {
    if (schema.HasFunction())
      if (const onnx::FunctionProto *body = schema.GetFunction(opset))
        return *body;
    if (!schema.HasContextDependentFunction())
      return std::nullopt;
    std::vector<onnx::TypeProto> types(inputs.size());
    for (auto [value, element, type] : llvm::zip(inputs, elements, types))
      if (value)
        type = typeProto(value);
      else if (element)
        type.mutable_sequence_type()
            ->mutable_elem_type()
            ->mutable_tensor_type()
            ->set_elem_type(static_cast<int32_t>(onnxDataType(element)));
    // ONNX's function builders require types of the outputs of subgraphs.
    onnx::NodeProto typed = withTypedOutputs(node);
    onnx::FunctionBodyBuildContextImpl context(typed, types);
    onnx::FunctionProto body;
    if (!schema.BuildContextDependentFunction(context, body, opset))
      return std::nullopt;
    return body;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

} // namespace ingot
