// search.h: searches the tokens of a window: Whisper's rules about which tokens
// may follow each other, greedy search and beam search.

#ifndef WHISPER_SEARCH_H
#define WHISPER_SEARCH_H

#include "model.h"

#include <cmath>
#include <limits>

struct Rules {
  bool has_timestamps;
  /// The most tokens of a sequence, including those of the prompt.
  size_t most_tokens;
};

inline constexpr float impossible = -std::numeric_limits<float>::infinity();

/// Sets the scores (logits or logarithms of probabilities) of tokens that may
/// not follow `chosen` to minus infinity.
inline void apply_rules(float *scores, const std::vector<int32_t> &chosen,
                        bool has_timestamps) {
  using namespace settings;
  auto forbid = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < std::min(end, int64_t(vocabulary)); ++i)
      scores[i] = impossible;
  };
  for (const int32_t *token = suppressed; *token >= 0; ++token)
    scores[*token] = impossible;
  if (chosen.empty())
    for (const int32_t *token = suppressed_at_begin; *token >= 0; ++token)
      scores[*token] = impossible;
  if (!has_timestamps)
    return;
  constexpr int64_t all = vocabulary;
  forbid(no_timestamps_token, first_timestamp);
  auto is_timestamp = [](int32_t token) { return token >= first_timestamp; };
  size_t count = chosen.size();
  bool follows = count >= 1 && is_timestamp(chosen[count - 1]);
  bool follows_two = count < 2 || is_timestamp(chosen[count - 2]);
  if (follows && follows_two)
    forbid(first_timestamp, all); // after a pair: text
  else if (follows)
    forbid(0, end_token); // after a segment: the next one's start, or the end
  auto last = std::find_if(chosen.rbegin(), chosen.rend(), is_timestamp);
  if (last != chosen.rend())
    // Timestamps do not decrease, and a segment is not empty.
    forbid(first_timestamp, *last + (follows && !follows_two ? 0 : 1));
  if (chosen.empty()) {
    forbid(0, first_timestamp);
    forbid(int64_t(last_initial_timestamp) + 1, all);
  }
  // If all timestamps together are more probable than the most probable text
  // token, the next token is a timestamp.
  float text = impossible, most = impossible;
  for (int64_t i = 0; i < all; ++i)
    (i < first_timestamp ? text : most) =
        std::max(i < first_timestamp ? text : most, scores[i]);
  if (most == impossible)
    return;
  double sum = 0;
  for (int64_t i = first_timestamp; i < all; ++i)
    sum += std::exp(double(scores[i]) - double(most));
  if (double(most) + std::log(sum) > double(text))
    forbid(0, first_timestamp);
}

/// Returns the most probable tokens after `prompt`, one after the other. The
/// prompt and the end token are not in the result.
inline std::vector<int32_t> greedy_search(Model &model,
                                          const std::vector<int32_t> &prompt,
                                          const Rules &rules) {
  std::vector<float> logits(settings::vocabulary);
  std::vector<int32_t> chosen;
  model.prompt(prompt, logits.data());
  while (true) {
    apply_rules(logits.data(), chosen, rules.has_timestamps);
    int32_t token = int32_t(std::max_element(logits.begin(), logits.end()) -
                            logits.begin());
    if (token == settings::end_token)
      return chosen;
    chosen.push_back(token);
    size_t length = prompt.size() + chosen.size();
    if (length >= rules.most_tokens)
      return chosen;
    model.token(token, length - 1, logits.data());
  }
}

/// A beam search with `width` sequences, as `transformers` does it without
/// early stopping.
class BeamSearch {
public:
  BeamSearch(Model &model, const std::vector<int32_t> &prompt, size_t width,
             const Rules &rules)
      : model(model), prompt(prompt), width(width), rules(rules),
        scores(settings::beams * settings::vocabulary) {}

  std::vector<int32_t> run() {
    // At first all beams are equal, so only the first one is continued.
    running.assign(width, {{}, worst, false});
    running[0].score = 0;
    finished.assign(width, {{}, worst, false});
    model.prompt(prompt, scores.data());
    for (size_t beam = 1; beam < width; ++beam)
      std::copy_n(scores.begin(), settings::vocabulary,
                  scores.begin() + ptrdiff_t(beam * settings::vocabulary));
    model.start_beams(prompt.size());
    bool can_improve = true;
    for (size_t length = prompt.size();; ++length) {
      std::vector<size_t> sources;
      bool all_end = step(length, can_improve, sources);
      can_improve = can_improve && is_improvable(length + 1 - prompt.size());
      if (!can_improve || all_end)
        break;
      sources.resize(settings::beams, 0);
      model.reorder_beams(sources, length);
      std::vector<int64_t> tokens(settings::beams, settings::end_token);
      for (size_t beam = 0; beam < width; ++beam)
        tokens[beam] = running[beam].tokens.back();
      model.beams(tokens.data(), length, scores.data());
    }
    std::vector<int32_t> best = finished.front().tokens;
    if (!best.empty() && best.back() == settings::end_token)
      best.pop_back();
    return best;
  }

private:
  static constexpr float worst = -1e9f;
  struct Sequence {
    std::vector<int32_t> tokens;
    float score;
    bool has_ended;
  };
  struct Candidate {
    float score;
    size_t index; // beam * vocabulary + token
  };

