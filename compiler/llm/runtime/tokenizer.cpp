namespace {

// ------------------------------------------------------------------ UTF-8

/// Returns the code point of the character at `at`, and sets `length` to the number of its bytes.
/// For an invalid sequence, returns U+FFFD, and sets `length` to the bytes of its longest prefix
/// that begins a valid sequence (at least 1).
uint32_t read_char(std::string_view text, size_t at, size_t &length) {
  auto byte = [&](size_t i) -> uint32_t { return i < text.size() ? (unsigned char)text[i] : 0; };
  uint32_t first = byte(at);
  length = 1;
  if (first < 0x80)
    return first;
  size_t more = first >= 0xC2 && first <= 0xDF   ? 1
                : (first & 0xF0) == 0xE0         ? 2
                : first >= 0xF0 && first <= 0xF4 ? 3
                                                 : 0;
  uint32_t least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  uint32_t most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  uint32_t point = first & (0x3F >> more);
  for (size_t i = 1; i <= more; ++i) {
    uint32_t next = byte(at + i);
    if (next < (i == 1 ? least : 0x80) || next > (i == 1 ? most : 0xBF))
      return 0xFFFD;
    point = point << 6 | (next & 0x3F);
    length = i + 1;
  }
  return more ? point : 0xFFFD;
}

void append_char(std::string &text, uint32_t point) {
  if (point < 0x80) {
    text += char(point);
  } else if (point < 0x800) {
    text += char(0xC0 | point >> 6);
    text += char(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    text += char(0xE0 | point >> 12);
    text += char(0x80 | (point >> 6 & 0x3F));
    text += char(0x80 | (point & 0x3F));
  } else {
    text += char(0xF0 | point >> 18);
    text += char(0x80 | (point >> 12 & 0x3F));
    text += char(0x80 | (point >> 6 & 0x3F));
    text += char(0x80 | (point & 0x3F));
  }
}

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    uint32_t point = read_char(text, at, length);
    if (point == 0xFFFD)
      append_char(result, point);
    else
      result.append(text, at, length);
  }
  return result;
}

//? comment
// `//? NAME` begins a part that is written only for the tokenizers that need it (Tokenizer::parts),
// `//? end` ends it. No tokenizer has the part `comment`.
//? end
//? chars
[[maybe_unused]] bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

//? end
// ------------------------------------------------------------- vocabulary

std::string_view text_of(int32_t token) {
  return {kText[token >> 8] + kTextStart[token], kTextLength[token]};
}

uint32_t hash_step(uint32_t hash, char c) { return (hash ^ (unsigned char)c) * 16777619u; }
constexpr uint32_t kHashStart = 2166136261u;

/// Returns the token of the model's vocabulary with this text; -1 if there is none. `hash` is the
/// result of hash_step for all bytes of the text.
[[maybe_unused]] int32_t find_hashed(std::string_view text, uint32_t hash) {
  constexpr uint32_t mask = sizeof kVocabulary / sizeof kVocabulary[0] - 1;
  hash ^= hash >> 15;
  for (uint32_t slot = hash & mask; kVocabulary[slot] >= 0; slot = (slot + 1) & mask)
    if (text_of(kVocabulary[slot]) == text)
      return kVocabulary[slot];
  return -1;
}

[[maybe_unused]] int32_t find(std::string_view text) {
  uint32_t hash = kHashStart;
  for (char c : text)
    hash = hash_step(hash, c);
  return find_hashed(text, hash);
}

//? regex
// ------------------------------------------------------- sets and patterns

bool in_ranges(const uint32_t *ranges, size_t count, uint32_t point) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ranges[2 * middle + 1] < point)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && ranges[2 * low] <= point;
}

bool in_set(int32_t set, uint32_t point) {
  return in_ranges(kRanges + 2 * kSetStart[set], kSetStart[set + 1] - kSetStart[set], point);
}

