// Chooses a precision for each place: a weight or an activation.
//
// The cost of a place is the loss when all other places are in float. The most
// expensive places get more bits (activations 16, weights of fewer than 8 bits 8,
// then float), one after the other, until the loss in a run of the model is
// within the budget, the allowed loss. If the
// budget leaves room, weights get 4 bits, those with the least loss per saved
// byte first. Only tables and the weights of matrix products of float
// activations are considered: generated code stores all other weights of 4 bits
// in a wider type, as scales for blocks of a row do not fit integer sums.

#include "compiler/quantize/RoundWeights.h"
#include "compiler/quantize/Session.h"

#include <cmath>

namespace ingot::quantize {

/// An additional margin in decibels for 4-bit weights, since they are fitted to
/// the same samples on which they are judged.
static constexpr double narrowMargin = 2;

/// The default budget (allowed loss) in decibels: an error of 2.5 % of the
/// outputs.
static constexpr double usualDecibels = 32;

namespace {
/// An activation or a weight whose bits the search may change.
struct Place {
  bool isWeight;
  size_t index;
  /// The loss with only this weight or activation quantized, to its present
  /// bits.
  double noise = 0;
};

class Search {
public:
  explicit Search(Session &session)
      : session(session), sites(session.sites), given(session.options.budget),
        budget(given.value_or(Budget{usualDecibels, false})) {}
  bool run();

private:
  /// Whether the loss meets the budget. If the budget is in decibels, it has to
  /// be met with a margin: unseenMargin() for samples that are not measured,
  /// and `margin` decibels in addition.
  bool accepts(const Loss &loss, double margin = 0) const;
  /// Returns a number of decibels by which the loss on unseen samples is
  /// expected to exceed the loss on the samples to which ranges and weights
  /// were fitted; the fewer samples, the larger. Measured for ten networks with
  /// test sets (images, speech, November 2026): 0.1 to 1.3 dB with 300 samples
  /// and, except for one network, 1.7 to 4.5 dB with 16.
  double unseenMargin() const {
    return 10 * std::log10(1 + 5.5 / std::sqrt(double(session.samples.size())));
  }
  bool measurePlaces();
  /// Measures the costs of some weights and activations. The cost of one is the
  /// loss if it is quantized and all others are in float: otherwise larger
  /// errors of the others would hide the cost. Weights that need a compilation
  /// get the cost 0. False with diagnostics if a run fails.
  bool measureAlone(llvm::ArrayRef<Place> some, std::vector<double> &costs);
  /// Makes the probe (the compiled model with adjustable precisions) compute a
  /// weight or activation in float, if that needs no compilation.
  void setFloat(const Place &place);
  int &bitsOf(const Place &place) {
    return place.isWeight ? sites.weights[place.index].bits
                          : sites.activations[place.index].bits;
  }
  void apply(const Place &place) {
    place.isWeight ? session.applyWeight(place.index)
                   : session.apply(place.index);
  }
  /// If the loss on the few samples of the search meets the budget, measures it
  /// on more samples; false with diagnostics if a run fails.
  bool confirm();
  /// Returns the weight or activation that gets more bits next; null if there
  /// is none.
  Place *worst();
  bool raise();
  /// Rounds a weight of fewer than 8 bits to 8 bits.
  void widen(const Place &place);
  /// Gives a weight or activation more bits, and measures the loss; false with
  /// diagnostics if a run fails.
  bool raise(Place &place);
  /// For weights that cannot change without compilation: gives as few weights
  /// more bits as the budget (the allowed loss) requires, those with the largest
  /// loss first. Weights of fewer than 8 bits get 8 bits; if there are none,
  /// others are set to float. If the budget requires all of them in float, sets
  /// none, unless no activation can get more bits.
  bool raiseClosedWeights();
  /// Whether generated code stores the weight in 4 bits if it is quantized so.
  bool staysNarrow(const Weight &weight) const;
  bool lower();
  bool fail();

