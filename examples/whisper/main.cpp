// main.cpp: transcribes WAV files with a compiled Whisper model.
//
// The generated files spectrum.cpp, network.cpp and tokenizer.cpp compute the
// networks and decode tokens. This program reads audio, cuts it into windows of
// 30 seconds and searches the most probable tokens.

#include "audio.h"
#include "model.h"
#include "search.h"
#include "tokenizer.h"

#include <chrono>
#include <cstdio>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> files;
  std::string language;
  bool translates = false, has_timestamps = false, prints_tokens = false,
       prints_speed = false;
  size_t beams = 1, most_tokens = settings::most_tokens;
  unsigned threads = 1;
};

const char *const help =
    "usage: whisper [OPTIONS] FILE.wav...\n"
    "  --language CODE   the language that is spoken, for example en; detected "
    "by default\n"
    "  --translate       translate to English\n"
    "  --timestamps      print the time of each segment\n"
    "  --beams N         search with N sequences instead of one\n"
    "  --max-tokens N    end a window after this many tokens\n"
    "  --threads N       threads to compute with\n"
    "  --print-tokens    print the numbers of the tokens of each window\n"
    "  --speed           print times on standard error\n";

size_t number(const std::string &name, const char *text, size_t most) {
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (end == text || *end || value < 1 || size_t(value) > most)
    throw Fault(name + ": `" + text + "` is not a number from 1 to " +
                std::to_string(most));
  return size_t(value);
}

Options read_options(int count, char **words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string name = words[i];
    auto value = [&]() -> const char * {
      if (i + 1 >= count)
        throw Fault(name + " needs a value");
      return words[++i];
    };
    if (name == "-h" || name == "--help") {
      std::fputs(help, stdout);
      std::exit(0);
    } else if (name == "--language")
      options.language = value();
    else if (name == "--translate")
      options.translates = true;
    else if (name == "--timestamps")
      options.has_timestamps = true;
    else if (name == "--beams")
      options.beams = number(name, value(), settings::beams);
    else if (name == "--max-tokens")
      options.most_tokens = number(name, value(), settings::most_tokens);
    else if (name == "--threads")
      options.threads = unsigned(number(name, value(), 1024));
    else if (name == "--print-tokens")
      options.prints_tokens = true;
    else if (name == "--speed")
      options.prints_speed = true;
    else if (name.size() > 1 && name[0] == '-')
      throw Fault("unknown option `" + name + "`; see --help");
    else
      options.files.push_back(name);
  }
  if (options.files.empty())
    throw Fault("no file is named; see --help");
  return options;
}

/// The logarithmic mel spectrum of a recording: a row for each 10 ms, followed
/// by rows without meaning, so that a window can begin at any frame.
struct Spectrum {
  std::vector<float> rows;
  /// The number of frames with audio or added silence, the number of those in
  /// the recording, and the largest element of the spectrum.
  size_t frames = 0, audio_frames = 0;
  float peak = impossible;
};

constexpr size_t hop = 160, margin = 200; // samples per row; before a window

/// Computes the spectrum of a recording. Silence extends a recording that is
/// shorter than a window. Beyond both ends, the audio is mirrored.
Spectrum spectrum_of(Model &model, std::vector<float> samples) {
  using namespace settings;
  Spectrum result;
  result.audio_frames = (samples.size() + hop - 1) / hop;
  samples.resize(std::max(samples.size(), frames * hop));
  result.frames = samples.size() / hop;
  result.rows.resize((result.frames + 2 * frames) * bins);
  ptrdiff_t size = ptrdiff_t(samples.size());
  std::vector<float> part(window_samples);
  for (size_t first = 0; first < result.frames; first += frames) {
    ptrdiff_t start = ptrdiff_t(first * hop) - ptrdiff_t(margin);
    for (size_t i = 0; i < window_samples; ++i) {
      ptrdiff_t at = start + ptrdiff_t(i);
      at = at < 0 ? -at : at >= size ? 2 * (size - 1) - at : at;
      part[i] = at < 0 ? 0 : samples[size_t(at)];
    }
    size_t count = std::min(frames, result.frames - first);
    float *rows = result.rows.data() + first * bins;
    result.peak = std::max(result.peak,
                           model.spectrum(part.data(), int64_t(count), rows));
  }
  return result;
}

/// A segment of text with its times in seconds.
struct Segment {
  double begin, end;
  std::vector<int32_t> tokens;
};

/// Divides the tokens of a window, which begins at the frame `first` and has
/// `frames` frames, at pairs of timestamps. Returns the number of frames after
/// which the next window begins: all of them, or those up to the end of the
/// last complete segment if the rest has to be transcribed again.
size_t divide(const std::vector<int32_t> &tokens, size_t first, size_t frames,
              std::vector<Segment> &segments) {
  auto position = [&](size_t i) {
    return size_t(tokens[i] - settings::first_timestamp);
  };
  auto is_timestamp = [&](size_t i) {
    return tokens[i] >= settings::first_timestamp;
  };
  constexpr double seconds = 0.02; // unit of timestamps: two frames
  double start = double(first) * seconds / 2;
  size_t count = tokens.size();
  std::vector<size_t> ends;
  for (size_t i = 1; i < count; ++i)
    if (is_timestamp(i - 1) && is_timestamp(i))
      ends.push_back(i);
  bool ends_complete =
      count >= 2 && !is_timestamp(count - 2) && is_timestamp(count - 1);
  if (ends.empty()) {
    double end = double(frames) * seconds / 2;
    for (size_t i = count; i-- > 0;)
      if (is_timestamp(i)) {
        end = position(i) ? double(position(i)) * seconds : end;
        break;
      }
    segments.push_back({start, start + end, tokens});
    return frames;
  }
  if (ends_complete)
    ends.push_back(count);
  size_t begin = 0;
  for (size_t end : ends) {
    segments.push_back(
        {start + double(is_timestamp(begin) ? position(begin) : 0) * seconds,
         start + double(position(end - 1)) * seconds,
         {tokens.begin() + ptrdiff_t(begin), tokens.begin() + ptrdiff_t(end)}});
    begin = end;
  }
  size_t next = 2 * position(ends.back() - 1);
  return ends_complete || next == 0 ? frames : std::min(next, frames);
}

