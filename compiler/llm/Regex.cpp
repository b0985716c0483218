#include "compiler/llm/Regex.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::llm {

static int32_t indexOf(const CharSet &set, std::vector<CharSet> &sets) {
  auto known = llvm::find(sets, set);
  if (known == sets.end())
    known = sets.insert(sets.end(), set);
  return known - sets.begin();
}

namespace {
/// Code for a part of the pattern, and whether it can match the empty text.
struct Fragment {
  std::vector<int32_t> code;
  bool nullable = true;
  int32_t size() const { return code.size(); }
};

class RegexParser {
public:
  RegexParser(std::vector<uint32_t> text, std::vector<CharSet> &sets)
      : text(std::move(text)), sets(sets) {}

  std::optional<RegexProgram> run(std::string &error) {
    Fragment all = alternatives();
    if (problem.empty() && at < text.size())
      fail("an unmatched `)`");
    if (problem.empty() && all.nullable)
      fail("a pattern that matches the empty text");
    error = problem;
    if (!problem.empty())
      return std::nullopt;
    all.code.push_back(kMatch);
    return RegexProgram{std::move(all.code)};
  }

private:
  std::vector<uint32_t> text;
  std::vector<CharSet> &sets;
  size_t at = 0;
  bool ignoresCase = false;
  static constexpr unsigned mostLevels = 500;
  /// The number of alternatives and groups around the current position.
  unsigned level = 0;
  std::string problem;

  void fail(const Twine &what) {
    if (problem.empty())
      problem = what.str() + " at character " + std::to_string(at);
    at = text.size();
  }
  bool isAt(char c, size_t ahead = 0) const {
    return at + ahead < text.size() && text[at + ahead] == uint32_t(c);
  }
  bool take(StringRef word) {
    for (auto [i, c] : llvm::enumerate(word))
      if (!isAt(c, i))
        return false;
    at += word.size();
    return true;
  }

  static void append(Fragment &to, const Fragment &from) {
    llvm::append_range(to.code, from.code);
    to.nullable &= from.nullable;
  }

  Fragment alternatives() {
    Fragment first = sequence();
    if (!isAt('|'))
      return first;
    ++at;
    if (++level > mostLevels) {
      fail("too many alternatives");
      return first;
    }
    Fragment rest = alternatives(), result;
    --level;
    result.code = {kSplit, 3, 3 + first.size() + 2};
    llvm::append_range(result.code, first.code);
    result.code.insert(result.code.end(), {kJump, 2 + rest.size()});
    llvm::append_range(result.code, rest.code);
    result.nullable = first.nullable || rest.nullable;
    return result;
  }

  Fragment sequence() {
    Fragment result;
    while (at < text.size() && !isAt('|') && !isAt(')')) {
      Fragment part = atom();
      append(result, quantified(std::move(part)));
    }
    return result;
  }

  static Fragment optional(const Fragment &part, bool isLazy) {
    Fragment result;
    int32_t skip = 3 + part.size();
    result.code = {kSplit, isLazy ? skip : 3, isLazy ? 3 : skip};
    llvm::append_range(result.code, part.code);
    return result;
  }
  static Fragment star(const Fragment &part, bool isLazy) {
    Fragment result;
    int32_t skip = 3 + part.size() + 2;
    result.code = {kSplit, isLazy ? skip : 3, isLazy ? 3 : skip};
    llvm::append_range(result.code, part.code);
    result.code.insert(result.code.end(), {kJump, -(part.size() + 3)});
    return result;
  }
  static Fragment atomic(const Fragment &part) {
    Fragment result;
    result.nullable = part.nullable;
    result.code = {kAtomic, 2 + part.size() + 1};
    llvm::append_range(result.code, part.code);
    result.code.push_back(kMatch);
    return result;
  }

  std::optional<unsigned> number() {
    unsigned value = 0;
    size_t start = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
      value = std::min(value * 10 + (text[at] - '0'), 100000u);
    if (at == start)
      return std::nullopt;
    return value;
  }

