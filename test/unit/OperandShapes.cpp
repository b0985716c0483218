// Tests compiler/import/OperandShapes.h: the rules, and how they are
// interpreted.
#include "compiler/import/OperandShapes.h"
#include "compiler/import/FurtherSchemas.h"
#include "dialects/kernel/KernelDialect.h"
#include "onnx/defs/schema.h"

#include <catch2/catch.hpp>
#include <map>

using namespace ingot;

namespace {
/// Checks shapes against `rule`, so that tests do not depend on
/// OperandShapes.def.
std::string check(llvm::StringRef rule,
                  std::map<std::string, std::vector<int64_t>> shapes,
                  std::map<std::string, int64_t> attributes = {}) {
  std::vector<OperandShape> inputs;
  for (const auto &[name, shape] : shapes)
    inputs.push_back({name, kernel::Dims(shape.begin(), shape.end())});
  auto attribute = [&](llvm::StringRef name) -> std::optional<int64_t> {
    auto it = attributes.find(name.str());
    return it == attributes.end() ? std::nullopt : std::optional(it->second);
  };
  auto mismatch = checkOperandShapes(rule, inputs, attribute);
  return mismatch ? mismatch->message : "";
}
} // namespace

TEST_CASE("rules name inputs and attributes that ONNX has", "[operands]") {
  registerFurtherSchemas();
  std::map<std::pair<std::string, std::string>, bool> found;
  for (const onnx::OpSchema &schema :
       onnx::OpSchemaRegistry::get_all_schemas()) {
    llvm::StringRef rule = operandRule(schema.domain(), schema.Name());
    if (rule.empty())
      continue;
    found[{schema.domain(), schema.Name()}] = true;
    INFO(schema.Name());
    std::vector<std::string> names, attributes;
    for (const auto &input : schema.inputs())
      names.push_back(input.GetName());
    for (const auto &[name, attribute] : schema.attributes())
      attributes.push_back(name);
    CHECK(checkRuleText(rule, names, attributes) == "");
  }
#define INGOT_OPERANDS(DOMAIN, NAME, RULE) CHECK(found.count({DOMAIN, NAME}));
#include "compiler/import/OperandShapes.def"
#undef INGOT_OPERANDS
}

TEST_CASE("a letter is the same size everywhere", "[operands]") {
  llvm::StringRef rule = "x[N,C] w[M,C] b[M]";
  CHECK(check(rule, {{"x", {2, 3}}, {"w", {4, 3}}, {"b", {4}}}) == "");
  CHECK(check(rule, {{"x", {2, 3}}, {"w", {4, 3}}}) == "");
  CHECK(check(rule, {{"x", {2, 3}}, {"w", {4, 3}}, {"b", {5}}}) ==
        "the input `b` has the shape [5], but must be [M] with M=4");
  CHECK(check(rule, {{"x", {2, 3}}, {"w", {3}}}) ==
        "the input `w` has the shape [3], but must be [M,C] with C=3");
}

TEST_CASE("a product binds its one unknown factor", "[operands]") {
  llvm::StringRef rule = "x[N,group*C] w[M,C] b[4*M]";
  CHECK(check(rule, {{"x", {1, 6}}, {"w", {5, 3}}, {"b", {20}}},
              {{"group", 2}}) == "");
  CHECK(check(rule, {{"x", {1, 7}}, {"w", {5, 3}}}, {{"group", 2}}) ==
        "the input `x` has the shape [1,7], but must be [N,group*C] with "
        "group=2");
  CHECK(check(rule, {{"x", {1, 6}}, {"w", {5, 6}}}, {{"group", 2}}) != "");
  CHECK(check(rule, {{"x", {1, 6}}, {"w", {5, 3}}, {"b", {21}}},
              {{"group", 2}}) != "");
  // A size cannot be divided by these factors.
  CHECK(check(rule, {{"x", {1, 6}}}, {{"group", 0}}) != "");
  CHECK(check(rule, {{"x", {1, 6}}}, {{"group", -1}}) != "");
  CHECK(check("x[a*a*a*N]", {{"x", {6}}}, {{"a", INT64_MAX}}) != "");
  // An attribute without a value imposes no constraint.
  CHECK(check(rule, {{"x", {1, 7}}, {"w", {5, 3}}}) == "");
}

