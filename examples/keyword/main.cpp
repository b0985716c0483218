// main.cpp: prints the words in a WAV file and the times of their detection.
//
// usage: keyword FILE.wav    (16 kHz, mono, 16 bits)

#include "spotter.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

unsigned number(const unsigned char *bytes, int count) {
  unsigned value = 0;
  for (int i = count; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

int fail(const char *path, const char *what) {
  std::fprintf(stderr, "keyword: %s: %s\n", path, what);
  return 1;
}

/// Reads the whole file. Returns false if it cannot be read.
bool readFile(const char *path, std::vector<unsigned char> &bytes) {
  std::FILE *file = std::fopen(path, "rb");
  if (!file)
    return false;
  unsigned char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, file))
    bytes.insert(bytes.end(), buffer, buffer + count);
  bool isRead = !std::ferror(file);
  std::fclose(file);
  return isRead;
}

/// Copies the samples from the bytes of a WAV file. Returns null, or an error
/// message.
const char *findSamples(const std::vector<unsigned char> &bytes,
                        std::vector<int16_t> &samples) {
  if (bytes.empty())
    return "the file is empty";
  if (bytes.size() < 12 || std::memcmp(&bytes[0], "RIFF", 4) != 0 ||
      std::memcmp(&bytes[8], "WAVE", 4) != 0)
    return "this is not a WAV file: it does not begin with RIFF and WAVE";
  bool hasFormat = false;
  for (size_t at = 12; bytes.size() - at >= 8;) {
    const unsigned char *chunk = &bytes[at];
    size_t size = number(chunk + 4, 4), room = bytes.size() - at - 8;
    // Programs that write to a pipe do not know the size of the samples in
    // advance, and store a value near 0xFFFFFFFF.
    if (size >= 0xFFFFF000 && std::memcmp(chunk, "data", 4) == 0)
      size = room;
    if (size > room)
      return "the file is cut off: a chunk is longer than the rest of the file";
    if (std::memcmp(chunk, "fmt ", 4) == 0) {
      if (size < 16)
        return "the file is corrupt: its format is shorter than 16 bytes";
      // An extensible format stores the tag of the samples after its header.
      unsigned tag = number(chunk + 8, 2);
      if (tag == 0xFFFE && size >= 26)
        tag = number(chunk + 32, 2);
      if (tag != 1 || number(chunk + 22, 2) != 16)
        return "the samples must be 16-bit integers (PCM)";
      if (number(chunk + 10, 2) != 1)
        return "the file must have one channel";
      if (number(chunk + 12, 4) != unsigned(Spotter::rate))
        return "the rate must be 16000 samples per second";
      hasFormat = true;
    }
    if (std::memcmp(chunk, "data", 4) == 0) {
      if (!hasFormat)
        return "the file is corrupt: there is no format before the samples";
      for (size_t i = 0; i + 1 < size; i += 2)
        samples.push_back(int16_t(number(chunk + 8 + i, 2)));
      return nullptr;
    }
    // A padding byte follows a chunk of odd size.
    at += 8 + size + (size % 2 && size < room ? 1 : 0);
  }
  return "the file has no samples";
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr,
                 "usage: keyword FILE.wav    (16 kHz, mono, 16 bits)\n");
    return 2;
  }
  std::vector<unsigned char> bytes;
  std::vector<int16_t> samples;
  if (!readFile(argv[1], bytes))
    return fail(argv[1], "the file cannot be read");
  if (const char *error = findSamples(bytes, samples)) {
    fail(argv[1], error);
    std::fputs("To convert a recording: ffmpeg -i FILE -ac 1 -ar 16000 -c:a "
               "pcm_s16le OUTPUT.wav\n",
               stderr);
    return 1;
  }
  if (samples.size() < KEYWORD_STREAM_WINDOW)
    return fail(argv[1], "the recording is shorter than the window of the "
                         "network, 0.992 seconds");
  static Spotter spotter;
  int words = 0;
  for (size_t at = 0; at + Spotter::step <= samples.size();
       at += Spotter::step) {
    int word = spotter.hear(&samples[at]);
    if (word < 0)
      return fail(argv[1], "the network reports an error");
    if (word == 0)
      continue;
    ++words;
    std::printf("%5.2f s  %s\n", double(at + Spotter::step) / Spotter::rate,
                Spotter::nameOf(word));
  }
  if (words == 0)
    std::printf("no word\n");
}
