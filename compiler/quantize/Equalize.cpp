// Cross-layer equalization: balances the ranges of channels between operators.
//
// All channels of an activation have the same scale, so a channel with large
// values reduces the resolution of all others. If the operators before and
// after are linear in each channel,
//
//     Conv(w, b) -> Relu -> x -> Conv(v)
//
// computes the same with w[c] / f[c], b[c] / f[c] and v[:, c] * f[c]. The rows
// of w have their own scales, so they lose no resolution; the resolution that v
// loses is weighed against what x gains. A LayerNormalization before x can take
// the factors as well.

#include "compiler/quantize/RoundWeights.h"
#include "compiler/quantize/Session.h"

#include <cmath>

using llvm::ArrayRef;
using llvm::StringRef;

namespace ingot::quantize {

namespace {
/// The constants that are divided by factors, so that the channels of the
/// activation that is computed from them are divided by the same factors.
struct Absorber {
  /// The weights (by index) whose rows are divided by the factors, and the
  /// names of the vectors whose elements are divided.
  std::vector<size_t> weights;
  std::vector<std::string> vectors;
};

/// Along which axes of a tensor the channels may be: along the second, as
/// convolutions have them, or along the last. Both if the tensor has two axes,
/// or if all axes but that of the batch and that of the channels have size 1.
struct Channels {
  size_t count;
  bool isSecond, isLast;
  /// The number of axes of the tensor; 0 if it is unknown.
  int64_t rank = 0;
};

static bool isConvolution(const Weight &weight) {
  return weight.kind == WeightKind::Conv ||
         weight.kind == WeightKind::ConvTranspose;
}

class Equalizer {
public:
  explicit Equalizer(Session &session)
      : session(session), graph(session.graph), sites(session.sites) {}

  void equalize(const std::string &tensor);
  bool gather();

private:
  bool isOwn(StringRef constant, size_t elements) const {
    if (!graph.isFloatConstant(constant) || graph.escapes(constant) ||
        graph.readers(constant).size() != 1)
      return false;
    size_t count = 1;
    Shape shape = graph.shape(constant);
    for (int64_t size : shape)
      count *= size;
    return count == elements && !shape.empty() &&
           (shape.back() == int64_t(elements) || shape.size() == 1);
  }
  /// Finds the constants that give `tensor` its channels; `depth` operators are
  /// between `tensor` and the readers of the channels.
  bool findAbsorber(const std::string &tensor, Channels channels, int depth,
                    Absorber &absorber) const;
  /// Returns where the operand of a ReduceMean has the channels of its result.
  Channels beforeMean(const onnx::NodeProto &node, Channels channels) const;
  /// Returns the type of a tensor; null if it was not observed.
  mlir::RankedTensorType typeOf(StringRef tensor) const {
    int place = session.seen(tensor);
    return place < 0 ? mlir::RankedTensorType()
                     : session.probe->observedType(place);
  }
  /// Returns the weights that multiply the channels of a tensor; nothing if the
  /// tensor has other readers, or a Gemm that transposes it.
  std::optional<std::vector<size_t>> readersOf(const std::string &tensor) const;
  /// Returns the channel of the operand that an element of a weight multiplies.
  size_t channelOf(const Weight &weight, int64_t row, int64_t column) const;
  bool isDepthwise(const Weight &weight) const {
    return weight.kind == WeightKind::Conv && weight.groups > 1;
  }
  double cost(ArrayRef<size_t> readers, const ChannelStatistics &statistics,
              ArrayRef<double> factors) const;
  void apply(ArrayRef<size_t> readers, const Absorber &absorber,
             ArrayRef<double> factors);
  /// Returns the elements of a weight by rows; caches them while one tensor is
  /// equalized.
  std::vector<float> &cached(size_t index) const;
  void scaleVector(const std::string &name, ArrayRef<double> factors);

