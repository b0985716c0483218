// main.cpp: compares the same network in float and in int8.
//
//     usage: compare [PICTURES]     default: chars.bin
//
// Both networks classify the pictures of characters in chars.bin. For each,
// prints the sizes of the weights and of the arena (the working memory), the time
// per picture and how many pictures it classifies correctly; then for how many
// pictures both give the same answer, and the signal-to-noise ratio of the int8
// outputs.

#include "chars.h"
#include "chars_int8.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

constexpr std::size_t pixels = CHARS_INPUT_ELEMENTS; // three channels
constexpr std::size_t classes = CHARS_LOGITS_ELEMENTS;

struct Picture {
  int character;
  float input[pixels];
};

struct Answer {
  float logits[classes];
  int character() const {
    return int(std::max_element(logits, logits + classes) - logits);
  }
};

/// Reads the records of chars.bin: one byte with the number of the character,
/// then the pixels, which are scaled from 0..255 to -1..1. Returns an empty
/// vector if the file does not consist of such records.
static std::vector<Picture> readPictures(const char *path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<Picture> pictures;
  if (bytes.size() % (1 + pixels) != 0)
    return pictures;
  for (auto at = bytes.begin(); at != bytes.end(); at += 1 + pixels) {
    Picture picture{*at, {}};
    std::transform(at + 1, at + 1 + pixels, picture.input,
                   [](unsigned char value) { return value / 127.5f - 1; });
    pictures.push_back(picture);
  }
  return pictures;
}

/// One of the two networks: the bytes of its weights and of its arena (the
/// working memory), its answers, and its time per picture.
struct Network {
  const char *name;
  unsigned weights, arena;
  std::vector<Answer> answers;
  double microseconds; // median

  template <typename Run>
  bool see(const std::vector<Picture> &pictures, Run run) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    constexpr int rounds = 20;
    answers.resize(pictures.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        auto start = Clock::now();
        if (run(pictures[i].input, answers[i].logits) != INGOT_OK)
          return false;
        std::chrono::duration<double, std::micro> time = Clock::now() - start;
        times.push_back(time.count());
      }
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2,
                     times.end());
    microseconds = times[times.size() / 2];
    return true;
  }
};

/// Returns the ratio of the outputs' power to the power of their difference, in
/// decibels.
static double signalToNoise(const std::vector<Answer> &exact,
                            const std::vector<Answer> &other) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    for (std::size_t k = 0; k < classes; ++k) {
      double value = exact[i].logits[k];
      double error = other[i].logits[k] - value;
      signal += value * value;
      noise += error * error;
    }
  }
  return 10 * std::log10(signal / noise);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "chars.bin";
  std::vector<Picture> pictures = readPictures(path);
  if (pictures.empty()) {
    std::fprintf(stderr, "compare: %s is no file of pictures of %zu bytes\n",
                 path, pixels);
    return 1;
  }

  static chars::arena arena;
  static chars_int8::arena arenaInt8;
  Network exact{"float", CHARS_WEIGHTS_BYTES, CHARS_ARENA_BYTES, {}, 0};
  Network small{
      "8 bits", CHARS_INT8_WEIGHTS_BYTES, CHARS_INT8_ARENA_BYTES, {}, 0};
  bool ran = exact.see(pictures, [](const float *input, float *logits) {
    return chars::run({input, logits}, arena);
  }) && small.see(pictures, [](const float *input, float *logits) {
    return chars_int8::run({input, logits}, arenaInt8);
  });
  if (!ran) {
    std::fprintf(stderr, "compare: a network reports an error\n");
    return 1;
  }

  std::size_t same = 0;
  for (std::size_t i = 0; i < pictures.size(); ++i)
    same += exact.answers[i].character() == small.answers[i].character();
  std::printf("%-8s %14s %12s %10s %20s\n", "", "weights, bytes",
              "arena, bytes", "time, us", "right");
  for (const Network *network : {&exact, &small}) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < pictures.size(); ++i)
      right += network->answers[i].character() == pictures[i].character;
    std::printf("%-8s %14u %12u %10.1f %8zu of %zu\n", network->name,
                network->weights, network->arena, network->microseconds, right,
                pictures.size());
  }
  std::printf(
      "The same character as in float: %zu of %zu. Signal to noise of the "
      "outputs: %.1f dB.\n",
      same, pictures.size(), signalToNoise(exact.answers, small.answers));
  return 0;
}
