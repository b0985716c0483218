// Runs the float model on all samples, and records its outputs and statistics
// of its activations.

#include "compiler/quantize/Session.h"

namespace ingot::quantize {

/// Rejects labels outside the classes of the first output.
static bool checkLabels(Session &session) {
  auto types = session.probe->outputTypes();
  if (session.samples.labels().empty() || types.empty())
    return true;
  int64_t classes = types[0].getRank() ? types[0].getShape().back() : 1;
  for (auto [sample, label] : llvm::enumerate(session.samples.labels()))
    if (label < 0 || label >= classes) {
      session.host.diagnostics.report(
          DiagnosticId::Calibration,
          "the label of sample " + llvm::Twine(sample) + " is " +
              llvm::Twine(label) + ", but the first output has " +
              llvm::Twine(classes) + " classes",
          "labels count from 0");
      return false;
    }
  return true;
}

bool observe(Session &session) {
  Sites &sites = session.sites;
  session.histograms.assign(sites.activations.size(), {});
  session.reference.assign(session.samples.size(), {});
  session.floatMeans.assign(sites.weights.size(), {});
  session.work = 0;
  bool good = session.forEach(session.samples.size(), [&](size_t sample) {
    auto &reference = session.reference[sample];
    for (llvm::ArrayRef<float> output : session.probe->outputs())
      reference.emplace_back(output.begin(), output.end());
    for (size_t i = 0; i < sites.activations.size(); ++i)
      if (int seen = session.seen(sites.activations[i].tensor); seen >= 0)
        session.histograms[i].add(session.probe->observed(seen),
                                  session.probe->observedType(seen).getShape());
    for (size_t i = 0; i < sites.weights.size(); ++i)
      if (session.averagePlace[i] >= 0)
        session.floatMeans[i].push_back(session.channelMeans(i));
    if (session.work > 0)
      return;
    for (auto [weight, place] : llvm::zip(sites.weights, session.averagePlace))
      if (place >= 0)
        session.work +=
            session.probe->averagedElements(place) * double(weight.depth);
    session.work = std::max(session.work, 1e4);
  });
  good = good && checkLabels(session);
  if (good && !session.samples.labels().empty()) {
    Loss loss;
    good = session.measure(session.samples.size(), loss);
    session.correctBefore = loss.correct;
  }
  return good;
}

} // namespace ingot::quantize
