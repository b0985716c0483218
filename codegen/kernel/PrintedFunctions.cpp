#include "codegen/kernel/PrintedFunctions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot {

namespace {
struct Helper {
  StringRef name, comment, text;
};
} // namespace

/// The constants and functions, in the order in which they are printed.
static constexpr Helper helpers[] = {
    {"to_integer",
     "1.5 * 2^23: a small float to which it is added is rounded to the nearest "
     "integer (ties to even), which the low bits of the sum then hold.",
     "constexpr float to_integer = 12582912.0f;\n"},
    {"to_integer_bits", "The bits of to_integer.",
     "constexpr uint32_t to_integer_bits = 1262485504u;\n"},
    {"to_integer_f64",
     "1.5 * 2^52: a small double to which it is added is rounded to the "
     "nearest integer (ties to even).",
     "constexpr double to_integer_f64 = 6755399441055744.0;\n"},
    {"bits_of_f32", "The bits of x.",
     "INGOT_INLINE uint32_t bits_of_f32(float x) {\n"
     "  uint32_t bits;\n"
     "  INGOT_COPY(&bits, &x, sizeof bits);\n"
     "  return bits;\n"
     "}\n"},
    {"f32_of_bits", "The float with these bits.",
     "INGOT_INLINE float f32_of_bits(uint32_t bits) {\n"
     "  float x;\n"
     "  INGOT_COPY(&x, &bits, sizeof x);\n"
     "  return x;\n"
     "}\n"},
    {"bits_of_f64", "The bits of x.",
     "INGOT_INLINE uint64_t bits_of_f64(double x) {\n"
     "  uint64_t bits;\n"
     "  INGOT_COPY(&bits, &x, sizeof bits);\n"
     "  return bits;\n"
     "}\n"},
    {"f64_of_bits", "The double with these bits.",
     "INGOT_INLINE double f64_of_bits(uint64_t bits) {\n"
     "  double x;\n"
     "  INGOT_COPY(&x, &bits, sizeof x);\n"
     "  return x;\n"
     "}\n"},
    {"fabs_f32", "The absolute value of x.",
     "INGOT_INLINE float fabs_f32(float x) {\n"
     "  return INGOT_MATH(fabsf)(x);\n"
     "}\n"},
    {"fabs_f64", "The absolute value of x.",
     "INGOT_INLINE double fabs_f64(double x) {\n"
     "  return INGOT_MATH(fabs)(x);\n"
     "}\n"},
    {"copysign_f32", "x with the sign of y.",
     "INGOT_INLINE float copysign_f32(float x, float y) {\n"
     "  return INGOT_MATH(copysignf)(x, y);\n"
     "}\n"},
    {"copysign_f64", "x with the sign of y.",
     "INGOT_INLINE double copysign_f64(double x, double y) {\n"
     "  return INGOT_MATH(copysign)(x, y);\n"
     "}\n"},
};

bool isHelper(StringRef name) {
  return any_of(helpers,
                [&](const Helper &helper) { return helper.name == name; });
}

/// Prints functions that take consecutive lanes of a vector, or that place two
/// vectors side by side.
static void printParts(const SourceContext &context, TextWriter &out) {
  for (const auto &[name, part] : context.parts) {
    bool isJoin = part.count > part.lanesOfOperand;
    std::string parameters =
        part.operand + (isJoin ? " low, " + part.operand + " high" : " x");
    std::string text = isJoin ? "low, high" : "x, x";
    for (int64_t lane = 0; lane < part.count; ++lane)
      text += ", " + itostr(part.first + lane);
    out.open(out.language.internal() + "INGOT_INLINE " + part.result + " " +
             name + "(" + parameters + ") {");
    out.line("return __builtin_shufflevector(" + text + ");");
    out.close();
  }
  if (!context.parts.empty())
    out.blank();
}

void printHelpers(const SourceContext &context, TextWriter &out) {
  for (const Helper &helper : helpers) {
    if (!context.helpers.count(helper.name.str()))
      continue;
    out.comment(helper.comment);
    // A constant is local to its file in C++.
    out.raw() << (helper.text.starts_with("constexpr")
                      ? ""
                      : out.language.internal())
              << out.language.spelled(helper.text);
    out.blank();
  }
  printParts(context, out);
}

std::vector<StringRef> printCompilerMacros(StringRef text, TextWriter &out) {
  struct Macro {
    StringRef name, parameters, gnu, other, include;
  };
  static constexpr Macro all[] = {
      {"INGOT_NOINLINE", "", "[[gnu::noinline]]", "", ""},
      {"INGOT_INLINE", "", "[[gnu::always_inline]] inline", "inline", ""},
      {"INGOT_COPY", "", "__builtin_memcpy", "memcpy", "string.h"},
      {"INGOT_MATH", "(function)", "__builtin_##function", "function",
       "math.h"},
      {"INGOT_INFINITY", "", "__builtin_inff()", "INFINITY", "math.h"},
      {"INGOT_NAN", "", "__builtin_nanf(\"\")", "NAN", "math.h"},
      {"INGOT_F64_INFINITY", "", "__builtin_inf()", "HUGE_VAL", "math.h"},
      {"INGOT_F64_NAN", "", "__builtin_nan(\"\")", "double(NAN)", "math.h"},
  };
  SmallVector<Macro> used;
  for (const Macro &macro : all)
    if (text.contains(macro.name))
      used.push_back(macro);
  std::vector<StringRef> names;
  if (used.empty())
    return names;
  auto define = [&](const Macro &macro, StringRef as) {
    out.line(Twine("#define ") + macro.name + macro.parameters +
             (as.empty() ? "" : " ") + out.language.spelled(as));
  };
  out.line("#if defined(__GNUC__)");
  for (const Macro &macro : used)
    define(macro, macro.gnu);
  out.line("#else");
  out.comment("Compilers without the extensions of GCC.");
  std::set<StringRef> includes;
  for (const Macro &macro : used)
    if (!macro.include.empty() && includes.insert(macro.include).second)
      out.line("#include <" + macro.include + ">");
  for (const Macro &macro : used) {
    define(macro, macro.other);
    names.push_back(macro.name);
  }
  out.line("#endif");
  out.blank();
  return names;
}

} // namespace ingot
