// Imports RNN, GRU and LSTM.
//
// Each direction becomes a matrix multiplication over all steps and one
// recurrent operator; the results of the directions are concatenated:
//
//   gates = matmul(x, transpose(W)) + (Wb + Rb)
//   y, h = graph.gru(gates, transpose(R), h0)

#include "compiler/import/operators/RunTimeShapes.h"
#include "dialects/graph/ops/Movement.h"

using namespace mlir;

namespace ingot::graph {

namespace {

struct Activation {
  std::string name;
  double alpha, beta;
};

/// An activation of RNN, GRU and LSTM: whether it takes the parameters alpha
/// and beta, and their defaults in ONNX.
struct KnownActivation {
  const char *name;
  bool hasAlpha, hasBeta;
  double alpha, beta;
};
const KnownActivation knownActivations[] = {
    {"Sigmoid", false, false, 0, 0},     {"Tanh", false, false, 0, 0},
    {"Relu", false, false, 0, 0},        {"Affine", true, true, 1, 0},
    {"LeakyRelu", true, false, 0.01, 0}, {"ThresholdedRelu", true, false, 1, 0},
    {"ScaledTanh", true, true, 1, 1},    {"HardSigmoid", true, true, 0.2, 0.5},
    {"Elu", true, false, 1, 0},          {"Softsign", false, false, 0, 0},
    {"Softplus", false, false, 0, 0},
};

class RecurrentLayer {
public:
  RecurrentLayer(OnnxNode &node, int64_t gates)
      : node(node), gateCount(gates) {}

  LogicalResult read(ArrayRef<StringRef> defaultActivations);
  /// Returns what the input of one direction contributes to the gates: [time,
  /// batch, gates * hidden]. The result includes the recurrent biases of the
  /// first `recurrentBiases` gates; the function that calls this one adds the
  /// biases of the other gates.
  Value inputGates(int64_t direction, int64_t recurrentBiases);
  /// Returns the slice of input `i` for one direction, without the axis of
  /// directions. Returns null if the input is absent or is an optional input of
  /// zeros.
  Value part(unsigned i, int64_t direction);
  Value initialState(unsigned i, int64_t direction);
  Value recurrentWeights(int64_t direction);
  /// Returns the output Y [time, directions, batch, hidden] or, if the
  /// attribute `layout` is 1, [batch, time, directions, hidden], given the
  /// outputs [time, batch, hidden] of each direction.
  Value joinSteps(ArrayRef<Value> ys);
  Value joinStates(ArrayRef<Value> states);
  bool isReverse(int64_t direction) const {
    return directions == 2 ? direction == 1 : backwards;
  }

  ArrayAttr names(int64_t direction) const;
  DenseF64ArrayAttr values(int64_t direction, double Activation::*value) const;
  FloatAttr clip() const {
    return node.hasAttr("clip")
               ? node.builder.getF64FloatAttr(node.floatAttr("clip", 0))
               : FloatAttr();
  }

