// One quantization on its way: what all its steps share.

#ifndef INGOT_COMPILER_QUANTIZE_SESSION_H
#define INGOT_COMPILER_QUANTIZE_SESSION_H

#include "compiler/quantize/Calibration.h"
#include "compiler/quantize/Probe.h"
#include "compiler/quantize/Quantize.h"
#include "compiler/quantize/Sites.h"
#include "compiler/quantize/Statistics.h"

namespace ingot::quantize {

/// How far the outputs are from those in float.
struct Loss {
  /// Power of the error over power of the output, the mean over all outputs.
  double noise = 0;
  /// The share of rows whose largest element is another, and of samples whose
  /// label is the largest element.
  double changed = 0, correct = 0;
  double decibels() const;
};

struct Session {
  Session(Graph &graph, Sites sites, const Calibration &samples,
          const QuantizeOptions &options, const Host &host);

  Graph &graph;
  Sites sites;
  const Calibration &samples;
  const QuantizeOptions &options;
  const Host &host;
  /// Tensors that the probe shows: inputs of weights, then activations.
  std::vector<std::string> observed;
  /// Multiplications of a run.
  double work = 0;
  std::unique_ptr<Probe> probe;
  /// Returns the numbers of a weight before it is rounded, by rows.
  std::vector<float> numbersOf(size_t weight) const;
  /// Of each weight with a bias: the bias before rounding, what rounding the
  /// weight loses on average, and what else was found to be missing.
  std::vector<std::vector<float>> biases, lost, missing;
  /// The weights in 4 bits, and what they lose, where a budget may leave room for that; else empty.
  std::vector<Weight> narrow;
  std::vector<std::vector<float>> narrowLost;
  std::vector<Histogram> histograms;
  /// The means of a weight's results in float: for each weight and sample a
  /// number for each row. Empty for weights without a bias.
  std::vector<std::vector<std::vector<float>>> floatMeans;
  /// The outputs in float, of each sample.
  std::vector<std::vector<std::vector<float>>> reference;
  /// The share of samples with the right class, of the model in float.
  double correctBefore = 0;
  /// Why a place has the precision that it has; empty: it is the usual one.
  std::vector<std::string> activationReason, weightReason;

  int seen(llvm::StringRef tensor) const;
  /// The place of a weight's result among the averaged tensors; -1 if it has no
  /// bias that could be corrected.
  std::vector<int> averagePlace;
  /// Returns the means of a weight's results in the last run, by rows.
  std::vector<float> channelMeans(size_t weight) const;
  /// Returns the tensor that has the result of a weight, with its bias.
  std::string resultOf(const Weight &weight, size_t reader = 0) const;
  /// Whether the weights may change between runs at no cost.
  bool isOpen() const { return open; }
  /// Says that no step looks at tensors any more, only at means and outputs.
  void hideObserved();

  /// Runs samples, `count` of them evenly spaced, and shows each to `visit`.
  bool forEach(size_t count, llvm::function_ref<void(size_t sample)> visit);
  /// Compares `count` samples with the reference.
  bool measure(size_t count, Loss &loss);
  /// Returns how many runs of the model a step may take.
  double affordableRuns() const;
  /// Returns how many samples can be run `runs` times within what a step may
  /// take; between `least` and all.
  size_t affordable(double runs, size_t least) const;

  /// Makes the probe compute an activation (and those that follow it), or a
  /// weight, as it is described; or in float.
  void apply(size_t activation);
  void applyWeight(size_t weight);
  /// Gives a weight other numbers, by rows, before it is rounded.
  void setNumbers(size_t weight, llvm::ArrayRef<float> numbers);
  /// Gives a weight's bias what its rounding and the rest have lost.
  void applyBias(size_t weight);
  void setFloat(size_t activation);
  /// Its bias keeps what was found to be missing; not so where `isPlain`.
  void setFloatWeight(size_t weight, bool isPlain = false);

private:
  bool open = true;
};

// The steps, in their order; false with diagnostics if one fails.
bool observe(Session &session);
/// Shares out ranges of channels between operators; needs an observation before
/// and one after.
bool equalize(Session &session);
bool roundWeights(Session &session);
void chooseRange(Session &session, size_t activation);
void chooseRanges(Session &session);
bool refineRanges(Session &session);
/// Takes as many samples as are affordable, or a few where it is `quick`.
bool correctBiases(Session &session, bool quick = false);
/// Gives more bits to what costs most until the budget is kept, and fewer to
/// weights where it leaves room.
bool searchPrecisions(Session &session);
/// Says of each layer what it has become, and what that costs.
bool describeLayers(Session &session, QuantizeReport &report);
/// Writes what was chosen into the model.
bool insertQdq(Session &session);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_SESSION_H
