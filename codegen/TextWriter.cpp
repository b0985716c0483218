//===- TextWriter.cpp - indented, wrapped lines of C ----------------------===//

#include "codegen/TextWriter.h"

#include "codegen/Names.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot {

/// Where to break a line: after a comma if that leaves it well filled, else at
/// the last space.
static size_t breakPosition(StringRef text, size_t room) {
  StringRef head = text.take_front(room);
  size_t space = head.rfind(' '), comma = head.rfind(", ");
  if (comma != StringRef::npos && comma + 1 > room / 2)
    return comma + 1;
  if (space != StringRef::npos && space > 0)
    return space;
  return text.find(' ', room);
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
  for (StringRef paragraph : paragraphs) {
    while (2 * depth + paragraph.size() > kColumns - 3) {
      size_t at = paragraph.take_front(kColumns - 3 - 2 * depth).rfind(' ');
      if (at == StringRef::npos || at == 0)
        break;
      os.indent(2 * depth) << "// " << paragraph.take_front(at) << '\n';
      paragraph = paragraph.drop_front(at + 1);
    }
    os.indent(2 * depth) << "// " << paragraph.rtrim() << '\n';
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
