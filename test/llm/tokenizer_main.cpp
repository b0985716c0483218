// Reads records (a length of 4 bytes, text) from standard input; writes for each one the tokens with and without special
// tokens, the decoded text with and without special tokens, and the text that streaming gives.
#include "tok.h"

#include <cstdio>
#include <cstring>

static void number(size_t value) {
  uint32_t word = uint32_t(value);
  std::fwrite(&word, 4, 1, stdout);
}
static void tokens(const std::vector<int32_t> &values) {
  number(values.size());
  std::fwrite(values.data(), 4, values.size(), stdout);
}
static void text(const std::string &value) {
  number(value.size());
  std::fwrite(value.data(), 1, value.size(), stdout);
}

int main() {
  for (uint32_t size = 0; std::fread(&size, 4, 1, stdin) == 1;) {
    std::string input(size, 0);
    if (size && std::fread(&input[0], 1, size, stdin) != size)
      return 1;
    std::vector<int32_t> all = tok::encode(input);
    tokens(all);
    tokens(tok::encode(input, false));
    text(tok::decode(all));
    text(tok::decode(all, false));
    tok::Decoder decoder(false);
    std::string streamed;
    for (int32_t token : all)
      streamed += decoder.add(token);
    text(streamed + decoder.finish());
    // Random tokens: decoding must not depend on the text that they come from.
    std::vector<int32_t> random;
    uint32_t state = size * 2654435761u + 1;
    for (int i = 0; i < 12; ++i)
      random.push_back(int32_t((state = state * 1664525u + 1013904223u) >> 8) %
                       tok::vocabulary_size);
    tokens(random);
    text(tok::decode(random, false));
  }
}