  Fragment quantified(Fragment part) {
    for (;;) {
      unsigned least = 0, most = 0;
      bool isOpen = false, isRange = false;
      if (take("?"))
        most = 1;
      else if (take("*"))
        isOpen = true;
      else if (take("+"))
        least = 1, isOpen = true;
      else if (isAt('{')) {
        size_t start = at++;
        auto low = number();
        bool hasComma = take(",");
        auto high = number();
        if (!take("}") || (!low && !high)) {
          at = start;
          fail("an unsupported use of `{`");
          return part;
        }
        least = low.value_or(0);
        isOpen = hasComma && !high;
        most = hasComma ? high.value_or(0) : least;
        isRange = true;
      } else {
        return part;
      }
      if (least > 1000 || most > 1000) {
        fail("more than 1000 repetitions");
        return part;
      }
      if (isOpen && part.nullable) {
        fail("a repetition of a part that can be empty");
        return part;
      }
      bool isLazy = take("?");
      // In Oniguruma's syntax `{1,3}+` is not possessive: it repeats `{1,3}`.
      bool isPossessive = !isLazy && !isRange && take("+");
      Fragment result;
      for (unsigned i = 0; i < least; ++i)
        append(result, part);
      if (isOpen) {
        append(result, star(part, isLazy));
      } else {
        Fragment rest;
        for (unsigned i = least; i < most; ++i) {
          Fragment longer = part;
          append(longer, rest);
          rest = optional(longer, isLazy);
        }
        append(result, rest);
      }
      result.nullable = least == 0 || part.nullable;
      part = isPossessive ? atomic(result) : std::move(result);
      if (part.size() > 20000) {
        fail("a pattern that is too large");
        return part;
      }
    }
  }

  Fragment group() {
    bool outerCase = ignoresCase;
    int32_t negated = -1;
    bool isAtomic = false;
    if (take("?:")) {
    } else if (take("?i:")) {
      ignoresCase = true;
    } else if (take("?=")) {
      negated = 0;
    } else if (take("?!")) {
      negated = 1;
    } else if (take("?>")) {
      isAtomic = true;
    } else if (take("?i)")) {
      // The option (?i) applies up to the end of the enclosing group.
      ignoresCase = true;
      Fragment rest = alternatives();
      ignoresCase = outerCase;
      return rest;
    } else if (isAt('?')) {
      fail("an unsupported kind of group");
      return {};
    }
    if (++level > mostLevels) {
      fail("groups that nest too deeply");
      return {};
    }
    Fragment inner = alternatives();
    --level;
    ignoresCase = outerCase;
    if (!take(")")) {
      fail("a `(` without `)`");
      return {};
    }
    if (isAtomic)
      return atomic(inner);
    if (negated < 0)
      return inner;
    Fragment result;
    result.code = {kAhead, negated, 3 + inner.size() + 1};
    llvm::append_range(result.code, inner.code);
    result.code.push_back(kMatch);
    return result;
  }

  Fragment ofSet(const CharSet &set) {
    Fragment result;
    result.code = {kSet, indexOf(set, sets)};
    result.nullable = false;
    return result;
  }

  /// If the case is not ignored, returns `set`. Otherwise returns `set` with
  /// the other case of its ASCII letters, and with the two characters outside
  /// of ASCII whose other case is one of these letters. Fails if `set` contains
  /// other characters outside of ASCII, since their other case is unknown,
  /// unless they are in a range of more than 100 characters, such as the rest
  /// of a negated set.
  CharSet folded(CharSet set) {
    if (!ignoresCase)
      return set;
    CharSet result = set;
    for (uint32_t c = 'a'; c <= 'z'; ++c)
      if (set.contains(c) || set.contains(c - 32)) {
        result.add(c, c);
        result.add(c - 32, c - 32);
        if (c == 's')
          result.add(0x17f, 0x17f);
        if (c == 'k')
          result.add(0x212a, 0x212a);
      }
    for (const CharRange &range : set.ranges)
      if (range.last > 127 && range.last - range.first < 100)
        fail("a character outside of ASCII where the case is ignored");
    return result;
  }

  uint32_t hexadecimal(unsigned digits) {
    uint32_t value = 0;
    for (unsigned i = 0; i < digits; ++i, ++at) {
      unsigned digit =
          at < text.size() && text[at] < 128 ? hexDigitValue(text[at]) : 16;
      if (digit > 15) {
        fail("an invalid hexadecimal number");
        return 0;
      }
      value = value * 16 + digit;
    }
    return value;
  }

