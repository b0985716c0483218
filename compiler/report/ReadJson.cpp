#include "compiler/report/ReadJson.h"

using namespace llvm;

namespace ingot {

Expected<json::Value> readJson(StringRef text, int mostLevels) {
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
      return createStringError("nests deeper than " + Twine(mostLevels) +
                               " levels");
  }
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("is not JSON: " + toString(value.takeError()));
  return value;
}

} // namespace ingot
