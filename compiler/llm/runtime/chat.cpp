// chat.cpp - a chat program for one language model; written by ingot @VERSION@
// SPDX-License-Identifier: MIT-0
//
// settings.h contains everything that depends on the model: sizes, tokens, the form of a conversation, and the calls of
// the network.
#include "sampler.h"
#include "settings.h"

#include "ingot_thread_pool.h"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace {

struct Options {
  chat::Sampling sampling = settings::sampling;
  std::string prompt, system, weights;
  bool has_prompt = false, is_raw = false, prints_tokens = false, prints_speed = false,
       drops_old = false;
  bool prompt_is_tokens = false;
  std::vector<std::string> stops;
  size_t most_tokens = SIZE_MAX;
  unsigned threads = 1;
};

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

const char *const kHelp =
    "usage: chat [OPTIONS]\n"
    "Without --prompt or --prompt-file: a conversation; /reset begins a new one, end of input "
    "leaves.\n"
    "  --prompt TEXT             answer this and leave\n"
    "  --prompt-file FILE        the same, with the text of a file\n"
    "  --prompt-tokens FILE      the same, with the numbers of tokens\n"
    "  --system TEXT             the system message\n"
    "  --raw                     continue the text: no turns of a conversation\n"
    "  --max-tokens N            end an answer after this many tokens\n"
    "  --stop TEXT               end an answer before this text (may be given several times)\n"
    "  --greedy                  always take the most probable token\n"
    "  --temperature X, --top-k N, --top-p X, --repetition-penalty X, --seed N\n"
    "  --when-full stop|drop     if the context is full: end the answer, or forget the older half\n"
    "  --threads N               threads to compute with\n"
    "  --weights FILE            the weights; the default is network.weights beside the program\n"
    "  --print-tokens            print the numbers of the tokens instead of their text\n"
    "  --tokens-per-second       print the speed on standard error\n";

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail("`" + path + "` cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

double number(const std::string &name, const char *text, double least, double most) {
  char *end = nullptr;
  double value = std::strtod(text, &end);
  if (end == text || *end || !(value >= least && value <= most))
    fail(name + ": `" + text + "` is not a number from " + std::to_string(least) + " to " +
         std::to_string(most));
  return value;
}

uint64_t whole_number(const std::string &name, const char *text, uint64_t least, uint64_t most) {
  char *end = nullptr;
  errno = 0;
  uint64_t value = std::strtoull(text, &end, 10);
  // std::strtoull accepts spaces and a sign.
  if (!std::isdigit(static_cast<unsigned char>(*text)) || *end || errno || value < least ||
      value > most)
    fail(name + ": `" + text + "` is not a whole number from " + std::to_string(least) + " to " +
         std::to_string(most));
  return value;
}

Options read_options(int count, char **words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string name = words[i];
    auto value = [&]() -> const char * {
      if (i + 1 >= count)
        fail(name + " needs a value");
      return words[++i];
    };
    if (name == "-h" || name == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    } else if (name == "--prompt" || name == "--prompt-file" || name == "--prompt-tokens") {
      const char *text = value();
      options.prompt = name == "--prompt" ? text : read_file(text);
      options.has_prompt = true;
      options.prompt_is_tokens = name == "--prompt-tokens";
    } else if (name == "--system")
      options.system = value();
    else if (name == "--raw")
      options.is_raw = true;
    else if (name == "--max-tokens")
      options.most_tokens = size_t(whole_number(name, value(), 1, 1000000000));
    else if (name == "--stop") {
      options.stops.push_back(value());
      if (options.stops.back().empty())
        fail("--stop: the text is empty");
    } else if (name == "--greedy")
      options.sampling.temperature = 0;
    else if (name == "--temperature")
      options.sampling.temperature = number(name, value(), 0, 100);
    else if (name == "--top-k")
      options.sampling.top_k = size_t(whole_number(name, value(), 0, 1000000000));
    else if (name == "--top-p")
      options.sampling.top_p = number(name, value(), 0, 1);
    else if (name == "--repetition-penalty")
      options.sampling.repetition_penalty = number(name, value(), 0.01, 100);
    else if (name == "--seed")
      options.sampling.seed = whole_number(name, value(), 0, UINT64_MAX);
    else if (name == "--when-full") {
      std::string what = value();
      if (what != "stop" && what != "drop")
        fail("--when-full: `" + what + "` is neither stop nor drop");
      options.drops_old = what == "drop";
    } else if (name == "--threads")
      options.threads = unsigned(whole_number(name, value(), 1, 1024));
    else if (name == "--weights")
      options.weights = value();
    else if (name == "--print-tokens")
      options.prints_tokens = true;
    else if (name == "--tokens-per-second")
      options.prints_speed = true;
    else
      fail("unknown option `" + name + "`; see --help");
  }
  return options;
}

