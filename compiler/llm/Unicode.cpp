#include "compiler/llm/Unicode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <algorithm>

using namespace llvm;

namespace ingot::llm {

#include "compiler/llm/Unicode.inc"

static constexpr uint32_t kLastPoint = 0x10ffff;

void CharSet::add(uint32_t first, uint32_t last) {
  add(CharSet({{first, last}}));
}

void CharSet::add(const CharSet &other) {
  std::vector<CharRange> all = ranges;
  llvm::append_range(all, other.ranges);
  llvm::sort(all, [](const CharRange &a, const CharRange &b) {
    return a.first < b.first;
  });
  ranges.clear();
  for (const CharRange &range : all)
    if (!ranges.empty() && range.first <= ranges.back().last + 1)
      ranges.back().last = std::max(ranges.back().last, range.last);
    else
      ranges.push_back(range);
}

CharSet CharSet::complement() const {
  CharSet result;
  uint32_t next = 0;
  for (const CharRange &range : ranges) {
    if (range.first > next)
      result.ranges.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastPoint)
    result.ranges.push_back({next, kLastPoint});
  return result;
}

bool CharSet::contains(uint32_t point) const {
  return any_of(ranges, [&](const CharRange &range) {
    return range.first <= point && point <= range.last;
  });
}

std::optional<CharSet> charsOfCategory(StringRef name) {
  struct Category {
    StringLiteral name;
    ArrayRef<CharRange> ranges;
  };
  static const Category categories[] = {
      {"Lu", kLu}, {"Ll", kLl}, {"Lt", kLt}, {"Lm", kLm}, {"Lo", kLo},
      {"Mn", kMn}, {"Mc", kMc}, {"Me", kMe}, {"Nd", kNd}, {"Nl", kNl},
      {"No", kNo}, {"Pc", kPc}, {"Pd", kPd}, {"Ps", kPs}, {"Pe", kPe},
      {"Pi", kPi}, {"Pf", kPf}, {"Po", kPo}, {"Sm", kSm}, {"Sc", kSc},
      {"Sk", kSk}, {"So", kSo}, {"Zs", kZs}, {"Zl", kZl}, {"Zp", kZp},
      {"Cc", kCc}, {"Cf", kCf}, {"Co", kCo}};
  // The category C contains unassigned characters, which have no table.
  if (name.empty() || name == "C")
    return std::nullopt;
  CharSet result;
  for (const Category &category : categories)
    if (category.name == name ||
        (name.size() == 1 && category.name.starts_with(name)))
      result.add(CharSet(category.ranges));
  if (result.ranges.empty())
    return std::nullopt;
  return result;
}

CharSet charsOf(Chars kind) {
  switch (kind) {
  case Chars::Word:
    return ArrayRef(kWord);
  case Chars::RustWord:
    return ArrayRef(kRustWord);
  case Chars::Space:
    return ArrayRef(kSpace);
  case Chars::Numeric:
    return ArrayRef(kNumeric);
  case Chars::Punctuation:
    return ArrayRef(kPunctuation);
  case Chars::Accents:
    return ArrayRef(kAccents);
  case Chars::BertAccents:
    return ArrayRef(kBertAccents);
  case Chars::Control:
    return ArrayRef(kControl);
  case Chars::CleanSpace:
    return ArrayRef(kCleanSpace);
  case Chars::Chinese:
    return ArrayRef(kChinese);
  }
  llvm_unreachable("all kinds of characters");
}

ArrayRef<uint32_t> lowerMapping() { return kLower; }
ArrayRef<uint32_t> canonicalMapping() { return kCanonical; }
ArrayRef<uint32_t> compatibleMapping() { return kCompatible; }
ArrayRef<uint32_t> combiningClasses() { return kCombining; }
ArrayRef<uint32_t> compositions() { return kComposed; }

std::optional<std::vector<uint32_t>> decodeUtf8(StringRef text) {
  std::vector<uint32_t> points(text.size());
  const auto *from = reinterpret_cast<const UTF8 *>(text.begin());
  UTF32 *to = points.data();
  if (ConvertUTF8toUTF32(&from, reinterpret_cast<const UTF8 *>(text.end()), &to,
                         points.data() + points.size(),
                         strictConversion) != conversionOK)
    return std::nullopt;
  points.resize(to - points.data());
  return points;
}

void appendUtf8(std::string &text, uint32_t point) {
  char bytes[UNI_MAX_UTF8_BYTES_PER_CODE_POINT], *end = bytes;
  if (ConvertCodePointToUTF8(point, end))
    text.append(bytes, end);
}

} // namespace ingot::llm
