#include "compiler/import/OperandShapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace ingot {

using kernel::Dim;

StringRef operandRule(StringRef domain, StringRef name) {
  static const std::map<std::pair<StringRef, StringRef>, StringRef> rules{
#define INGOT_OPERANDS(DOMAIN, NAME, RULE) {{DOMAIN, NAME}, RULE},
#include "compiler/import/OperandShapes.def"
#undef INGOT_OPERANDS
  };
  auto it = rules.find({domain == "ai.onnx" ? "" : domain, name});
  return it == rules.end() ? "" : it->second;
}

namespace {

/// One input in a rule of OperandShapes.def: its name and its alternative
/// shapes, as text such as "[N,C]|[]".
struct RuleInput {
  StringRef name, shapes;
};

/// One of the alternatives that `;` separates in a rule of OperandShapes.def.
struct Clause {
  /// The required value of an attribute, such as "layout=1"; empty if there is
  /// none.
  StringRef condition;
  StringRef text;
  SmallVector<RuleInput> inputs;
};

SmallVector<StringRef> splitTrimmed(StringRef text, char separator) {
  SmallVector<StringRef> parts;
  text.split(parts, separator, -1, /*KeepEmpty=*/false);
  for (StringRef &part : parts)
    part = part.trim();
  return parts;
}

SmallVector<Clause> clausesOf(StringRef rule) {
  SmallVector<Clause> clauses;
  for (StringRef text : splitTrimmed(rule, ';')) {
    Clause clause;
    if (text.contains(':'))
      std::tie(clause.condition, text) = text.split(':');
    clause.text = text.trim();
    for (StringRef word : splitTrimmed(clause.text, ' '))
      clause.inputs.push_back(
          {word.take_until([](char c) { return c == '['; }),
           word.drop_until([](char c) { return c == '['; })});
    clauses.push_back(std::move(clause));
  }
  return clauses;
}

/// Returns the texts of the sizes in a shape: "N" and "4*H" for "[N,4*H]".
SmallVector<StringRef> sizesOf(StringRef shape) {
  return splitTrimmed(shape.drop_front().drop_back(), ',');
}

bool isLetter(StringRef name) { return !name.empty() && isUpper(name.front()); }

/// What a dynamic size may be assumed to be equal to so that an input's shape
/// matches a rule.
enum class Assume {
  Nothing,
  /// A dynamic size may be assumed to be equal to other sizes of the inputs,
  /// values of attributes, and multiples of both.
  Sizes,
  /// In addition, a dynamic size may be assumed to be equal to a number in the
  /// rule.
  Numbers
};

/// The values of the letters in a rule of OperandShapes.def that the inputs
/// matched so far have determined.
class Bindings {
public:
  explicit Bindings(AttributeValue attribute) : attribute(attribute) {}

  bool matchShape(StringRef text, ArrayRef<Dim> shape, Assume mode) {
    assume = mode;
    SmallVector<StringRef> sizes = sizesOf(text);
    auto *run =
        find_if(sizes, [](StringRef size) { return size.ends_with("..."); });
    size_t before = run - sizes.begin();
    if (run == sizes.end())
      return sizes.size() == shape.size() && matchSizes(sizes, shape);
    size_t after = sizes.size() - before - 1;
    if (shape.size() < before + after)
      return false;
    ArrayRef<StringRef> all = sizes;
    return matchSizes(all.take_front(before), shape.take_front(before)) &&
           matchSizes(all.take_back(after), shape.take_back(after)) &&
           matchRun(run->drop_back(3),
                    shape.drop_front(before).drop_back(after));
  }

