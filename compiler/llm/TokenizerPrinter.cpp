// Prints a tokenizer as C++: the fixed source of runtime/ with tables.

#include "compiler/Compile.h"
#include "compiler/llm/RuntimeText.h"
#include "compiler/llm/Tokenizer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace llvm;

namespace ingot::llm {

std::string cLiteral(StringRef text) {
  std::string result = "\"";
  raw_string_ostream os(result);
  for (unsigned char c : text)
    if (c == '"' || c == '\\')
      os << '\\' << c;
    else if (c == '?' || c < 32 || c > 126)
      os << '\\' << format("%03o", c);
    else
      os << c;
  os << '"';
  return result;
}

/// Replaces placeholders such as `@FILE@` in `text` by their values.
static std::string filled(StringRef text,
                          ArrayRef<std::pair<StringRef, std::string>> values) {
  std::string result = text.str();
  for (const auto &[name, value] : values) {
    std::string word = name.str();
    for (size_t at = 0; (at = result.find(word, at)) != std::string::npos;
         at += value.size())
      result.replace(at, word.size(), value);
  }
  return result;
}

/// Returns `text` without the sections `//? NAME` ... `//? end` whose name is
/// not in `parts`.
static std::string selected(StringRef text,
                            const std::set<std::string> &parts) {
  std::string result;
  std::vector<bool> isKept{true};
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    StringRef name = line.ltrim();
    if (!name.consume_front("//? ")) {
      if (isKept.back())
        result += line.str() + "\n";
    } else if (name == "end") {
      isKept.pop_back();
    } else {
      isKept.push_back(isKept.back() && parts.count(name.str()));
    }
  }
  return result;
}

namespace {
/// Prints arrays with lines of about 100 characters.
class Tables {
public:
  explicit Tables(raw_ostream &os) : os(os) {}

  template <typename Range>
  void numbers(StringRef declaration, const Range &values,
               StringRef last = "") {
    os << "const " << declaration << "[] = {";
    std::string line;
    for (const auto &value : values)
      add(line, spelled(value));
    if (!last.empty())
      add(line, last.str());
    os << line << "};\n";
  }

private:
  raw_ostream &os;