std::string text_of(const std::vector<int32_t> &tokens) {
  std::vector<int32_t> text;
  for (int32_t token : tokens)
    if (token < settings::end_token)
      text.push_back(token);
  std::string result = tokenizer::decode(text);
  size_t begin = result.find_first_not_of(" \n");
  return begin == std::string::npos ? "" : result.substr(begin);
}

std::string time_text(double seconds) {
  char text[32];
  long ms = std::lround(seconds * 1000);
  std::snprintf(text, sizeof text, "%02ld:%02ld.%03ld", ms / 60000,
                ms / 1000 % 60, ms % 1000);
  return text;
}

class Transcriber {
public:
  Transcriber(const Options &options, Model &model)
      : options(options), model(model) {
    if (settings::transcribe_token < 0 &&
        (options.translates || !options.language.empty()))
      throw Fault("the model has one language: --language and --translate are "
                  "not available");
    if (!options.language.empty()) {
      std::string known;
      for (const settings::Language &entry : settings::languages) {
        if (!entry.code)
          break;
        if (options.language == entry.code)
          language = entry.token;
        known += std::string(known.empty() ? "" : ", ") + entry.code;
      }
      if (language < 0)
        throw Fault("--language: the model does not know `" + options.language +
                    "`; languages: " + known);
    }
  }

  void transcribe(const std::string &file) {
    auto start = Clock::now();
    std::vector<float> samples = read_wav(file);
    double length = double(samples.size()) / sample_rate;
    double reading = since(start);
    start = Clock::now();
    Spectrum spectrum = spectrum_of(model, std::move(samples));
    double transforming = since(start);
    double encoding = 0, searching = 0;
    size_t count = 0;
    int32_t spoken = language;
    for (size_t first = 0;
         first < spectrum.frames && first < spectrum.audio_frames;) {
      size_t frames = std::min(settings::frames, spectrum.frames - first);
      start = Clock::now();
      model.encode(spectrum.rows.data() + first * settings::bins, spectrum.peak,
                   int64_t(frames));
      encoding += since(start);
      start = Clock::now();
      if (spoken < 0 && settings::transcribe_token >= 0)
        spoken = detect_language();
      std::vector<int32_t> tokens = search(spoken);
      searching += since(start);
      count += tokens.size();
      std::vector<Segment> segments;
      size_t step = divide(tokens, first, frames, segments);
      print(tokens, segments, first);
      first += step;
    }
    if (options.prints_speed)
      std::fprintf(stderr,
                   "%.1f s of audio, %zu tokens: reading %.1f ms, spectrum "
                   "%.1f ms, encoder %.1f ms, search %.1f ms\n",
                   length, count, 1e3 * reading, 1e3 * transforming,
                   1e3 * encoding, 1e3 * searching);
  }

private:
  static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// Returns the most probable language of the encoded window.
  int32_t detect_language() {
    std::vector<float> logits(settings::vocabulary);
    model.prompt({settings::start_token}, logits.data());
    int32_t best = settings::languages[0].token;
    for (const settings::Language &entry : settings::languages)
      if (entry.code && logits[size_t(entry.token)] > logits[size_t(best)])
        best = entry.token;
    return best;
  }

  std::vector<int32_t> search(int32_t spoken) {
    std::vector<int32_t> prompt = {settings::start_token};
    if (settings::transcribe_token >= 0) {
      prompt.push_back(spoken);
      prompt.push_back(options.translates ? settings::translate_token
                                          : settings::transcribe_token);
    }
    if (!options.has_timestamps)
      prompt.push_back(settings::no_timestamps_token);
    Rules rules = {
        options.has_timestamps,
        std::min(settings::most_tokens, prompt.size() + options.most_tokens)};
    if (options.beams == 1)
      return greedy_search(model, prompt, rules);
    return BeamSearch(model, prompt, options.beams, rules).run();
  }

  void print(const std::vector<int32_t> &tokens,
             const std::vector<Segment> &segments, size_t first) {
    if (options.prints_tokens) {
      std::printf("%zu:", first);
      for (int32_t token : tokens)
        std::printf(" %d", int(token));
      std::printf("\n");
    } else if (options.has_timestamps) {
      for (const Segment &segment : segments)
        std::printf("[%s --> %s] %s\n", time_text(segment.begin).c_str(),
                    time_text(segment.end).c_str(),
                    text_of(segment.tokens).c_str());
    } else {
      std::printf("%s\n", text_of(tokens).c_str());
    }
    std::fflush(stdout);
  }

  const Options &options;
  Model &model;
  int32_t language = -1;
};

} // namespace

int main(int count, char **words) {
  try {
    Options options = read_options(count, words);
    Model model(options.threads);
    Transcriber transcriber(options, model);
    int failed = 0;
    for (const std::string &file : options.files) {
      if (options.files.size() > 1)
        std::printf("== %s\n", file.c_str());
      try {
        transcriber.transcribe(file);
      } catch (const Fault &fault) {
        std::fflush(stdout);
        std::fprintf(stderr, "error: %s\n", fault.what());
        failed = 1;
      }
    }
    return failed;
  } catch (const std::exception &fault) {
    std::fprintf(stderr, "error: %s\n", fault.what());
    return 1;
  }
}
