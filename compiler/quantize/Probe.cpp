#include "compiler/quantize/Probe.h"

#include "compiler/run/BuiltModel.h"

#include <chrono>

using namespace mlir;

namespace ingot::quantize {

/// The step size and bound with which quantization leaves floats unchanged:
/// rounding to multiples of so small a step has no effect, and the bounds are
/// never reached.
static constexpr float finestStep = 0x1p-70f, widest = 0x1p120f;

/// After a run that takes longer than this, runs use threads.
static constexpr std::chrono::milliseconds worthThreads(5);

Probe::Probe(Graph &graph, const Sites &sites, ArrayRef<std::string> observed,
             std::vector<Averaged> averaged, bool openWeights, const Host &host)
    : graph(graph), sites(sites), observedNames(observed),
      averaged(std::move(averaged)), openWeights(openWeights), host(host),
      steps(sites.activations.size(), {finestStep, -widest, widest}) {}

void Probe::set(int index, int bits, float scale, int zeroPoint) {
  steps[index] =
      bits ? Step{scale, float(-zeroPoint), float((1 << bits) - 1 - zeroPoint)}
           : Step{finestStep, -widest, widest};
}

void Probe::setConstant(StringRef name, ArrayRef<float> values) {
  auto it = constants.find(name);
  if (openWeights || graph.shape(name).size() < 2)
    constants[name].assign(values.begin(), values.end());
  // If the constant is compiled into the model and is not an input, the model
  // is compiled again with the value in `graph`.
  if (it == constants.end())
    model.reset();
}

static std::string parameter(size_t activation, StringRef what) {
  return ("ingot_probe_" + Twine(activation) + "_" + what).str();
}
static std::string averageOf(size_t index, StringRef what) {
  return ("ingot_average_" + Twine(index) + "_" + what).str();
}
static std::string constantInput(StringRef name) {
  return ("ingot_probe_of_" + name).str();
}

static void addInput(onnx::GraphProto &proto, const std::string &name,
                     ArrayRef<int64_t> shape) {
  onnx::ValueInfoProto &input = *proto.add_input();
  input.set_name(name);
  auto &type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
  for (int64_t size : shape)
    type.mutable_shape()->add_dim()->set_dim_value(size);
}

/// Adds the nodes that quantize a tensor by the inputs scale, low and high of
/// an activation; returns the name of the result.
static std::string addStep(onnx::GraphProto &proto, size_t activation,
                           const std::string &tensor) {
  auto node = [&](const char *type, ArrayRef<std::string> inputs,
                  const std::string &output) {
    addNode(*proto.mutable_node(), type, inputs, output);
    return output;
  };
  std::string scale = parameter(activation, "scale");
  std::string scaled =
      node("Div", {tensor, scale}, parameter(activation, "scaled"));
  std::string rounded =
      node("Round", {scaled}, parameter(activation, "rounded"));
  std::string clipped = node(
      "Clip",
      {rounded, parameter(activation, "low"), parameter(activation, "high")},
      parameter(activation, "clipped"));
  return node("Mul", {clipped, scale}, parameter(activation, "value"));
}

static void addFloatOutput(onnx::GraphProto &proto, const std::string &name) {
  onnx::ValueInfoProto &output = *proto.add_output();
  output.set_name(name);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::FLOAT);
}

/// Adds the nodes that compute the sum of each channel of a tensor, and the
/// number of elements of the tensor.
static void addAverage(onnx::GraphProto &proto, size_t index,
                       const Averaged &averaged) {
  auto node = [&](const char *type, ArrayRef<std::string> inputs,
                  const std::string &output) -> onnx::NodeProto & {
    return addNode(*proto.mutable_node(), type, inputs, output);
  };
  auto integers = [&](StringRef what, ArrayRef<int64_t> values) {
    onnx::TensorProto &tensor = *proto.add_initializer();
    tensor.set_name(averageOf(index, what));
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(values.size());
    for (int64_t value : values)
      tensor.add_int64_data(value);
    return tensor.name();
  };
  std::string rows = averageOf(index, "rows"), sum = averageOf(index, "sum"),
              size = averageOf(index, "size"),
              count = averageOf(index, "count");
  std::string shape = averaged.isSecond
                          ? integers("shape", {0, averaged.channels, -1})
                          : integers("shape", {-1, averaged.channels});
  std::string axes =
      averaged.isSecond ? integers("axes", {0, 2}) : integers("axes", {0});
  node("Reshape", {averaged.tensor, shape}, rows);
  setInteger(node("ReduceSum", {rows, axes}, sum), "keepdims", 0);
  node("Size", {averaged.tensor}, count);
  setInteger(node("Cast", {count}, size), "to", onnx::TensorProto::FLOAT);
  addFloatOutput(proto, sum);
  addFloatOutput(proto, size);
}