  /// Returns the known letters of a shape with their values, such as "D=1,
  /// H=4", for diagnostics.
  std::string describe(StringRef text) const {
    std::string known;
    for (StringRef size : sizesOf(text)) {
      for (StringRef factor : splitTrimmed(size, '*')) {
        std::optional<Dim> value = valueOf(factor);
        if (!value || isDigit(factor.front()))
          continue;
        std::string pair = (factor + "=" + kernel::sizeText(*value)).str();
        if (!StringRef(known).contains(pair))
          known += (known.empty() ? "" : ", ") + pair;
      }
    }
    return known;
  }

  /// The pairs of sizes that had to be assumed to be equal so far.
  SizePairs needed;

private:
  bool matchSizes(ArrayRef<StringRef> texts, ArrayRef<Dim> sizes) {
    return all_of(zip_equal(texts, sizes), [&](auto pair) {
      return matchSize(std::get<0>(pair), std::get<1>(pair));
    });
  }

  /// Matches a size with a product such as "4*H". If one factor is a letter
  /// without a value, the letter gets the value for which the product equals
  /// the size. The product matches any size if it contains `_`, an attribute
  /// without a value, or two letters without values.
  bool matchSize(StringRef text, const Dim &size) {
    constexpr int64_t most = int64_t(1) << 31;
    Dim known = 1;
    StringRef open;
    bool isNumber = false;
    for (StringRef factor : splitTrimmed(text, '*')) {
      isNumber |= isDigit(factor.front());
      if (std::optional<Dim> value = valueOf(factor)) {
        if (value->most() > most || known.most() > most)
          return false;
        known *= *value;
        continue;
      }
      if (!isLetter(factor) || !open.empty())
        return true;
      open = factor;
    }
    if (open.empty())
      return areEqual(size, known,
                      isNumber && known.known() ? Assume::Numbers
                                                : Assume::Sizes);
    std::optional<Dim> rest;
    if (known == 1)
      rest = size;
    else if (known.least() > 0)
      rest = size.dividedBy(known);
    if (!rest && known.known().value_or(0) > 0 && !size.known()) {
      rest = size.floorDiv(*known.known());
      if (!areEqual(size, *rest * known, Assume::Sizes))
        return false;
    }
    if (!rest)
      return false;
    letters[open] = *rest;
    return true;
  }

  bool areEqual(const Dim &x, const Dim &y, Assume mode) {
    if (x == y)
      return true;
    if (assume < mode || (x.known() && y.known()))
      return false;
    needed.push_back({x, y});
    return true;
  }

  bool matchRun(StringRef name, ArrayRef<Dim> sizes) {
    if (name.empty())
      return true;
    auto [it, isNew] = runs.try_emplace(name, sizes);
    return isNew || (it->second.size() == sizes.size() &&
                     all_of(zip_equal(it->second, sizes), [&](auto pair) {
                       return areEqual(std::get<1>(pair), std::get<0>(pair),
                                       Assume::Sizes);
                     }));
  }

  std::optional<Dim> valueOf(StringRef factor) const {
    int64_t number;
    if (!factor.getAsInteger(10, number))
      return Dim(number);
    if (!isLetter(factor)) {
      std::optional<int64_t> value =
          factor == "_" ? std::nullopt : attribute(factor);
      return value ? std::optional(Dim(*value)) : std::nullopt;
    }
    auto it = letters.find(factor);
    return it == letters.end() ? std::nullopt : std::optional(it->second);
  }