  Session &session;
  Sites &sites;
  std::optional<Budget> given;
  Budget budget;
  std::vector<Place> places;
  /// Whether weights get no more bits as long as an activation can get more
  /// bits.
  bool sparesWeights = false;
  size_t count = 0;
  Loss loss;
  /// The loss due to weights that cannot be changed without compilation.
  double rest = 0;
};
} // namespace

bool Search::accepts(const Loss &measured, double margin) const {
  if (!budget.isPercent)
    return measured.decibels() >= budget.value + margin + unseenMargin();
  double share = session.samples.labels().empty()
                     ? measured.changed
                     : session.correctBefore - measured.correct;
  return 100 * share <= budget.value + 1e-9;
}

bool Search::confirm() {
  size_t all = std::min<size_t>(session.affordable(4, count), 512);
  if (!accepts(loss) || count >= all)
    return true;
  count = all;
  return session.measure(count, loss);
}

void Search::setFloat(const Place &place) {
  if (!place.isWeight)
    session.setFloat(place.index);
  else if (session.isOpen())
    session.setFloatWeight(place.index, /*isPlain=*/true);
}

bool Search::measureAlone(llvm::ArrayRef<Place> some,
                          std::vector<double> &costs) {
  // Bias corrections are measured with all weights and activations quantized,
  // so they are disabled here.
  std::vector<std::vector<float>> missing = session.missing;
  if (session.isOpen())
    for (std::vector<float> &channels : session.missing)
      channels.assign(channels.size(), 0);
  for (const Place &place : places)
    setFloat(place);
  Loss without, alone;
  bool good = session.measure(count, without);
  rest = without.noise;
  for (const Place &place : some) {
    costs.push_back(0);
    if (!good || (place.isWeight && !session.isOpen()))
      continue;
    apply(place);
    good = session.measure(count, alone);
    costs.back() = std::max(alone.noise - rest, 0.0);
    setFloat(place);
  }
  session.missing = std::move(missing);
  for (const Place &place : places)
    if (!place.isWeight || session.isOpen())
      apply(place);
  return good;
}

bool Search::measurePlaces() {
  for (size_t i = 0; i < sites.activations.size(); ++i)
    if (sites.activations[i].follows < 0 && sites.activations[i].bits)
      places.push_back({false, i});
  size_t activations = places.size();
  for (size_t i = 0; i < sites.weights.size(); ++i)
    if (sites.weights[i].bits)
      places.push_back({true, i});
  std::vector<double> costs;
  if (!measureAlone(places, costs))
    return false;
  for (auto [place, cost] : llvm::zip(places, costs))
    place.noise = cost;
  if (session.isOpen() || activations == places.size())
    return true;
  // Changing a weight of a large model takes a compilation. So the loss of all
  // weights together is divided among the weights, in proportion to the errors
  // of their products.
  double own = 0;
  for (const Place &place : places)
    own += place.isWeight ? sites.weights[place.index].noise : 0;
  for (Place &place : places)
    if (place.isWeight)
      place.noise =
          rest * sites.weights[place.index].noise / std::max(own, 1e-30);
  return true;
}

Place *Search::worst() {
  Place *found = nullptr;
  auto rank = [&](const Place &place) {
    // More bits for a weight make the model larger; more bits for an activation
    // do not. So the cost of a weight counts half.
    double noise = place.isWeight ? place.noise / 2 : place.noise;
    // Of weights and activations with negligible cost, those with few bits get
    // more bits first.
    bool isNegligible = noise < 1e-3 * loss.noise;
    return std::pair(isNegligible ? 0 : noise, -bitsOf(place));
  };
  for (Place &place : places)
    if (bitsOf(place) && !(sparesWeights && place.isWeight) &&
        (!found || rank(place) > rank(*found)))
      found = &place;
  return found;
}

static std::string costText(int bits, double noise) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%d bits alone cost %.1f dB", bits,
                      -10 * std::log10(std::max(noise, 1e-12)));
  return text;
}

void Search::widen(const Place &place) {
  Weight &weight = sites.weights[place.index];
  setBits(weight, 8);
  // Rounding to the nearest integers, without covariances (moments), is
  // sufficient for 8 bits.
  session.lost[place.index] =
      roundWeight(weight, session.numbersOf(place.index), nullptr);
}

bool Search::raise(Place &place) {
  int &bits = bitsOf(place);
  (place.isWeight ? session.weightReason
                  : session.activationReason)[place.index] =
      costText(bits, place.noise);
  bool isNarrow = place.isWeight && bits < 8;
  bits = isNarrow ? 8 : !place.isWeight && bits == 8 ? 16 : 0;
  if (isNarrow) {
    widen(place);
  } else if (bits) {
    chooseRange(session, place.index);
  }
  apply(place);
  if (session.isOpen() && !correctBiases(session, /*quick=*/true))
    return false;
  if (!session.measure(count, loss))
    return false;
  place.noise = 0;
  if (!bits || accepts(loss))
    return true;
  // Measures the cost again, so that worst() can choose this weight or
  // activation to be computed in float if the bits added here reduce the cost
  // too little. That happens with activations whose values differ by many
  // orders of magnitude.
  std::vector<double> cost;
  if (!measureAlone(place, cost))
    return false;
  place.noise = cost[0];
  return true;
}

