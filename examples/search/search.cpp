// search.cpp - finds the sentences of a file that are most similar to a query.
//
// network.h declares two compiled functions: embed (tokens -> a vector of
// length 1 for each sentence) and scores (vectors, query -> cosines);
// tokenizer.h declares the compiled tokenizer.
#include "network.h"
#include "tokenizer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t kSize = NETWORK_SCORES_QUERY_ELEMENTS; // numbers in a vector
constexpr size_t kLength = NETWORK_EMBED_LENGTH_MOST;   // most tokens of a text
constexpr size_t kBatch = NETWORK_EMBED_BATCH_MOST;     // most texts per call
constexpr size_t kRows = NETWORK_SCORES_ROWS_MOST;      // most vectors per call
/// Texts of similar length form a batch of at most this many tokens (or of a
/// single text), so that the weights are read once for the whole batch.
constexpr size_t kTokensTogether = 128;

const char *const kHelp =
    "usage: search index SENTENCES INDEX [--threads N]\n"
    "       search query INDEX [--best N] [TEXT...]\n"
    "       search tokens SENTENCES\n"
    "index:  reads a text file with one sentence per line, writes INDEX\n"
    "query:  prints the best N (5) sentences for each TEXT, or for each line "
    "of standard input\n"
    "tokens: prints the numbers of the tokens of each line\n"
    "--threads: the default is all threads of the processor\n";

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

// ------------------------------------------------------------------- files

std::string read_file(const std::string &path, const std::string &what) {
  std::ifstream file(path, std::ios::binary);
  // A folder is opened without an error, but cannot be read.
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    if (file.eof() && !file.bad())
      return "";
    fail(what + " `" + path + "` cannot be read");
  }
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

/// Divides text at its line ends, which are \n or \r\n.
std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r')
      lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

/// Returns the first 200 bytes of `text` for a terminal: control characters
/// become spaces, and bytes that are not UTF-8 become question marks.
std::string printable(const std::string &text) {
  constexpr size_t kMost = 200;
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (result.size() >= kMost)
      return result + "...";
    unsigned char first = (unsigned char)text[at];
    size_t length = first < 0x80                     ? 1
                    : first >= 0xC2 && first <= 0xDF ? 2
                    : (first & 0xF0) == 0xE0         ? 3
                    : first >= 0xF0 && first <= 0xF4 ? 4
                                                     : 0;
    for (size_t i = 1; i < length; ++i)
      if (at + i >= text.size() || ((unsigned char)text[at + i] & 0xC0) != 0x80)
        length = 0;
    bool is_control =
        first < 32 || first == 127 ||
        (first == 0xC2 && length == 2 && (unsigned char)text[at + 1] < 0xA0);
    if (is_control || length == 0)
      result += is_control ? ' ' : '?';
    else
      result.append(text, at, length);
    at += std::max<size_t>(length, 1);
  }
  return result;
}

// ------------------------------------------------------------------- index

/// The lines of a file that contain text, with their vectors.
struct Index {
  std::vector<uint64_t> lines; // numbers of lines, from 1
  std::vector<std::string> texts;
  std::vector<float> vectors; // kSize for each sentence
};

/// The start of an index file. It is followed by the line numbers of all
/// sentences, by the ends of their texts (both uint64_t), by the vectors, by
/// the texts, and by a checksum of all bytes before it.
struct Header {
  char magic[8];
  uint32_t byte_order, size;
  uint64_t count, text_bytes;
  char model[64];
};
constexpr char kMagic[8] = {'I', 'N', 'D', 'E', 'X', ' ', '1', '\n'};
constexpr uint32_t kByteOrder = 0x01020304;
static_assert(sizeof NETWORK_MODEL_SHA256 == 65, "a SHA-256 has 64 digits");