  AttributeValue attribute;
  Assume assume = Assume::Nothing;
  std::map<StringRef, Dim> letters;
  std::map<StringRef, ArrayRef<Dim>> runs;
};

std::string list(ArrayRef<Dim> shape) {
  return "[" + join(map_range(shape, kernel::sizeText), ",") + "]";
}

/// The result of matching a node's inputs against one alternative of a rule.
struct ClauseResult {
  /// The first input that does not match, and how many inputs matched before
  /// it.
  std::optional<OperandMismatch> mismatch;
  size_t fitting = 0;
  SizePairs needed = {};
};

/// Whether `input` matches one of the alternatives `shapes`. If several match,
/// the first of those that need the fewest assumptions determines the values of
/// the letters in `bindings`.
bool fitsOne(ArrayRef<StringRef> shapes, const OperandShape &input,
             Bindings &bindings, bool mayAssume) {
  for (Assume mode : {Assume::Nothing, Assume::Sizes, Assume::Numbers}) {
    if (mode != Assume::Nothing && !mayAssume)
      continue;
    for (StringRef shape : shapes) {
      Bindings attempt = bindings;
      if (!attempt.matchShape(shape, input.shape, mode))
        continue;
      bindings = attempt;
      return true;
    }
  }
  return false;
}

ClauseResult checkClause(const Clause &clause, ArrayRef<OperandShape> inputs,
                         AttributeValue attribute, bool mayAssume) {
  Bindings bindings(attribute);
  size_t fitting = 0;
  for (const RuleInput &rule : clause.inputs) {
    for (const OperandShape &input : inputs) {
      if (input.name != rule.name)
        continue;
      SmallVector<StringRef> shapes = splitTrimmed(rule.shapes, '|');
      if (fitsOne(shapes, input, bindings, mayAssume)) {
        ++fitting;
        continue;
      }
      std::string known = bindings.describe(shapes.front());
      std::string message = "the input `" + input.name.str() +
                            "` has the shape " + list(input.shape) +
                            ", but must be " + join(shapes, " or ") +
                            (known.empty() ? "" : " with " + known);
      return {OperandMismatch{message, clause.text.str()}, fitting};
    }
  }
  return {std::nullopt, fitting, std::move(bindings.needed)};
}

} // namespace

std::optional<OperandMismatch> checkOperandShapes(StringRef rule,
                                                  ArrayRef<OperandShape> inputs,
                                                  AttributeValue attribute,
                                                  SizePairs *needed) {
  std::optional<OperandMismatch> closest;
  size_t most = 0;
  bool isForSome = false;
  std::string other;
  for (const Clause &clause : clausesOf(rule)) {
    auto [name, value] = clause.condition.split('=');
    int64_t wanted;
    if (!value.getAsInteger(10, wanted)) {
      int64_t found = attribute(name).value_or(0);
      if (found != wanted) {
        other += other.empty() ? ("the attribute `" + name + "` is " +
                                  Twine(found) + ", but must be " + value)
                                     .str()
                               : (" or " + value).str();
        continue;
      }
    }
    isForSome = true;
    ClauseResult result =
        checkClause(clause, inputs, attribute, needed != nullptr);
    if (!result.mismatch) {
      if (needed)
        *needed = std::move(result.needed);
      return std::nullopt;
    }
    if (!closest || result.fitting > most) {
      closest = std::move(result.mismatch);
      most = result.fitting;
    }
  }
  if (!isForSome && !other.empty())
    return OperandMismatch{other, rule.str()};
  return closest;
}

std::string checkRuleText(StringRef rule, ArrayRef<std::string> names,
                          ArrayRef<std::string> attributes) {
  for (const Clause &clause : clausesOf(rule)) {
    auto [name, value] = clause.condition.split('=');
    if (!name.empty() && !is_contained(attributes, name))
      return "no attribute " + name.str();
    for (const RuleInput &input : clause.inputs) {
      if (!is_contained(names, input.name))
        return "no input " + input.name.str();
      for (StringRef shape : splitTrimmed(input.shapes, '|')) {
        if (!shape.starts_with("[") || !shape.ends_with("]"))
          return "no shape " + shape.str();
        for (StringRef size : sizesOf(shape)) {
          size.consume_back("...");
          int64_t number;
          for (StringRef factor : splitTrimmed(size, '*'))
            if (!isLetter(factor) && factor != "_" &&
                factor.getAsInteger(10, number) &&
                !is_contained(attributes, factor))
              return "no attribute " + factor.str();
        }
      }
    }
  }
  return "";
}

} // namespace ingot
