// model.h: the compiled networks of a Whisper model with their memory.

#ifndef WHISPER_MODEL_H
#define WHISPER_MODEL_H

#include "audio.h"
#include "settings.h"

#include "ingot_thread_pool.h"
#include "spectrum.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

/// Zeroed, aligned memory. Pages that are never touched use no physical memory.
class Memory {
public:
  Memory(size_t bytes, size_t align) : block(std::calloc(bytes + align, 1)) {
    if (!block)
      throw Fault("there is too little memory: " + std::to_string(bytes) +
                  " bytes");
    uintptr_t start = reinterpret_cast<uintptr_t>(block);
    aligned = reinterpret_cast<void *>((start + align - 1) / align * align);
  }
  ~Memory() { std::free(block); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  void *get() const { return aligned; }

private:
  void *block, *aligned;
};

/// Calls the compiled networks. All calls but spectrum() share the state: the
/// keys and values of the audio, which encode() writes, and those of the
/// tokens, for one sequence and for the beams of a search.
class Model {
public:
  explicit Model(unsigned threads)
      : pool(threads), context(pool.context()),
        arena(std::max(NETWORK_ARENA_BYTES, SPECTRUM_ARENA_BYTES),
              std::max(NETWORK_ARENA_ALIGN, SPECTRUM_ARENA_ALIGN)),
        state(NETWORK_STATE_BYTES, NETWORK_STATE_ALIGN),
        copies(settings::beams * cache_head) {}

  /// Writes the spectrum of settings::frames frames to `rows`. Returns the
  /// largest element of the first `count` frames.
  float spectrum(const float *samples, int64_t count, float *rows) {
    float peak = 0;
    spectrum_io io = {};
    io.samples = samples;
    io.count = &count;
    io.spectrum = rows;
    io.peak = &peak;
    check(spectrum_run(&io, arena.get(), &context), "spectrum");
    return peak;
  }

  /// Encodes a window of the spectrum, whose first `count` frames are audio.
  void encode(const float *rows, float peak, int64_t count) {
    network_encode_io io = {};
    io.spectrum = rows;
    io.peak = &peak;
    io.count = &count;
    io.state = state.get();
    check(network_encode_run(&io, arena.get(), &context), "encode");
  }

  /// Starts a sequence with `tokens`; computes the logits of the next token.
  void prompt(const std::vector<int32_t> &tokens, float *logits) {
    std::vector<int64_t> wide(tokens.begin(), tokens.end());
    network_prompt_io io = {};
    io.count = ptrdiff_t(wide.size());
    io.tokens = wide.data();
    io.logits = logits;
    io.state = state.get();
    check(network_prompt_run(&io, arena.get(), &context), "prompt");
  }

  /// Adds a token to a sequence of `past` tokens, and computes the logits of
  /// the next token.
  void token(int32_t token, size_t past, float *logits) {
    int64_t wide = token;
    network_token_io io = {};
    io.past = ptrdiff_t(past);
    io.tokens = &wide;
    io.logits = logits;
    io.state = state.get();
    check(network_token_run(&io, arena.get(), &context), "token");
  }

  /// Does the same as token() for settings::beams sequences.
  void beams(const int64_t *tokens, size_t past, float *logits) {
    network_beams_io io = {};
    io.past = ptrdiff_t(past);
    io.tokens = tokens;
    io.logits = logits;
    io.state = state.get();
    check(network_beams_run(&io, arena.get(), &context), "beams");
  }

  /// Copies the cache of one sequence of `past` tokens to all beams.
  void start_beams(size_t past) {
    for (size_t i = 0; i < 2 * settings::layers; ++i) {
      const float *from = settings::caches[i](state.get());
      float *to = settings::beam_caches[i](state.get());
      for (size_t copy = 0; copy < settings::beams * settings::heads; ++copy)
        std::copy_n(from + copy % settings::heads * cache_head,
                    past * settings::head_size, to + copy * cache_head);
    }
  }

  /// Gives each beam the cache of the beam `sources[beam]`.
  void reorder_beams(const std::vector<size_t> &sources, size_t past) {
    constexpr size_t of_beam = settings::heads * cache_head;
    const size_t used = past * settings::head_size;
    bool changes = false;
    for (size_t beam = 0; beam < sources.size(); ++beam)
      changes |= sources[beam] != beam;
    if (!changes)
      return;
    for (settings::Cache cache : settings::beam_caches) {
      float *values = cache(state.get());
      for (size_t head = 0; head < settings::heads;
           ++head, values += cache_head) {
        for (size_t beam = 0; beam < sources.size(); ++beam)
          std::copy_n(values + beam * of_beam, used,
                      copies.data() + beam * cache_head);
        for (size_t beam = 0; beam < sources.size(); ++beam)
          if (sources[beam] != beam)
            std::copy_n(copies.data() + sources[beam] * cache_head, used,
                        values + beam * of_beam);
      }
    }
  }

private:
  /// The floats of a cache for one head of one sequence: its tokens follow one
  /// another, and there is room for the most tokens.
  static constexpr size_t cache_head =
      settings::most_tokens * settings::head_size;

  static void check(ingot_status status, const char *network) {
    if (status != INGOT_OK)
      throw Fault(std::string("the network `") + network +
                  "` returned the status " + std::to_string(int(status)) +
                  " (see ingot_status in network.h)");
  }

  ingot::ThreadPool pool;
  ingot_context context;
  Memory arena, state;
  /// A copy of the caches of one head of all beams, from which reorder_beams()
  /// takes the new caches.
  std::vector<float> copies;
};

#endif // WHISPER_MODEL_H