  OnnxNode &node;
  int64_t gateCount;
  Value x;
  Dim time, batch;
  int64_t hidden, directions = 1, activationsEach = 0;
  bool backwards = false, batchFirst = false;
  SmallVector<Activation> activations;
};

} // namespace

LogicalResult RecurrentLayer::read(ArrayRef<StringRef> defaultActivations) {
  x = node.input(0);
  batchFirst = node.intAttr("layout", 0) != 0;
  if (batchFirst)
    x = node.transpose(x, {1, 0, 2});
  time = dimsOf(x)[0];
  batch = dimsOf(x)[1];
  std::string direction = node.stringAttr("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return node.invalid("unknown direction `" + direction + "`");
  directions = direction == "bidirectional" ? 2 : 1;
  backwards = direction == "reverse";
  for (unsigned i : {1, 2})
    if (!dimsOf(node.input(i))[0].known() &&
        failed(node.requireEqual(dimsOf(node.input(i))[0], directions,
                                 "the number of directions of W and R")))
      return failure();
  hidden = shapeOf(node.input(2))[2];
  if (int64_t given = shapeOf(node.input(2))[0]; given != directions)
    return node.invalid("W and R have " + Twine(given) +
                        (given == 1 ? " direction" : " directions") +
                        ", but `direction` is " + direction);
  if (time == 0 || batch == 0 || hidden == 0)
    return node.unsupported("an empty sequence, an empty batch or a hidden "
                            "size of 0 is not supported");

  activationsEach = defaultActivations.size();
  SmallVector<std::string> given = node.stringsAttr("activations");
  SmallVector<double> alphas = node.floatsAttr("activation_alpha"),
                      betas = node.floatsAttr("activation_beta");
  if (given.empty())
    for (int64_t i = 0; i < directions; ++i)
      given.append(defaultActivations.begin(), defaultActivations.end());
  if (static_cast<int64_t>(given.size()) != directions * activationsEach)
    return node.invalid("the number of activations does not match `direction`");
  size_t nextAlpha = 0, nextBeta = 0;
  for (const std::string &name : given) {
    auto known = llvm::find_if(knownActivations, [&](const KnownActivation &a) {
      return StringRef(name).equals_insensitive(a.name);
    });
    if (known == std::end(knownActivations))
      return node.invalid("unknown activation `" + name + "`");
    // activation_alpha and activation_beta contain entries only for the
    // activations that have this parameter.
    double alpha = known->hasAlpha && nextAlpha < alphas.size()
                       ? alphas[nextAlpha++]
                       : known->alpha;
    double beta = known->hasBeta && nextBeta < betas.size() ? betas[nextBeta++]
                                                            : known->beta;
    activations.push_back({known->name, alpha, beta});
  }
  return success();
}

ArrayAttr RecurrentLayer::names(int64_t direction) const {
  SmallVector<StringRef> names;
  for (int64_t i = 0; i < activationsEach; ++i)
    names.push_back(activations[direction * activationsEach + i].name);
  return node.builder.getStrArrayAttr(names);
}

DenseF64ArrayAttr RecurrentLayer::values(int64_t direction,
                                         double Activation::*value) const {
  SmallVector<double> values;
  for (int64_t i = 0; i < activationsEach; ++i)
    values.push_back(activations[direction * activationsEach + i].*value);
  return node.builder.getDenseF64ArrayAttr(values);
}

Value RecurrentLayer::part(unsigned i, int64_t direction) {
  constexpr unsigned firstOptional = 3;
  Value all = node.input(i);
  if (i >= firstOptional)
    all = OnnxNode::unlessZeros(all);
  if (!all)
    return {};
  return node.reshape(node.slice(all, 0, direction, 1),
                      ArrayRef(dimsOf(all)).drop_front());
}

Value RecurrentLayer::initialState(unsigned i, int64_t direction) {
  Value all = OnnxNode::unlessZeros(node.input(i));
  if (!all)
    return node.expand(node.scalarConstant(0, elementOf(x)), {batch, hidden});
  int64_t axis = batchFirst ? 1 : 0;
  return node.reshape(node.slice(all, axis, direction, 1), {batch, hidden});
}

Value RecurrentLayer::recurrentWeights(int64_t direction) {
  return node.transpose(part(2, direction), {1, 0});
}

Value RecurrentLayer::inputGates(int64_t direction, int64_t recurrentBiases) {
  int64_t width = gateCount * hidden;
  Value w = node.transpose(part(1, direction), {1, 0});
  // Reshapes the inputs of all steps [time, batch, features] to one matrix,
  // unless the memory layout of tensors with dynamic sizes has gaps between the
  // steps.
  Value rows = x;
  if (isCompact(dimsOf(x)))
    rows = node.reshape(x, {time * batch, dimsOf(x)[2]});
  Value gates = node.build<MatMulOp>(rows, w);
  if (Value bias = part(3, direction)) {
    Value sum = node.slice(bias, 0, 0, width);
    Value recurrent = node.slice(bias, 0, width, recurrentBiases * hidden);
    recurrent =
        extendedAlong(node, recurrent, 0, width - recurrentBiases * hidden);
    sum = node.add(sum, recurrent);
    gates = node.add(gates, sum);
  }
  return node.reshape(gates, {time, batch, width});
}

Value RecurrentLayer::joinSteps(ArrayRef<Value> ys) {
  SmallVector<Value> parts;
  for (Value y : ys)
    parts.push_back(node.reshape(y, {time, 1, batch, hidden}));
  Value joined = node.concat(parts, 1);
  if (batchFirst)
    joined = node.transpose(joined, {2, 0, 1, 3});
  return joined;
}

Value RecurrentLayer::joinStates(ArrayRef<Value> states) {
  SmallVector<Value> parts;
  for (Value state : states)
    parts.push_back(node.reshape(state, {1, batch, hidden}));
  Value joined = node.concat(parts, 0);
  if (batchFirst)
    joined = node.transpose(joined, {1, 0, 2});
  return joined;
}

//===----------------------------------------------------------------------===//
// The three layers
//===----------------------------------------------------------------------===//

/// Returns the results of a recurrent layer: the output of all steps and the
/// final states. `build` creates the operator of one direction, given its
/// number.
template <typename Build>
static SmallVector<Value> overDirections(RecurrentLayer &layer, Build build) {
  SmallVector<SmallVector<Value>> parts;
  for (int64_t d = 0; d < layer.directions; ++d)
    // The last result of the operator is memory for its computation.
    for (auto [i, part] : llvm::enumerate(build(d)->getResults().drop_back())) {
      parts.resize(std::max(parts.size(), i + 1));
      parts[i].push_back(part);
    }
  SmallVector<Value> results{layer.joinSteps(parts[0])};
  for (ArrayRef<Value> states : ArrayRef(parts).drop_front())
    results.push_back(layer.joinStates(states));
  return results;
}

static ImportResult importRNN(OnnxNode &node) {
  RecurrentLayer layer(node, 1);
  if (failed(layer.read({"Tanh"})))
    return failure();
  return overDirections(layer, [&](int64_t d) {
    return RNNOp::create(node.builder, node.loc, layer.inputGates(d, 1),
                         layer.recurrentWeights(d), layer.initialState(5, d),
                         node.input(4), layer.isReverse(d), layer.names(d),
                         layer.values(d, &Activation::alpha),
                         layer.values(d, &Activation::beta), layer.clip());
  });
}

static ImportResult importGRU(OnnxNode &node) {
  RecurrentLayer layer(node, 3);
  if (failed(layer.read({"Sigmoid", "Tanh"})))
    return failure();
  bool linear = node.intAttr("linear_before_reset", 0) != 0;
  return overDirections(layer, [&](int64_t d) {
    Value bias;
    if (linear) {
      bias = layer.part(3, d);
      int64_t hidden = layer.hidden;
      bias = bias ? node.slice(bias, 0, 5 * hidden, hidden)
                  : Value(node.expand(
                        node.scalarConstant(0, elementOf(layer.x)), {hidden}));
    }
    return GRUOp::create(node.builder, node.loc,
                         layer.inputGates(d, linear ? 2 : 3),
                         layer.recurrentWeights(d), layer.initialState(5, d),
                         bias, node.input(4), layer.isReverse(d),
                         layer.names(d), layer.values(d, &Activation::alpha),
                         layer.values(d, &Activation::beta), layer.clip());
  });
}

static ImportResult importLSTM(OnnxNode &node) {
  RecurrentLayer layer(node, 4);
  if (failed(layer.read({"Sigmoid", "Tanh", "Tanh"})))
    return failure();
  return overDirections(layer, [&](int64_t d) {
    return LSTMOp::create(node.builder, node.loc, layer.inputGates(d, 4),
                          layer.recurrentWeights(d), layer.initialState(5, d),
                          layer.initialState(6, d), layer.part(7, d),
                          node.input(4), layer.isReverse(d), layer.names(d),
                          layer.values(d, &Activation::alpha),
                          layer.values(d, &Activation::beta), layer.clip(),
                          node.intAttr("input_forget", 0) != 0);
  });
}

void registerRecurrentImports(OnnxRegistry &registry) {
  registry.add("RNN", importRNN);
  registry.add("GRU", importGRU);
  registry.add("LSTM", importLSTM);
}

} // namespace ingot::graph
