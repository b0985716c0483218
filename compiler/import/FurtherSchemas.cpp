#include "compiler/import/FurtherSchemas.h"

#include "onnx/defs/schema.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace ingot {

namespace {

struct OperatorLine {
  const char *domain, *name, *operands, *types, *attributes;
};
constexpr OperatorLine lines[] = {
#define INGOT_OPERATOR(DOMAIN, NAME, OPERANDS, TYPES, ATTRIBUTES)              \
  {DOMAIN, NAME, OPERANDS, TYPES, ATTRIBUTES},
#include "compiler/import/FurtherOperators.def"
#undef INGOT_OPERATOR
};

SmallVector<StringRef> wordsOf(StringRef text, char separator = ' ') {
  SmallVector<StringRef> words;
  text.split(words, separator, -1, /*KeepEmpty=*/false);
  return words;
}

std::string tensorOf(StringRef element) {
  return ("tensor(" + element + ")").str();
}

/// Returns a type as ONNX's schemas write it: either a letter, which stands for
/// a list of types, or the tensor type for an element type, such as
/// "tensor(float)" for "float".
std::string typeText(StringRef type) {
  return type.size() == 1 ? type.str() : tensorOf(type);
}

void addTypes(onnx::OpSchema &schema, StringRef text) {
  for (StringRef word : wordsOf(text)) {
    auto [letter, elements] = word.split('=');
    std::vector<std::string> types;
    for (StringRef element : wordsOf(elements, '|'))
      types.push_back(tensorOf(element));
    schema.TypeConstraint(letter.str(), types, "");
  }
}

void addOperands(onnx::OpSchema &schema, StringRef text) {
  using Schema = onnx::OpSchema;
  auto [inputs, outputs] = text.split("->");
  auto each = [&](StringRef list, auto add) {
    for (auto [i, word] : enumerate(wordsOf(list))) {
      auto [name, type] = word.split(':');
      auto option = name.consume_back("...") ? Schema::Variadic
                    : name.consume_back("?") ? Schema::Optional
                                             : Schema::Single;
      add(int(i), name.str(), typeText(type), option);
    }
  };
  each(inputs, [&](int i, std::string name, std::string type, auto option) {
    schema.Input(i, name, "", type, option, /*is_homogeneous=*/false);
  });
  each(outputs, [&](int i, std::string name, std::string type, auto option) {
    schema.Output(i, name, "", type, option);
  });
}

/// Returns the attribute `name` of type `type`, with the value that `text`
/// denotes; without a value if `text` is empty.
onnx::AttributeProto attributeOf(StringRef name, StringRef type,
                                 StringRef text) {
  using Proto = onnx::AttributeProto;
  Proto attribute;
  attribute.set_name(name.str());
  attribute.set_type(StringSwitch<Proto::AttributeType>(type)
                         .Case("int", Proto::INT)
                         .Case("float", Proto::FLOAT)
                         .Case("string", Proto::STRING)
                         .Case("ints", Proto::INTS)
                         .Case("floats", Proto::FLOATS)
                         .Case("strings", Proto::STRINGS)
                         .Default(Proto::UNDEFINED));
  int64_t number;
  double real;
  if (attribute.type() == Proto::INT && !text.getAsInteger(10, number))
    attribute.set_i(number);
  if (attribute.type() == Proto::FLOAT && !text.empty() &&
      !text.getAsDouble(real))
    attribute.set_f(static_cast<float>(real));
  if (attribute.type() == Proto::STRING)
    attribute.set_s(text.str());
  return attribute;
}

void addAttributes(onnx::OpSchema &schema, StringRef text) {
  for (StringRef word : wordsOf(text)) {
    auto [name, rest] = word.split(':');
    bool isRequired = rest.consume_back("!");
    auto [type, value] = rest.split('=');
    onnx::AttributeProto attribute = attributeOf(name, type, value);
    if (value.empty())
      schema.Attr(onnx::OpSchema::Attribute(name.str(), "", attribute.type(),
                                            isRequired));
    else
      schema.Attr(onnx::OpSchema::Attribute(name.str(), "", attribute));
  }
}

void registerAll() {
  auto &domains = onnx::OpSchemaRegistry::DomainToVersionRange::Instance();
  // This query makes ONNX's library register its own schemas first, before
  // those of FurtherOperators.def are added.
  (void)onnx::OpSchemaRegistry::Schema("Add");
  for (const OperatorLine &line : lines) {
    if (!domains.Map().count(line.domain))
      domains.AddDomainToVersion(line.domain, 1, 1);
    onnx::OpSchema schema(line.name, __FILE__, __LINE__);
    schema.SetDomain(line.domain).SinceVersion(1);
    addTypes(schema, line.types);
    addOperands(schema, line.operands);
    addAttributes(schema, line.attributes);
    onnx::RegisterSchema(std::move(schema));
  }
}

} // namespace

void registerFurtherSchemas() {
  static const bool once = (registerAll(), true);
  (void)once;
}

} // namespace ingot
