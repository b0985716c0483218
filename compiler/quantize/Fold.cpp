// Folds constants and batch normalizations.
//
//     Constant -> c; Concat(c, d) -> w; Conv(x, w) -> y; BatchNormalization(y)
//
// becomes one Conv with folded weights and bias. Nodes that depend only on
// constants are evaluated: Ingot compiles them as a model and runs it.

#include "compiler/quantize/Fold.h"

#include "compiler/import/TensorData.h"
#include "onnx/shape_inference/implementation.h"

#include <cmath>

using namespace mlir;

namespace ingot::quantize {

/// Removes the nodes for which `gone` holds.
static void
removeNodes(Graph &graph,
            llvm::function_ref<bool(int, const onnx::NodeProto &)> gone) {
  Nodes kept;
  for (int i = 0; i < graph.proto().node_size(); ++i)
    if (!gone(i, graph.node(i)))
      kept.Add()->Swap(graph.proto().mutable_node(i));
  graph.proto().mutable_node()->Swap(&kept);
  graph.refresh();
}

void removeUnused(Graph &graph) {
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (onnx::TensorProto &tensor : *graph.proto().mutable_initializer())
    if (!graph.readers(tensor.name()).empty() || graph.escapes(tensor.name()))
      kept.Add()->Swap(&tensor);
  graph.proto().mutable_initializer()->Swap(&kept);
  graph.refresh();
}

/// Turns Constant nodes with a tensor or numbers into initializers.
static void foldConstantNodes(Graph &graph) {
  llvm::DenseSet<int> folded;
  for (int i = 0; i < graph.proto().node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    if (!isOperator(node, "Constant") || node.attribute_size() != 1)
      continue;
    const onnx::AttributeProto &value = node.attribute(0);
    const std::string &name = node.output(0);
    auto add = [&](int32_t type, ArrayRef<int64_t> shape, const void *data,
                   size_t bytes) {
      graph.addConstant(name, type, shape,
                        StringRef(static_cast<const char *>(data), bytes));
    };
    if (value.has_t()) {
      onnx::TensorProto &tensor = *graph.proto().add_initializer();
      tensor = value.t();
      tensor.set_name(name);
    } else if (value.name() == "value_float") {
      float number = value.f();
      add(onnx::TensorProto::FLOAT, {}, &number, sizeof(number));
    } else if (value.name() == "value_int") {
      int64_t number = value.i();
      add(onnx::TensorProto::INT64, {}, &number, sizeof(number));
    } else if (value.name() == "value_ints") {
      add(onnx::TensorProto::INT64, {value.ints_size()}, value.ints().data(),
          value.ints_size() * sizeof(int64_t));
    } else if (value.name() == "value_floats") {
      add(onnx::TensorProto::FLOAT, {value.floats_size()},
          value.floats().data(), value.floats_size() * sizeof(float));
    } else {
      continue;
    }
    folded.insert(i);
  }
  removeNodes(graph, [&](int i, auto &) { return folded.count(i); });
}

/// Returns the element types found by ONNX's own shape inference.
static llvm::StringMap<int32_t> inferTypes(onnx::ModelProto &model) {
  SetAside data(*model.mutable_graph());
  onnx::ModelProto copy = model;
  data.giveBack(*model.mutable_graph());
  try {
    onnx::shape_inference::InferShapes(copy);
  } catch (const std::exception &) {
    // An error of the inference is ignored: the types inferred before it are
    // valid.
  }
  llvm::StringMap<int32_t> types;
  auto note = [&](const onnx::ValueInfoProto &info) {
    types[info.name()] = info.type().tensor_type().elem_type();
  };
  llvm::for_each(copy.graph().value_info(), note);
  llvm::for_each(copy.graph().input(), note);
  llvm::for_each(copy.graph().output(), note);
  for (const onnx::TensorProto &tensor : copy.graph().initializer())
    types[tensor.name()] = tensor.data_type();
  return types;
}

/// Bypasses operators that return their operand: Identity, and CastLike between
/// equal types. Keeps an operator whose result is an output of the model or is
/// read by a subgraph.
static void skipIdentities(Graph &graph,
                           const llvm::StringMap<int32_t> &types) {
  llvm::StringMap<std::string> same;
  llvm::DenseSet<int> gone;
  for (int i = 0; i < graph.proto().node_size(); ++i) {
    onnx::NodeProto &node = *graph.proto().mutable_node(i);
    for (std::string &input : *node.mutable_input())
      if (auto it = same.find(input); it != same.end())
        input = it->second;
    bool isSame =
        isOperator(node, "Identity") ||
        (isOperator(node, "CastLike") && types.lookup(node.input(0)) &&
         types.lookup(node.input(0)) == types.lookup(node.input(1)));
    if (!isSame || graph.escapes(node.output(0)))
      continue;
    same[node.output(0)] = node.input(0);
    gone.insert(i);
  }
  removeNodes(graph, [&](int i, auto &) { return gone.count(i); });
}

/// Returns the indices of the nodes that can be evaluated now: those that
/// depend only on constants. Excludes random operators, operators with
/// subgraphs, and DequantizeLinear.
static llvm::DenseSet<int> constantNodes(const Graph &graph) {
  llvm::DenseSet<int> result;
  for (int i = 0; i < graph.proto().node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    bool isConstant = node.input_size() > 0 && node.domain().empty() &&
                      !StringRef(node.op_type()).starts_with("Random") &&
                      node.op_type() != "Bernoulli" &&
                      node.op_type() != "DequantizeLinear";
    for (const onnx::AttributeProto &attribute : node.attribute())
      isConstant &= !attribute.has_g();
    for (const std::string &input : node.input())
      isConstant &= input.empty() || graph.constant(input) ||
                    result.count(graph.producer(input));
    // An initializer that is also an input is not a constant, since the caller
    // may replace it.
    for (const std::string &input : node.input())
      isConstant &= !graph.isInput(input);
    if (isConstant)
      result.insert(i);
  }
  return result;
}

/// Evaluates the nodes that depend only on constants, and replaces them by
/// initializers; false with diagnostics on failure.
static bool foldConstants(Graph &graph, const Host &host,
                          const llvm::StringMap<int32_t> &types) {
  llvm::DenseSet<int> nodes = constantNodes(graph);
  onnx::ModelProto part;
  part.set_ir_version(graph.model().ir_version());
  *part.mutable_opset_import() = graph.model().opset_import();
  part.mutable_graph()->set_name("constants");
  llvm::StringSet<> needed;
  uint64_t bytes = 4096;
  for (int i = 0; i < graph.proto().node_size(); ++i) {
    if (!nodes.count(i))
      continue;
    const onnx::NodeProto &node = graph.node(i);
    *part.mutable_graph()->add_node() = node;
    for (const std::string &input : node.input())
      if (const auto *tensor = graph.constant(input))
        if (needed.insert(input).second) {
          *part.mutable_graph()->add_initializer() = *tensor;
          bytes += storedBytes(*tensor);
        }
    for (const std::string &output : node.output()) {
      bool isRead = !output.empty() && types.lookup(output) &&
                    llvm::any_of(graph.readers(output),
                                 [&](int r) { return !nodes.count(r); });
      if (!isRead)
        continue;
      onnx::ValueInfoProto &info = *part.mutable_graph()->add_output();
      info.set_name(output);
      info.mutable_type()->mutable_tensor_type()->set_elem_type(
          types.lookup(output));
    }
  }
  if (part.graph().output_size() == 0)
    return true;
  std::unique_ptr<HostModel> model = host.build(std::move(part), {});
  std::vector<Tensor> values;
  if (!model ||
      !model->run(ArrayRef<const Tensor *>(), values, host.diagnostics))
    return false;
  for (auto [tensor, value] : llvm::zip(model->outputs(), values))
    // A result that is much larger than all operands is not stored as a
    // constant: the operators take less space.
    if (value.bytes.size() <= 2 * bytes)
      graph.addConstant(tensor.onnxName, types.lookup(tensor.onnxName),
                        value.type.getShape(),
                        StringRef(value.bytes.data(), value.bytes.size()));
  // Keeps a node if one of its results was not stored as a constant, and a
  // remaining node reads that result.
  for (int i = graph.proto().node_size() - 1; i >= 0; --i)
    for (const std::string &output : graph.node(i).output())
      if (nodes.count(i) && !output.empty() && !graph.constant(output) &&
          llvm::any_of(graph.readers(output),
                       [&](int reader) { return !nodes.count(reader); }))
        nodes.erase(i);
  removeNodes(graph, [&](int i, auto &) { return nodes.count(i); });
  return true;
}

/// Returns the name of a constant that is input number `input` of `node` and
/// has no other reader, so that its values may be changed. If the present
/// constant has other readers, replaces the input by a copy.
static std::string ownConstant(Graph &graph, onnx::NodeProto &node, int input) {
  std::string name = node.input(input);
  if (graph.readers(name).size() == 1 && !graph.escapes(name))
    return name;
  std::vector<float> values = graph.floats(name);
  std::string copy = graph.fresh(name + "_own");
  graph.addConstant(copy, onnx::TensorProto::FLOAT, graph.shape(name),
                    StringRef(reinterpret_cast<const char *>(values.data()),
                              values.size() * sizeof(float)));
  node.set_input(input, copy);
  return copy;
}

/// Folds a batch normalization into the node before it; false if that is not
/// possible.
static bool foldBatchNorm(Graph &graph, const onnx::NodeProto &norm) {
  int index = graph.producer(norm.input(0));
  if (index < 0 || norm.output_size() > 1 || graph.escapes(norm.input(0)) ||
      graph.readers(norm.input(0)).size() != 1 ||
      integerOf(norm, "training_mode", 0))
    return false;
  onnx::NodeProto &node = *graph.proto().mutable_node(index);
  bool isConv = isOperator(node, "Conv"),
       isTransposed = isOperator(node, "ConvTranspose") &&
                      integerOf(node, "group", 1) == 1,
       isGemm = isOperator(node, "Gemm") && floatOf(node, "alpha", 1) == 1 &&
                floatOf(node, "beta", 1) == 1;
  if (!(isConv || isTransposed || isGemm) ||
      !graph.isFloatConstant(node.input(1)))
    return false;
  for (int i = 1; i < 5; ++i)
    if (!graph.isFloatConstant(norm.input(i)))
      return false;
  bool hasBias = node.input_size() > 2 && !node.input(2).empty();
  std::vector<float> scale = graph.floats(norm.input(1)),
                     shift = graph.floats(norm.input(2)),
                     mean = graph.floats(norm.input(3)),
                     variance = graph.floats(norm.input(4));
  size_t channels = scale.size();
  std::vector<float> bias(channels, 0);
  if (hasBias) {
    if (!graph.isFloatConstant(node.input(2)))
      return false;
    bias = graph.floats(node.input(2));
    // The C of a Gemm may also be a column, which is added to all channels.
    Shape shape = graph.shape(node.input(2));
    if (bias.size() != channels || shape.empty() ||
        shape.back() != int64_t(channels))
      return false;
  }
  float epsilon = floatOf(norm, "epsilon", 1e-5f);
  std::vector<double> factor(channels);
  for (size_t c = 0; c < channels; ++c) {
    factor[c] = scale[c] / std::sqrt(double(variance[c]) + epsilon);
    bias[c] = float((bias[c] - mean[c]) * factor[c] + shift[c]);
  }
  std::string weight = ownConstant(graph, node, 1);
  std::vector<float> values = graph.floats(weight);
  Shape shape = graph.shape(weight);
  unsigned axis = isTransposed || (isGemm && !integerOf(node, "transB", 0));
  int64_t inner = 1;
  for (unsigned d = axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  if (shape[axis] != int64_t(channels))
    return false;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(values[i] * factor[i / inner % channels]);
  graph.setFloats(weight, values);
  std::string name = graph.fresh(weight + "_bias");
  graph.addConstant(name, onnx::TensorProto::FLOAT, {int64_t(channels)},
                    StringRef(reinterpret_cast<const char *>(bias.data()),
                              channels * sizeof(float)));
  while (node.input_size() < 3)
    node.add_input("");
  node.set_input(2, name);
  node.set_output(0, norm.output(0));
  return true;
}

bool fold(Graph &graph, const Host &host) {
  foldConstantNodes(graph);
  llvm::StringMap<int32_t> types = inferTypes(graph.model());
  graph.setTypes(types);
  skipIdentities(graph, types);
  if (!foldConstants(graph, host, types))
    return false;
  llvm::DenseSet<int> folded;
  for (int i = 0; i < graph.proto().node_size(); ++i)
    if (isOperator(graph.node(i), "BatchNormalization") &&
        foldBatchNorm(graph, graph.node(i)))
      folded.insert(i);
  removeNodes(graph, [&](int i, auto &) { return folded.count(i); });
  removeUnused(graph);
  return true;
}

} // namespace ingot::quantize
