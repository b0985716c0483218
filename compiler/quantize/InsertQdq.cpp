// Writes the chosen precisions into the model.
//
//     x, w -> Conv -> y
//
// becomes, with x8 = QuantizeLinear(x) and an integer constant w8,
//
//     DequantizeLinear(x8), DequantizeLinear(w8) -> Conv -> y
//
// The inputs and outputs of the model keep their types. Biases stay float: a
// bias in 32-bit integers would take as much space, plus a scale.

#include "compiler/quantize/Session.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace ingot::quantize {

namespace {
class Inserter {
public:
  explicit Inserter(Session &session)
      : session(session), graph(session.graph) {}
  bool insert();

private:
  int neededOpset() const;
  void addWeight(const Weight &weight);
  std::string addPair(const Activation &activation);

  Session &session;
  Graph &graph;
  Nodes nodes;
  llvm::StringMap<std::string> replaced;
};
} // namespace

int Inserter::neededOpset() const {
  int opset = 10;
  for (const Weight &weight : session.sites.weights)
    if (weight.bits)
      opset = std::max(opset, weight.block ? 21 : 13);
  for (const Activation &activation : session.sites.activations)
    if (activation.bits == 16)
      opset = 21;
  return opset;
}

template <typename T> static StringRef bytesOf(ArrayRef<T> values) {
  return StringRef(reinterpret_cast<const char *>(values.data()),
                   values.size() * sizeof(T));
}

/// Packs 4-bit integers, two in a byte, the first in the low half.
static std::string packed(ArrayRef<uint8_t> values) {
  std::string bytes((values.size() + 1) / 2, '\0');
  for (size_t i = 0; i < values.size(); ++i)
    bytes[i / 2] |= char(values[i] << (i % 2 * 4));
  return bytes;
}

std::string Inserter::addPair(const Activation &activation) {
  const std::string &tensor = activation.tensor;
  std::string scale = graph.fresh(tensor + "_scale"),
              zero = graph.fresh(tensor + "_zero"),
              narrow = graph.fresh(tensor + "_q"),
              wide = graph.fresh(tensor + "_dq");
  graph.addConstant(scale, onnx::TensorProto::FLOAT, {},
                    bytesOf(ArrayRef(activation.scale)));
  uint16_t point = uint16_t(activation.zeroPoint);
  graph.addConstant(
      zero,
      activation.bits == 16 ? onnx::TensorProto::UINT16
                            : onnx::TensorProto::UINT8,
      {},
      StringRef(reinterpret_cast<const char *>(&point), activation.bits / 8));
  addNode(nodes, "QuantizeLinear", {tensor, scale, zero}, narrow);
  addNode(nodes, "DequantizeLinear", {narrow, scale, zero}, wide);
  return wide;
}

