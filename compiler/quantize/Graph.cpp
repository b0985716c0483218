#include "compiler/quantize/Graph.h"

#include "compiler/import/TensorData.h"
#include "compiler/report/Diagnostics.h"
#include "onnx/version_converter/convert.h"

using namespace mlir;

namespace ingot::quantize {

static ArrayRef<char> bytesOf(ArrayRef<float> values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(float)};
}

Graph::Graph(ModelFile &file, MLIRContext &context)
    : file(file), mlirContext(context) {
  refresh();
}

/// Collects all names that the subgraphs of a node read or define.
static void noteBodies(const onnx::NodeProto &node, llvm::StringSet<> &read) {
  auto note = [&](const onnx::GraphProto &body) {
    for (const onnx::NodeProto &inner : body.node()) {
      for (const std::string &name : inner.input())
        read.insert(name);
      for (const std::string &name : inner.output())
        read.insert(name);
      noteBodies(inner, read);
    }
    for (const auto &output : body.output())
      read.insert(output.name());
  };
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      note(attribute.g());
    for (const onnx::GraphProto &body : attribute.graphs())
      note(body);
  }
}

void Graph::refresh() {
  producers.clear();
  constants.clear();
  readersOf.clear();
  escaping.clear();
  inputs.clear();
  for (int i = 0; i < proto().initializer_size(); ++i)
    constants[proto().initializer(i).name()] = i;
  for (const auto &input : proto().input()) {
    // An initializer that is also an input is not a constant, since the caller
    // may replace it.
    constants.erase(input.name());
    inputs.insert(input.name());
  }
  for (const auto &output : proto().output())
    escaping.insert(output.name());
  for (int i = 0; i < proto().node_size(); ++i) {
    const onnx::NodeProto &node = proto().node(i);
    for (const std::string &name : node.output())
      if (!name.empty())
        producers[name] = i;
    for (const std::string &name : node.input()) {
      if (name.empty())
        continue;
      auto &list = readersOf[name];
      if (list.empty() || list.back() != i)
        list.push_back(i);
    }
    noteBodies(node, escaping);
  }
  for (const auto *map : {&producers, &constants})
    for (const auto &entry : *map)
      names.insert(entry.getKey());
  for (const auto &entry : escaping)
    names.insert(entry.getKey());
  for (const auto &entry : inputs)
    names.insert(entry.getKey());
}

uint64_t storedBytes(const onnx::TensorProto &tensor) {
  uint64_t count = 1;
  for (int64_t size : tensor.dims())
    count *= std::max<int64_t>(size, 0);
  return llvm::divideCeil(count * dataTypeBits(tensor.data_type()), 8);
}

SetAside::SetAside(onnx::GraphProto &graph) {
  sparse.Swap(graph.mutable_sparse_initializer());
  for (const onnx::SparseTensorProto &tensor : sparse) {
    onnx::TensorProto &stub = *graph.add_initializer();
    stub.set_name(tensor.values().name());
    stub.set_data_type(tensor.values().data_type());
    *stub.mutable_dims() = tensor.dims();
  }
  // Constants with fewer bytes stay in the graph, since ONNX's passes read
  // shapes, axes and scalars.
  constexpr size_t large = 4096;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    bool isExternal = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    if (!isExternal && tensor.ByteSizeLong() < large)
      continue;
    onnx::TensorProto stub;
    stub.set_name(tensor.name());
    stub.set_data_type(tensor.data_type());
    *stub.mutable_dims() = tensor.dims();
    stub.set_raw_data("");
    tensor.Swap(&stub);
    tensors[tensor.name()].Swap(&stub);
  }
}

void SetAside::giveBack(onnx::GraphProto &graph) {
  google::protobuf::RepeatedPtrField<onnx::TensorProto> dense;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    if (llvm::any_of(sparse, [&](const onnx::SparseTensorProto &other) {
          return other.values().name() == tensor.name();
        }))
      continue;
    if (auto kept = tensors.find(tensor.name()); kept != tensors.end())
      tensor.Swap(&kept->second);
    dense.Add()->Swap(&tensor);
  }
  graph.mutable_initializer()->Swap(&dense);
  graph.mutable_sparse_initializer()->Swap(&sparse);
}