onnx::ModelProto Probe::instrumented() {
  onnx::ModelProto result;
  const onnx::GraphProto &from = graph.proto();
  onnx::GraphProto &to = *result.mutable_graph();
  result.set_ir_version(graph.model().ir_version());
  *result.mutable_opset_import() = graph.model().opset_import();
  *result.mutable_functions() = graph.model().functions();
  to.set_name(from.name());
  *to.mutable_input() = from.input();
  *to.mutable_output() = from.output();
  *to.mutable_sparse_initializer() = from.sparse_initializer();
  for (size_t i = 0; i < sites.activations.size(); ++i)
    for (const char *what : {"scale", "low", "high"})
      addInput(to, parameter(i, what), {});

  llvm::StringSet<> open;
  for (const onnx::TensorProto &tensor : from.initializer()) {
    auto changed = constants.find(tensor.name());
    bool canOpen =
        (openWeights ? tensor.dims_size() > 0 : tensor.dims_size() == 1) &&
        graph.isFloatConstant(tensor.name()) && !graph.escapes(tensor.name()) &&
        llvm::any_of(graph.readers(tensor.name()), [&](int reader) {
          StringRef type = graph.node(reader).op_type();
          return llvm::is_contained({"Conv", "ConvTranspose", "Gemm", "MatMul",
                                     "Add", "Mul", "GRU", "LSTM",
                                     "LayerNormalization"},
                                    type);
        });
    if (canOpen) {
      open.insert(tensor.name());
      addInput(to, constantInput(tensor.name()), graph.shape(tensor.name()));
      if (changed == constants.end())
        constants[tensor.name()] = graph.floats(tensor.name());
      continue;
    }
    onnx::TensorProto &copy = *to.add_initializer();
    auto weight = llvm::find_if(sites.weights, [&](const Weight &candidate) {
      return candidate.tensor == tensor.name();
    });
    if (!openWeights && weight != sites.weights.end() && weight->bits &&
        !weight->values.empty()) {
      std::vector<float> values = weight->asConstant(weight->dequantized());
      onnx::TensorProto &written = rounded[tensor.name()];
      written.set_name(tensor.name());
      written.set_data_type(onnx::TensorProto::FLOAT);
      *written.mutable_dims() = tensor.dims();
      host.scratch->put(written, {reinterpret_cast<char *>(values.data()),
                                  values.size() * sizeof(float)});
      copy = written;
      continue;
    }
    if (changed == constants.end()) {
      copy = tensor;
      continue;
    }
    copy.set_name(tensor.name());
    copy.set_data_type(onnx::TensorProto::FLOAT);
    *copy.mutable_dims() = tensor.dims();
    copy.set_raw_data(changed->second.data(),
                      changed->second.size() * sizeof(float));
  }

  llvm::StringMap<std::string> replaced;
  auto step = [&](const std::string &tensor) {
    int index = sites.activation(tensor);
    if (index >= 0)
      replaced[tensor] = addStep(to, index, tensor);
  };
  for (const auto &input : from.input())
    step(input.name());
  for (const onnx::NodeProto &node : from.node()) {
    onnx::NodeProto &copy = *to.add_node();
    copy = node;
    for (std::string &input : *copy.mutable_input())
      if (auto it = replaced.find(input); it != replaced.end())
        input = it->second;
      else if (open.count(input))
        input = constantInput(input);
    for (const std::string &output : node.output())
      step(output);
  }
  for (const std::string &name : observedNames) {
    bool isThere = graph.isInput(name) ||
                   llvm::any_of(to.output(), [&](const auto &output) {
                     return output.name() == name;
                   });
    if (isThere)
      continue;
    addFloatOutput(to, name);
  }
  for (auto [i, tensor] : llvm::enumerate(averaged))
    addAverage(to, i, tensor);
  return result;
}