  static std::string spelled(const std::string &text) { return text; }
  static std::string spelled(double value) {
    std::string text;
    raw_string_ostream(text) << format("%.17g", value);
    return text;
  }
  template <typename T>
  static std::enable_if_t<std::is_integral_v<T>, std::string> spelled(T value) {
    return std::to_string(value);
  }
  void add(std::string &line, const std::string &value) {
    if (line.size() + value.size() > 110) {
      os << line << "\n ";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + value + ",";
  }
};
} // namespace

static uint32_t hashOf(StringRef text) {
  uint32_t hash = 2166136261u;
  for (unsigned char c : text)
    hash = (hash ^ c) * 16777619u;
  return hash ^ hash >> 15;
}

static uint32_t hashOf(int32_t left, int32_t right) {
  uint32_t hash = (uint32_t(left) * 2654435761u) ^
                  (uint32_t(right) * 2246822519u + 374761393u);
  return (hash ^ hash >> 15) * 2654435761u >> 3;
}

/// Returns the number of slots of a hash table that `entries` entries fill at
/// most half.
static size_t slotsFor(size_t entries) {
  return PowerOf2Ceil(std::max<size_t>(2 * entries, 2));
}

static void printTexts(const Tokenizer &t, raw_ostream &os) {
  os << "/// The texts of the tokens: token i is in text i / 256.\n"
        "const char *const kText[] = {\n";
  std::vector<uint32_t> starts, lengths;
  for (size_t begin = 0; begin < t.texts.size(); begin += 256) {
    std::string all;
    for (size_t i = begin; i < std::min(begin + 256, t.texts.size()); ++i) {
      starts.push_back(all.size());
      lengths.push_back(t.texts[i].size());
      all += t.texts[i];
    }
    StringRef rest = all;
    if (rest.empty())
      os << "  \"\"";
    for (; !rest.empty();
         rest = rest.drop_front(std::min<size_t>(rest.size(), 100)))
      os << "  " << cLiteral(rest.take_front(100))
         << (rest.size() > 100 ? "\n" : "");
    os << ",\n";
  }
  os << "};\n";
  Tables tables(os);
  tables.numbers("uint32_t kTextStart", starts);
  tables.numbers("uint16_t kTextLength", lengths);
  std::vector<unsigned> defined((t.texts.size() + 7) / 8);
  for (size_t i = 0; i < t.isDefined.size(); ++i)
    defined[i / 8] |= unsigned(t.isDefined[i]) << i % 8;
  os << "/// A bit for each token that exists.\n";
  tables.numbers("uint8_t kIsDefined", defined);

  std::vector<int32_t> slots(slotsFor(t.vocabulary.size()), -1);
  for (int32_t token : t.vocabulary) {
    uint32_t slot = hashOf(t.texts[token]) & (slots.size() - 1);
    while (slots[slot] >= 0)
      slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = token;
  }
  os << "/// A hash table of the tokens that words consist of.\n";
  tables.numbers("int32_t kVocabulary", slots);
}

static void printMerges(const Tokenizer &t, raw_ostream &os) {
  // A pair may be listed twice; the last entry counts.
  std::map<std::pair<int32_t, int32_t>, uint32_t> ranks;
  for (auto [rank, merge] : enumerate(t.merges))
    ranks[{merge[0], merge[1]}] = rank;
  std::vector<std::string> slots(slotsFor(ranks.size()), "UINT32_MAX");
  for (auto [pair, rank] : ranks) {
    uint32_t slot = hashOf(pair.first, pair.second) & (slots.size() - 1);
    while (slots[slot] != "UINT32_MAX")
      slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = std::to_string(rank);
  }
  os << "/// Pairs of tokens with the token that they are joined to, by rank.\n"
        "const int32_t kMerges[][3] = {";
  std::string line;
  for (const auto &merge : t.merges) {
    line += "{" + std::to_string(merge[0]) + "," + std::to_string(merge[1]) +
            "," + std::to_string(merge[2]) + "},";
    if (line.size() > 100) {
      os << line << "\n  ";
      line.clear();
    }
  }
  os << line << (t.merges.empty() ? "{-1,-1,-1}" : "") << "};\n"
     << "/// A hash table of the pairs.\n";
  Tables(os).numbers("uint32_t kMergeSlots", slots);
}

/// Prints a mapping from code points to sequences of code points as three
/// arrays: the keys, the position of each key's sequence in the values, and the
/// values. `list` is a sequence of (code point, length, values).
static void printMapping(StringRef name, ArrayRef<uint32_t> list,
                         raw_ostream &os) {
  std::vector<uint32_t> keys, starts, values;
  for (size_t i = 0; i < list.size(); i += 2 + list[i + 1]) {
    keys.push_back(list[i]);
    starts.push_back(values.size());
    append_range(values, list.slice(i + 2, list[i + 1]));
  }
  starts.push_back(values.size());
  Tables tables(os);
  tables.numbers(("uint32_t " + name + "Key").str(), keys);
  tables.numbers(("uint16_t " + name + "Start").str(), starts);
  tables.numbers(("uint32_t " + name + "Value").str(), values);
}

static void printTriples(StringRef declaration, ArrayRef<uint32_t> list,
                         raw_ostream &os) {
  std::vector<std::string> triples;
  for (size_t i = 0; i < list.size(); i += 3)
    triples.push_back("{" + std::to_string(list[i]) + "," +
                      std::to_string(list[i + 1]) + "," +
                      std::to_string(list[i + 2]) + "}");
  os << "const " << declaration << "[][3] = {\n ";
  for (auto [i, triple] : enumerate(triples))
    os << triple << "," << (i % 6 == 5 ? "\n " : "");
  os << "};\n";
}

static void printUnicode(const Tokenizer &t, raw_ostream &os) {
  if (t.parts.count("lower"))
    printMapping("kLower", lowerMapping(), os);
  if (!t.parts.count("normal"))
    return;
  os << "/// Decompositions, combining classes (first, last, class) and "
        "compositions.\n";
  printMapping("kCanonical", canonicalMapping(), os);
  if (t.parts.count("compatible"))
    printMapping("kCompatible", compatibleMapping(), os);
  printTriples("uint32_t kCombining", combiningClasses(), os);
  printTriples("uint32_t kComposed", compositions(), os);
}

/// Prints the sets of characters and the patterns.
static void printPatterns(const Tokenizer &t, raw_ostream &os) {
  Tables tables(os);
  if (!t.sets.empty()) {
    std::vector<uint32_t> starts, ranges;
    for (const CharSet &set : t.sets) {
      starts.push_back(ranges.size() / 2);
      for (const CharRange &range : set.ranges) {
        ranges.push_back(range.first);
        ranges.push_back(range.last);
      }
    }
    starts.push_back(ranges.size() / 2);
    os << "/// Sets of characters: set i has the ranges from kSetStart[i] "
          "on.\n";
    tables.numbers("uint32_t kRanges", ranges);
    tables.numbers("uint32_t kSetStart", starts);
  }
  for (auto [i, pattern] : enumerate(t.patterns))
    tables.numbers("int32_t kPattern" + std::to_string(i), pattern.code);
}

static void printAdded(const Tokenizer &t, raw_ostream &os) {
  if (t.added.empty())
    return;
  auto flag = [](bool value) { return value ? "true" : "false"; };
  os << "/// Tokens that are looked for in the text itself.\n"
        "struct Added {\n  const char *text;\n  size_t length;\n  int32_t "
        "token;\n  bool is_single_word, strips_left, strips_right, "
        "is_normalized;\n};\nconst Added kAdded[] = {\n";
  for (const AddedToken &added : t.added)
    os << "  {" << cLiteral(added.text) << ", " << added.text.size() << ", "
       << added.token << ", " << flag(added.isSingleWord) << ", "
       << flag(added.stripsLeft) << ", " << flag(added.stripsRight) << ", "
       << flag(added.isNormalized) << "},\n";
  os << "};\n";
}

static void printByteTokens(const Tokenizer &t, raw_ostream &os) {
  std::vector<int32_t> tokens(256, -1);
  for (int32_t token : t.vocabulary) {
    StringRef text = t.texts[token];
    unsigned value;
    if (t.isByteLevel && text.size() == 1)
      tokens[(unsigned char)text[0]] = token;
    else if (!t.isByteLevel && text.size() == 6 && text.starts_with("<0x") &&
             text.ends_with(">") &&
             text.substr(3, 2).upper() == text.substr(3, 2) &&
             !text.substr(3, 2).getAsInteger(16, value))
      tokens[value] = token;
  }
  os << "/// The token of each byte; -1 if there is none.\n";
  Tables(os).numbers("int32_t kByteToken", tokens);
}

static void printConstants(const Tokenizer &t, raw_ostream &os) {
  auto flag = [&](StringRef name, bool value) {
    os << "[[maybe_unused]] constexpr bool " << name << " = "
       << (value ? "true" : "false") << ";\n";
  };
  os << "[[maybe_unused]] constexpr int32_t kUnknown = " << t.unknown << ";\n";
  flag("kHasByteTokens", t.hasByteTokens);
  flag("kFusesUnknown", t.fusesUnknown);
  if (t.parts.count("bpe"))
    flag("kIgnoresMerges", t.ignoresMerges);
  if (t.parts.count("letters") || t.parts.count("wordpiece"))
    os << "constexpr const char *kContinuingPrefix = "
       << cLiteral(t.continuingPrefix) << ";\n";
  if (t.parts.count("letters"))
    os << "constexpr const char *kWordSuffix = " << cLiteral(t.wordSuffix)
       << ";\n";
  if (t.parts.count("wordpiece"))
    os << "constexpr size_t kLongestWord = " << t.longestWord << ";\n";
  if (t.parts.count("unigram")) {
    size_t longest = 0;
    for (int32_t token : t.vocabulary)
      longest = std::max(longest, t.texts[token].size());
    os << "constexpr size_t kLongestToken = " << longest << ";\n"
       << "constexpr double kUnknownScore = " << format("%.17g", t.unknownScore)
       << ";\n";
    Tables(os).numbers("double kScore", t.scores);
  }
  Tables tables(os);
  os << "/// Tokens around a text, and special tokens; each list ends with an "
        "unused entry.\n";
  tables.numbers("int32_t kBefore", t.before, "-1");
  tables.numbers("int32_t kAfter", t.after, "-1");
  tables.numbers("int32_t kSpecial", t.special, "-1");
  os << "constexpr size_t kMostTokens = "
     << (t.mostTokens ? std::to_string(t.mostTokens) : "SIZE_MAX") << ";\n"
     << "constexpr size_t kStripStart = " << t.stripStart << ";\n"
     << "constexpr char kStripChar = " << unsigned(t.stripChar) << ";\n";
  flag("kDecodesByteTokens", t.decodesByteTokens);
}

static void printFunction(StringRef head, ArrayRef<std::string> lines,
                          StringRef result, raw_ostream &os) {
  os << "\n" << head << " {\n";
  for (const std::string &line : lines)
    os << "  " << line << "\n";
  os << "  return " << result << ";\n}\n";
}

static std::string guardOf(StringRef name) { return name.upper() + "_H"; }

static std::vector<std::pair<StringRef, std::string>>
valuesFor(const Tokenizer &t, StringRef name, StringRef source) {
  std::string around;
  raw_string_ostream os(around);
  auto list = [&](ArrayRef<int32_t> tokens) {
    for (int32_t token : tokens)
      os << "`" << printable(t.texts[token]) << "` ";
  };
  list(t.before);
  os << "TEXT";
  if (!t.after.empty())
    os << " ";
  list(t.after);
  return {{"INGOT_NAMESPACE", name.str()},
          {"@FILE@", name.str()},
          {"@SOURCE@", printable(source)},
          {"@VERSION@", ingotVersion.str()},
          {"INGOT_GUARD", guardOf(name)},
          {"INGOT_VOCABULARY", std::to_string(t.texts.size())},
          {"@TEMPLATE@", StringRef(around).rtrim().str()}};
}

void printTokenizerHeader(const Tokenizer &t, StringRef name, StringRef source,
                          raw_ostream &os) {
  os << filled(kTokenizerHeaderText, valuesFor(t, name, source));
}

void printTokenizerSource(const Tokenizer &t, StringRef name, StringRef source,
                          raw_ostream &os) {
  os << "// " << name << ".cpp - a tokenizer, generated from "
     << printable(source) << " by ingot " << ingotVersion
     << "\n// SPDX-License-Identifier: MIT-0\n#include \"" << name
     << ".h\"\n\n#include <algorithm>\n#include <cstring>\n#include "
        "<iterator>\n#include <queue>\n#include <utility>\n\nnamespace "
     << name << "_tables {\nnamespace {\n\n";
  Tokenizer named = t;
  std::set<std::string> &parts = named.parts;
  parts.insert(t.added.empty() ? "plain" : "added");
  int32_t wordChars = 0, spaceChars = 0;
  if (!t.added.empty()) {
    wordChars = named.sets.size();
    named.sets.push_back(charsOf(Chars::RustWord));
    spaceChars = named.sets.size();
    named.sets.push_back(charsOf(Chars::Space));
  }
  printTexts(named, os);
  if (parts.count("bpe"))
    printMerges(named, os);
  printByteTokens(named, os);
  printPatterns(named, os);
  printUnicode(named, os);
  printAdded(named, os);
  printConstants(named, os);
  if (!t.added.empty())
    os << "constexpr int32_t kWordChars = " << wordChars
       << ", kSpaceChars = " << spaceChars << ";\n";
  os << "\n} // namespace\n} // namespace " << name
     << "_tables\n\nusing namespace " << name << "_tables;\n\n"
     << selected(kTokenizerText, parts)
     << "// The functions below follow from tokenizer.json.\n";
  printFunction("std::string normalize(std::string text)", t.normalize, "text",
                os);
  printFunction("Pieces pre_tokenize(Pieces pieces)", t.preTokenize, "pieces",
                os);
  os << "\n/// Returns the text of a token, which depends on whether it is the "
        "first one.";
  std::vector<std::string> decode{"std::string text(text_of(token));"};
  if (t.decodesByteTokens)
    decode.push_back("if (is_byte(token))\n    return std::string(1, "
                     "byte_of(token));");
  append_range(decode, t.decode);
  if (t.decodesByteTokens) {
    os << "\nchar byte_of(int32_t token) {\n  auto digit = [](char c) { return "
          "c >= 'a' ? c - 'a' + 10 : c >= 'A' ? c - 'A' + 10 : c - '0'; };\n"
          "  return char(digit(text_of(token)[3]) * 16 + "
          "digit(text_of(token)[4]));\n}\n"
          "\n/// Whether a token is a byte: <0x0A>.\n"
          "bool is_byte(int32_t token) {\n  std::string_view text = "
          "text_of(token);\n  auto is_digit = [](char c) { return (c >= '0' && "
          "c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); };\n"
          "  return text.size() == 6 && starts_with(text, \"<0x\") && text[5] "
          "== '>' && is_digit(text[3]) && is_digit(text[4]);\n}\n";
  } else {
    os << "\nconstexpr bool is_byte(int32_t) { return "
       << (t.isByteLevel ? "true" : "false") << "; }\n";
  }
  printFunction(
      "std::string decoded(int32_t token, [[maybe_unused]] bool is_first)",
      decode, "text", os);
  os << "\n"
     << filled(selected(kTokenizerEndText, parts), valuesFor(t, name, source));
}

} // namespace ingot::llm
