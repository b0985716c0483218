//? comment
// `//? NAME` ... `//? end` encloses a part that only some tokenizers need, as in tokenizer.cpp.
//? end
// ------------------------------------------------------------ added tokens

/// A part of the text: an added token, or text (token -1).
struct Section {
  std::string text;
  int32_t token;
  bool is_first;
};

//? added
bool is_word_char(std::string_view text, size_t at, bool before) {
  size_t length = 0;
  if (before) {
    if (at == 0)
      return false;
    do
      --at;
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80);
  }
  return at < text.size() && in_set(kWordChars, read_char(text, at, length));
}

/// The added tokens that are searched for before normalization, or after it if `is_normalized`, by
/// the first byte of their text.
struct AddedTexts {
  struct Entry {
    std::string text;
    const Added *token;
  };
  std::vector<Entry> starting_with[256];

  explicit AddedTexts(bool is_normalized) {
    for (const Added &token : kAdded) {
      std::string text(token.text, token.length);
      if (is_normalized)
        text = normalize(text);
      if (token.is_normalized == is_normalized && !text.empty())
        starting_with[(unsigned char)text[0]].push_back({text, &token});
    }
  }

  /// Returns the longest added token at `at`; null if there is none.
  const Entry *find(std::string_view text, size_t at) const {
    const Entry *best = nullptr;
    for (const Entry &entry : starting_with[(unsigned char)text[at]])
      if ((!best || entry.text.size() > best->text.size()) &&
          starts_with(text.substr(at), entry.text))
        best = &entry;
    return best;
  }
};

/// Divides text at the added tokens that are searched for before normalization, or after it if
/// `is_normalized`.
void extract(std::string_view text, bool is_normalized, bool is_first,
             std::vector<Section> &sections) {
  static const AddedTexts before(false), after(true);
  const AddedTexts &texts = is_normalized ? after : before;
  size_t done = 0, length = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedTexts::Entry *entry = texts.find(text, at);
    if (!entry) {
      ++at;
      continue;
    }
    const Added *token = entry->token;
    size_t begin = at, end = at + entry->text.size();
    at = end;
    if (token->is_single_word &&
        (is_word_char(text, begin, true) || is_word_char(text, end, false)))
      continue;
    if (token->strips_left)
      while (begin > done) {
        size_t last = begin - 1;
        while (last > done && ((unsigned char)text[last] & 0xC0) == 0x80)
          --last;
        if (!in_set(kSpaceChars, read_char(text, last, length)))
          break;
        begin = last;
      }
    if (token->strips_right)
      while (end < text.size() && in_set(kSpaceChars, read_char(text, end, length)))
        end += length;
    if (begin > done)
      sections.push_back({std::string(text.substr(done, begin - done)), -1, is_first && done == 0});
    sections.push_back({"", token->token, is_first && begin == 0});
    done = end;
    at = std::max(at, end);
  }
  if (done < text.size())
    sections.push_back({std::string(text.substr(done)), -1, is_first && done == 0});
}

//? end
//? plain
void extract(std::string_view text, bool, bool is_first, std::vector<Section> &sections) {
  if (!text.empty())
    sections.push_back({std::string(text), -1, is_first});
}

//? end
/// Adds the tokens of a section: its added token, or those of its text.
void encode_section(const Section &section, std::vector<int32_t> &tokens) {
  if (section.token >= 0) {
    tokens.push_back(section.token);
    return;
  }
  for (const Piece &piece : pre_tokenize({{section.text, section.is_first}}))
    if (!piece.text.empty())
      encode_word(piece.text, tokens);
}

// ---------------------------------------------------------------- decoding

/// Returns the length of the longest prefix of `text` without an unfinished character at its end.
/// Invalid bytes count as characters.
size_t whole_chars(std::string_view text) {
  size_t size = text.size();
  for (size_t back = 1; back <= 3 && back <= size; ++back) {
    unsigned char c = (unsigned char)text[size - back];
    if ((c & 0xC0) == 0x80)
      continue;
    size_t length = 0;
    size_t needed = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    read_char(text, size - back, length);
    return needed > back && length == back ? size - back : size;
  }
  return size;
}

} // namespace

namespace INGOT_NAMESPACE {

std::vector<int32_t> encode(std::string_view text, bool add_special) {
  std::string valid = valid_utf8(text);
  std::vector<Section> sections, all;
  extract(valid, false, true, sections);
  for (const Section &section : sections)
    if (section.token >= 0)
      all.push_back(section);
    else
      extract(normalize(section.text), true, section.is_first, all);
  std::vector<int32_t> tokens;
  if (add_special)
    tokens.insert(tokens.end(), std::begin(kBefore), std::end(kBefore) - 1);
  size_t start = tokens.size();
  for (const Section &section : all)
    encode_section(section, tokens);
  size_t special = add_special ? sizeof kBefore / 4 + sizeof kAfter / 4 - 2 : 0;
  size_t room = kMostTokens > special ? kMostTokens - special : 0;
  if (tokens.size() - start > room)
    tokens.resize(start + room);
  if (add_special)
    tokens.insert(tokens.end(), std::begin(kAfter), std::end(kAfter) - 1);
  return tokens;
}

int32_t find_token(std::string_view text) {
  for (int32_t token = 0; token < vocabulary_size; ++token)
    if (kIsDefined[token / 8] >> token % 8 & 1 && text_of(token) == text)
      return token;
  return -1;
}

bool is_special(int32_t token) {
  return std::binary_search(std::begin(kSpecial), std::end(kSpecial) - 1, token);
}

std::string Decoder::take(bool is_last) {
  std::string_view rest = bytes;
  size_t size = is_last ? rest.size() : whole_chars(rest);
  std::string text = valid_utf8(rest.substr(0, size));
  if (kDecodesByteTokens) {
    // Each byte of an invalid sequence becomes U+FFFD. With holds_runs (no streaming), consecutive byte
    // tokens are valid as a whole or not at all.
    if (!is_last && holds_runs)
      return "";
    bool is_valid = text == rest.substr(0, size);
    if (!is_valid) {
      text.clear();
      for (size_t at = 0, length = 0; at < size; at += length) {
        uint32_t point = read_char(rest, at, length);
        bool is_char = !holds_runs && point != 0xFFFD;
        for (size_t i = 0; i < length; ++i)
          text += is_char ? std::string(1, rest[at + i]) : "\xEF\xBF\xBD";
      }
    }
  }
  bytes.erase(0, size);
  return text;
}

/// Removes the leading characters that the decoder strips from the start of the whole text.
std::string Decoder::stripped(std::string text) {
  size_t strip = 0;
  while (strips < kStripStart && strip < text.size() && text[strip] == kStripChar)
    ++strip, ++strips;
  if (strip < text.size())
    strips = kStripStart;
  return text.substr(strip);
}

std::string Decoder::add(int32_t token) {
  if (token < 0 || token >= vocabulary_size || !(kIsDefined[token / 8] >> token % 8 & 1) ||
      (skip_special && is_special(token)))
    return "";
  std::string text = decoded(token, count++ == 0);
  if (!is_byte(token))
    return stripped(take(true) + text);
  bytes += text;
  return stripped(take(false));
}

std::string Decoder::finish() { return stripped(take(true)); }

std::string decode(const std::vector<int32_t> &tokens, bool skip_special) {
  Decoder decoder(skip_special);
  decoder.holds_runs = true;
  std::string text;
  for (int32_t token : tokens)
    text += decoder.add(token);
  return text + decoder.finish();
}

} // namespace INGOT_NAMESPACE