bool Probe::build(const Sample &sample) {
  fedCount = sample.size();
  // Frees the buffers of the previous model before the new model needs as much
  // memory.
  buffers = std::vector<Tensor>();
  model = host.build(instrumented(), sample);
  if (!model)
    return false;
  io.clear();
  sampleOf.assign(model->inputs().size(), -1);
  std::vector<GraphInput> fed = fedInputs(graph.model(), &host.context);
  for (auto [i, input] : llvm::enumerate(model->inputs())) {
    const std::string &name = input.onnxName;
    for (auto [j, given] : llvm::enumerate(fed))
      if (given.name == name)
        sampleOf[i] = j;
    void *bytes = nullptr;
    StringRef rest = name;
    if (sampleOf[i] < 0 && rest.consume_front("ingot_probe_of_")) {
      bytes = constants[rest].data();
    } else if (sampleOf[i] < 0) {
      rest.consume_front("ingot_probe_");
      auto [number, what] = rest.split('_');
      size_t index;
      if (!number.getAsInteger(10, index))
        bytes = what == "scale" ? &steps[index].scale
                : what == "low" ? &steps[index].low
                                : &steps[index].high;
    }
    io.push_back(bytes);
  }
  results.clear();
  resultTypes.clear();
  seen.assign(observedNames.size(), {});
  seenTypes.assign(observedNames.size(), nullptr);
  seenInputs.assign(observedNames.size(), -1);
  sums.assign(averaged.size(), {});
  sizes.assign(averaged.size(), {});
  size_t outputs = graph.proto().output_size();
  for (RankedTensorType type : model->outputTypes()) {
    Tensor &tensor = buffers.emplace_back();
    tensor.type = type;
    tensor.bytes.resize(std::max<int64_t>(type.getNumElements(), 1) *
                        llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  }
  for (auto [i, output] : llvm::enumerate(model->outputs())) {
    Tensor &tensor = buffers[i];
    io.push_back(tensor.bytes.data());
    ArrayRef<float> floats;
    if (tensor.type.getElementType().isF32())
      floats = ArrayRef(reinterpret_cast<const float *>(tensor.bytes.data()),
                        tensor.elements());
    if (i < outputs && !floats.empty()) {
      results.push_back(floats);
      resultTypes.push_back(tensor.type);
    }
    for (auto [j, name] : llvm::enumerate(observedNames))
      if (name == output.onnxName) {
        seen[j] = floats;
        seenTypes[j] = tensor.type;
      }
    StringRef rest = output.onnxName;
    size_t index;
    if (rest.consume_front("ingot_average_") && !rest.consumeInteger(10, index))
      (rest == "_sum" ? sums : sizes)[index] = floats;
  }
  for (auto [j, name] : llvm::enumerate(observedNames))
    for (auto [i, given] : llvm::enumerate(fed))
      if (given.name == name)
        seenInputs[j] = i;
  return true;
}

std::vector<float> Probe::means(size_t index) const {
  std::vector<float> means(sums[index].begin(), sums[index].end());
  double count = averagedElements(index) / double(averaged[index].channels);
  for (float &mean : means)
    mean = float(mean / std::max(count, 1.0));
  return means;
}

bool Probe::run(const Sample &sample) {
  if (!model && !build(sample))
    return false;
  for (auto [i, given] : llvm::enumerate(sampleOf))
    if (given >= 0)
      io[i] = const_cast<char *>(sample[given].bytes.data());
    else if (StringRef name = model->inputs()[i].onnxName;
             name.consume_front("ingot_probe_of_"))
      io[i] = constants[name].data();
  for (auto [j, input] : llvm::enumerate(seenInputs))
    if (input >= 0) {
      const Tensor &tensor = sample[input];
      seenTypes[j] = tensor.type;
      seen[j] =
          tensor.type.getElementType().isF32()
              ? ArrayRef(reinterpret_cast<const float *>(tensor.bytes.data()),
                         tensor.elements())
              : ArrayRef<float>();
    }
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  ingot_context context = pool ? pool->context() : ingot_context{};
  ingot_status status = model->run(io, &context);
  if (!pool && Clock::now() - start > worthThreads)
    pool = std::make_unique<ThreadPool>();
  if (status != INGOT_OK)
    host.diagnostics.report(DiagnosticId::RunFailed,
                            "the model failed on a calibration sample: " +
                                statusText(status));
  return status == INGOT_OK;
}

} // namespace ingot::quantize
