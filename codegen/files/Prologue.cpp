#include "codegen/files/Prologue.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

void printVectorTypes(const SourceContext &context, TextWriter &out) {
  std::set<std::string> types = context.vectorTypes;
  // Prints each vector type that is used as a value, and the variants of it
  // that are used in memory (suffixes _u and _a).
  for (const std::string &name : context.vectorTypes)
    printVectorTypedef(name, out.raw());
  if (!types.empty())
    out.blank();
  for (const std::string &name : context.splats) {
    StringRef type = name;
    unsigned bits = 0;
    type.drop_front().split('x').first.getAsInteger(10, bits);
    std::string element = type.front() == 'f'
                              ? (bits == 32 ? "float" : "double")
                              : "uint" + llvm::utostr(bits) + "_t";
    // The function broadcasts the scalar by subtracting a vector of zeros from
    // it: that preserves -0.0, whereas adding zeros would not.
    std::string splat = "x - " + out.language.zero(type);
    for (const Intrinsic &row : context.target.intrinsics)
      if (row.op == "vector.broadcast" && row.result == type) {
        splat = out.language.cast(type, out.language.spelled(row.spelling));
        splat.replace(splat.find("{0}"), 3, "x");
      }
    out.line(out.language.internal() + "INGOT_INLINE " + type + " splat_" +
             type + "(" + element + " x) { return " + splat + "; }");
  }
  for (StringRef type : context.selects) {
    auto [bits, lanes] = type.drop_front().split('x');
    std::string mask = ("i" + bits + "x" + lanes).str();
    out.line("static INGOT_INLINE " + type + " select_" + type + "(" + mask +
             " which, " + type + " a, " + type + " b) {");
    out.line("  return (" + type + ")((which & (" + mask + ")a) | (~which & (" +
             mask + ")b));");
    out.line("}");
  }
  if (!context.splats.empty() || !context.selects.empty())
    out.blank();
  // The load and store functions return references (pointers, in C), since a
  // target may have no registers to return a vector in. Pointers are cast
  // through void *: compilers warn about a cast to a pointer of larger
  // alignment, but the vector type is declared with that of the elements.
  StringRef mark = out.language.isC ? " *" : " &",
            value = out.language.isC ? "" : "*";
  for (StringRef memory : context.loads)
    out.line(out.language.internal() + "INGOT_INLINE const " + memory + mark +
             "load_" + memory + "(const void *from) { return " + value +
             out.language.fromVoid("const " + memory, "from") + "; }");
  for (StringRef memory : context.stores)
    out.line(out.language.internal() + "INGOT_INLINE " + memory + mark + "at_" +
             memory + "(void *to) { return " + value +
             out.language.fromVoid(memory, "to") + "; }");
  if (!context.loads.empty() || !context.stores.empty())
    out.blank();
}

void printMemoryFunctions(StringRef programs, TextWriter &out) {
  bool any = false;
  auto print = [&](StringRef name, StringRef isConst, bool isFixed) {
    if (!programs.contains((name + (out.language.isC ? "(" : "<")).str()))
      return;
    any = true;
    if (out.language.isC) {
      out.line("static inline " + isConst + "void *" + name + "(" + isConst +
               "unsigned char *memory, ptrdiff_t offset) {");
      out.line("  return memory + offset;");
      out.line("}");
      return;
    }
    StringRef offset = "ptrdiff_t offset";
    out.line("template <typename T" + (isFixed ? ", " + offset : "") +
             "> inline " + isConst + "T *" + name + "(" + isConst +
             "unsigned char *memory" + (isFixed ? "" : ", " + offset) + ") {");
    out.line("  return static_cast<" + isConst + "T *>(static_cast<" + isConst +
             "void *>(memory + offset));");
    out.line("}");
  };
  print("buffer_at", "", /*isFixed=*/false);
  print("constants_at", "const ", /*isFixed=*/true);
  if (any)
    out.blank();
}

std::set<std::string> printOpening(StringRef opening, StringRef kernels,
                                   TextWriter &out) {
  // The text before the kernels of the target (its prologue), divided into
  // fragments, each of which is printed or omitted as a whole.
  struct Fragment {
    std::string comment, text;
    // "NAME(" for a macro, NAME for optional text; empty for text that is
    // always printed.
    std::string macro;
  };
  std::vector<Fragment> fragments;
  bool isInside = false, isComment = false, isNamed = false;
  std::string comment;
  while (!opening.empty()) {
    auto [line, rest] = opening.split('\n');
    opening = rest;
    // A line "//? NAME" begins optional text called NAME, which ends before the
    // next line with "//?".
    if (line.consume_front("//?")) {
      StringRef name = line.ltrim();
      isInside = isNamed = !name.empty();
      if (isNamed)
        fragments.push_back({"", "", name.str()});
      continue;
    }
    bool wasComment = std::exchange(isComment, line.starts_with("//"));
    if (isComment && !isNamed) {
      comment = (wasComment ? comment : "") + line.str() + '\n';
      continue;
    }
    if (!isInside) {
      StringRef name = line;
      bool isMacro =
          name.consume_front("#define ") && name.split(' ').first.contains('(');
      fragments.push_back(
          {comment, "", isMacro ? name.split('(').first.str() + "(" : ""});
    }
    fragments.back().text += line.str() + '\n';
    isInside = isNamed || line.ends_with("\\");
  }
  std::string used = kernels.str();
  for (Fragment &fragment : llvm::reverse(fragments)) {
    if (fragment.macro.empty() || StringRef(used).contains(fragment.macro))
      used += fragment.text;
    else
      fragment.text.clear();
  }
  StringRef printed;
  std::set<std::string> macros;
  for (const Fragment &fragment : fragments)
    if (!fragment.text.empty()) {
      for (StringRef line : llvm::split(fragment.text, '\n'))
        if (line.consume_front("#define "))
          macros.insert(
              line.take_until([](char c) { return c == ' ' || c == '('; })
                  .str());
      // A comment that describes several macros is printed only once.
      out.raw() << (fragment.comment == printed ? "" : fragment.comment)
                << out.language.spelled(fragment.text);
      printed = fragment.comment;
    }
  return macros;
}

} // namespace ingot
