// Which target, at run time.

#include "codegen/files/SelectorPrinter.h"

using namespace mlir;

namespace ingot {

std::string targetNames(ArrayRef<Variant> variants) {
  std::string names;
  for (const Variant &variant : variants)
    names += (names.empty() ? "" : ", ") + variant.target->name.str();
  return names;
}

Selector::Selector(ArrayRef<Variant> variants, ArrayRef<Interface> interfaces,
                   NameScope &names)
    : variants(variants), interfaces(interfaces),
      inside(names.unique("select")) {
  for (const Variant &variant : variants)
    namespaces.push_back(names.unique(variant.target->name));
}

/// `number()`: 1 for the first of the variants, 0 for none of them.
void Selector::printNumber(TextWriter &out) const {
  // All but targets that need no question ask with the same text.
  for (const Variant &variant : variants)
    if (!variant.target->selectText.empty()) {
      out.raw() << variant.target->selectText;
      out.blank();
      break;
    }
  out.comment("The ablest target that this machine runs, from 1 on; 0: none. "
              "Kept, for asking can take longer than running a small model; "
              "threads that ask at once get the same answer.");
  out.open("inline int number() {");
  out.line("static int known = -1;");
  out.line("int result = __atomic_load_n(&known, __ATOMIC_RELAXED);");
  out.line("if (result >= 0) return result;");
  out.line("result = 0;");
  for (size_t i = variants.size(); i-- > 0;)
    out.line(StringRef(i + 1 < variants.size() ? "else " : "") + "if (" +
             variants[i].target->selectCondition +
             ") result = " + Twine(i + 1) + "; // " + variants[i].target->name);
  out.line("__atomic_store_n(&known, result, __ATOMIC_RELAXED);");
  out.line("return result;");
  out.close();
}

void Selector::print(TextWriter &out) const {
  out.line("namespace {");
  out.line("namespace " + inside + " {");
  out.blank();
  printNumber(out);
  out.blank();
  out.line("} // namespace " + inside);
  out.line("} // namespace");
  out.blank();

  std::string names = "nullptr";
  for (const Variant &variant : variants)
    names += ", \"" + variant.target->name.str() + "\"";
  out.open("extern \"C\" const char *" + interfaces.front().sharedName +
           "_target(void) {");
  out.line("static const char *const names[] = {" + names + "};");
  out.line("return names[" + inside + "::number()];");
  out.close();

  for (const Interface &interface : interfaces) {
    const std::string &name = interface.name;
    out.blank();
    out.open("extern \"C\" ingot_status " + name + "_run(const " + name +
             "_io *io, void *arena, const ingot_context *context) {");
    out.line("switch (" + inside + "::number()) {");
    for (size_t i = variants.size(); i-- > 0;)
      out.line("case " + Twine(i + 1) + ": return " + namespaces[i] +
               "::" + interface.localName() + "(io, arena, context);");
    out.line("default: return INGOT_ERROR_TARGET;");
    out.line("}");
    out.close();
  }
}

} // namespace ingot