/// Interprets the program of a pattern. A program is a list of instructions (see run) with relative
/// targets.
class Matcher {
public:
  Matcher(const int32_t *code, std::string_view text) : code(code), text(text) {}

  /// Returns the end of the match at `at`; npos if there is none.
  size_t match(size_t at) { return run(0, at); }

private:
  enum { SET, SPLIT, JUMP, AHEAD, ATOMIC, MATCH, LINE_END, LINE_START };

  size_t run(int32_t pc, size_t at) {
    size_t bottom = alternatives.size(), length = 0;
    for (;;) {
      const int32_t *op = code + pc;
      bool is_match = true;
      switch (op[0]) {
      case SET:
        is_match = at < text.size() && in_set(op[1], read_char(text, at, length));
        if (is_match)
          at += length;
        pc += 2;
        break;
      case SPLIT:
        alternatives.push_back({pc + op[2], at});
        pc += op[1];
        break;
      case JUMP:
        pc += op[1];
        break;
      case AHEAD:
        is_match = (run(pc + 3, at) == std::string_view::npos) == (op[1] != 0);
        pc += op[2];
        break;
      case ATOMIC: {
        size_t end = run(pc + 2, at);
        is_match = end != std::string_view::npos;
        at = is_match ? end : at;
        pc += op[1];
        break;
      }
      case MATCH:
        alternatives.resize(bottom);
        return at;
      case LINE_END:
        is_match = at == text.size() || text[at] == '\n';
        ++pc;
        break;
      case LINE_START:
        is_match = at == 0 || text[at - 1] == '\n';
        ++pc;
        break;
      }
      if (!is_match) {
        if (alternatives.size() == bottom)
          return std::string_view::npos;
        pc = alternatives.back().pc;
        at = alternatives.back().at;
        alternatives.pop_back();
      }
    }
  }

  struct Alternative {
    int32_t pc;
    size_t at;
  };
  const int32_t *code;
  std::string_view text;
  std::vector<Alternative> alternatives;
};

struct Part {
  size_t begin, end;
  bool is_match;
};

/// Divides `text` into the matches of a pattern and the text between them.
std::vector<Part> find_all(const int32_t *code, std::string_view text) {
  std::vector<Part> parts;
  Matcher matcher(code, text);
  size_t done = 0, length = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = matcher.match(at);
    if (end == std::string_view::npos || end == at) {
      read_char(text, at, length);
      at += length;
      continue;
    }
    if (done < at)
      parts.push_back({done, at, false});
    parts.push_back({at, end, true});
    done = at = end;
  }
  if (done < text.size())
    parts.push_back({done, text.size(), false});
  return parts;
}

//? end
//? mapping
// ---------------------------------------------------------- normalization

/// Returns the index of `point` in the sorted list `keys`; -1 if it is not there.
int32_t lookup(const uint32_t *keys, size_t count, uint32_t point) {
  const uint32_t *key = std::lower_bound(keys, keys + count, point);
  return key != keys + count && *key == point ? int32_t(key - keys) : -1;
}

//? end
//? lower
std::string lowercase(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    uint32_t point = read_char(text, at, length);
    if (point < 0x80) {
      result += char(point >= 'A' && point <= 'Z' ? point + 32 : point);
      continue;
    }
    int32_t entry = lookup(kLowerKey, sizeof kLowerKey / 4, point);
    if (entry < 0)
      result.append(text, at, length);
    else
      for (uint32_t i = kLowerStart[entry]; i < kLowerStart[entry + 1]; ++i)
        append_char(result, kLowerValue[i]);
  }
  return result;
}

//? end
//? normal
uint32_t combining_class(uint32_t point) {
  size_t low = 0, high = sizeof kCombining / sizeof kCombining[0];
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (kCombining[middle][1] < point)
      low = middle + 1;
    else
      high = middle;
  }
  return low < sizeof kCombining / sizeof kCombining[0] && kCombining[low][0] <= point
             ? kCombining[low][2]
             : 0;
}

