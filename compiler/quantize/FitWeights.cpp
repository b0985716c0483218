// Rounds all weights, using the means and covariances of their operands
// (Moments).

#include "compiler/quantize/RoundWeights.h"
#include "compiler/quantize/Session.h"

namespace ingot::quantize {

/// Bytes of moments (means and covariances) that are gathered in one run over
/// all samples; a third of the bytes of all weights, if that is more.
static constexpr int64_t fewBytes = 32 << 20;

bool roundWeights(Session &session) {
  Sites &sites = session.sites;
  session.biases.resize(sites.weights.size());
  session.missing.resize(sites.weights.size());
  session.lost.resize(sites.weights.size());
  for (auto [i, weight] : llvm::enumerate(sites.weights))
    if (!weight.bias.empty()) {
      session.biases[i] = session.graph.floats(weight.bias);
      session.missing[i].assign(weight.rows, 0);
    }
  bool isNarrow = session.options.kind == Kind::Int4Weights;
  if (session.samples.size() == 0) {
    for (auto [i, weight] : llvm::enumerate(sites.weights)) {
      setBits(weight, session.usualBits(weight));
      session.lost[i] = roundWeight(weight, session.numbersOf(i), nullptr);
    }
    return true;
  }
  int64_t mostBytes = fewBytes, weightBytes = 0;
  for (const Weight &weight : sites.weights)
    weightBytes += weight.elements() * int64_t(sizeof(float));
  mostBytes = std::max(mostBytes, weightBytes / 3);
  for (size_t first = 0; first < sites.weights.size();) {
    size_t end = first;
    for (int64_t bytes = 0; end < sites.weights.size(); ++end) {
      bytes += Moments::bytes(sites.weights[end]);
      if (end > first && bytes > mostBytes)
        break;
    }
    std::vector<Moments> moments;
    for (size_t i = first; i < end; ++i)
      moments.emplace_back(sites.weights[i], session.samples.size());
    bool good = session.forEach(session.samples.size(), [&](size_t) {
      for (size_t i = first; i < end; ++i) {
        const Weight &weight = sites.weights[i];
        for (auto [node, tensor] : llvm::zip(weight.nodes, weight.data))
          if (int seen = session.seen(tensor); seen >= 0)
            moments[i - first].add(
                session.graph.node(node), session.probe->observed(seen),
                session.probe->observedType(seen).getShape());
      }
    });
    if (!good)
      return false;
    for (size_t i = first; i < end; ++i) {
      moments[i - first].finish();
      // Also rounds the weight to 4 bits, which the search for precisions may
      // choose if the loss stays within the budget.
      if (session.options.budget && session.isOpen() && !isNarrow) {
        Weight narrow = sites.weights[i];
        setBits(narrow, 4);
        session.narrowLost.push_back(
            roundWeight(narrow, session.numbersOf(i), &moments[i - first]));
        session.narrow.push_back(std::move(narrow));
      }
      setBits(sites.weights[i], session.usualBits(sites.weights[i]));
      session.lost[i] = roundWeight(sites.weights[i], session.numbersOf(i),
                                    &moments[i - first]);
    }
    first = end;
  }
  if (!session.isOpen())
    session.hideObserved();
  for (size_t i = 0; i < sites.weights.size(); ++i)
    session.applyWeight(i);
  return true;
}

} // namespace ingot::quantize