TEST_CASE("runs of axes, alternatives and conditions", "[operands]") {
  CHECK(check("x[N,R...] y[R...]", {{"x", {1, 2, 3}}, {"y", {2, 3}}}) == "");
  CHECK(check("x[N,R...] y[R...]", {{"x", {1}}, {"y", {}}}) == "");
  CHECK(check("x[N,R...] y[R...]", {{"x", {1, 2, 3}}, {"y", {3, 2}}}) != "");
  CHECK(check("x[N,...,C]", {{"x", {1}}}) != "");
  CHECK(check("x[N,C] s[]|[1]|[C]", {{"x", {1, 2}}, {"s", {1}}}) == "");
  CHECK(check("x[N,C] s[]|[1]|[C]", {{"x", {1, 2}}, {"s", {3}}}) != "");
  llvm::StringRef layouts = "last=0: x[N,C,S] s[C]; last=1: x[N,S,C] s[C]";
  CHECK(check(layouts, {{"x", {1, 2, 3}}, {"s", {2}}}) == "");
  CHECK(check(layouts, {{"x", {1, 2, 3}}, {"s", {2}}}, {{"last", 1}}) != "");
  CHECK(check(layouts, {{"x", {1, 2, 3}}, {"s", {3}}}, {{"last", 1}}) == "");
  CHECK(check(layouts, {{"x", {1, 2, 3}}, {"s", {3}}}, {{"last", 2}}) ==
        "the attribute `last` is 2, but must be 0 or 1");
  llvm::StringRef ranks = "x[N,C] y[C]; x[N,H,C] y[H,C]";
  CHECK(check(ranks, {{"x", {1, 2, 3}}, {"y", {2, 3}}}) == "");
  // If no alternative matches, the message is about the closest one.
  CHECK(check(ranks, {{"x", {1, 2, 3}}, {"y", {2, 4}}}) ==
        "the input `y` has the shape [2,4], but must be [H,C] with H=2, C=3");
}

TEST_CASE("sizes known only at run time fit if they are what a rule needs",
          "[operands]") {
  mlir::MLIRContext context;
  context.loadDialect<kernel::KernelDialect>();
  auto size = [&](llvm::StringRef name) {
    return kernel::Dim(kernel::SymbolAttr::get(&context, name, 0, 64));
  };
  auto attribute = [](llvm::StringRef) { return std::optional<int64_t>(2); };
  auto needed = [&](llvm::StringRef rule, kernel::Dims x, kernel::Dims w) {
    SizePairs pairs;
    auto mismatch =
        checkOperandShapes(rule, {{"x", x}, {"w", w}}, attribute, &pairs);
    std::string text = mismatch ? mismatch->message : "";
    for (const auto &[a, b] : pairs)
      text += kernel::sizeText(a) + " = " + kernel::sizeText(b) + ";";
    // Shapes that match only under assumptions do not match if no assumptions
    // are allowed.
    CHECK((pairs.empty() ||
           checkOperandShapes(rule, {{"x", x}, {"w", w}}, attribute)));
    return text;
  };
  kernel::Dim n = size("n"), c = size("c");
  CHECK(needed("x[N,C] w[M,C]", {n, c}, {4, 3}) == "3 = c;");
  CHECK(needed("x[N,C] w[N,C]", {n, c}, {n, c}) == "");
  CHECK(needed("x[N,group*C] w[M,C]", {n, c}, {4, n}) ==
        "c = (c floordiv 2) * 2;n = c floordiv 2;");
  // The alternative that needs the fewest assumptions is chosen.
  CHECK(needed("x[N] w[1]|[N]", {n}, {c}) == "c = n;");
  CHECK(needed("x[N] w[1]", {n}, {c}) == "c = 1;");
  CHECK(needed("x[N,C] w[M,C]", {n, 3}, {4, 5}) ==
        "the input `w` has the shape [4,5], but must be [M,C] with C=3");
}
