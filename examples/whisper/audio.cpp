// audio.cpp: reads WAV files; see audio.h.

#include "audio.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

namespace {

constexpr double pi = 3.14159265358979323846;

/// The bytes of a file. number() reads a little-endian integer and throws Fault
/// if it is beyond the end.
class Bytes {
public:
  explicit Bytes(const std::string &path) : path(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw Fault("`" + path + "` cannot be read");
    data.assign(std::istreambuf_iterator<char>(file),
                std::istreambuf_iterator<char>());
    if (file.bad())
      throw Fault("`" + path + "` cannot be read");
  }

  size_t size() const { return data.size(); }
  const unsigned char *at(size_t offset) const { return data.data() + offset; }
  bool has_text(size_t offset, const char *text) const {
    size_t length = std::strlen(text);
    return offset + length <= size() &&
           std::memcmp(at(offset), text, length) == 0;
  }
  uint32_t number(size_t offset, size_t bytes) const {
    if (offset + bytes > size())
      throw Fault("`" + path + "` ends in the middle of its header");
    uint32_t value = 0;
    for (size_t i = bytes; i-- > 0;)
      value = value << 8 | data[offset + i];
    return value;
  }

private:
  const std::string &path;
  std::vector<unsigned char> data;
};

struct Format {
  uint32_t tag = 0, channels = 0, rate = 0, frame_bytes = 0, bits = 0;
  bool is_float() const { return tag == 3; }
};

Format read_format(const Bytes &file, size_t at, size_t size,
                   const std::string &path) {
  if (size < 16)
    throw Fault("`" + path + "`: the chunk `fmt ` has " + std::to_string(size) +
                " bytes instead of at least 16");
  Format format;
  format.tag = file.number(at, 2);
  format.channels = file.number(at + 2, 2);
  format.rate = file.number(at + 4, 4);
  format.frame_bytes = file.number(at + 12, 2);
  format.bits = file.number(at + 14, 2);
  constexpr uint32_t extensible = 0xFFFE;
  if (format.tag == extensible && size >= 26)
    format.tag = file.number(at + 24, 2);
  uint32_t bits = format.bits;
  bool is_known = format.tag == 1
                      ? bits == 8 || bits == 16 || bits == 24 || bits == 32
                      : format.is_float() && (bits == 32 || bits == 64);
  if (!is_known)
    throw Fault("`" + path + "`: the format " + std::to_string(format.tag) +
                " with " + std::to_string(bits) +
                " bits is not supported; convert the file to 16-bit PCM, for "
                "example with `ffmpeg -i FILE -c:a pcm_s16le OUTPUT.wav`");
  if (format.channels == 0 || format.frame_bytes != format.channels * bits / 8)
    throw Fault("`" + path + "`: " + std::to_string(format.channels) +
                " channels of " + std::to_string(bits) +
                " bits contradict frames of " +
                std::to_string(format.frame_bytes) + " bytes");
  if (format.rate < 1000 || format.rate > 192000)
    throw Fault("`" + path + "`: the sample rate " +
                std::to_string(format.rate) +
                " Hz is not from 1,000 to 192,000");
  return format;
}

double sample_of(const unsigned char *bytes, const Format &format) {
  if (format.is_float()) {
    if (format.bits == 64) {
      double value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    float value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  if (format.bits == 8)
    return (double(bytes[0]) - 128) / 128;
  // Puts the sample into the upper bits of a 32-bit integer.
  uint32_t value = 0;
  for (uint32_t i = 0; i < format.bits / 8; ++i)
    value |= uint32_t(bytes[i]) << (32 - format.bits + 8 * i);
  return double(int32_t(value)) / 2147483648.0;
}

} // namespace

std::vector<float> read_wav(const std::string &path) {
  Bytes file(path);
  if (!file.has_text(0, "RIFF") || !file.has_text(8, "WAVE"))
    throw Fault("`" + path +
                "` is not a WAV file; convert it, for example with `ffmpeg -i "
                "FILE -ac 1 -ar 16000 OUTPUT.wav`");
  Format format;
  for (size_t at = 12; at + 8 <= file.size();) {
    size_t size = file.number(at + 4, 4), begin = at + 8;
    if (file.has_text(at, "fmt "))
      format = read_format(file, begin, size, path);
    if (file.has_text(at, "data")) {
      if (format.rate == 0)
        throw Fault("`" + path +
                    "`: the chunk `data` comes before the chunk `fmt `");
      // Programs that write to a pipe do not know the size in advance, and
      // store a value near 0xFFFFFFFF.
      size_t present = std::min(size, file.size() - begin);
      if (present < size && size < 0xFFFFF000)
        std::fprintf(stderr,
                     "warning: `%s` is truncated: %zu of %zu bytes of audio\n",
                     path.c_str(), present, size);
      size_t frames = present / format.frame_bytes;
      if (frames == 0)
        throw Fault("`" + path + "` contains no audio");
      std::vector<float> samples(frames);
      for (size_t i = 0; i < frames; ++i) {
        double sum = 0;
        for (uint32_t channel = 0; channel < format.channels; ++channel)
          sum += sample_of(file.at(begin + i * format.frame_bytes +
                                   channel * format.bits / 8),
                           format);
        samples[i] = float(sum / format.channels);
        if (!(std::fabs(samples[i]) <= 1e6f))
          throw Fault("`" + path + "`: sample " + std::to_string(i) +
                      " is infinite, not a number, or larger than 1e6");
      }
      return resample(samples, format.rate, sample_rate);
    }
    at = begin + size + size % 2;
  }
  throw Fault("`" + path + "` is damaged: it has no " +
              (format.rate ? "audio (chunk `data`)" : "chunk `fmt `"));
}

std::vector<float> resample(const std::vector<float> &samples, unsigned from,
                            unsigned to) {
  if (from == to || samples.empty())
    return samples;
  unsigned divisor = std::gcd(from, to), step = from / divisor,
           phases = to / divisor;
  // The cutoff frequency is 0.95 times half of the lower rate. An output sample
  // is a weighted sum of `radius` input samples on each side.
  constexpr double crossings = 32;
  double cutoff = 0.95 * std::min(1.0, double(to) / from);
  ptrdiff_t radius = ptrdiff_t(std::ceil(crossings / cutoff)),
            width = 2 * radius;
  std::vector<std::vector<float>> filters(phases);
  size_t count = size_t((uint64_t(samples.size()) * phases + step - 1) / step);
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i) {
    // Output sample i is at the input position `center` plus a fraction,
    // (position % phases) / phases.
    uint64_t position = uint64_t(i) * step;
    ptrdiff_t center = ptrdiff_t(position / phases);
    std::vector<float> &filter = filters[position % phases];
    if (filter.empty()) {
      double sum = 0;
      std::vector<double> weights(width);
      for (ptrdiff_t k = 0; k < width; ++k) {
        double distance =
            double(k - radius + 1) - double(position % phases) / double(phases);
        double x = pi * cutoff * distance, edge = distance / double(radius);
        // The weights have a Blackman window.
        double window = std::fabs(edge) >= 1
                            ? 0
                            : 0.42 + 0.5 * std::cos(pi * edge) +
                                  0.08 * std::cos(2 * pi * edge);
        weights[k] = (x == 0 ? 1 : std::sin(x) / x) * window;
        sum += weights[k];
      }
      for (double weight : weights)
        filter.push_back(float(weight / sum));
    }
    ptrdiff_t first = center - radius + 1;
    ptrdiff_t begin = std::max<ptrdiff_t>(0, -first),
              end =
                  std::min<ptrdiff_t>(width, ptrdiff_t(samples.size()) - first);
    double value = 0;
    for (ptrdiff_t k = begin; k < end; ++k)
      value += double(filter[k]) * double(samples[first + k]);
    result[i] = float(value);
  }
  return result;
}
