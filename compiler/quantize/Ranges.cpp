// Chooses the range of each activation.
//
// First chooses the range with the least loss of the tensor itself: clipping a
// few values may pay off by finer steps for all other values. Then, in a few
// rounds, similar ranges are tried on the whole model, since not all errors of
// a tensor affect the outputs equally.

#include "compiler/quantize/Session.h"

#include <cmath>

namespace ingot::quantize {

/// Sets the range of an activation to [low, high], such that zero is one of the
/// quantized values.
static void setRange(Activation &activation, double low, double high) {
  low = std::min(low, 0.0);
  high = std::max(high, 0.0);
  double steps = activation.highest();
  double scale = (high - low) / steps;
  if (!(scale > 1e-30))
    scale = 1;
  activation.scale = float(scale);
  double zero = std::nearbyint(-low / activation.scale);
  activation.zeroPoint = int(std::min(std::max(zero, 0.0), steps));
}

/// Returns the loss if a tensor is quantized to the range [from, to]: the
/// clipping loss of the observed values, or of expected unseen values if that
/// is larger, plus the rounding loss.
static double lossOf(const Histogram &histogram, double from, double to,
                     double steps) {
  return std::max(histogram.loss(from, to, 0), histogram.unseenLoss(from, to)) +
         histogram.loss(histogram.lowest(), histogram.highest(),
                        (to - from) / steps);
}

void chooseRange(Session &session, size_t index) {
  const Histogram &histogram = session.histograms[index];
  Activation &activation = session.sites.activations[index];
  double low = histogram.lowest(), high = histogram.highest();
  double steps = activation.highest(), bestLow = low, bestHigh = high;
  auto loss = [&](double from, double to) {
    return lossOf(histogram, from, to, steps);
  };
  double least = loss(low, high);
  // Optimizes one end of the range after the other, which is enough, since few
  // activations have outliers on both sides.
  for (int round = 0; round < 2; ++round)
    for (double *side : {&bestHigh, &bestLow}) {
      double whole = side == &bestHigh ? high : low;
      for (double part = 3; part > 0.2; part -= part > 1 ? 0.04 : 0.02) {
        double from = side == &bestLow ? whole * part : bestLow;
        double to = side == &bestHigh ? whole * part : bestHigh;
        double lost = loss(from, to);
        if (lost < least) {
          least = lost;
          *side = whole * part;
        }
      }
    }
  setRange(activation, bestLow, bestHigh);
}

void chooseRanges(Session &session) {
  for (size_t i = 0; i < session.sites.activations.size(); ++i) {
    Activation &activation = session.sites.activations[i];
    if (activation.follows >= 0)
      continue;
    if (!session.histograms[i].hasOnlyNumbers()) {
      activation.bits = 0;
      session.activationReason[i] = "has values beyond 1e30";
    } else {
      chooseRange(session, i);
    }
    session.apply(i);
  }
}

bool refineRanges(Session &session) {
  static constexpr double parts[] = {0.88, 0.95, 1.08};
  size_t places = 0;
  for (const Activation &activation : session.sites.activations)
    places += activation.follows < 0 && activation.bits;
  size_t count = session.affordable(places * std::size(parts), 0);
  if (count < 8)
    return true;
  count = std::min<size_t>(count, 64);
  Loss loss;
  if (!session.measure(count, loss))
    return false;
  double least = loss.noise;
  for (size_t i = 0; i < session.sites.activations.size(); ++i) {
    Activation &activation = session.sites.activations[i];
    if (activation.follows >= 0 || !activation.bits)
      continue;
    Activation best = activation;
    double low = -double(best.zeroPoint) * best.scale,
           high = double(best.highest() - best.zeroPoint) * best.scale;
    const Histogram &histogram = session.histograms[i];
    double own = lossOf(histogram, low, high, best.highest());
    for (double part : parts) {
      // Skips a range that clips rare values, which these few samples may not
      // contain.
      if (lossOf(histogram, low * part, high * part, best.highest()) >
          1.5 * own)
        continue;
      setRange(activation, low * part, high * part);
      session.apply(i);
      if (!session.measure(count, loss))
        return false;
      // A gain has to exceed the statistical error of these samples.
      if (loss.noise < least * 0.995) {
        least = loss.noise;
        best = activation;
      }
    }
    activation = best;
    session.apply(i);
  }
  return true;
}

} // namespace ingot::quantize
