#include "compiler/import/custom/OperandPattern.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot {

static Error fault(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

/// Splits `text` at the commas that are outside of parentheses and brackets.
static SmallVector<StringRef> splitSizes(StringRef text) {
  SmallVector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[';
    depth -= text[i] == ')' || text[i] == ']';
    if (text[i] != ',' || depth > 0)
      continue;
    parts.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  parts.push_back(text.drop_front(begin).trim());
  return parts;
}

Expected<OperandPattern> parseOperand(StringRef text) {
  auto [name, rest] = text.split(':');
  name = name.trim();
  rest = rest.trim();
  if (!isIdentifier(name))
    return fault("expected a name before `:` in the operand `" + text + "`");
  StringRef type = rest.take_until([](char c) { return c == '['; }).trim();
  rest = rest.drop_front(rest.find_first_of('[') == StringRef::npos
                             ? rest.size()
                             : rest.find_first_of('['));
  if (!rest.consume_front("[") || !rest.consume_back("]"))
    return fault("expected a type and sizes, as in `" + name +
                 ": float[n, 3]`, in the operand `" + text + "`");
  if (type.size() != 1 && !elementTypeOf(type))
    return fault("`" + type + "` in the operand `" + text +
                 "` is neither an element type nor a letter");
  OperandPattern operand{name.str(), type.str(), {}};
  if (rest.trim().empty())
    return operand;
  for (StringRef size : splitSizes(rest)) {
    bool isList = size.consume_back("...");
    Expected<Formula> formula = parseFormula(size);
    if (!formula)
      return formula.takeError();
    if (isList && !formula->isName())
      return fault("expected a name before `...` in the operand `" + text +
                   "`");
    operand.axes.push_back({std::move(*formula), isList});
  }
  if (count_if(operand.axes, [](const auto &axis) { return axis.isList; }) > 1)
    return fault("the operand `" + text + "` has `...` more than once");
  return operand;
}

int elementTypeOf(StringRef name) {
  // In the order of TensorProto.DataType.
  static constexpr StringLiteral names[] = {
      "",       "float",  "uint8",     "int8",       "uint16",  "int16",
      "int32",  "int64",  "string",    "bool",       "float16", "double",
      "uint32", "uint64", "complex64", "complex128", "bfloat16"};
  const auto *known = find(names, name);
  return known == std::end(names) ? 0 : static_cast<int>(known - names);
}

Expected<std::vector<TypeLetter>> parseLetters(StringRef text) {
  std::vector<TypeLetter> letters;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    auto [letter, list] = word.split('=');
    TypeLetter entry{letter.str(), {}};
    for (StringRef type : split(list, '|')) {
      if (!elementTypeOf(type))
        return fault("`" + type + "` in `" + word + "` is no element type");
      entry.types.push_back(type.str());
    }
    if (letter.size() != 1)
      return fault("expected a letter with its types, as in `T=float|uint8`, "
                   "not `" +
                   word + "`");
    letters.push_back(std::move(entry));
  }
  return letters;
}

Expected<AttributePattern> parseAttribute(StringRef text) {
  auto [name, rest] = text.split(':');
  auto [type, value] = rest.trim().split('=');
  AttributePattern attribute{name.trim().str(), type.trim().str(),
                             value.trim().str(), rest.contains('=')};
  if (!isIdentifier(attribute.name) ||
      !is_contained({"int", "float", "string", "ints", "floats"},
                    StringRef(attribute.type)))
    return fault("expected a name and a type (int, float, string, ints or "
                 "floats), as in `alpha:float=1`, not `" +
                 text + "`");
  int64_t integer;
  double number;
  StringRef given = attribute.byDefault;
  if (attribute.hasDefault &&
      ((attribute.type == "int" && given.getAsInteger(10, integer)) ||
       (attribute.type == "float" && given.getAsDouble(number)) ||
       (StringRef(attribute.type).ends_with("s"))))
    return fault("`" + given + "` cannot be the default of `" + text + "`");
  return attribute;
}

} // namespace ingot
