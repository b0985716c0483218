// sampler.h - chooses the next token from logits; written by ingot @VERSION@
// SPDX-License-Identifier: MIT-0
#ifndef CHAT_SAMPLER_H
#define CHAT_SAMPLER_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace chat {

struct Sampling {
  /// 0: always the most probable token.
  double temperature = 0;
  /// Only this many of the most probable tokens; 0: all.
  size_t top_k = 0;
  /// Only the most probable tokens whose probabilities sum up to this; 1: all.
  double top_p = 1;
  /// The number by which positive logits of tokens that occurred before are divided, and negative
  /// ones multiplied; 1: off.
  double repetition_penalty = 1;
  uint64_t seed = 1;
};

/// Chooses tokens. The order of the steps is that of transformers and ONNX Runtime GenAI:
/// repetition penalty, temperature, top-k, top-p. Equal seeds give equal tokens.
class Sampler {
public:
  explicit Sampler(const Sampling &sampling) : sampling(sampling), state(sampling.seed) {}

  /// Returns the next token; `logits` may be changed. `past`: all tokens so far.
  int32_t next(float *logits, size_t count, const std::vector<int32_t> &past) {
    if (sampling.repetition_penalty != 1)
      penalize(logits, count, past);
    if (sampling.temperature <= 0 || sampling.top_k == 1)
      return int32_t(std::max_element(logits, logits + count) - logits);
    candidates.clear();
    for (size_t i = 0; i < count; ++i)
      candidates.push_back({int32_t(i), logits[i] / sampling.temperature});
    auto is_better = [](const Candidate &a, const Candidate &b) {
      return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
    };
    size_t kept = sampling.top_k && sampling.top_k < count ? sampling.top_k : count;
    std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(), is_better);
    candidates.resize(kept);
    double most = candidates.front().weight, sum = 0;
    for (Candidate &candidate : candidates)
      sum += candidate.weight = std::exp(candidate.weight - most);
    if (sampling.top_p < 1) {
      double part = 0;
      size_t needed = 0;
      while (needed < candidates.size() && (needed == 0 || part < sampling.top_p * sum))
        part += candidates[needed++].weight;
      candidates.resize(needed);
      sum = part;
    }
    double chosen = random() * sum;
    for (const Candidate &candidate : candidates)
      if ((chosen -= candidate.weight) < 0)
        return candidate.token;
    return candidates.back().token;
  }

private:
  void penalize(float *logits, size_t count, const std::vector<int32_t> &past) {
    seen.assign(count, false);
    for (int32_t token : past)
      if (token >= 0 && size_t(token) < count && !seen[token]) {
        seen[token] = true;
        float &logit = logits[token];
        logit = float(logit < 0 ? logit * sampling.repetition_penalty
                                : logit / sampling.repetition_penalty);
      }
  }

  /// Returns a number from 0 (included) to 1 (excluded); the generator is SplitMix64.
  double random() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return double((z ^ z >> 31) >> 11) * 0x1p-53;
  }

  struct Candidate {
    int32_t token;
    double weight;
  };
  Sampling sampling;
  uint64_t state;
  std::vector<Candidate> candidates;
  std::vector<bool> seen;
};

} // namespace chat

#endif // CHAT_SAMPLER_H
