// Sets of characters, and the mappings of Unicode normalization.
//
// The tables are those of the Python package `tokenizers` (make_unicode.py).

#ifndef INGOT_COMPILER_LLM_UNICODE_H
#define INGOT_COMPILER_LLM_UNICODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ingot::llm {

/// A range of code points, both ends included.
struct CharRange {
  uint32_t first, last;
  bool operator==(const CharRange &other) const {
    return first == other.first && last == other.last;
  }
};

/// A set of code points: ranges in ascending order that do not touch.
struct CharSet {
  std::vector<CharRange> ranges;

  CharSet() = default;
  CharSet(llvm::ArrayRef<CharRange> of) : ranges(of) {}
  static CharSet single(uint32_t point) { return CharSet({{point, point}}); }
  void add(uint32_t first, uint32_t last);
  void add(const CharSet &other);
  CharSet complement() const;
  bool contains(uint32_t point) const;
  bool operator==(const CharSet &other) const { return ranges == other.ranges; }
};

/// Returns the characters of a general category ("Lu") or of all categories
/// with this first letter ("L"); nothing if there is no such category.
std::optional<CharSet> charsOfCategory(llvm::StringRef name);

/// Sets of characters that are not general categories.
enum class Chars {
  Word,     ///< \w in patterns of Oniguruma
  RustWord, ///< \w in patterns of Rust
  Space,    ///< \s
  Numeric,
  Punctuation,
  Accents,     ///< the marks that the normalizer StripAccents removes
  BertAccents, ///< the marks that BertNormalizer removes
  Control,     ///< the control characters that BertNormalizer removes
  CleanSpace,  ///< the characters that BertNormalizer replaces by a space
  Chinese      ///< the characters that BertNormalizer surrounds by spaces
};
CharSet charsOf(Chars kind);

/// Return mappings as concatenated entries: a code point, the number of code
/// points that it maps to, and these code points.
llvm::ArrayRef<uint32_t> lowerMapping();
llvm::ArrayRef<uint32_t> canonicalMapping();
/// Returns only the code points whose compatibility mapping differs from the
/// canonical one.
llvm::ArrayRef<uint32_t> compatibleMapping();
/// Triples: first and last code point of a range, and their combining class.
llvm::ArrayRef<uint32_t> combiningClasses();
/// Triples: two code points, and the code point that they compose to.
llvm::ArrayRef<uint32_t> compositions();

/// Returns the code points of valid UTF-8; nothing for invalid UTF-8.
std::optional<std::vector<uint32_t>> decodeUtf8(llvm::StringRef text);
void appendUtf8(std::string &text, uint32_t point);

} // namespace ingot::llm

#endif // INGOT_COMPILER_LLM_UNICODE_H
