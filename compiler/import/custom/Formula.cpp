#include "compiler/import/custom/Formula.h"

#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace llvm;

namespace ingot {

void Formula::forEachName(function_ref<void(StringRef)> use) const {
  if (kind == Name)
    use(text);
  for (const Formula &operand : operands)
    operand.forEachName(use);
}

namespace {

/// The binary operators by precedence, lowest first. Within an entry, an
/// operator that begins with another one (`<=`) precedes it (`<`).
constexpr const char *levels[][4] = {{"||"},       {"&&"},
                                     {"==", "!="}, {"<=", ">=", "<", ">"},
                                     {"+", "-"},   {"*", "/", "%"}};

class Parser {
public:
  explicit Parser(StringRef text) : whole(text), rest(text) {}

  Expected<Formula> run() {
    Formula formula = choice();
    skip();
    if (error.empty() && !rest.empty())
      fail("an operator");
    if (error.empty())
      return formula;
    return createStringError(inconvertibleErrorCode(), "%s", error.c_str());
  }

private:
  /// The limit for the nesting of formulas: the parser is recursive, so deeper
  /// nesting could exhaust the stack.
  static constexpr unsigned deepest = 100;

  void skip() { rest = rest.ltrim(); }
  bool take(StringRef spelling) {
    skip();
    return rest.consume_front(spelling);
  }
  void fail(const Twine &expected) {
    if (error.empty())
      error = ("expected " + expected + " at `" +
               (rest.empty() ? StringRef("the end") : rest.take_front(20)) +
               "` in `" + whole.take_front(60) + "`")
                  .str();
    rest = "";
  }
  static Formula apply(StringRef name, std::vector<Formula> operands) {
    return {Formula::Apply, 0, name.str(), std::move(operands)};
  }

  Formula choice() {
    Formula condition = binary(0);
    if (!take("?"))
      return condition;
    Formula first = nested([&] { return choice(); });
    if (!take(":"))
      fail("`:`");
    Formula second = nested([&] { return choice(); });
    return apply("?:",
                 {std::move(condition), std::move(first), std::move(second)});
  }

  std::optional<StringRef> operatorOf(size_t level) {
    for (const char *spelling : levels[level])
      if (spelling && take(spelling))
        return StringRef(spelling);
    return std::nullopt;
  }

  Formula binary(size_t level) {
    if (level == std::size(levels))
      return unary();
    Formula left = binary(level + 1);
    while (std::optional<StringRef> spelling = operatorOf(level)) {
      Formula right = binary(level + 1);
      left = apply(*spelling, {std::move(left), std::move(right)});
    }
    return left;
  }

  Formula unary() {
    for (StringRef spelling : {"-", "!"})
      if (take(spelling))
        return apply(spelling, {nested([&] { return unary(); })});
    return primary();
  }

  Formula primary() {
    skip();
    if (take("(")) {
      Formula inside = nested([&] { return choice(); });
      if (!take(")"))
        fail("`)`");
      return inside;
    }
    if (!rest.empty() && (isDigit(rest.front()) || rest.front() == '.'))
      return number();
    StringRef name =
        rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (name.empty()) {
      fail("a number, a name or `(`");
      return {};
    }
    rest = rest.drop_front(name.size());
    if (take("["))
      return element(name);
    if (!take("("))
      return {Formula::Name, 0, name.str(), {}};
    std::vector<Formula> operands;
    if (!take(")")) {
      do
        operands.push_back(nested([&] { return choice(); }));
      while (take(","));
      if (!take(")"))
        fail("`,` or `)`");
    }
    return apply(name, std::move(operands));
  }

  Formula number() {
    StringRef digits =
        rest.take_while([](char c) { return isDigit(c) || c == '.'; });
    StringRef after = rest.drop_front(digits.size());
    if (after.consume_front("e") || after.consume_front("E")) {
      (void)(after.consume_front("-") || after.consume_front("+"));
      after = after.drop_while(isDigit);
      digits = rest.take_front(rest.size() - after.size());
    }
    double value;
    if (digits.getAsDouble(value)) {
      fail("a number");
      return {};
    }
    rest = rest.drop_front(digits.size());
    return {Formula::Number, value, digits.str(), {}};
  }

  /// Parses `number]`, the text after the opening bracket of `name[number]`,
  /// and returns the formula for this element of a list.
  Formula element(StringRef name) {
    skip();
    Formula index = number();
    if (!take("]"))
      fail("`]`");
    return apply("[]", {{Formula::Name, 0, name.str(), {}}, std::move(index)});
  }

  Formula nested(function_ref<Formula()> parse) {
    if (++depth > deepest)
      fail("less nesting");
    Formula formula = error.empty() ? parse() : Formula();
    --depth;
    return formula;
  }

  StringRef whole, rest;
  std::string error;
  unsigned depth = 0;
};

} // namespace

Expected<Formula> parseFormula(StringRef text) {
  // Formulas are visited recursively, and a + b + c + ... is nested as well, so
  // the length of the text is limited.
  constexpr size_t longest = 8000;
  if (text.size() > longest)
    return createStringError(inconvertibleErrorCode(),
                             "a formula has more than %zu characters", longest);
  return Parser(text).run();
}

} // namespace ingot