  static float penalty(size_t length) {
    return float(std::pow(double(length), settings::length_penalty));
  }

  /// Sorts the sequences by score, and keeps the `width` best ones.
  void keep_best(std::vector<Sequence> &sequences) const {
    std::stable_sort(
        sequences.begin(), sequences.end(),
        [](const Sequence &a, const Sequence &b) { return a.score > b.score; });
    sequences.resize(width);
  }

  /// Returns the best 2 * width continuations of all beams.
  std::vector<Candidate> best_candidates() {
    std::vector<Candidate> best;
    auto is_better = [](const Candidate &a, const Candidate &b) {
      return a.score > b.score;
    };
    for (size_t beam = 0; beam < width; ++beam) {
      float *row = scores.data() + beam * settings::vocabulary;
      float most = *std::max_element(row, row + settings::vocabulary);
      double sum = 0;
      for (size_t i = 0; i < settings::vocabulary; ++i)
        sum += double(std::exp(row[i] - most));
      float total = most + float(std::log(sum));
      for (size_t i = 0; i < settings::vocabulary; ++i)
        row[i] -= total;
      apply_rules(row, running[beam].tokens, rules.has_timestamps);
      for (size_t i = 0; i < settings::vocabulary; ++i) {
        Candidate next = {row[i] + running[beam].score,
                          beam * settings::vocabulary + i};
        if (best.size() == 2 * width) {
          if (!is_better(next, best.back()))
            continue;
          best.pop_back();
        }
        best.insert(std::upper_bound(best.begin(), best.end(), next, is_better),
                    next);
      }
    }
    return best;
  }

  /// Appends a token to the running sequences of `length` tokens. Writes to
  /// `sources` which beam each new sequence continues. Returns whether all
  /// candidates end their sequence.
  bool step(size_t length, bool can_improve, std::vector<size_t> &sources) {
    std::vector<Candidate> best = best_candidates();
    std::vector<Sequence> next;
    std::vector<std::pair<float, size_t>> order;
    bool all_end = true;
    for (size_t i = 0; i < best.size(); ++i) {
      size_t beam = best[i].index / settings::vocabulary;
      int32_t token = int32_t(best[i].index % settings::vocabulary);
      Sequence sequence = running[beam];
      sequence.tokens.push_back(token);
      bool ends =
          token == settings::end_token || length + 1 >= rules.most_tokens;
      all_end &= ends;
      // Only the best `width` candidates can finish a sequence.
      sequence.has_ended = ends && i < width;
      sequence.score = best[i].score / penalty(length + 1 - prompt.size());
      if (!can_improve)
        sequence.score += worst;
      if (!sequence.has_ended)
        sequence.score += worst;
      finished.push_back(sequence);
      order.push_back({best[i].score + (ends ? worst : 0), i});
      next.push_back(std::move(sequence));
    }
    keep_best(finished);
    std::stable_sort(
        order.begin(), order.end(),
        [](const auto &a, const auto &b) { return a.first > b.first; });
    running.clear();
    for (size_t beam = 0; beam < width; ++beam) {
      auto [score, i] = order[beam];
      sources.push_back(best[i].index / settings::vocabulary);
      running.push_back({std::move(next[i].tokens), score, false});
    }
    return all_end;
  }

  /// Whether the best running sequence can still replace a finished one.
  bool is_improvable(size_t length) const {
    float possible = running.front().score / penalty(length), least = 0;
    for (size_t i = 0; i < width; ++i)
      least = i ? std::min(least, finished[i].score) : finished[i].score;
    for (const Sequence &sequence : finished)
      if (possible > (sequence.has_ended ? least : worst))
        return true;
    return false;
  }

  Model &model;
  const std::vector<int32_t> &prompt;
  size_t width;
  Rules rules;
  std::vector<float> scores;
  std::vector<Sequence> running, finished;
};

#endif // WHISPER_SEARCH_H
