// audio.h: reads WAV files.

#ifndef WHISPER_AUDIO_H
#define WHISPER_AUDIO_H

#include <stdexcept>
#include <string>
#include <vector>

/// An error of the input or of the command line, with a message for the user.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr unsigned sample_rate = 16000;

/// Returns the samples of a WAV file from -1 to 1: the mean of all channels,
/// resampled to 16 kHz. Reads PCM of 8, 16, 24 and 32 bits and floating point
/// of 32 and 64 bits.
std::vector<float> read_wav(const std::string &path);

/// Changes the rate of samples by interpolation with a windowed sinc function.
std::vector<float> resample(const std::vector<float> &samples, unsigned from,
                            unsigned to);

#endif // WHISPER_AUDIO_H
