// Tests where codegen/kernel/TextWriter.h breaks lines.
#include "codegen/kernel/TextWriter.h"

#include "llvm/ADT/SmallVector.h"

#include <catch2/catch.hpp>

using namespace ingot;

/// Returns the lines that `write` prints to a TextWriter.
template <typename Write> static std::vector<std::string> lines(Write write) {
  std::string text;
  llvm::raw_string_ostream os(text);
  TextWriter out(os);
  write(out);
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, '\n');
  REQUIRE(parts.pop_back_val().empty());
  return {parts.begin(), parts.end()};
}
static std::vector<std::string> code(const std::string &text) {
  return lines([&](TextWriter &out) { out.line(text); });
}
static std::vector<std::string> comment(const std::string &text) {
  return lines([&](TextWriter &out) { out.comment(text); });
}
static std::vector<std::string> blockComment(const std::string &text) {
  return lines([&](TextWriter &out) { out.blockComment(text); });
}

using Lines = std::vector<std::string>;
static const std::string longName(80, 'n'), longText(120, 't');

TEST_CASE("code breaks after a comma, outside of brackets", "[codegen]") {
  CHECK(code("f(" + longName + ", g(a, b), 7);") ==
        Lines{"f(" + longName + ", g(a, b), 7);"});
  CHECK(code("f(" + longName + ", g(a, b), " + longName + ");") ==
        Lines{"f(" + longName + ", g(a, b),", "    " + longName + ");"});
  // A word that is too long breaks at the next space; a final { stays on the
  // line.
  CHECK(code(longText + " = 1;") == Lines{longText, "    = 1;"});
  CHECK(code(longText + " {") == Lines{longText + " {"});
}

TEST_CASE("calls in calls break behind a bracket", "[codegen]") {
  // The only space is beyond the line width, so the line breaks after a
  // bracket.
  CHECK(code("f(" + longName + "(" + longName + "(x, 1)));") ==
        Lines{"f(" + longName + "(", "    " + longName + "(x, 1)));"});
}

TEST_CASE("a directive of the preprocessor is one line", "[codegen]") {
  std::string macro = "#define " + longName + "_" + longName + "_ELEMENTS 6u";
  CHECK(code(macro) == Lines{macro});
  CHECK(code("  " + macro) == Lines{"  " + macro});
}

TEST_CASE("literals stay whole", "[codegen]") {
  std::string text = "\"" + longName + " a, b \\\" c, " + longName + "\"";
  CHECK(code("check(x, " + text + ", y);") ==
        Lines{"check(x,", "    " + text + ",", "    y);"});
  std::string space = longName + longName + "('\"', ' ', '\\'');";
  CHECK(code(space) ==
        Lines{longName + longName + "('\"',", "    ' ', '\\'');"});
  // An unterminated literal extends to the end of the line, and no line break
  // is put into it.
  CHECK(code("a \"" + longText + " b") ==
        Lines{"a", "    \"" + longText + " b"});
}

TEST_CASE("comments beside code stay whole", "[codegen]") {
  std::string remark = "// it's " + longName + " and more of that, and so on";
  CHECK(code("x = 1; " + remark) == Lines{"x = 1;", "    " + remark});
  CHECK(code(remark + " " + remark) == Lines{remark + " " + remark});
  std::string block = "/* the model's name, which is long, and more */";
  CHECK(code("f(" + block + " a, " + longName + ");") ==
        Lines{"f(" + block + " a,", "    " + longName + ");"});
}

TEST_CASE("comments wrap, whatever the length of their words", "[codegen]") {
  CHECK(comment("a\n\nb") == Lines{"// a", "//", "// b"});
  CHECK(comment(longName + " " + longName) ==
        Lines{"// " + longName, "// " + longName});
  CHECK(comment(longText + " and so on") ==
        Lines{"// " + longText, "// and so on"});
  CHECK(comment("so " + longText + " on") ==
        Lines{"// so", "// " + longText, "// on"});
  // Comments also wrap if the indentation exceeds the line width.
  Lines deep = lines([&](TextWriter &out) {
    for (int i = 0; i < 60; ++i)
      out.open("{");
    out.comment(longName + " " + longName);
    out.line(longName + " = " + longName + ";");
  });
  REQUIRE(deep.size() == 65);
  CHECK(deep[60] == std::string(120, ' ') + "// " + longName);
  CHECK(deep[62] == std::string(120, ' ') + longName);
}

TEST_CASE("block comments are closed once, and nothing closes them before",
          "[codegen]") {
  CHECK(blockComment("a") == Lines{"/* a */"});
  CHECK(blockComment("a\n\n" + longName + " " + longName) ==
        Lines{"/* a", " *", " * " + longName, " * " + longName + " */"});
  CHECK(blockComment("a */ b /* c \\") == Lines{"/* a * / b / * c _ */"});
}