  /// Parses an escape sequence after its backslash; returns the characters that
  /// it matches.
  CharSet escape() {
    if (at >= text.size()) {
      fail("a `\\` without a character");
      return {};
    }
    uint32_t c = text[at++];
    switch (c) {
    case 'p':
    case 'P': {
      bool isNegated = c == 'P';
      std::string name;
      if (!take("{")) {
        fail("`\\p` without `{`");
        return {};
      }
      if (take("^"))
        isNegated = !isNegated;
      for (; at < text.size() && !isAt('}'); ++at)
        appendUtf8(name, text[at]);
      take("}");
      std::optional<CharSet> set = charsOfCategory(name);
      if (!set) {
        fail("the unsupported class `\\p{" + name + "}`");
        return {};
      }
      return isNegated ? set->complement() : *set;
    }
    case 's':
      return charsOf(Chars::Space);
    case 'S':
      return charsOf(Chars::Space).complement();
    case 'w':
      return charsOf(Chars::Word);
    case 'W':
      return charsOf(Chars::Word).complement();
    case 'd':
      return *charsOfCategory("Nd");
    case 'D':
      return charsOfCategory("Nd")->complement();
    case 'r':
      return CharSet::single('\r');
    case 'n':
      return CharSet::single('\n');
    case 't':
      return CharSet::single('\t');
    case 'f':
      return CharSet::single('\f');
    case 'v':
      return CharSet::single('\v');
    case 'u':
      return CharSet::single(hexadecimal(4));
    case 'x':
      if (take("{")) {
        size_t end = at;
        while (end < text.size() && text[end] != '}')
          ++end;
        uint32_t value = hexadecimal(std::min<size_t>(end - at, 7));
        if (!take("}"))
          fail("an unsupported `\\x{`");
        return CharSet::single(value);
      }
      return CharSet::single(hexadecimal(2));
    default:
      if (c < 128 && isAlnum(char(c))) {
        fail("the unsupported escape `\\" + std::string(1, char(c)) + "`");
        return {};
      }
      return CharSet::single(c);
    }
  }

  CharSet bracket() {
    bool isNegated = take("^");
    CharSet result;
    for (bool isFirst = true;; isFirst = false) {
      if (at >= text.size()) {
        fail("a `[` without `]`");
        return {};
      }
      if (!isFirst && take("]"))
        break;
      if (isAt('[') || (isAt('&') && isAt('&', 1))) {
        fail("an unsupported class within a class");
        return {};
      }
      uint32_t c = text[at++];
      CharSet set = c == '\\' ? escape() : CharSet::single(c);
      bool isSingle =
          set.ranges.size() == 1 && set.ranges[0].first == set.ranges[0].last;
      if (isSingle && isAt('-') && !isAt(']', 1) && at + 1 < text.size()) {
        ++at;
        uint32_t last = text[at++];
        if (last == '\\') {
          CharSet end = escape();
          last = end.ranges.size() == 1 ? end.ranges[0].last : 0;
        }
        if (last < set.ranges[0].first) {
          fail("an invalid range in a class");
          return {};
        }
        set = CharSet({{set.ranges[0].first, last}});
      }
      result.add(set);
    }
    result = folded(std::move(result));
    return isNegated ? result.complement() : result;
  }

  Fragment atom() {
    uint32_t c = text[at++];
    Fragment anchor;
    switch (c) {
    case '(':
      return group();
    case '[':
      return ofSet(bracket());
    case '\\':
      return ofSet(folded(escape()));
    case '.':
      return ofSet(CharSet::single('\n').complement());
    case '$':
      anchor.code = {kLineEnd};
      return anchor;
    case '^':
      anchor.code = {kLineStart};
      return anchor;
    case '*':
    case '+':
    case '?':
    case '{':
      fail("a repetition of nothing");
      return {};
    default:
      return ofSet(folded(CharSet::single(c)));
    }
  }
};
} // namespace

std::optional<RegexProgram> compileRegex(StringRef pattern,
                                         std::vector<CharSet> &sets,
                                         std::string &error) {
  auto points = decodeUtf8(pattern);
  if (!points) {
    error = "invalid UTF-8";
    return std::nullopt;
  }
  return RegexParser(std::move(*points), sets).run(error);
}

RegexProgram literalRegex(StringRef text, std::vector<CharSet> &sets) {
  RegexProgram result;
  if (auto points = decodeUtf8(text))
    for (uint32_t point : *points)
      result.code.insert(result.code.end(),
                         {kSet, indexOf(CharSet::single(point), sets)});
  result.code.push_back(kMatch);
  return result;
}

RegexProgram charRegex(const CharSet &set, std::vector<CharSet> &sets) {
  return {{kSet, indexOf(set, sets), kMatch}};
}

RegexProgram runsRegex(ArrayRef<CharSet> kinds, std::vector<CharSet> &sets) {
  RegexProgram result;
  for (const CharSet &kind : kinds) {
    // Matches as many characters of this set as possible. If there is none,
    // tries the next set.
    int32_t set = indexOf(kind, sets);
    result.code.insert(result.code.end(),
                       {kSplit, 3, 9, kSet, set, kSplit, -2, 3, kMatch});
  }
  result.code.insert(result.code.end(), {kSet, indexOf(CharSet(), sets)});
  return result;
}

} // namespace ingot::llm
