#include "compiler/report/Suggest.h"

#include "compiler/report/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <utility>

using llvm::ArrayRef;
using llvm::StringRef;

namespace ingot {

/// Returns the edit distance of two names; swapping two neighbouring letters
/// ("bacth") counts as one edit. Returns a value over `limit` if the distance
/// exceeds it.
static unsigned distanceBetween(StringRef a, StringRef b, unsigned limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
    return limit + 1;
  // The last three rows of the distance table (optimal string alignment).
  std::vector<unsigned> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::vector<std::string> suggestions(StringRef name,
                                     ArrayRef<std::string> candidates) {
  std::string lower = name.ltrim('-').take_front(64).lower();
  if (lower.size() < 3)
    return {};
  unsigned limit = lower.size() < 6 ? 1 : 2;
  std::vector<std::pair<unsigned, std::string>> close;
  for (const std::string &candidate : candidates) {
    unsigned distance =
        distanceBetween(lower, StringRef(candidate).ltrim('-').lower(), limit);
    if (distance <= limit)
      close.emplace_back(distance, candidate);
  }
  llvm::sort(close);
  std::vector<std::string> best;
  for (auto &[distance, candidate] : close)
    if (best.size() < 4 && !llvm::is_contained(best, candidate))
      best.push_back(candidate);
  return best;
}

std::string didYouMean(StringRef name, ArrayRef<std::string> candidates) {
  std::string text;
  for (const std::string &close : suggestions(name, candidates))
    text += (text.empty() ? "did you mean `" : ", `") + printable(close) + "`";
  return text.empty() ? text : text + "?";
}

} // namespace ingot