constexpr uint32_t kHangul = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;

void decompose(uint32_t point, [[maybe_unused]] bool is_compatible, std::vector<uint32_t> &to) {
  if (point >= kHangul && point < kHangul + 11172) {
    uint32_t index = point - kHangul;
    to.push_back(kLead + index / 588);
    to.push_back(kVowel + index % 588 / 28);
    if (index % 28)
      to.push_back(kTail + index % 28);
    return;
  }
  //? compatible
  if (is_compatible) {
    int32_t entry = lookup(kCompatibleKey, sizeof kCompatibleKey / 4, point);
    if (entry >= 0) {
      to.insert(to.end(), kCompatibleValue + kCompatibleStart[entry],
                kCompatibleValue + kCompatibleStart[entry + 1]);
      return;
    }
  }
  //? end
  int32_t entry = lookup(kCanonicalKey, sizeof kCanonicalKey / 4, point);
  if (entry >= 0)
    to.insert(to.end(), kCanonicalValue + kCanonicalStart[entry],
              kCanonicalValue + kCanonicalStart[entry + 1]);
  else
    to.push_back(point);
}

/// Returns the character that two characters compose to; 0 if they do not.
uint32_t compose(uint32_t first, uint32_t second) {
  if (first >= kLead && first < kLead + 19 && second >= kVowel && second < kVowel + 21)
    return kHangul + ((first - kLead) * 21 + (second - kVowel)) * 28;
  if (first >= kHangul && first < kHangul + 11172 && (first - kHangul) % 28 == 0 &&
      second > kTail && second < kTail + 28)
    return first + (second - kTail);
  size_t low = 0, high = sizeof kComposed / sizeof kComposed[0];
  while (low < high) {
    size_t middle = (low + high) / 2;
    const uint32_t *pair = kComposed[middle];
    if (pair[0] < first || (pair[0] == first && pair[1] < second))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == sizeof kComposed / sizeof kComposed[0] || kComposed[low][0] != first ||
      kComposed[low][1] != second)
    return 0;
  return kComposed[low][2];
}

std::string normal_form(std::string_view text, bool is_composed, bool is_compatible) {
  std::vector<uint32_t> points;
  for (size_t at = 0, length = 0; at < text.size(); at += length)
    decompose(read_char(text, at, length), is_compatible, points);
  // Orders the marks after each character by their classes.
  for (size_t begin = 0; begin < points.size();) {
    if (combining_class(points[begin]) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < points.size() && combining_class(points[end]))
      ++end;
    std::stable_sort(points.begin() + begin, points.begin() + end, [](uint32_t a, uint32_t b) {
      return combining_class(a) < combining_class(b);
    });
    begin = end;
  }
  if (is_composed && !points.empty()) {
    size_t starter = points.size(), count = 0;
    uint32_t last_class = 0;
    for (uint32_t point : points) {
      uint32_t own = combining_class(point);
      bool is_adjacent = starter < points.size() &&
                         (count == starter + 1 || (last_class != 0 && last_class < own));
      uint32_t composed = is_adjacent ? compose(points[starter], point) : 0;
      if (composed) {
        points[starter] = composed;
        continue;
      }
      if (own == 0)
        starter = count;
      last_class = own;
      points[count++] = point;
    }
    points.resize(count);
  }
  std::string result;
  for (uint32_t point : points)
    append_char(result, point);
  return result;
}

//? end
//? filter
/// Removes the characters of a set.
std::string without(std::string_view text, int32_t set) {
  std::string result;
  for (size_t at = 0, length = 0; at < text.size(); at += length)
    if (!in_set(set, read_char(text, at, length)))
      result.append(text, at, length);
  return result;
}