/// Zeroed, aligned memory. Pages that are never touched use no physical memory.
class Memory {
public:
  Memory(size_t bytes, size_t align) : block(std::calloc(bytes + align, 1)) {
    if (!block)
      fail("there is too little memory: " + std::to_string(bytes) + " bytes");
    uintptr_t start = (reinterpret_cast<uintptr_t>(block) + align - 1) / align * align;
    aligned = reinterpret_cast<void *>(start);
  }
  ~Memory() { std::free(block); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  void *get() const { return aligned; }

private:
  void *block, *aligned;
};

/// The file of the weights. It is memory-mapped where the system supports that, so that pages are
/// read on first use.
class Weights {
public:
  explicit Weights(const std::string &path) {
#if defined(__unix__) || defined(__APPLE__)
    int file = open(path.c_str(), O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
      fail("the weights `" + path + "` cannot be read; name them with --weights");
    if (size_t(status.st_size) != settings::weights_bytes)
      fail("the weights `" + path + "` have " + std::to_string(status.st_size) +
           " bytes, but the network needs " + std::to_string(settings::weights_bytes));
    void *address = mmap(nullptr, settings::weights_bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (address == MAP_FAILED)
      fail("the weights `" + path + "` cannot be mapped");
    data = address;
#else
    std::string bytes = read_file(path);
    if (bytes.size() != settings::weights_bytes)
      fail("the weights `" + path + "` have " + std::to_string(bytes.size()) +
           " bytes, but the network needs " + std::to_string(settings::weights_bytes));
    memory.reset(new Memory(bytes.size(), settings::weights_align));
    std::memcpy(memory->get(), bytes.data(), bytes.size());
    data = memory->get();
#endif
  }
  const void *data;

private:
  std::unique_ptr<Memory> memory;
};

std::string default_weights(const char *program) {
  std::string path = program;
#if defined(__linux__)
  char real[4096];
  ssize_t size = readlink("/proc/self/exe", real, sizeof real);
  if (size > 0)
    path.assign(real, size);
#endif
  size_t slash = path.find_last_of("/\\");
  return (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + "network.weights";
}

/// Why an answer ended.
enum class End { stop_token, stop_text, most_tokens, context_full };

/// The network with its cache, and the tokens that the cache contains.
class Chat {
public:
  Chat(const Options &options, const Weights &weights)
      : options(options), weights(weights), sampler(options.sampling), pool(options.threads),
        context(pool.context()), arena(settings::arena_bytes, settings::arena_align),
        state(settings::state_bytes, settings::state_align),
        mask(settings::context + settings::prompt_chunk, 1),
        positions(settings::context + settings::prompt_chunk),
        logits(settings::logits_rows * settings::vocabulary) {
    for (size_t i = 0; i < positions.size(); ++i)
      positions[i] = settings::Id(i);
  }

  void reset() {
    past.clear();
    pending.clear();
  }
  bool is_empty() const { return past.empty() && pending.empty(); }
  void add(const std::vector<int32_t> &tokens) {
    pending.insert(pending.end(), tokens.begin(), tokens.end());
  }

  /// Computes the pending tokens, then generates an answer. Returns why it ended.
  End answer() {
    if (pending.empty())
      fail("the prompt is empty; give a text with --prompt or --prompt-file");
    for (int32_t token : pending)
      if (token < 0 || size_t(token) >= settings::vocabulary)
        fail("the token " + std::to_string(token) + " is outside of the vocabulary of " +
             std::to_string(settings::vocabulary));
    if (past.size() + pending.size() > settings::context) {
      if (!options.drops_old || pending.size() > settings::context / 2)
        fail("the prompt is too long: " + std::to_string(past.size() + pending.size()) +
             " tokens, but the context has room for " + std::to_string(settings::context) +
             "; shorten it, or compile the model with a larger --context");
      drop();
    }
    auto start = Clock::now();
    size_t prompt_tokens = pending.size();
    compute();
    prompt_seconds = since(start);
    prompt_count = prompt_tokens;
    start = Clock::now();
    tokenizer::Decoder decoder;
    text.clear();
    End end = End::most_tokens;
    answer_count = 0;
    while (answer_count < options.most_tokens) {
      int32_t token = sampler.next(last_logits, settings::vocabulary, past);
      ++answer_count;
      pending.push_back(token);
      if (options.prints_tokens)
        std::printf("%d ", int(token));
      if (std::find(std::begin(settings::stop_tokens), std::end(settings::stop_tokens), token) !=
          std::end(settings::stop_tokens)) {
        end = End::stop_token;
        break;
      }
      if (show(decoder.add(token))) {
        end = End::stop_text;
        break;
      }
      if (past.size() + 1 > settings::context) {
        if (!options.drops_old) {
          end = End::context_full;
          break;
        }
        drop();
      }
      if (answer_count < options.most_tokens)
        compute();
    }
    answer_seconds = since(start);
    if (end != End::stop_text)
      show(decoder.finish(), true);
    return end;
  }

  void print_speed() const {
    std::fprintf(stderr,
                 "prompt: %zu tokens, %.1f per second; answer: %zu tokens, %.1f per second\n",
                 prompt_count, double(prompt_count) / prompt_seconds, answer_count,
                 double(answer_count) / answer_seconds);
  }

private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point start) {
    return std::max(std::chrono::duration<double>(Clock::now() - start).count(), 1e-9);
  }

  /// Computes the pending tokens. A single token that others precede is computed by run_token;
  /// otherwise, run_prompt computes the tokens in chunks of at most `prompt_chunk`.
  void compute() {
    for (size_t begin = 0; begin < pending.size();) {
      size_t count = std::min(pending.size() - begin, settings::prompt_chunk);
      std::vector<settings::Id> ids(pending.begin() + begin, pending.begin() + begin + count);
      settings::Call call = {ids.data(),  mask.data(),  positions.data() + past.size(),
                             count,       past.size(),  logits.data(),
                             state.get(), weights.data, arena.get(),
                             &context};
      ingot_status status =
          count == 1 && !past.empty() ? settings::run_token(call) : settings::run_prompt(call);
      if (status != INGOT_OK)
        fail("the network returned the status " + std::to_string(int(status)) +
             " (see ingot_status in network.h)");
      last_logits =
          logits.data() + (settings::logits_rows > 1 ? (count - 1) * settings::vocabulary : 0);
      past.insert(past.end(), pending.begin() + begin, pending.begin() + begin + count);
      begin += count;
    }
    pending.clear();
  }

  /// Removes the older half of the tokens, except for the token that begins a text. The others
  /// become pending, to be computed again, since the cache depends on the positions.
  void drop() {
    std::vector<int32_t> kept;
    if (!past.empty() && past.front() == settings::begin_token)
      kept.push_back(past.front());
    kept.insert(kept.end(), past.end() - std::min(past.size(), settings::context / 2 - 1),
                past.end());
    kept.insert(kept.end(), pending.begin(), pending.end());
    past.clear();
    pending = kept;
  }

  /// Prints text, except for an end that may be the beginning of a stop text (unless `is_last`). If
  /// the text contains a stop text, prints only what precedes it, and returns true.
  bool show(const std::string &more, bool is_last = false) {
    text += more;
    size_t end = text.size();
    bool is_found = false;
    for (const std::string &stop : options.stops) {
      size_t at = text.find(stop);
      if (at != std::string::npos && at <= end) {
        end = at;
        is_found = true;
      }
    }
    if (!is_found && !is_last)
      for (const std::string &stop : options.stops)
        for (size_t size = std::min(stop.size() - 1, text.size()); size > 0; --size)
          if (text.compare(text.size() - size, size, stop, 0, size) == 0) {
            end = std::min(end, text.size() - size);
            break;
          }
    if (!options.prints_tokens) {
      std::fwrite(text.data(), 1, end, stdout);
      std::fflush(stdout);
    }
    text.erase(0, is_found ? text.size() : end);
    return is_found;
  }

  const Options &options;
  const Weights &weights;
  chat::Sampler sampler;
  ingot::ThreadPool pool;
  ingot_context context;
  Memory arena, state;
  std::vector<settings::Id> mask, positions;
  std::vector<float> logits;
  float *last_logits = nullptr;
  /// The tokens in the cache, and those that are not computed yet.
  std::vector<int32_t> past, pending;
  std::string text;
  size_t prompt_count = 0, answer_count = 0;
  double prompt_seconds = 1, answer_seconds = 1;
};

/// Returns the tokens of a turn of the user in the form that the model was trained with; with
/// --raw, the tokens of the message alone.
std::vector<int32_t> turn(const Options &options, const std::string &message, bool is_first) {
  if (options.prompt_is_tokens) {
    std::vector<int32_t> tokens;
    const char *at = message.c_str();
    for (char *end = nullptr;; at = end) {
      long value = std::strtol(at, &end, 10);
      if (end == at)
        break;
      tokens.push_back(int32_t(std::min(std::max(value, -1L), 0x7fffffffL)));
    }
    if (at[std::strspn(at, " \t\r\n,")])
      fail("--prompt-tokens: `" + std::string(at).substr(0, 20) + "` is not a number");
    return tokens;
  }
  if (options.is_raw || !settings::has_turns)
    return tokenizer::encode(message, is_first);
  std::string text = is_first ? settings::conversation_start : settings::after_answer;
  if (is_first && !options.system.empty())
    text += settings::before_system + options.system + settings::after_system;
  return tokenizer::encode(text + settings::before_user + message + settings::after_user, false);
}

int finish(Chat &chat, const Options &options, End end) {
  std::printf("\n");
  std::fflush(stdout);
  if (end == End::context_full)
    std::fprintf(stderr,
                 "the context of %zu tokens is full; --when-full drop forgets the older half\n",
                 settings::context);
  if (options.prints_speed)
    chat.print_speed();
  return 0;
}

} // namespace

int main(int count, char **words) {
  Options options = read_options(count, words);
  if (!options.system.empty() &&
      (!settings::has_turns || options.is_raw || !*settings::before_system))
    fail("--system: the turns of this model have no system message");
  Weights weights(options.weights.empty() ? default_weights(words[0]) : options.weights);
  Chat chat(options, weights);
  if (options.has_prompt) {
    chat.add(turn(options, options.prompt, true));
    return finish(chat, options, chat.answer());
  }
  for (std::string line;;) {
    std::fputs("> ", stdout);
    std::fflush(stdout);
    if (!std::getline(std::cin, line))
      break;
    if (line == "/reset") {
      chat.reset();
      continue;
    }
    if (line.empty())
      continue;
    chat.add(turn(options, line, chat.is_empty()));
    End end = chat.answer();
    finish(chat, options, end);
    if (end == End::context_full)
      chat.reset();
  }
  std::printf("\n");
}