  Session &session;
  Graph &graph;
  Sites &sites;
  llvm::StringMap<ChannelStatistics> channels;
  mutable std::map<size_t, std::vector<float>> numbers;
};
} // namespace

bool Equalizer::gather() {
  return session.forEach(session.samples.size(), [&](size_t) {
    for (const Weight &weight : sites.weights) {
      if (weight.kind == WeightKind::Recurrent || weight.data.empty())
        continue;
      const std::string &tensor = weight.data[0];
      int seen = session.seen(tensor);
      if (seen < 0 || session.probe->observed(seen).empty())
        continue;
      auto shape = session.probe->observedType(seen).getShape();
      // If several weights multiply the tensor, it is added to the statistics
      // only for the first of them.
      auto firstReader = llvm::find_if(sites.weights, [&](const Weight &other) {
        return !other.data.empty() && other.data[0] == tensor;
      });
      if (&*firstReader == &weight)
        channels[tensor].add(session.probe->observed(seen), shape,
                             isConvolution(weight) ? 1 : int(shape.size()) - 1);
    }
  });
}

Channels Equalizer::beforeMean(const onnx::NodeProto &node,
                               Channels channels) const {
  std::vector<int64_t> axes = integersOf(node, "axes");
  if (node.input_size() > 1 && graph.constant(node.input(1)))
    axes = graph.integers(node.input(1));
  if (channels.rank && !integerOf(node, "keepdims", 1))
    channels.rank += axes.size();
  // Without axes, all axes are reduced.
  bool isKnown = !axes.empty();
  for (int64_t &axis : axes) {
    axis += axis < 0 ? channels.rank : 0;
    isKnown &= axis >= 0 && (axis > 1 || channels.rank);
  }
  auto keeps = [&](int64_t axis) { return !llvm::is_contained(axes, axis); };
  channels.isSecond &= isKnown && keeps(0) && keeps(1);
  channels.isLast &= isKnown && channels.rank && keeps(channels.rank - 1);
  return channels;
}

bool Equalizer::findAbsorber(const std::string &tensor, Channels channels,
                             int depth, Absorber &absorber) const {
  size_t count = channels.count;
  if (auto type = typeOf(tensor))
    channels.rank = type.getRank();
  int index = graph.producer(tensor);
  if (index < 0 || depth > 8 || graph.escapes(tensor))
    return false;
  // An intermediate tensor must have no other reader, since its values change.
  if (depth > 0 && graph.readers(tensor).size() != 1)
    return false;
  const onnx::NodeProto &node = graph.node(index);
  // These operators process each channel separately.
  auto before = [&](Channels operand) {
    return (operand.isSecond || operand.isLast) &&
           findAbsorber(node.input(0), operand, depth + 1, absorber);
  };
  for (StringRef type : {"Relu", "LeakyRelu", "Dropout"})
    if (isOperator(node, type))
      return before(channels);
  for (StringRef type :
       {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool"})
    if (isOperator(node, type))
      return before({count, channels.isSecond, false, channels.rank});
  if (isOperator(node, "ReduceMean"))
    return before(beforeMean(node, channels));
  // If all elements between the batch and the next operator are channels, the
  // axes of the operand of a Flatten have size 1, except for one with `count`
  // elements: otherwise no absorber has `count` rows.
  if (isOperator(node, "Flatten"))
    return integerOf(node, "axis", 1) == 1 && before({count, true, true});
  // A Reshape or Squeeze keeps the channels if both tensors have the same batch
  // axis, `count` channels and otherwise only axes of size 1.
  if (isOperator(node, "Reshape") || isOperator(node, "Squeeze")) {
    auto to = typeOf(tensor), from = typeOf(node.input(0));
    return to && from && to.getRank() > 1 && from.getRank() > 1 &&
           to.getDimSize(0) == from.getDimSize(0) &&
           to.getNumElements() == to.getDimSize(0) * int64_t(count) &&
           before({count, true, true, from.getRank()});
  }
  for (auto [i, weight] : llvm::enumerate(sites.weights)) {
    if (weight.nodes[0] != index || weight.kind == WeightKind::Recurrent ||
        weight.kind == WeightKind::Table)
      continue;
    bool hasBias = weight.kind != WeightKind::MatMul && node.input_size() > 2 &&
                   !node.input(2).empty();
    bool isAlong = isConvolution(weight)               ? channels.isSecond
                   : weight.kind == WeightKind::MatMul ? channels.isLast
                                                       : true;
    if (!isAlong || weight.nodes.size() != 1 || weight.rows != int64_t(count) ||
        (hasBias && weight.bias.empty()))
      return false;
    absorber.weights.push_back(i);
    if (hasBias)
      absorber.vectors.push_back(weight.bias);
    return true;
  }
  bool isLayerNorm = isOperator(node, "LayerNormalization");
  if (isLayerNorm || isOperator(node, "BatchNormalization")) {
    if (!(isLayerNorm ? channels.isLast : channels.isSecond))
      return false;
    for (int i : {1, 2})
      if (node.input_size() > i && !node.input(i).empty()) {
        if (!isOwn(node.input(i), count))
          return false;
        absorber.vectors.push_back(node.input(i));
      }
    return node.input_size() > 1;
  }
  bool isAdd = isOperator(node, "Add"), isMul = isOperator(node, "Mul");
  // A vector is added to, or multiplies, the last axis.
  if ((!isAdd && !isMul) || !channels.isLast)
    return false;
  for (int i : {0, 1})
    if (isOwn(node.input(i), count)) {
      absorber.vectors.push_back(node.input(i));
      // A vector with several axes may give the result more axes than the other
      // operand has.
      if (graph.shape(node.input(i)).size() > 1)
        channels = {count, false, true};
      return isMul ||
             findAbsorber(node.input(1 - i), channels, depth + 1, absorber);
    }
  return false;
}

std::optional<std::vector<size_t>>
Equalizer::readersOf(const std::string &tensor) const {
  std::vector<size_t> result;
  for (int reader : graph.readers(tensor)) {
    auto weight = llvm::find_if(sites.weights, [&](const Weight &candidate) {
      return candidate.nodes.size() == 1 && candidate.nodes[0] == reader &&
             candidate.data.size() == 1 && candidate.data[0] == tensor &&
             candidate.kind != WeightKind::Recurrent;
    });
    if (weight == sites.weights.end())
      return std::nullopt;
    if (weight->kind == WeightKind::Gemm &&
        integerOf(graph.node(reader), "transA", 0))
      return std::nullopt;
    result.push_back(weight - sites.weights.begin());
  }
  return result;
}

size_t Equalizer::channelOf(const Weight &weight, int64_t row,
                            int64_t column) const {
  if (weight.kind == WeightKind::ConvTranspose)
    return column / (weight.depth / weight.shape[0]);
  if (weight.kind != WeightKind::Conv)
    return column;
  int64_t inGroup = weight.shape[1];
  return row / (weight.rows / weight.groups) * inGroup +
         column / (weight.depth / inGroup);
}

double Equalizer::cost(ArrayRef<size_t> readers,
                       const ChannelStatistics &statistics,
                       ArrayRef<double> factors) const {
  double range = 0;
  for (auto [largest, factor] : llvm::zip(statistics.largest, factors))
    range = std::max(range, largest / factor);
  double noise = 0, step = range / 255;
  for (size_t index : readers) {
    const Weight &weight = sites.weights[index];
    const std::vector<float> &numbers = cached(index);
    for (int64_t r = 0; r < weight.rows; ++r) {
      double largest = 0, fromData = 0, power = 0;
      for (int64_t c = 0; c < weight.depth; ++c) {
        size_t channel = channelOf(weight, r, c);
        double scaled = numbers[r * weight.depth + c] * factors[channel];
        largest = std::max(largest, std::abs(scaled));
        fromData += scaled * scaled;
        power += statistics.squares[channel] / double(statistics.count) /
                 (factors[channel] * factors[channel]);
      }
      double weightStep = largest / largestInteger(session.usualBits(weight)),
             fromWeights = weightStep * weightStep * power;
      double own = step * step * fromData + fromWeights;
      // The errors of the channels of a depthwise convolution count relative to
      // the power of the channel, since the next layer can scale each channel
      // separately.
      double signal = 0;
      if (isDepthwise(weight))
        for (int64_t c = 0; c < weight.depth; ++c) {
          size_t channel = channelOf(weight, r, c);
          signal += double(numbers[r * weight.depth + c]) *
                    numbers[r * weight.depth + c] *
                    statistics.squares[channel] / double(statistics.count);
        }
      noise += isDepthwise(weight) ? own / std::max(signal, 1e-20) : own;
    }
  }
  return noise;
}

std::vector<float> &Equalizer::cached(size_t index) const {
  auto [it, isNew] = numbers.try_emplace(index);
  if (isNew)
    it->second = session.numbersOf(index);
  return it->second;
}

void Equalizer::scaleVector(const std::string &name, ArrayRef<double> factors) {
  std::vector<float> values = graph.floats(name);
  for (auto [value, factor] : llvm::zip(values, factors))
    value = float(value / factor);
  graph.setFloats(name, values);
  session.probe->setConstant(name, values);
}

void Equalizer::apply(ArrayRef<size_t> readers, const Absorber &absorber,
                      ArrayRef<double> factors) {
  for (size_t index : absorber.weights) {
    const Weight &weight = sites.weights[index];
    std::vector<float> &values = cached(index);
    for (int64_t i = 0; i < weight.elements(); ++i)
      values[i] = float(values[i] / factors[i / weight.depth]);
    session.setNumbers(index, values);
  }
  for (const std::string &name : absorber.vectors)
    scaleVector(name, factors);
  for (size_t index : readers) {
    const Weight &weight = sites.weights[index];
    std::vector<float> &values = cached(index);
    for (int64_t r = 0; r < weight.rows; ++r)
      for (int64_t c = 0; c < weight.depth; ++c) {
        float &value = values[r * weight.depth + c];
        value = float(value * factors[channelOf(weight, r, c)]);
      }
    session.setNumbers(index, values);
  }
}

void Equalizer::equalize(const std::string &tensor) {
  ChannelStatistics &statistics = channels[tensor];
  numbers.clear();
  // The observed range of a channel is extended to the range expected for more
  // samples.
  for (auto [largest, extremes] :
       llvm::zip(statistics.largest, statistics.extremes))
    largest = std::max(largest, extremes.expected());
  auto readers = readersOf(tensor);
  size_t count = statistics.largest.size();
  Absorber absorber;
  if (!readers || readers->empty() || count < 2 || !statistics.count)
    return;
  // Convolutions and matrix products read the channels along different axes.
  bool isConv = isConvolution(sites.weights[readers->front()]);
  if (llvm::any_of(*readers, [&](size_t index) {
        return isConvolution(sites.weights[index]) != isConv;
      }))
    return;
  int64_t rank = typeOf(tensor).getRank();
  if (!findAbsorber(tensor,
                    {count, isConv || rank == 2, !isConv || rank == 2, rank}, 0,
                    absorber))
    return;
  // For each channel of the tensor, the largest weight that multiplies it.
  std::vector<double> largest(count, 0);
  for (size_t index : *readers) {
    const Weight &weight = sites.weights[index];
    const std::vector<float> &values = cached(index);
    for (int64_t r = 0; r < weight.rows; ++r)
      for (int64_t c = 0; c < weight.depth; ++c) {
        size_t channel = channelOf(weight, r, c);
        if (channel >= count)
          return;
        largest[channel] = std::max(
            largest[channel], std::abs(double(values[r * weight.depth + c])));
      }
  }
  std::vector<double> best(count, 1), factors(count);
  double whole = cost(*readers, statistics, best), least = whole;
  for (double share = 0; share <= 1; share += 0.125) {
    double logs = 0;
    for (size_t c = 0; c < count; ++c) {
      bool isUsed = statistics.largest[c] > 0 && largest[c] > 0;
      factors[c] = isUsed ? std::pow(statistics.largest[c], share) /
                                std::pow(largest[c], 1 - share)
                          : 0;
      logs += isUsed ? std::log(factors[c]) : 0;
    }
    double mean = std::exp(logs / double(count));
    for (double &factor : factors)
      factor = factor > 0
                   ? std::min(std::max(factor / mean, 1.0 / 4096), 4096.0)
                   : 1;
    double noise = cost(*readers, statistics, factors);
    if (noise < least) {
      least = noise;
      best = factors;
    }
  }
  // Weights change only if the estimated loss decreases by more than 10 %.
  if (least < 0.9 * whole)
    apply(*readers, absorber, best);
}

bool equalize(Session &session) {
  Equalizer equalizer(session);
  if (!equalizer.gather())
    return false;
  llvm::StringSet<> done;
  for (const Weight &weight : session.sites.weights)
    if (!weight.data.empty() && done.insert(weight.data[0]).second)
      equalizer.equalize(weight.data[0]);
  return true;
}

} // namespace ingot::quantize