//? end
//? spaces
/// Replaces the characters of a set by spaces.
std::string with_spaces(std::string_view text, int32_t set) {
  std::string result;
  for (size_t at = 0, length = 0; at < text.size(); at += length)
    if (in_set(set, read_char(text, at, length)))
      result += ' ';
    else
      result.append(text, at, length);
  return result;
}

//? end
//? surround
/// Puts spaces around the characters of a set.
std::string surrounded(std::string_view text, int32_t set) {
  std::string result;
  for (size_t at = 0, length = 0; at < text.size(); at += length) {
    bool is_in = in_set(set, read_char(text, at, length));
    result.append(is_in ? " " : "").append(text, at, length).append(is_in ? " " : "");
  }
  return result;
}

//? end
//? trim
/// Removes the characters of a set at the start, at the end, or at both.
std::string trimmed(std::string_view text, int32_t set, bool at_start, bool at_end) {
  size_t begin = 0, end = text.size(), length = 0;
  while (at_start && begin < end && in_set(set, read_char(text, begin, length)))
    begin += length;
  while (at_end && end > begin) {
    size_t last = end - 1;
    while (last > begin && ((unsigned char)text[last] & 0xC0) == 0x80)
      --last;
    if (!in_set(set, read_char(text, last, length)))
      break;
    end = last;
  }
  return std::string(text.substr(begin, end - begin));
}

//? end
//? replace
std::string replaced(std::string_view text, const int32_t *pattern, std::string_view by) {
  std::string result;
  for (const Part &part : find_all(pattern, text))
    result.append(part.is_match ? by : text.substr(part.begin, part.end - part.begin));
  return result;
}

//? end
// ------------------------------------------------------------------ pieces

/// A part of the text. `is_first`: it begins where the text begins.
struct Piece {
  std::string text;
  bool is_first;
};
using Pieces = std::vector<Piece>;

//? split
enum Behavior { REMOVED, ISOLATED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS };

Pieces split(const Pieces &pieces, const int32_t *pattern, Behavior behavior, bool is_inverted) {
  Pieces result;
  for (const Piece &piece : pieces) {
    std::vector<Part> parts = find_all(pattern, piece.text), merged;
    for (Part &part : parts)
      part.is_match ^= is_inverted;
    bool is_backward = behavior == MERGED_WITH_NEXT;
    if (is_backward)
      std::reverse(parts.begin(), parts.end());
    bool previous = false;
    for (const Part &part : parts) {
      bool joins = behavior == CONTIGUOUS                            ? part.is_match == previous
                   : behavior == MERGED_WITH_PREVIOUS || is_backward ? part.is_match && !previous
                                                                     : false;
      previous = part.is_match;
      if (joins && !merged.empty())
        (is_backward ? merged.back().begin : merged.back().end) =
            is_backward ? part.begin : part.end;
      else if (behavior != REMOVED || !part.is_match)
        merged.push_back(part);
    }
    if (is_backward)
      std::reverse(merged.begin(), merged.end());
    for (const Part &part : merged)
      result.push_back({piece.text.substr(part.begin, part.end - part.begin),
                        piece.is_first && part.begin == 0});
  }
  return result;
}

//? end
//? prefix
/// Inserts `prefix` before each piece (or only the first one) that does not begin with it.
Pieces prefixed(Pieces pieces, std::string_view prefix, bool only_first) {
  for (Piece &piece : pieces)
    if (!starts_with(piece.text, prefix) && (piece.is_first || !only_first))
      piece.text.insert(0, prefix);
  return pieces;
}

//? end
// ------------------------------------------------------------------- model

//? bpe
struct Merge {
  uint32_t rank;
  int32_t left;
};
/// The order of a queue that yields the lowest rank first, then the leftmost.
struct Later {
  bool operator()(const Merge &a, const Merge &b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  }
};

uint32_t hash_pair(int32_t left, int32_t right) {
  uint32_t hash = (uint32_t(left) * 2654435761u) ^ (uint32_t(right) * 2246822519u + 374761393u);
  return (hash ^ hash >> 15) * 2654435761u >> 3;
}