/// Returns a hash similar to FNV-1a that takes 8 bytes in each step.
uint64_t checksum(const char *data, size_t bytes) {
  uint64_t hash = 14695981039346656037u;
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, std::min<size_t>(8, bytes - at));
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Writes another file and renames it to `path`, so that `path` is never a
/// partly written index.
void write_index(const Index &index, const std::string &path) {
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.byte_order = kByteOrder;
  header.size = kSize;
  header.count = index.lines.size();
  std::memcpy(header.model, NETWORK_MODEL_SHA256, sizeof header.model);
  std::vector<uint64_t> ends;
  for (const std::string &text : index.texts)
    ends.push_back(header.text_bytes += text.size());
  std::string bytes;
  auto add = [&](const void *data, size_t size) {
    bytes.append(static_cast<const char *>(data), size);
  };
  add(&header, sizeof header);
  add(index.lines.data(), index.lines.size() * sizeof(uint64_t));
  add(ends.data(), ends.size() * sizeof(uint64_t));
  add(index.vectors.data(), index.vectors.size() * sizeof(float));
  for (const std::string &text : index.texts)
    bytes += text;
  uint64_t sum = checksum(bytes.data(), bytes.size());
  add(&sum, sizeof sum);

  std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(bytes.data(), std::streamsize(bytes.size()));
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    std::remove(unfinished.c_str());
    fail("the index `" + path + "` cannot be written");
  }
}

Index read_index(const std::string &path) {
  std::string bytes = read_file(path, "the index");
  std::string way_out = "; write it again with `search index`";
  Header header;
  if (bytes.size() < sizeof header + sizeof(uint64_t) ||
      std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    fail("`" + path + "` is not an index" + way_out);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.byte_order != kByteOrder)
    fail("the index `" + path +
         "` was written on a machine with another byte order" + way_out);
  if (header.size != kSize ||
      std::memcmp(header.model, NETWORK_MODEL_SHA256, 64) != 0)
    fail("the index `" + path + "` belongs to another model" + way_out);
  size_t rest = bytes.size() - sizeof header - sizeof(uint64_t);
  constexpr size_t kEach = 2 * sizeof(uint64_t) + kSize * sizeof(float);
  uint64_t sum;
  std::memcpy(&sum, bytes.data() + bytes.size() - sizeof sum, sizeof sum);
  if (header.count > rest / kEach ||
      header.text_bytes != rest - header.count * kEach ||
      sum != checksum(bytes.data(), bytes.size() - sizeof sum))
    fail("the index `" + path + "` is damaged" + way_out);

  Index index;
  size_t count = size_t(header.count);
  std::vector<uint64_t> ends(count);
  index.lines.resize(count);
  index.vectors.resize(count * kSize);
  const char *at = bytes.data() + sizeof header;
  auto take = [&](auto &values) {
    if (!values.empty())
      std::memcpy(values.data(), at, values.size() * sizeof values[0]);
    at += values.size() * sizeof values[0];
  };
  take(index.lines);
  take(ends);
  take(index.vectors);
  uint64_t begin = 0;
  for (uint64_t end : ends) {
    if (end < begin || end > header.text_bytes)
      fail("the index `" + path + "` is damaged" + way_out);
    index.texts.emplace_back(at + begin, size_t(end - begin));
    begin = end;
  }
  return index;
}

// ----------------------------------------------------------------- network

struct Arena {
  std::unique_ptr<unsigned char[]> block{
      new unsigned char[NETWORK_ARENA_BYTES + NETWORK_ARENA_ALIGN]};
  void *get() const {
    uintptr_t start = reinterpret_cast<uintptr_t>(block.get());
    return block.get() + (NETWORK_ARENA_ALIGN - start % NETWORK_ARENA_ALIGN) %
                             NETWORK_ARENA_ALIGN;
  }
};

/// Calls body(i) for all i below `count`, in any order, on several threads.
/// Each thread gets its own `body` from make_body().
void parallel(unsigned threads, size_t count,
              const std::function<std::function<void(size_t)>()> &make_body) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::function<void(size_t)> body = make_body();
    for (size_t i = next++; i < count; i = next++)
      body(i);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min<size_t>(threads, count); ++i)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
}

