// Writes indented, wrapped lines of C++.

#include "codegen/kernel/TextWriter.h"

#include "codegen/kernel/Names.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot {

/// The least number of columns for text, at any indentation.
static constexpr size_t kLeastRoom = 40;

/// Returns the position of the last character of the unbreakable unit (a
/// literal in quotes, a comment) that begins at `i`; `i` for any other
/// character.
static size_t endOfUnit(StringRef text, size_t i) {
  StringRef rest = text.substr(i);
  if (rest.starts_with("//"))
    return text.size() - 1;
  if (rest.starts_with("/*"))
    return std::min(text.find("*/", i + 2), text.size() - 2) + 1;
  char quote = text[i];
  if (quote != '"' && quote != '\'')
    return i;
  size_t end = i + 1;
  while (end < text.size() && text[end] != quote)
    end += text[end] == '\\' ? 2 : 1;
  return std::min(end, text.size() - 1);
}

/// Returns where to break a line of C++: at the last space at the lowest
/// bracket depth, preferably after a comma and not too early; otherwise after
/// the opening bracket of a call. Returns npos if the line must not be broken,
/// such as a preprocessor directive.
static size_t breakPosition(StringRef text, size_t room) {
  size_t best = StringRef::npos, call = StringRef::npos;
  if (text.ltrim().starts_with("#"))
    return best;
  int depth = 0, bestCost = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (size_t end = endOfUnit(text, i); end != i) {
      i = end;
      continue;
    }
    char c = text[i];
    if (c == '(' && i > 0 && i < room && llvm::isAlnum(text[i - 1]))
      call = i + 1;
    depth += (c == '(' || c == '[' || c == '{');
    depth -= (c == ')' || c == ']' || c == '}');
    if (c != ' ' || text.take_front(i).trim().empty() || text.substr(i) == " {")
      continue;
    if (i > room)
      return best != StringRef::npos   ? best
             : call != StringRef::npos ? call
                                       : i;
    int cost = 2 * depth + (text[i - 1] != ',');
    if (best == StringRef::npos || cost <= bestCost || best < room / 2) {
      best = i;
      bestCost = cost;
    }
  }
  return best;
}

/// Calls `use` for the lines of `text`, each of at most `width` columns. A
/// longer word, such as a path of ONNX names, is divided after a punctuation
/// mark. A longer word without such a mark gets its own line, which is longer.
static void wrapWords(StringRef text, size_t width,
                      function_ref<void(StringRef)> use) {
  SmallVector<StringRef> paragraphs;
  text.split(paragraphs, '\n');
  for (StringRef paragraph : paragraphs) {
    while (paragraph.size() > width) {
      size_t at = paragraph.take_front(width).rfind(' ');
      if (at == StringRef::npos || paragraph.take_front(at).trim().empty()) {
        size_t mark = paragraph.take_front(width).find_last_of(";/,:");
        if (mark != StringRef::npos && mark > 0) {
          use(paragraph.take_front(mark + 1));
          paragraph = paragraph.drop_front(mark + 1);
          continue;
        }
        at = paragraph.find(' ', width);
      }
      if (at == StringRef::npos)
        break;
      use(paragraph.take_front(at).rtrim());
      paragraph = paragraph.drop_front(at + 1);
    }
    use(paragraph.rtrim());
  }
}

size_t TextWriter::room(unsigned indent) {
  return kColumns - std::min<size_t>(indent, kColumns - kLeastRoom);
}

void TextWriter::line(const Twine &twine) {
  SmallString<128> storage;
  StringRef text = twine.toStringRef(storage);
  unsigned indent = 2 * depth;
  while (indent + text.size() > kColumns) {
    size_t at = breakPosition(text, room(indent));
    if (at == StringRef::npos)
      break;
    os.indent(indent) << text.take_front(at) << '\n';
    text = text.drop_front(at);
    text.consume_front(" ");
    indent = 2 * depth + 4;
  }
  os.indent(indent) << text << '\n';
}

void TextWriter::comment(StringRef text) {
  const unsigned indent = 2 * depth;
  wrapWords(toCommentText(text), room(indent) - 3, [&](StringRef line) {
    os.indent(indent) << (line.empty() ? "//" : "// ") << line << '\n';
  });
}

void TextWriter::blockComment(StringRef text) {
  const unsigned indent = 2 * depth;
  const char *start = "/*";
  wrapWords(toCommentText(text), room(indent) - 6, [&](StringRef line) {
    if (*start == ' ')
      os << '\n';
    os.indent(indent) << start << (line.empty() ? "" : " ") << line;
    start = " *";
  });
  os << " */\n";
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