bool Search::raiseClosedWeights() {
  bool areNarrow = llvm::any_of(places, [&](const Place &place) {
    return place.isWeight && bitsOf(place) && bitsOf(place) < 8;
  });
  std::vector<Place *> order;
  for (Place &place : places)
    if (place.isWeight && bitsOf(place) && (!areNarrow || bitsOf(place) < 8))
      order.push_back(&place);
  llvm::stable_sort(order,
                    [](Place *a, Place *b) { return a->noise > b->noise; });
  std::vector<int> bits;
  std::vector<Weight> narrow;
  std::vector<std::vector<float>> narrowLost;
  for (Place *place : order) {
    bits.push_back(bitsOf(*place));
    if (areNarrow) {
      narrow.push_back(sites.weights[place->index]);
      narrowLost.push_back(session.lost[place->index]);
    }
  }
  auto change = [&](size_t i, bool isRaised) {
    const Place &place = *order[i];
    if (!areNarrow) {
      bitsOf(place) = isRaised ? 0 : bits[i];
    } else if (!isRaised) {
      sites.weights[place.index] = narrow[i];
      session.lost[place.index] = narrowLost[i];
    } else if (bitsOf(place) < 8) {
      widen(place);
    }
    apply(place);
  };
  auto leave = [&](size_t raised, Loss &result) {
    for (size_t i = 0; i < order.size(); ++i)
      change(i, i < raised);
    return session.measure(count, result);
  };
  // Doubles the number of weights with more bits until the loss meets the
  // budget, then bisects.
  size_t few = 0, enough = std::min<size_t>(1, order.size());
  Loss tried;
  while (true) {
    if (!leave(enough, tried))
      return false;
    if (accepts(tried) || enough == order.size())
      break;
    few = enough;
    enough = std::min(2 * enough, order.size());
  }
  for (bool isEnough = accepts(tried); isEnough && enough - few > 1;) {
    size_t middle = (few + enough) / 2;
    if (!leave(middle, tried))
      return false;
    (accepts(tried) ? enough : few) = middle;
  }
  bool hasOthers = llvm::any_of(places, [&](const Place &place) {
    return !place.isWeight && bitsOf(place);
  });
  sparesWeights = !areNarrow && enough == order.size() && hasOthers;
  if (sparesWeights)
    enough = 0;
  if (!leave(enough, loss))
    return false;
  for (size_t i = 0; i < enough; ++i)
    session.weightReason[order[i]->index] = costText(bits[i], order[i]->noise);
  return true;
}

bool Search::raise() {
  while (!accepts(loss)) {
    Place *place = worst();
    if (!place && sparesWeights) {
      sparesWeights = false;
      place = worst();
    }
    if (!place)
      return fail();
    bool takesAll = place->isWeight && !session.isOpen();
    if ((takesAll ? !raiseClosedWeights() : !raise(*place)) || !confirm())
      return false;
  }
  bool hasAny =
      llvm::any_of(sites.weights, [](const Weight &w) { return w.bits; });
  return hasAny || sites.weights.empty() || fail();
}

bool Search::staysNarrow(const Weight &weight) const {
  if (weight.kind == WeightKind::Table)
    return true;
  if (weight.kind != WeightKind::Gemm && weight.kind != WeightKind::MatMul)
    return false;
  return llvm::all_of(weight.data, [&](const std::string &tensor) {
    int activation = sites.activation(tensor);
    return activation < 0 || sites.activations[activation].bits == 0;
  });
}

bool Search::lower() {
  std::vector<Place> order;
  std::vector<Weight> wide = sites.weights;
  std::vector<std::vector<float>> wideLost = session.lost;
  auto change = [&](size_t index, bool toNarrow) {
    sites.weights[index] = toNarrow ? session.narrow[index] : wide[index];
    session.lost[index] =
        toNarrow ? session.narrowLost[index] : wideLost[index];
    session.applyWeight(index);
  };
  Loss now;
  for (size_t i = 0; i < session.narrow.size(); ++i) {
    if (!wide[i].isInt8() || !canBeNarrow(wide[i]) || !staysNarrow(wide[i]))
      continue;
    change(i, true);
    if (!session.measure(count, now))
      return false;
    change(i, false);
    order.push_back({true, i, now.noise - loss.noise});
  }
  llvm::stable_sort(order, [&](const Place &a, const Place &b) {
    return a.noise / double(wide[a.index].elements()) <
           b.noise / double(wide[b.index].elements());
  });
  for (const Place &place : order) {
    change(place.index, true);
    if (!session.measure(count, now))
      return false;
    if (!accepts(now, narrowMargin)) {
      change(place.index, false);
      continue;
    }
    loss = now;
    session.weightReason[place.index] = "the budget leaves room for 4 bits";
  }
  return true;
}

bool Search::fail() {
  std::string reached;
  llvm::raw_string_ostream text(reached);
  text << llvm::format(
      "%.1f dB, and the largest output changes in %.2f %% of the rows",
      loss.decibels(), 100 * loss.changed);
  session.host.diagnostics.report(
      DiagnosticId::NotQuantized,
      (accepts(loss) ? "no weight can be quantized within --max-loss: with all "
                       "weights in float, the model reaches "
                     : "the model exceeds --max-loss even with all weights in "
                       "float: it reaches ") +
          reached,
      "allow a larger loss, or give more samples");
  return false;
}

bool Search::run() {
  // If only weights are quantized and the user gives no budget (allowed loss),
  // weights keep the bits that the user chose.
  if (sites.weights.empty() || (sites.activations.empty() && !given))
    return true;
  size_t found = sites.weights.size() + sites.activations.size();
  count = std::max<size_t>(session.affordable(2 * double(found), 8), 1);
  count = std::min<size_t>(count, budget.isPercent ? 512 : given ? 128 : 64);
  if (!session.measure(count, loss) || !confirm())
    return false;
  bool isGood = accepts(loss);
  if (isGood && !given)
    return true;
  if (!measurePlaces())
    return false;
  if (!isGood && !raise())
    return false;
  return !given || session.narrow.empty() || lower();
}

bool searchPrecisions(Session &session) { return Search(session).run(); }

} // namespace ingot::quantize
