#include "compiler/report/ReadJson.h"

using namespace llvm;

namespace ingot {

Expected<json::Value> readJson(StringRef text) {
  constexpr int mostLevels = 100;
  int level = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inString && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      inString = !inString;
    else if (!inString && (text[i] == '[' || text[i] == '{'))
      ++level;
    else if (!inString && (text[i] == ']' || text[i] == '}'))
      --level;
    if (level > mostLevels)
      return createStringError("it nests deeper than " + Twine(mostLevels) +
                               " levels");
  }
  return json::parse(text);
}

} // namespace ingot