/// Replaces each Hardmax by one of two dimensions, which has the same meaning in
/// all opsets: before opset 13, the operator acts on all axes from `axis` on
/// together, and ONNX's converter keeps `axis`.
static void flattenHardmax(Graph &graph) {
  Nodes nodes;
  for (onnx::NodeProto &node : *graph.proto().mutable_node()) {
    if (!isOperator(node, "Hardmax")) {
      nodes.Add()->Swap(&node);
      continue;
    }
    const std::string &input = node.input(0), &result = node.output(0);
    std::string flat = graph.fresh(result + "_flat"),
                largest = graph.fresh(result + "_largest"),
                shape = graph.fresh(result + "_shape");
    setInteger(addNode(nodes, "Flatten", {input}, flat), "axis",
               integerOf(node, "axis", 1));
    setInteger(addNode(nodes, "Hardmax", {flat}, largest), "axis", 1);
    addNode(nodes, "Shape", {input}, shape);
    addNode(nodes, "Reshape", {largest, shape}, result);
  }
  graph.proto().mutable_node()->Swap(&nodes);
}

bool Graph::raiseOpset(int opset, DiagnosticId id, Diagnostics &diagnostics) {
  for (auto &entry : *model().mutable_opset_import()) {
    if (!entry.domain().empty() && entry.domain() != "ai.onnx")
      continue;
    if (entry.version() >= opset)
      return true;
    if (constexpr int ofLastAxis = 13;
        entry.version() < ofLastAxis && opset >= ofLastAxis)
      flattenHardmax(*this);
    SetAside data(proto());
    try {
      onnx::ModelProto raised =
          onnx::version_conversion::ConvertVersion(model(), opset);
      // The converter drops model-local functions, which have an opset of their
      // own.
      raised.mutable_functions()->Swap(model().mutable_functions());
      model() = std::move(raised);
      data.giveBack(proto());
      refresh();
      return true;
    } catch (const std::exception &error) {
      diagnostics.report(
          id,
          "the model imports opset " + llvm::Twine(entry.version()) +
              ", and ONNX cannot convert it to opset " + llvm::Twine(opset) +
              ", which has the operators that are needed: " +
              printable(error.what(), 200),
          "export the model with opset " + llvm::Twine(opset));
      return false;
    }
  }
  return true;
}

void Graph::bindDefaults() {
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : proto().initializer())
    initializers.insert(tensor.name());
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  for (onnx::ValueInfoProto &input : *proto().mutable_input())
    if (!initializers.contains(input.name()))
      kept.Add()->Swap(&input);
  proto().mutable_input()->Swap(&kept);
  // The first IR version in which initializers do not have to be inputs.
  constexpr int withoutInputs = 4;
  if (model().ir_version() < withoutInputs)
    model().set_ir_version(withoutInputs);
  refresh();
}

/// Copies the external data of the tensors of a list into the tensors.
static bool
embedTensors(google::protobuf::RepeatedPtrField<onnx::TensorProto> &tensors,
             ModelFile &file, Diagnostics &diagnostics) {
  for (onnx::TensorProto &tensor : tensors) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
      continue;
    std::string error;
    auto data = file.externalData(tensor, error);
    if (!data) {
      diagnostics.report(DiagnosticId::CannotRead,
                         "the constant `" + printable(tensor.name()) +
                             "` cannot be read: " + error);
      return false;
    }
    tensor.set_raw_data(data->getBufferStart(), data->getBufferSize());
    tensor.clear_external_data();
    tensor.clear_data_location();
  }
  return true;
}

/// Copies the external data of a graph and of its subgraphs into the tensors.
static bool embedGraph(onnx::GraphProto &graph, ModelFile &file,
                       Diagnostics &diagnostics) {
  if (!embedTensors(*graph.mutable_initializer(), file, diagnostics))
    return false;
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) {
        google::protobuf::RepeatedPtrField<onnx::TensorProto> value;
        value.Add()->Swap(attribute.mutable_t());
        if (!embedTensors(value, file, diagnostics))
          return false;
        value[0].Swap(attribute.mutable_t());
      }
      if (attribute.has_g() &&
          !embedGraph(*attribute.mutable_g(), file, diagnostics))
        return false;
    }
  return true;
}

bool Graph::embedData(Diagnostics &diagnostics) {
  if (!embedGraph(proto(), file, diagnostics))
    return false;
  if (model().ByteSizeLong() <= INT32_MAX)
    return true;
  diagnostics.report(DiagnosticId::FileTooLarge,
                     "the model with its external data has more than 2 GB");
  return false;
}

int Graph::producer(StringRef tensor) const {
  auto it = producers.find(tensor);
  return it == producers.end() ? -1 : it->second;
}

ArrayRef<int> Graph::readers(StringRef tensor) const {
  auto it = readersOf.find(tensor);
  return it == readersOf.end() ? ArrayRef<int>() : ArrayRef<int>(it->second);
}