/// Returns the rank of the merge of two tokens; UINT32_MAX if there is none.
uint32_t find_merge(int32_t left, int32_t right) {
  constexpr uint32_t mask = sizeof kMergeSlots / sizeof kMergeSlots[0] - 1;
  for (uint32_t slot = hash_pair(left, right) & mask; kMergeSlots[slot] != UINT32_MAX;
       slot = (slot + 1) & mask) {
    const int32_t *merge = kMerges[kMergeSlots[slot]];
    if (merge[0] == left && merge[1] == right)
      return kMergeSlots[slot];
  }
  return UINT32_MAX;
}

struct Symbol {
  int32_t token, previous, next;
  bool is_gone;
};

/// Returns the symbols that a word consists of before merging.
std::vector<Symbol> symbols_of(std::string_view word) {
  std::vector<Symbol> symbols;
  auto add = [&](int32_t token) {
    int32_t at = int32_t(symbols.size());
    symbols.push_back({token, at - 1, at + 1, false});
  };
  //? bytes
  for (char c : word)
    if (kByteToken[(unsigned char)c] >= 0)
      add(kByteToken[(unsigned char)c]);
  //? end
  //? letters
  int32_t unknown = -1;
  std::string letter;
  for (size_t at = 0, length = 0; at < word.size(); at += length) {
    read_char(word, at, length);
    letter.assign(word, at, length);
    if (at > 0)
      letter.insert(0, kContinuingPrefix);
    if (at + length == word.size())
      letter += kWordSuffix;
    int32_t token = find(letter);
    if (token >= 0) {
      if (unknown >= 0)
        add(unknown);
      unknown = -1;
      add(token);
      continue;
    }
    if (kHasByteTokens) {
      bool has_all = true;
      for (char c : letter)
        has_all &= kByteToken[(unsigned char)c] >= 0;
      if (has_all) {
        for (char c : letter)
          add(kByteToken[(unsigned char)c]);
        continue;
      }
    }
    if (kUnknown >= 0) {
      if (unknown >= 0 && !kFusesUnknown)
        add(unknown);
      unknown = kUnknown;
    }
  }
  if (unknown >= 0)
    add(unknown);
  //? end
  return symbols;
}

/// Byte pair encoding: joins the pair of neighbours with the lowest rank until no pair can be joined.
void encode_word(std::string_view word, std::vector<int32_t> &tokens) {
  if (kIgnoresMerges) {
    int32_t token = find(word);
    if (token >= 0) {
      tokens.push_back(token);
      return;
    }
  }
  std::vector<Symbol> symbols = symbols_of(word);
  int32_t count = int32_t(symbols.size());
  std::vector<Merge> start;
  auto offer = [&](int32_t left, auto &&push) {
    int32_t right = symbols[left].next;
    if (right >= count)
      return;
    uint32_t rank = find_merge(symbols[left].token, symbols[right].token);
    if (rank != UINT32_MAX)
      push(Merge{rank, left});
  };
  for (int32_t i = 0; i < count; ++i)
    offer(i, [&](Merge merge) { start.push_back(merge); });
  std::priority_queue<Merge, std::vector<Merge>, Later> queue(Later(), std::move(start));
  auto push = [&](Merge merge) { queue.push(merge); };
  while (!queue.empty()) {
    Merge merge = queue.top();
    queue.pop();
    Symbol &left = symbols[merge.left];
    if (left.is_gone || left.next >= count)
      continue;
    // The entry may be outdated: its neighbours may have been joined since.
    Symbol &right = symbols[left.next];
    uint32_t rank = find_merge(left.token, right.token);
    if (rank == UINT32_MAX || kMerges[rank][2] != kMerges[merge.rank][2])
      continue;
    left.token = kMerges[rank][2];
    right.is_gone = true;
    left.next = right.next;
    if (right.next < count)
      symbols[right.next].previous = merge.left;
    if (left.previous >= 0)
      offer(left.previous, push);
    offer(merge.left, push);
  }
  for (int32_t i = 0; i < count; i = symbols[i].next)
    tokens.push_back(symbols[i].token);
}

