#include "compiler/quantize/Sites.h"

#include "compiler/import/custom/CustomOperators.h"

namespace ingot::quantize {

static bool isOneOf(const onnx::NodeProto &node,
                    llvm::ArrayRef<llvm::StringLiteral> types) {
  return (node.domain().empty() || node.domain() == "ai.onnx") &&
         llvm::is_contained(types, node.op_type());
}

/// Whether the result of an operator has the range of its first input: it only
/// moves or selects elements, or it is a custom operator whose declaration says
/// so (`scale: keep`).
static bool keepsRange(const Graph &graph, const onnx::NodeProto &node) {
  for (const onnx::FunctionProto &function : graph.model().functions())
    if (function.name() == node.op_type() && function.domain() == node.domain())
      return CustomOperators::keepsScale(function);
  static constexpr llvm::StringLiteral types[] = {
      "MaxPool",   "Reshape",      "Transpose",    "Flatten",       "Squeeze",
      "Unsqueeze", "DepthToSpace", "SpaceToDepth", "GlobalMaxPool", "Dropout"};
  return isOneOf(node, types) && node.output_size() == 1;
}

/// Whether each element of an operator's result depends on one element of each
/// operand.
static bool isElementwise(const onnx::NodeProto &node) {
  static constexpr llvm::StringLiteral types[] = {
      "Add",     "Sub",        "Mul",         "Div",  "Pow",      "Erf",
      "Sigmoid", "Tanh",       "Relu",        "Clip", "Sqrt",     "Exp",
      "Log",     "Reciprocal", "Neg",         "Abs",  "Min",      "Max",
      "Gelu",    "HardSwish",  "HardSigmoid", "Elu",  "Softplus", "LeakyRelu",
      "Cast",    "Where"};
  return isOneOf(node, types);
}

/// Follows the chain of elementwise operators and reductions that computes
/// `tensor`. Returns the only tensor on which the chain depends: x for x *
/// sigmoid(x) or x / sqrt(mean(x * x)); `tensor` itself if there are several
/// such tensors or no chain.
static std::string rootOf(const Graph &graph, llvm::StringRef tensor,
                          int depth = 0) {
  int index = graph.producer(tensor);
  if (index < 0 || depth > 12)
    return tensor.str();
  const onnx::NodeProto &node = graph.node(index);
  if (!isElementwise(node) &&
      !llvm::StringRef(node.op_type()).starts_with("Reduce"))
    return tensor.str();
  std::string root;
  for (const std::string &input : node.input()) {
    if (input.empty() || graph.constant(input))
      continue;
    std::string other = rootOf(graph, input, depth + 1);
    if (!root.empty() && root != other)
      return tensor.str();
    root = other;
  }
  return root.empty() ? tensor.str() : root;
}

/// Whether the tensor is a feature map: the result of a convolution, or
/// computed from one by elementwise operators, pools, and operators that
/// resize, pad, slice or concatenate.
static bool isPicture(const Graph &graph, llvm::StringRef tensor,
                      int depth = 0) {
  static constexpr llvm::StringLiteral pools[] = {
      "AveragePool", "MaxPool", "GlobalAveragePool",
      "Resize",      "Concat",  "BatchNormalization",
      "Pad",         "Slice",   "Split",
      "Upsample"};
  int index = graph.producer(tensor);
  if (index < 0 || depth > 16)
    return false;
  const onnx::NodeProto &node = graph.node(index);
  if (isOperator(node, "Conv") || isOperator(node, "ConvTranspose"))
    return true;
  return (isElementwise(node) || isOneOf(node, pools)) &&
         llvm::any_of(node.input(), [&](const std::string &input) {
           return !input.empty() && isPicture(graph, input, depth + 1);
         });
}

bool takesIntegers(const Graph &graph, int index, int operand) {
  const onnx::NodeProto &node = graph.node(index);
  const std::string &tensor = node.input(operand);
  if (tensor.empty() || graph.constant(tensor) || !graph.mayBeFloat(tensor))
    return false;
  if (isOperator(node, "Conv") || isOperator(node, "ConvTranspose") ||
      isOperator(node, "Gemm"))
    return operand < 2;
  if (isOperator(node, "MatMul"))
    return true;
  static constexpr llvm::StringLiteral pools[] = {
      "AveragePool", "GlobalAveragePool", "Resize", "ReduceMean"};
  if (isOneOf(node, pools))
    return operand == 0 && isPicture(graph, tensor);
  if (isOperator(node, "Concat"))
    return isPicture(graph, tensor);
  if (!isOperator(node, "Add") && !isOperator(node, "Mul"))
    return false;
  const std::string &other = node.input(1 - operand);
  return !graph.constant(other) && isPicture(graph, node.output(0)) &&
         rootOf(graph, tensor) != rootOf(graph, other);
}

/// Returns the constant, with one element per row of the weight, that is added
/// to a node's product; empty if there is none, or if there are other readers.
static std::string biasOf(const Graph &graph, const onnx::NodeProto &node,
                          int64_t rows) {
  auto own = [&](const std::string &name) {
    if (!graph.isFloatConstant(name) || graph.escapes(name) ||
        graph.readers(name).size() != 1)
      return false;
    Shape shape = graph.shape(name);
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count == rows && !shape.empty() && shape.back() == rows;
  };
  if (isOperator(node, "Conv") || isOperator(node, "ConvTranspose") ||
      isOperator(node, "Gemm")) {
    bool isPlain =
        !isOperator(node, "Gemm") ||
        (floatOf(node, "alpha", 1) == 1 && floatOf(node, "beta", 1) == 1);
    return isPlain && node.input_size() > 2 && own(node.input(2))
               ? node.input(2)
               : "";
  }
  if (!isOperator(node, "MatMul") || graph.escapes(node.output(0)) ||
      graph.readers(node.output(0)).size() != 1)
    return "";
  const onnx::NodeProto &next = graph.node(graph.readers(node.output(0))[0]);
  if (isOperator(next, "Add"))
    for (const std::string &input : next.input())
      if (own(input))
        return input;
  return "";
}

/// Returns the weight that is operand `operand` of a node; nothing if it is not
/// a constant in a supported form.
static std::optional<Weight> weightOf(const Graph &graph, int index,
                                      int operand) {
  const onnx::NodeProto &node = graph.node(index);
  if (operand >= node.input_size() ||
      !graph.isFloatConstant(node.input(operand)))
    return std::nullopt;
  Weight weight;
  weight.tensor = node.input(operand);
  weight.operand = operand;
  weight.nodes = {index};
  weight.data = {node.input(0)};
  weight.shape = graph.shape(weight.tensor);
  int64_t count = 1;
  for (int64_t size : weight.shape)
    count *= size;
  size_t rank = weight.shape.size();
  if (rank < 2 || count == 0)
    return std::nullopt;
  if (isOperator(node, "Conv")) {
    weight.kind = WeightKind::Conv;
    weight.groups = integerOf(node, "group", 1);
  } else if (isOperator(node, "ConvTranspose")) {
    weight.kind = WeightKind::ConvTranspose;
    // With groups, an index of axis 1 stands for one row of each group, which
    // is not supported.
    if (integerOf(node, "group", 1) != 1)
      return std::nullopt;
    weight.axis = 1;
  } else if (isOperator(node, "Gemm")) {
    weight.kind = WeightKind::Gemm;
    weight.axis = !integerOf(node, "transB", 0);
  } else if (isOperator(node, "MatMul") && rank == 2) {
    weight.kind = WeightKind::MatMul;
    weight.axis = 1;
  } else if (isOperator(node, "GRU") || isOperator(node, "LSTM") ||
             isOperator(node, "RNN")) {
    weight.kind = WeightKind::Recurrent;
    if (rank != 3)
      return std::nullopt;
    // Merges the axis of directions with that of rows: the rows of both
    // directions follow each other.
    weight.shape = {weight.shape[0] * weight.shape[1], weight.shape[2]};
    // The recurrence weight multiplies the node's own result of the previous
    // step.
    if (operand == 2)
      weight.data = {node.output(0)};
  } else if (isOperator(node, "Gather") && rank == 2 &&
             integerOf(node, "axis", 0) == 0) {
    weight.kind = WeightKind::Table;
    weight.data.clear();
  } else {
    return std::nullopt;
  }
  weight.rows = weight.shape[weight.axis];
  weight.depth = count / weight.rows;
  if (weight.kind != WeightKind::Recurrent && weight.kind != WeightKind::Table)
    weight.bias = biasOf(graph, node, weight.rows);
  return weight;
}

static void findWeights(const Graph &graph, Sites &sites) {
  llvm::StringMap<size_t> known;
  for (int i = 0; i < graph.proto().node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    for (int operand = 0; operand < std::min(node.input_size(), 3); ++operand) {
      bool isPlace =
          isOperator(node, "Gather")
              ? operand == 0
              : operand == 1 ||
                    (operand == 2 && isOneOf(node, {"GRU", "LSTM", "RNN"}));
      std::optional<Weight> weight;
      if (isPlace)
        weight = weightOf(graph, i, operand);
      if (!weight || graph.escapes(weight->tensor))
        continue;
      auto [it, isNew] =
          known.try_emplace(weight->tensor, sites.weights.size());
      if (isNew) {
        sites.weights.push_back(*weight);
        continue;
      }
      Weight &first = sites.weights[it->second];
      if (first.axis == weight->axis && first.kind == weight->kind &&
          first.groups == weight->groups) {
        first.nodes.append(weight->nodes);
        first.data.append(weight->data);
        first.bias.clear();
      }
    }
  }
  // Removes weights with a reader that cannot take integers.
  llvm::erase_if(sites.weights, [&](const Weight &weight) {
    return graph.readers(weight.tensor).size() != weight.nodes.size();
  });
}

static void findActivations(const Graph &graph, Sites &sites) {
  llvm::StringSet<> found;
  auto addTensor = [&](llvm::StringRef tensor) {
    // If the tensor was made by only moving elements, the source tensor is
    // quantized, and so is each tensor in between.
    llvm::SmallVector<std::string> chain{tensor.str()};
    while (true) {
      int index = graph.producer(chain.back());
      if (index < 0 || !keepsRange(graph, graph.node(index)) ||
          graph.constant(graph.node(index).input(0)))
        break;
      chain.push_back(graph.node(index).input(0));
    }
    // Adds the source first. Slice and Split end a chain, so that each of their
    // results has its own range.
    for (const std::string &name : llvm::reverse(chain))
      if (found.insert(name).second)
        sites.activations.emplace_back().tensor = name;
  };
  for (int i = 0; i < graph.proto().node_size(); ++i)
    for (int operand = 0; operand < graph.node(i).input_size(); ++operand)
      if (takesIntegers(graph, i, operand))
        addTensor(graph.node(i).input(operand));
  for (auto &activation : sites.activations) {
    int index = graph.producer(activation.tensor);
    if (index >= 0 && keepsRange(graph, graph.node(index)))
      activation.follows = sites.activation(graph.node(index).input(0));
  }
}

int Sites::activation(llvm::StringRef tensor) const {
  for (size_t i = 0; i < activations.size(); ++i)
    if (activations[i].tensor == tensor)
      return i;
  return -1;
}

Sites findSites(const Graph &graph, bool weightsOnly) {
  Sites sites;
  findWeights(graph, sites);
  if (!weightsOnly)
    findActivations(graph, sites);
  return sites;
}

int64_t Weight::place(int64_t row, int64_t column) const {
  int64_t inner = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  return (column / inner * rows + row) * inner + column % inner;
}

std::vector<float> Weight::byRows(llvm::ArrayRef<float> constant) const {
  std::vector<float> result(elements());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < depth; ++c)
      result[r * depth + c] = constant[place(r, c)];
  return result;
}

std::vector<float> Weight::asConstant(llvm::ArrayRef<float> numbers) const {
  std::vector<float> result(elements());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < depth; ++c)
      result[place(r, c)] = numbers[r * depth + c];
  return result;
}

std::vector<float> Weight::dequantized() const {
  std::vector<float> result(elements());
  int64_t count = blocks(), length = block ? block : depth;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < depth; ++c) {
      int64_t at = r * count + c / length;
      int zero = zeroPoints.empty() ? 0 : zeroPoints[at];
      result[r * depth + c] = float(values[r * depth + c] - zero) * scales[at];
    }
  return result;
}

} // namespace ingot::quantize
