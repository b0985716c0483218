// Corrects biases for rounding errors with a nonzero mean.
//
// Clipped ranges and rounded weights shift the results of a layer by an amount
// that is about the same for all samples. So the mean error of each channel is
// added to the bias, layer after layer.

#include "compiler/quantize/Session.h"

#include <cmath>

namespace ingot::quantize {

namespace {
/// For each channel of a layer: the sum over samples of its mean error, and of
/// the square of this error.
struct Missing {
  std::vector<double> sum, squares;
  double samples = 0;

  /// Returns the correction of channel `c`: the mean error, reduced by the part
  /// that may be due to chance.
  double correction(size_t c) const {
    double mean = sum[c] / samples,
           variance = std::max(squares[c] / samples - mean * mean, 0.0);
    double chance = samples > 1 ? variance / (samples - 1) : 0;
    double square = mean * mean;
    return square > chance ? mean * (1 - chance / square) : 0;
  }
};
} // namespace

static bool correct(Session &session, bool quick) {
  Sites &sites = session.sites;
  std::vector<size_t> places;
  for (size_t i = 0; i < sites.weights.size(); ++i)
    if (session.averagePlace[i] >= 0)
      places.push_back(i);
  llvm::stable_sort(places, [&](size_t a, size_t b) {
    return sites.weights[a].nodes[0] < sites.weights[b].nodes[0];
  });
  if (places.empty())
    return true;
  // Layers are corrected one after the other: if all were corrected at once, a
  // layer would correct errors that previous layers correct already. If one run
  // over the samples per layer takes too long, fewer samples are used and only
  // some layers are corrected, among them the last one.
  size_t count = std::min<size_t>(session.samples.size(), quick ? 16 : 100);
  double runs = session.affordableRuns();
  size_t groups = places.size();
  if (double(groups * count) > runs) {
    count = std::min<size_t>(count, 16);
    groups = std::min<double>(groups, std::max(runs / double(count), 4.0));
  }
  for (size_t g = 0; g < groups; ++g) {
    size_t end = (g + 1) * places.size() / groups, first = end - 1;
    std::vector<Missing> missing(end - first);
    bool good = session.forEach(count, [&](size_t sample) {
      for (size_t i = first; i < end; ++i) {
        std::vector<float> got = session.channelMeans(places[i]);
        const std::vector<float> &wanted =
            session.floatMeans[places[i]][sample];
        Missing &sums = missing[i - first];
        sums.sum.resize(got.size());
        sums.squares.resize(got.size());
        ++sums.samples;
        for (size_t c = 0; c < got.size(); ++c) {
          double difference = double(wanted[c]) - got[c];
          sums.sum[c] += difference;
          sums.squares[c] += difference * difference;
        }
      }
    });
    if (!good)
      return false;
    for (size_t i = first; i < end; ++i) {
      std::vector<float> &found = session.missing[places[i]];
      for (size_t c = 0; c < found.size(); ++c)
        found[c] += float(missing[i - first].correction(c));
      session.applyBias(places[i]);
    }
  }
  return true;
}

bool correctBiases(Session &session, bool quick) {
  if (quick)
    return correct(session, quick);
  constexpr size_t judges = 32;
  Loss before, after;
  std::vector<std::vector<float>> missing = session.missing;
  if (!session.measure(judges, before) || !correct(session, quick) ||
      !session.measure(judges, after))
    return false;
  if (after.noise <= before.noise)
    return true;
  // The loss has increased, so the corrections are undone. This happens if the
  // error of a layer is large, since it then distorts the mean errors of later
  // layers.
  session.missing = std::move(missing);
  for (size_t i = 0; i < session.sites.weights.size(); ++i)
    session.applyBias(i);
  return true;
}

} // namespace ingot::quantize
