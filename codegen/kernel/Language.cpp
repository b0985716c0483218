#include "codegen/kernel/Language.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace ingot {

static bool isNameCharacter(char c) { return isAlnum(c) || c == '_'; }

/// Returns the position of the bracket that closes the one at `open`, or npos.
static size_t closing(StringRef text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += StringRef("([{").contains(text[at]);
    depth -= StringRef(")]}").contains(text[at]);
    if (depth == 0)
      return at;
  }
  return StringRef::npos;
}

/// Whether an expression is a name, number, call, element or member, to which a
/// cast applies as a whole.
static bool isPrimary(StringRef text) {
  bool any = false;
  while (!text.empty()) {
    if (isNameCharacter(text[0]) || text[0] == '.') {
      text = text.drop_front();
    } else if (any && text.consume_front("->")) {
    } else if (text[0] == '(' || (any && text[0] == '[')) {
      // A parenthesis that does not follow a name may begin a cast.
      size_t end = closing(text, 0);
      if (end == StringRef::npos || (!any && end + 1 != text.size()))
        return false;
      text = text.drop_front(end + 1);
    } else {
      return false;
    }
    any = true;
  }
  return any;
}

static std::string inParentheses(StringRef text) {
  return isPrimary(text) ? text.str() : ("(" + text + ")").str();
}

std::string Language::cast(const Twine &type, StringRef text) const {
  return isC ? ("(" + type + ")").str() + inParentheses(text)
             : (type + "(" + text + ")").str();
}

std::string Language::reinterpret(const Twine &type, StringRef text) const {
  return isC ? ("(" + type + ")").str() + inParentheses(text)
             : ("reinterpret_cast<" + type + ">(" + text + ")").str();
}

std::string Language::elementsAt(const Twine &element, StringRef text) const {
  std::string type = element.str(),
              through = StringRef(type).starts_with("const ") ? "const void *"
                                                              : "void *";
  return isC ? "(" + type + " *)(" + through + ")" + inParentheses(text)
             : "static_cast<" + type + " *>(static_cast<" + through + ">(" +
                   text.str() + "))";
}

std::string Language::fromVoid(const Twine &element, StringRef text) const {
  return isC ? text.str()
             : ("static_cast<" + element + " *>(" + text + ")").str();
}

std::string Language::vector(const Twine &type, StringRef lanes) const {
  return isC ? ("(" + type + "){" + lanes + "}").str()
             : (type + "{" + lanes + "}").str();
}

std::string Language::zero(const Twine &type) const {
  return vector(type, isC ? "0" : "");
}

std::string Language::spelled(StringRef text) const {
  if (!isC)
    return text.str();
  static const Regex numberType(
      "^(u?int[0-9]+(x[0-9]+)?_t|float[0-9]+x[0-9]+_t|[fiu][0-9]+x[0-9]+|"
      "size_t|ptrdiff_t|float|double|int)$");
  std::string result;
  // In C, `(T)(x)` binds less tightly than a postfix operator after it, so the
  // cast is then put in parentheses.
  auto afterCast = [&](StringRef type, StringRef operand, StringRef next) {
    bool isPostfix = next.starts_with("[") || next.starts_with(".") ||
                     next.starts_with("->");
    result += (isPostfix ? "((" : "(") + type.str() + ")" + "(" +
              spelled(operand) + ")" + (isPostfix ? ")" : "");
  };
  while (!text.empty()) {
    if (text.consume_front("[[gnu::")) {
      auto [attribute, rest] = text.split("]]");
      result += ("__attribute__((" + attribute + "))").str();
      text = rest;
      continue;
    }
    if (!isNameCharacter(text[0])) {
      result += text[0];
      text = text.drop_front();
      continue;
    }
    StringRef name = text.take_while(isNameCharacter);
    text = text.drop_front(name.size());
    if (name == "constexpr") {
      result += "static const";
    } else if (name == "reinterpret_cast" || name == "static_cast") {
      // The type between the angle brackets of the cast contains no such
      // brackets.
      size_t open = text.find(">(") + 1, end = closing(text, open);
      afterCast(text.substr(1, open - 2), text.slice(open + 1, end),
                text.drop_front(end + 1));
      text = text.drop_front(end + 1);
    } else if (name == "__builtin_bit_cast") {
      size_t end = closing(text, 0);
      auto [type, operand] = text.slice(1, end).rsplit(", ");
      afterCast(type, operand, text.drop_front(end + 1));
      text = text.drop_front(end + 1);
    } else if (text.starts_with("(") && numberType.match(name)) {
      size_t end = closing(text, 0);
      afterCast(name, text.slice(1, end), text.drop_front(end + 1));
      text = text.drop_front(end + 1);
    } else {
      result += name;
    }
  }
  return result;
}

} // namespace ingot