void Inserter::addWeight(const Weight &weight) {
  Shape original = graph.shape(weight.tensor);
  std::string base = weight.tensor, narrow = graph.fresh(base + "_q"),
              scale = graph.fresh(base + "_scale"),
              wide = graph.fresh(base + "_dq");
  replaced[weight.tensor] = wide;
  bool isLayout = weight.shape == original;
  if (!weight.block) {
    std::vector<int8_t> values(weight.elements());
    for (int64_t r = 0; r < weight.rows; ++r)
      for (int64_t c = 0; c < weight.depth; ++c)
        values[weight.place(r, c)] = weight.values[r * weight.depth + c];
    // The weight of a recurrence with one direction keeps its shape; its rows
    // are along the second axis.
    bool isOne = !isLayout && original[0] == 1;
    graph.addConstant(narrow, onnx::TensorProto::INT8,
                      isOne ? original : weight.shape,
                      bytesOf(ArrayRef(values)));
    graph.addConstant(scale, onnx::TensorProto::FLOAT, {weight.rows},
                      bytesOf(ArrayRef(weight.scales)));
    bool reshapes = !isLayout && !isOne;
    std::string result = reshapes ? graph.fresh(base + "_rows") : wide;
    setInteger(addNode(nodes, "DequantizeLinear", {narrow, scale}, result),
               "axis", isOne ? 1 : weight.axis);
    if (!reshapes)
      return;
    std::string shape = graph.fresh(base + "_shape");
    graph.addConstant(shape, onnx::TensorProto::INT64,
                      {int64_t(original.size())},
                      bytesOf(ArrayRef<int64_t>(original)));
    addNode(nodes, "Reshape", {result, shape}, wide);
    return;
  }
  // Stores the matrix by rows or, if the constant is stored by columns, by
  // columns, so that no transpose is needed.
  bool hasColumns = weight.axis == 1 && weight.shape.size() == 2;
  int64_t blocks = weight.blocks();
  auto arranged = [&](auto &&from, int64_t length) {
    using T = std::decay_t<decltype(from[0])>;
    std::vector<T> to(weight.rows * length);
    for (int64_t r = 0; r < weight.rows; ++r)
      for (int64_t c = 0; c < length; ++c)
        to[hasColumns ? c * weight.rows + r : r * length + c] =
            from[r * length + c];
    return to;
  };
  std::vector<int8_t> numbers = arranged(weight.values, weight.depth);
  std::vector<uint8_t> unsignedNumbers(numbers.begin(), numbers.end());
  std::vector<float> scales = arranged(weight.scales, blocks);
  std::vector<uint8_t> zeros = arranged(weight.zeroPoints, blocks);
  Shape shape{weight.rows, weight.depth}, few{weight.rows, blocks};
  if (hasColumns) {
    std::swap(shape[0], shape[1]);
    std::swap(few[0], few[1]);
  }
  std::string zero = graph.fresh(base + "_zero");
  graph.addConstant(narrow, onnx::TensorProto::UINT4, shape,
                    packed(unsignedNumbers));
  graph.addConstant(scale, onnx::TensorProto::FLOAT, few,
                    bytesOf(ArrayRef(scales)));
  graph.addConstant(zero, onnx::TensorProto::UINT4, few, packed(zeros));
  std::string result = shape == original ? wide : graph.fresh(base + "_rows");
  onnx::NodeProto &node =
      addNode(nodes, "DequantizeLinear", {narrow, scale, zero}, result);
  setInteger(node, "axis", hasColumns ? 0 : 1);
  setInteger(node, "block_size", weight.block);
  if (shape == original)
    return;
  std::string sizes = graph.fresh(base + "_shape");
  graph.addConstant(sizes, onnx::TensorProto::INT64, {int64_t(original.size())},
                    bytesOf(ArrayRef<int64_t>(original)));
  addNode(nodes, "Reshape", {result, sizes}, wide);
}

bool Inserter::insert() {
  int opset = neededOpset();
  if (!graph.raiseOpset(opset, DiagnosticId::NotQuantized,
                        session.host.diagnostics))
    return false;
  if (opset >= 21 && graph.model().ir_version() < 10)
    graph.model().set_ir_version(10);
  for (const Weight &weight : session.sites.weights)
    if (weight.bits)
      addWeight(weight);
  auto addPairOf = [&](const std::string &tensor) {
    int index = session.sites.activation(tensor);
    if (index >= 0 && session.sites.activations[index].bits)
      replaced[tensor] = addPair(session.sites.activations[index]);
  };
  for (const auto &input : graph.proto().input())
    addPairOf(input.name());
  for (onnx::NodeProto &node : *graph.proto().mutable_node()) {
    for (std::string &input : *node.mutable_input())
      if (auto it = replaced.find(input); it != replaced.end())
        input = it->second;
    llvm::SmallVector<std::string> outputs(node.output().begin(),
                                           node.output().end());
    nodes.Add()->Swap(&node);
    for (const std::string &output : outputs)
      addPairOf(output);
  }
  graph.proto().mutable_node()->Swap(&nodes);
  graph.refresh();
  return true;
}

bool insertQdq(Session &session) { return Inserter(session).insert(); }

} // namespace ingot::quantize