const onnx::TensorProto *Graph::constant(StringRef tensor) const {
  auto it = constants.find(tensor);
  return it == constants.end() ? nullptr : &proto().initializer(it->second);
}

bool Graph::isFloatConstant(StringRef tensor) const {
  const onnx::TensorProto *value = constant(tensor);
  return value && value->data_type() == onnx::TensorProto::FLOAT;
}

Shape Graph::shape(StringRef name) const {
  const onnx::TensorProto *value = constant(name);
  return Shape(value->dims().begin(), value->dims().end());
}

std::vector<float> Graph::floats(StringRef name) const {
  std::string error;
  const onnx::TensorProto &tensor = *constant(name);
  auto bytes = tensorBytes(tensor, &file, &mlirContext, error);
  std::vector<float> result;
  if (!bytes)
    return result;
  result.resize(bytes->size() / sizeof(float));
  if (!result.empty())
    std::memcpy(result.data(), bytes->data(), result.size() * sizeof(float));
  return result;
}

std::vector<int64_t> Graph::integers(StringRef name) const {
  std::string error;
  std::vector<int64_t> result;
  const onnx::TensorProto *tensor = constant(name);
  if (!tensor || (tensor->data_type() != onnx::TensorProto::INT64 &&
                  tensor->data_type() != onnx::TensorProto::INT32))
    return result;
  auto value = denseTensorAttr(*tensor, &file, &mlirContext, error);
  if (succeeded(value))
    for (const APInt &element : value->getValues<APInt>())
      result.push_back(element.getSExtValue());
  return result;
}

void Graph::setFloats(StringRef name, ArrayRef<float> values) {
  onnx::TensorProto &tensor =
      *proto().mutable_initializer(constants.find(name)->second);
  if (scratch && scratch->has(tensor))
    return scratch->put(tensor, bytesOf(values));
  tensor.clear_float_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

void Graph::park(Scratch &given) {
  // Constants with fewer elements stay in memory, since moving them saves
  // little.
  constexpr int64_t worthParking = 1 << 14;
  scratch = &given;
  file.setScratch(given.path());
  for (onnx::TensorProto &tensor : *proto().mutable_initializer())
    if (isFloatConstant(tensor.name())) {
      std::vector<float> values = floats(tensor.name());
      if (int64_t(values.size()) >= worthParking)
        scratch->put(tensor, bytesOf(values));
    }
}

void Graph::unpark() {
  if (!scratch)
    return;
  for (onnx::TensorProto &tensor : *proto().mutable_initializer())
    if (scratch->has(tensor))
      scratch->takeBack(tensor);
}

void Graph::addConstant(StringRef name, int32_t dataType,
                        ArrayRef<int64_t> shape, StringRef bytes) {
  onnx::TensorProto &tensor = *proto().add_initializer();
  tensor.set_name(name.str());
  tensor.set_data_type(dataType);
  for (int64_t size : shape)
    tensor.add_dims(size);
  tensor.set_raw_data(bytes.data(), bytes.size());
  constants[name] = proto().initializer_size() - 1;
  names.insert(name);
}

std::string Graph::fresh(const Twine &base) {
  std::string name = base.str();
  for (int i = 1; names.count(name); ++i)
    name = (base + "_" + Twine(i)).str();
  names.insert(name);
  return name;
}

static const onnx::AttributeProto *attributeOf(const onnx::NodeProto &node,
                                               StringRef name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t integerOf(const onnx::NodeProto &node, StringRef name,
                  int64_t otherwise) {
  const auto *attribute = attributeOf(node, name);
  return attribute ? attribute->i() : otherwise;
}

std::vector<int64_t> integersOf(const onnx::NodeProto &node, StringRef name) {
  const auto *attribute = attributeOf(node, name);
  if (!attribute)
    return {};
  return {attribute->ints().begin(), attribute->ints().end()};
}

float floatOf(const onnx::NodeProto &node, StringRef name, float otherwise) {
  const auto *attribute = attributeOf(node, name);
  return attribute ? attribute->f() : otherwise;
}

bool isOperator(const onnx::NodeProto &node, StringRef type) {
  return node.op_type() == type &&
         (node.domain().empty() || node.domain() == "ai.onnx");
}

onnx::NodeProto &addNode(Nodes &nodes, const char *type,
                         ArrayRef<std::string> inputs,
                         const std::string &output) {
  onnx::NodeProto &node = *nodes.Add();
  node.set_op_type(type);
  node.set_name(output);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

void setInteger(onnx::NodeProto &node, const char *name, int64_t value) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

} // namespace ingot::quantize
