// Tests audio.cpp of examples/whisper: a resampled tone keeps its shape, a tone
// that is too high for the new rate disappears, and damaged files are read or
// rejected without undefined behavior (build this test with sanitizers).
//
//     audio_test SCRATCH_FILE

#include "audio.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>

static std::vector<float> tone(double hertz, unsigned rate) {
  std::vector<float> samples(rate); // one second
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] =
        float(std::sin(2 * 3.14159265358979 * hertz * double(i) / rate));
  return samples;
}

static bool resamples(unsigned rate, double hertz) {
  std::vector<float> got = resample(tone(hertz, rate), rate, 16000),
                     wanted = tone(hertz < 8000 ? hertz : 0, 16000);
  if (got.size() != wanted.size())
    return false;
  // Near both ends, the filter would read samples beyond the tone.
  double worst = 0;
  for (size_t i = 200; i + 200 < got.size(); ++i)
    worst = std::max(worst, std::fabs(double(got[i]) - double(wanted[i])));
  if (worst > 2e-3)
    std::printf("%g Hz, %u samples per second: difference %g\n", hertz, rate,
                worst);
  return worst <= 2e-3;
}

/// Reads files whose bytes were changed or cut off at random. Returns false if
/// the results are wrong, or if nearly all or nearly no files are rejected.
static bool survives_damage(const char *path) {
  std::string good("RIFF\x60\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3E\0\0"
                   "\0\x7D\0\0\2\0\x10\0LIST\4\0\0\0abcddata\x20\0\0\0",
                   56);
  good.resize(good.size() + 32, '\x11');
  std::mt19937 random(1);
  int read = 0, rejected = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (uint32_t change = random() % 4; i && change-- > 0;)
      bytes[random() % 56] = char(random() % 3 ? random() : 0);
    if (random() % 4 == 0)
      bytes.resize(random() % (bytes.size() + 1));
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      std::vector<float> samples = read_wav(path);
      ++read;
      if (samples.empty() || (i == 0 && samples.size() != 16))
        return false;
    } catch (const Fault &) {
      ++rejected;
    }
  }
  std::printf("damaged files: %d read, %d rejected\n", read, rejected);
  return read > 100 && rejected > 100;
}

int main(int count, char **words) {
  bool is_good = count == 2 && survives_damage(words[1]);
  for (unsigned rate : {8000u, 11025u, 22050u, 44100u, 48000u, 96000u})
    for (double hertz : {100.0, 1000.0, 3500.0, 10000.0, 15000.0})
      if (hertz < rate / 2)
        is_good &= resamples(rate, hertz);
  return !is_good;
}
