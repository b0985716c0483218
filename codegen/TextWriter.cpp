//===- TextWriter.cpp - indented, wrapped lines of C ----------------------===//

#include "codegen/TextWriter.h"

#include "codegen/Names.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot {

/// Where to break a line: at the last space of those in the fewest brackets, at
/// best one after a comma, not too near the front.
static size_t breakPosition(StringRef text, size_t room) {
  size_t best = StringRef::npos;
  int depth = 0, bestCost = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += (c == '(' || c == '[' || c == '{');
    depth -= (c == ')' || c == ']' || c == '}');
    if (c != ' ' || i == 0 || text.substr(i) == " {")
      continue;
    if (i > room)
      return best == StringRef::npos ? i : best;
    int cost = 2 * depth + (text[i - 1] != ',');
    if (best == StringRef::npos || cost <= bestCost || best < room / 2) {
      best = i;
      bestCost = cost;
    }
  }
  return best;
}

void TextWriter::line(const Twine &twine) {
  SmallString<128> storage;
  StringRef text = twine.toStringRef(storage);
  unsigned indent = 2 * depth;
  while (indent + text.size() > kColumns) {
    size_t at = breakPosition(text, kColumns - std::min(indent, 60u));
    if (at == StringRef::npos)
      break;
    os.indent(indent) << text.take_front(at) << '\n';
    text = text.drop_front(at + 1);
    indent = 2 * depth + 4;
  }
  os.indent(indent) << text << '\n';
}

void TextWriter::comment(StringRef text) {
  std::string clean = toCommentText(text);
  SmallVector<StringRef> paragraphs;
  StringRef(clean).split(paragraphs, '\n');
  const size_t indent = 2 * size_t(depth);
  for (StringRef paragraph : paragraphs) {
    while (indent + paragraph.size() > kColumns - 3) {
      size_t at = paragraph.take_front(kColumns - 3 - indent).rfind(' ');
      if (at == StringRef::npos || at == 0)
        break;
      os.indent(2 * depth) << "// " << paragraph.take_front(at) << '\n';
      paragraph = paragraph.drop_front(at + 1);
    }
    paragraph = paragraph.rtrim();
    os.indent(2 * depth) << (paragraph.empty() ? "//" : "// ") << paragraph
                         << '\n';
  }
}

void TextWriter::open(const Twine &text) {
  line(text);
  ++depth;
}

void TextWriter::middle(const Twine &text) {
  --depth;
  open(text);
}

void TextWriter::close(const Twine &text) {
  --depth;
  line(text);
}

} // namespace ingot
