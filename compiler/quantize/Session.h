// The state of a quantization, shared by its steps.

#ifndef INGOT_COMPILER_QUANTIZE_SESSION_H
#define INGOT_COMPILER_QUANTIZE_SESSION_H

#include "compiler/quantize/Calibration.h"
#include "compiler/quantize/Probe.h"
#include "compiler/quantize/Quantize.h"
#include "compiler/quantize/Sites.h"
#include "compiler/quantize/Statistics.h"

namespace ingot::quantize {

/// The difference between the outputs of the quantized model and those of the
/// float model.
struct Loss {
  /// Power of the error over power of the output, averaged over all outputs.
  double noise = 0;
  /// changed: the share of rows of the first output whose largest element is at
  /// another index than in float. correct: the share of samples for which the
  /// index of the output's largest element is the label.
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
  /// The tensors that the probe (the compiled model with adjustable precisions)
  /// returns in each run: those that weights are multiplied with, then the
  /// activations to quantize.
  std::vector<std::string> observed;
  /// The number of multiplications in a run of the model, estimated from the
  /// layers with a bias.
  double work = 0;
  std::unique_ptr<Probe> probe;
  /// Returns the bits that a weight gets at first. The search for precisions
  /// that meet the budget (the allowed loss) may change them.
  int usualBits(const Weight &weight) const;
  /// Returns the elements of a weight before rounding, by rows.
  std::vector<float> numbersOf(size_t weight) const;
  /// For each weight with a bias, one number per row. biases: the bias of the
  /// float model. lost: the mean error caused by rounding the weight, computed
  /// from the mean of its inputs. missing: the mean error that is measured
  /// after `lost` has been added. The bias of the quantized model is the sum of
  /// the three.
  std::vector<std::vector<float>> biases, lost, missing;
  /// If the budget (the allowed loss) may permit weights of 4 bits: the weights
  /// rounded to 4 bits, and the mean errors that this rounding causes;
  /// otherwise empty.
  std::vector<Weight> narrow;
  std::vector<std::vector<float>> narrowLost;
  std::vector<Histogram> histograms;
  /// The mean results of each weight in the float model, per sample and row of
  /// the weight. Empty for weights without a bias.
  std::vector<std::vector<std::vector<float>>> floatMeans;
  /// The outputs of the float model for each sample.
  std::vector<std::vector<std::vector<float>>> reference;
  /// The share of samples that the float model classifies correctly.
  double correctBefore = 0;
  /// Why an activation or a weight has its precision; empty for the default
  /// precision.
  std::vector<std::string> activationReason, weightReason;

  int seen(llvm::StringRef tensor) const;
  /// For each weight: the index of its result among the tensors whose channel
  /// means a run returns; -1 if the weight has no bias to correct.
  std::vector<int> averagePlace;
  /// Returns the mean of a weight's results in the last run, by rows.
  std::vector<float> channelMeans(size_t weight) const;
  /// Returns the name of the tensor that holds the product of a weight in the
  /// node weight.nodes[reader], including the bias that a following Add adds.
  std::string resultOf(const Weight &weight, size_t reader = 0) const;
  /// Whether weights can change between runs without compilation.
  bool isOpen() const { return open; }
  /// Makes runs return only outputs and means, no other tensors. To be called
  /// when no further step needs the other tensors.
  void hideObserved();

  /// Runs `count` evenly spaced samples, and calls `visit` after each; false
  /// with diagnostics if a run fails.
  bool forEach(size_t count, llvm::function_ref<void(size_t sample)> visit);
  /// Compares the outputs of `count` samples with those of the float model;
  /// false with diagnostics if a run fails.
  bool measure(size_t count, Loss &loss);
  /// Returns how many runs of the model a step may use.
  double affordableRuns() const;
  /// Returns how many samples can be run `runs` times within the work limit of
  /// a step: at least `least`, at most all.
  size_t affordable(double runs, size_t least) const;

  /// Makes the probe (the compiled model with adjustable precisions) compute an
  /// activation (and the activations that follow it), or a weight, in its
  /// chosen precision.
  void apply(size_t activation);
  void applyWeight(size_t weight);
  /// Replaces the elements of a weight, by rows, before it is rounded.
  void setNumbers(size_t weight, llvm::ArrayRef<float> numbers);
  /// Adds the corrections of a weight to its bias.
  void applyBias(size_t weight);
  /// Makes runs compute an activation, and the activations that follow it, in
  /// float.
  void setFloat(size_t activation);
  /// Makes runs use the float elements of a weight. The bias that is added to
  /// the results of the weight keeps its correction of mean errors or, if
  /// `isPlain`, becomes that of the float model.
  void setFloatWeight(size_t weight, bool isPlain = false);

private:
  bool open = true;
};

// The steps of a quantization. Those that return a bool return false with
// diagnostics on failure.
bool observe(Session &session);
/// Balances ranges of channels between operators. Runs before observe(), since
/// it changes activations.
bool equalize(Session &session);
bool roundWeights(Session &session);
void chooseRange(Session &session, size_t activation);
void chooseRanges(Session &session);
bool refineRanges(Session &session);
/// Corrects biases for mean errors, measured with as many samples as are
/// affordable; undoes the corrections if the loss increases. If `quick`, uses a
/// few samples and keeps the corrections in any case.
bool correctBiases(Session &session, bool quick = false);
/// Gives more bits to the most expensive weights and activations until the loss
/// is within the budget, and fewer bits to weights if the budget leaves room.
bool searchPrecisions(Session &session);
/// Fills in the report: the precision and loss of each layer.
bool describeLayers(Session &session, QuantizeReport &report);
/// Writes the chosen precisions into the model.
bool insertQdq(Session &session);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_SESSION_H