//? end
//? unigram
/// Unigram: adds the tokens of the most probable division of a word into tokens.
void encode_word(std::string_view word, std::vector<int32_t> &tokens) {
  struct Node {
    double score = 0;
    int32_t token = -1;
    size_t begin = SIZE_MAX;
  };
  std::vector<Node> nodes(word.size() + 1);
  auto offer = [&](size_t begin, size_t end, int32_t token, double score) {
    Node &node = nodes[end];
    score += nodes[begin].score;
    if (node.begin == SIZE_MAX || score > node.score)
      node = {score, token, begin};
  };
  for (size_t begin = 0, length = 0; begin < word.size(); begin += length) {
    read_char(word, begin, length);
    bool has_single = false;
    uint32_t hash = kHashStart;
    for (size_t size = 1; size <= kLongestToken && begin + size <= word.size(); ++size) {
      hash = hash_step(hash, word[begin + size - 1]);
      int32_t token = find_hashed(word.substr(begin, size), hash);
      if (token < 0)
        continue;
      offer(begin, begin + size, token, kScore[token]);
      has_single |= size == length;
    }
    if (!has_single)
      offer(begin, begin + length, -1, kUnknownScore);
  }
  // Collects the parts from the last to the first. Consecutive unknown parts are merged if
  // kFusesUnknown.
  std::vector<Node> path;
  std::vector<size_t> ends;
  bool was_unknown = false;
  for (size_t end = word.size(); end > 0;) {
    Node node = nodes[end];
    bool is_unknown = node.token < 0 || node.token == kUnknown;
    if (is_unknown && was_unknown && kFusesUnknown) {
      path.back().begin = node.begin;
    } else {
      path.push_back(node);
      ends.push_back(end);
    }
    was_unknown = is_unknown;
    end = node.begin;
  }
  for (size_t i = path.size(); i-- > 0;) {
    std::string_view part = word.substr(path[i].begin, ends[i] - path[i].begin);
    int32_t token = find(part);
    if (token >= 0) {
      tokens.push_back(token);
      continue;
    }
    bool has_all = kHasByteTokens;
    for (char c : part)
      has_all = has_all && kByteToken[(unsigned char)c] >= 0;
    if (has_all)
      for (char c : part)
        tokens.push_back(kByteToken[(unsigned char)c]);
    else if (kUnknown >= 0)
      tokens.push_back(kUnknown);
  }
}

//? end
//? wordpiece
/// WordPiece: repeatedly takes the longest token at the start of the remaining word.
void encode_word(std::string_view word, std::vector<int32_t> &tokens) {
  size_t chars = 0;
  for (char c : word)
    chars += ((unsigned char)c & 0xC0) != 0x80;
  std::vector<int32_t> found;
  std::string part;
  bool is_known = chars <= kLongestWord;
  for (size_t begin = 0; is_known && begin < word.size();) {
    int32_t token = -1;
    size_t end = word.size();
    for (; end > begin && token < 0;) {
      part.assign(begin > 0 ? kContinuingPrefix : "");
      part.append(word, begin, end - begin);
      token = find(part);
      if (token >= 0)
        break;
      --end;
      while (end > begin && ((unsigned char)word[end] & 0xC0) == 0x80)
        --end;
    }
    is_known = token >= 0;
    found.push_back(token);
    begin = end;
  }
  if (is_known)
    tokens.insert(tokens.end(), found.begin(), found.end());
  else
    tokens.push_back(kUnknown);
}

//? end
//? wordlevel
void encode_word(std::string_view word, std::vector<int32_t> &tokens) {
  int32_t token = find(word);
  tokens.push_back(token >= 0 ? token : kUnknown);
}

//? end