using Tokens = std::vector<int32_t>;

/// Computes the vectors of the sentences order[begin] to order[end - 1] in one
/// call of the network. The sentences are padded to the longest one.
void embed(const std::vector<Tokens> &tokens, const std::vector<size_t> &order,
           size_t begin, size_t end, const Arena &arena, float *vectors) {
  size_t batch = end - begin, length = 0;
  for (size_t i = begin; i < end; ++i)
    length = std::max(length, tokens[order[i]].size());
  std::vector<int64_t> ids(batch * length, 0), mask(batch * length, 0);
  for (size_t i = 0; i < batch; ++i) {
    const Tokens &sentence = tokens[order[begin + i]];
    std::copy(sentence.begin(), sentence.end(), ids.begin() + i * length);
    std::fill_n(mask.begin() + i * length, sentence.size(), 1);
  }
  std::vector<float> result(batch * kSize);
  network_embed_io io = {};
  io.batch = ptrdiff_t(batch);
  io.length = ptrdiff_t(length);
  io.input_ids = ids.data();
  io.attention_mask = mask.data();
  io.embedding = result.data();
  ingot_status status = network_embed_run(&io, arena.get(), nullptr);
  if (status != INGOT_OK)
    fail("the network failed with status " + std::to_string(int(status)));
  for (float value : result)
    if (!std::isfinite(value))
      fail("the network computed a number that is not finite");
  for (size_t i = 0; i < batch; ++i)
    std::copy_n(result.begin() + i * kSize, kSize,
                vectors + order[begin + i] * kSize);
}

/// Returns the vectors of all sentences. A batch contains sentences of similar
/// length, so that little padding is computed.
std::vector<float> embed_all(const std::vector<Tokens> &tokens,
                             unsigned threads) {
  std::vector<size_t> order(tokens.size());
  std::iota(order.begin(), order.end(), size_t(0));
  // The longest batches are computed first, so that the threads finish at about
  // the same time.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tokens[a].size() > tokens[b].size();
  });
  std::vector<size_t> begins{0};
  while (begins.back() < order.size()) {
    size_t length = tokens[order[begins.back()]].size();
    size_t batch =
        std::min<size_t>(kBatch, std::max<size_t>(1, kTokensTogether / length));
    begins.push_back(std::min(begins.back() + batch, order.size()));
  }
  std::vector<float> vectors(tokens.size() * kSize);
  parallel(threads, begins.size() - 1, [&]() {
    auto arena = std::make_shared<Arena>();
    return [&, arena](size_t i) {
      embed(tokens, order, begins[i], begins[i + 1], *arena, vectors.data());
    };
  });
  return vectors;
}

/// Returns the number of special tokens that the tokenizer adds to each text,
/// such as [CLS] and [SEP].
size_t special_count() { return tokenizer::encode("").size(); }

// ---------------------------------------------------------------- commands

void index_file(const std::string &source, const std::string &path,
                unsigned threads) {
  std::vector<std::string> lines =
      lines_of(read_file(source, "the file of sentences"));
  auto start = std::chrono::steady_clock::now();
  std::vector<Tokens> all(lines.size());
  parallel(threads, lines.size(), [&] {
    return [&](size_t i) { all[i] = tokenizer::encode(lines[i]); };
  });
  Index index;
  std::vector<Tokens> tokens;
  size_t count = 0, full = 0, special = special_count();
  for (size_t i = 0; i < lines.size(); ++i) {
    if (all[i].size() <= special)
      continue;
    count += all[i].size();
    full += all[i].size() >= kLength;
    index.lines.push_back(i + 1);
    index.texts.push_back(std::move(lines[i]));
    tokens.push_back(std::move(all[i]));
  }
  if (tokens.empty())
    fail("the file of sentences `" + source + "` contains no text");
  index.vectors = embed_all(tokens, threads);
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  write_index(index, path);
  std::printf(
      "%zu sentences with %zu tokens in %.2f s: %.0f sentences per second\n",
      tokens.size(), count, seconds, double(tokens.size()) / seconds);
  if (size_t empty = lines.size() - tokens.size())
    std::printf("%zu lines without text are not in the index\n", empty);
  if (full)
    std::printf(
        "%zu lines have %zu tokens or more: the model uses the first %zu\n",
        full, kLength, kLength);
}

