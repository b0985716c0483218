#include "compiler/report/Suggest.h"

#include "compiler/report/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace ingot {

std::vector<std::string> suggestions(StringRef name,
                                     ArrayRef<std::string> candidates) {
  std::string lower = name.take_front(64).lower();
  unsigned limit =
      lower.size() < 3 ? 1 : std::max<unsigned>(2, lower.size() / 3);
  std::vector<std::pair<unsigned, std::string>> close;
  for (const std::string &candidate : candidates) {
    unsigned distance = StringRef(lower).edit_distance(
        StringRef(candidate).lower(), /*AllowReplacements=*/true, limit);
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
