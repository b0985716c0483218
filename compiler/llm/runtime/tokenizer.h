// @FILE@.h - a tokenizer, generated from @SOURCE@ by ingot @VERSION@
// SPDX-License-Identifier: MIT-0
//
// Text is UTF-8; encode replaces invalid bytes by U+FFFD. All functions may be called from several threads at a
// time.
#ifndef INGOT_GUARD
#define INGOT_GUARD

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace INGOT_NAMESPACE {

/// The largest token number plus one.
inline constexpr int32_t vocabulary_size = INGOT_VOCABULARY;

/// Returns the tokens of `text`. With `add_special` the tokens that the model expects around a text are added
/// (@TEMPLATE@).
std::vector<int32_t> encode(std::string_view text, bool add_special = true);

/// Returns the text of tokens; special tokens are left out unless `skip_special` is false.
std::string decode(const std::vector<int32_t> &tokens, bool skip_special = true);

/// Returns the token with this text; -1 if there is none.
int32_t find_token(std::string_view text);
/// Whether a token is a special one, such as the end of a text.
bool is_special(int32_t token);

/// Decodes one token after the other; each returned text is valid UTF-8.
class Decoder {
public:
  explicit Decoder(bool skip_special = true) : skip_special(skip_special) {}
  /// Returns the text that this token completes; it is empty while a character is unfinished.
  std::string add(int32_t token);
  /// Returns the rest: an unfinished character becomes U+FFFD.
  std::string finish();

private:
  friend std::string decode(const std::vector<int32_t> &tokens, bool skip_special);
  std::string take(bool is_last);
  std::string stripped(std::string text);
  std::string bytes;
  size_t count = 0, strips = 0;
  bool skip_special, holds_runs = false;
};

} // namespace INGOT_NAMESPACE

#endif // INGOT_GUARD