/// Prints the `best` most similar sentences of the index. Returns false if the
/// query has no text.
bool answer(const Index &index, const std::string &query, size_t best,
            const Arena &arena) {
  std::vector<Tokens> tokens{tokenizer::encode(query)};
  if (tokens[0].size() <= special_count()) {
    std::fprintf(stderr, "error: the query `%s` contains no text\n",
                 printable(query).c_str());
    return false;
  }
  std::vector<float> vector(kSize), scores(index.lines.size());
  embed(tokens, {0}, 0, 1, arena, vector.data());
  for (size_t row = 0; row < scores.size(); row += kRows) {
    network_scores_io io = {};
    io.rows = ptrdiff_t(std::min<size_t>(kRows, scores.size() - row));
    io.vectors = index.vectors.data() + row * kSize;
    io.query = vector.data();
    io.scores = scores.data() + row;
    ingot_status status = network_scores_run(&io, arena.get(), nullptr);
    if (status != INGOT_OK)
      fail("the comparison failed with status " + std::to_string(int(status)));
  }
  for (float &score : scores)
    if (!(score >= -2)) // true for a NaN, which cannot be sorted
      score = -2;
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t(0));
  auto end = order.begin() + ptrdiff_t(std::min(best, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](size_t a, size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  std::printf("%s\n", printable(query).c_str());
  for (auto i = order.begin(); i != end; ++i)
    std::printf("  %.6f  line %llu: %s\n", double(scores[*i]),
                (unsigned long long)(index.lines[*i]),
                printable(index.texts[*i]).c_str());
  std::fflush(stdout);
  return true;
}

unsigned number(const std::string &name, const char *text, double most) {
  char *end = nullptr;
  double value = std::strtod(text, &end);
  if (end == text || *end || !(value >= 1 && value <= most) ||
      value != std::floor(value))
    fail(name + ": `" + text + "` is not a whole number from 1 to " +
         std::to_string(unsigned(most)));
  return unsigned(value);
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words;
  unsigned best = 5,
           threads = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (word == "--best" || word == "--threads") {
      if (++i == argc)
        fail(word + " needs a number");
      (word == "--best" ? best : threads) =
          number(word, argv[i], word == "--best" ? 1e9 : 1024);
    } else if (word.size() > 1 && word[0] == '-' && word[1] == '-') {
      fail("unknown option `" + word + "`; see --help");
    } else {
      words.push_back(word);
    }
  }
  std::string command = words.empty() ? "" : words[0];
  if (command == "index" && words.size() == 3) {
    index_file(words[1], words[2], threads);
    return 0;
  }
  if (command == "tokens" && words.size() == 2) {
    for (const std::string &line :
         lines_of(read_file(words[1], "the file of sentences"))) {
      for (int32_t token : tokenizer::encode(line))
        std::printf("%d ", int(token));
      std::printf("\n");
    }
    return 0;
  }
  if (command == "query" && words.size() >= 2) {
    Index index = read_index(words[1]);
    Arena arena;
    bool is_complete = true;
    for (size_t i = 2; i < words.size(); ++i)
      is_complete &= answer(index, words[i], best, arena);
    for (std::string line; words.size() == 2 && std::getline(std::cin, line);) {
      if (!line.empty() && line.back() == '\r')
        line.pop_back();
      is_complete &= answer(index, line, best, arena);
    }
    return is_complete ? 0 : 1;
  }
  std::fputs(kHelp, stderr);
  return 2;
}
