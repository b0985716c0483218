#include "compiler/quantize/Session.h"

#include "compiler/quantize/RoundWeights.h"

#include <cmath>

namespace ingot::quantize {

/// If the weights have at most this many elements in total, they are inputs of
/// the compiled model. Then they can change from run to run without
/// compilation, but kernels are slower.
static constexpr int64_t mostOpen = 4 << 20;
/// The multiplications that a step of the quantizer may take: about a minute.
static constexpr double stepWork = 1e11;

double Loss::decibels() const {
  return noise > 0 ? -10 * std::log10(noise) : INFINITY;
}

Session::Session(Graph &graph, Sites found, const Calibration &samples,
                 const QuantizeOptions &options, const Host &host)
    : graph(graph), sites(std::move(found)), samples(samples), options(options),
      host(host) {
  auto observe = [&](const std::string &tensor) {
    if (!tensor.empty() && !graph.constant(tensor) &&
        !llvm::is_contained(observed, tensor))
      observed.push_back(tensor);
  };
  int64_t numbers = 0;
  std::vector<Averaged> averaged;
  for (const Weight &weight : sites.weights) {
    numbers += weight.elements();
    for (const std::string &tensor : weight.data)
      observe(tensor);
    bool isAveraged = !weight.bias.empty();
    averagePlace.push_back(isAveraged ? int(averaged.size()) : -1);
    bool isConv = weight.kind == WeightKind::Conv ||
                  weight.kind == WeightKind::ConvTranspose;
    if (isAveraged)
      averaged.push_back({resultOf(weight), weight.rows, isConv});
  }
  for (const Activation &activation : sites.activations)
    observe(activation.tensor);
  open = numbers <= mostOpen;
  probe = std::make_unique<Probe>(graph, sites, observed, std::move(averaged),
                                  open, host);
  histograms.resize(sites.activations.size());
  activationReason.resize(sites.activations.size());
  weightReason.resize(sites.weights.size());
}

int Session::seen(llvm::StringRef tensor) const {
  for (size_t i = 0; i < observed.size(); ++i)
    if (observed[i] == tensor)
      return i;
  return -1;
}

std::string Session::resultOf(const Weight &weight, size_t reader) const {
  const onnx::NodeProto &node = graph.node(weight.nodes[reader]);
  if (weight.kind == WeightKind::MatMul && !weight.bias.empty())
    return graph.node(graph.readers(node.output(0))[0]).output(0);
  return node.output(0);
}

std::vector<float> Session::channelMeans(size_t index) const {
  return probe->means(averagePlace[index]);
}

void Session::hideObserved() {
  observed.clear();
  probe->hideObserved();
}

bool Session::forEach(size_t count,
                      llvm::function_ref<void(size_t sample)> visit) {
  count = std::min(count, samples.size());
  for (size_t i = 0; i < count; ++i) {
    size_t sample = i * samples.size() / count;
    if (!probe->run(samples[sample]))
      return false;
    visit(sample);
  }
  return true;
}

/// Returns the index of the largest element of each row of `columns` elements.
static std::vector<size_t> largestOf(llvm::ArrayRef<float> values,
                                     size_t columns) {
  std::vector<size_t> largest;
  for (size_t at = 0; at + columns <= values.size(); at += columns)
    largest.push_back(std::max_element(&values[at], &values[at] + columns) -
                      &values[at]);
  return largest;
}

bool Session::measure(size_t count, Loss &loss) {
  std::vector<double> error, power;
  double rows = 0, changed = 0, correct = 0, visited = 0;
  bool good = forEach(count, [&](size_t sample) {
    auto outputs = probe->outputs();
    error.resize(outputs.size());
    power.resize(outputs.size());
    for (size_t o = 0; o < outputs.size(); ++o)
      for (auto [got, want] : llvm::zip(outputs[o], reference[sample][o])) {
        error[o] += (double(got) - want) * (double(got) - want);
        power[o] += double(want) * want;
      }
    if (outputs.empty())
      return;
    llvm::ArrayRef<int64_t> shape = probe->outputTypes()[0].getShape();
    size_t columns = shape.empty() ? 1 : shape.back();
    auto got = largestOf(outputs[0], columns),
         want = largestOf(reference[sample][0], columns);
    for (size_t r = 0; r < got.size(); ++r)
      changed += got[r] != want[r];
    rows += got.size();
    if (!samples.labels().empty() && !got.empty())
      correct += int64_t(got[0]) == samples.labels()[sample];
    ++visited;
  });
  loss = {};
  for (size_t o = 0; o < error.size(); ++o)
    // An error that is not finite counts as very large.
    loss.noise += std::isfinite(error[o])
                      ? error[o] / std::max(power[o], 1e-30) / error.size()
                      : 1e6;
  loss.changed = rows ? changed / rows : 0;
  loss.correct = visited ? correct / visited : 0;
  return good;
}

double Session::affordableRuns() const {
  return stepWork / std::max(work, 1.0);
}

size_t Session::affordable(double runs, size_t least) const {
  double count = affordableRuns() / std::max(runs, 1.0);
  return std::min<size_t>(samples.size(), std::max<double>(count, least));
}

void Session::apply(size_t index) {
  const Activation &activation = sites.activations[index];
  probe->set(index, activation);
  for (size_t i = 0; i < sites.activations.size(); ++i)
    if (sites.activations[i].follows == int(index)) {
      Activation &follower = sites.activations[i];
      follower.bits = activation.bits;
      follower.scale = activation.scale;
      follower.zeroPoint = activation.zeroPoint;
      apply(i);
    }
}

int Session::usualBits(const Weight &weight) const {
  if (options.kind == Kind::Int4Weights)
    return canBeNarrow(weight) ? 4 : 8;
  // No products of grouped convolutions are summed in 16 bits.
  bool isMultiplied = weight.groups == 1 && !weight.data.empty() &&
                      llvm::all_of(weight.data, [&](const std::string &tensor) {
                        return sites.activation(tensor) >= 0;
                      });
  return isMultiplied ? options.weightBits : 8;
}

std::vector<float> Session::numbersOf(size_t index) const {
  const Weight &weight = sites.weights[index];
  return weight.byRows(graph.floats(weight.tensor));
}

void Session::setNumbers(size_t index, llvm::ArrayRef<float> numbers) {
  const Weight &weight = sites.weights[index];
  std::vector<float> values = weight.asConstant(numbers);
  graph.setFloats(weight.tensor, values);
  probe->setConstant(weight.tensor, values);
}

void Session::setFloat(size_t index) {
  probe->setFloat(index);
  for (size_t i = 0; i < sites.activations.size(); ++i)
    if (sites.activations[i].follows == int(index))
      setFloat(i);
}

void Session::applyWeight(size_t index) {
  const Weight &weight = sites.weights[index];
  applyBias(index);
  if (weight.bits == 0)
    return setFloatWeight(index);
  if (open)
    return probe->setConstant(weight.tensor,
                              weight.asConstant(weight.dequantized()));
  probe->rebuild();
}

void Session::applyBias(size_t index) {
  const Weight &weight = sites.weights[index];
  if (weight.bias.empty())
    return;
  std::vector<float> bias = biases[index];
  for (size_t c = 0; c < bias.size(); ++c)
    bias[c] += (weight.bits ? lost[index][c] : 0) + missing[index][c];
  graph.setFloats(weight.bias, bias);
  probe->setConstant(weight.bias, bias);
}

void Session::setFloatWeight(size_t index, bool isPlain) {
  const Weight &weight = sites.weights[index];
  if (isPlain && !weight.bias.empty())
    probe->setConstant(weight.bias, biases[index]);
  if (open)
    return probe->setConstant(weight.tensor, graph.floats(weight.tensor));
  probe->rebuild();
}

} // namespace ingot::quantize
