// Prints the code that selects one of several targets at run time.

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
                   StringRef outside, NameScope &names)
    : variants(variants), interfaces(interfaces), outside(outside),
      inside(names.unique("select")) {
  for (const Variant &variant : variants)
    namespaces.push_back(names.unique(variant.target->name));
}

/// Prints the function `number()`, which returns the number of the most capable
/// variant that the machine supports, counted from 1; 0 if it supports none.
void Selector::printNumber(TextWriter &out) const {
  // Prints the text that queries the machine, and the text that requests a
  // permission from the operating system, once for all targets of a family.
  for (StringRef TargetDescription::*text :
       {&TargetDescription::selectText, &TargetDescription::permissionText})
    for (const Variant &variant : variants)
      if (!(variant.target->*text).empty()) {
        out.raw() << variant.target->*text;
        out.blank();
        break;
      }
  out.comment("Returns the number of the most capable target that this "
              "machine supports, counted from 1; 0 if it supports none. "
              "The result is kept, since the query can take longer than a "
              "small model. Concurrent calls return the same number.");
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

std::string Selector::passCondition(size_t number) const {
  // selectCondition compares `level`, the compute capability that the host has
  // queried, such as 90 for 9.0. __CUDA_ARCH__ is ten times as large.
  auto isOf = [](const Variant &variant) {
    return ("__CUDA_ARCH__ / 10" +
            variant.target->selectCondition.ltrim("level"))
        .str();
  };
  std::string text = isOf(variants[number]);
  for (const Variant &abler : variants.drop_front(number + 1))
    text += " && !(" + isOf(abler) + ")";
  return "!defined(__CUDA_ARCH__) || (" + text + ")";
}

void Selector::printDeviceNumber(TextWriter &out) const {
  out.comment("Stores the number of the most capable target that the "
              "current device supports, counted from 1.");
  out.open("inline ingot_status number(int *result) {");
  out.line("int device = 0, level = 0;");
  out.line("ingot_status status = " + namespaces.back() +
           "::device::current(&device, &level);");
  out.line("*result = 0;");
  for (size_t i = variants.size(); i-- > 0;)
    out.line(StringRef(i + 1 < variants.size() ? "else " : "") + "if (" +
             variants[i].target->selectCondition + ") *result = " +
             Twine(i + 1) + "; // " + variants[i].target->name);
  out.line("return status == INGOT_OK && *result == 0 ? INGOT_ERROR_TARGET : "
           "status;");
  out.close();
}

void Selector::printDevice(TextWriter &out) const {
  const Interface &interface = interfaces.front();
  const std::string &name = interface.sharedName;
  bool isFile = interface.weightsMode == WeightsMode::File;
  out.line("namespace {");
  // The struct `device`, whose functions call the driver, is the same in the
  // namespaces of all targets.
  out.line("using device = " + namespaces.back() + "::device;");
  out.line("namespace " + inside + " {");
  out.blank();
  printDeviceNumber(out);
  out.blank();
  out.line("} // namespace " + inside);
  out.line("} // namespace");
  out.blank();
  std::string stream =
      (variants.back().target->device.stream + " *stream").str();
  auto function = [&](const Twine &signature, const Twine &null,
                      const Twine &number, const Twine &call, StringRef before,
                      StringRef behind) {
    out.open("extern \"C\" ingot_status " + signature + ") {");
    out.line("if (" + null + ") return INGOT_ERROR_NULL;");
    if (!before.empty())
      out.line(before);
    out.line("ingot_status status = INGOT_ERROR_NULL;");
    out.line("switch (" + number + ") {");
    for (size_t i = variants.size(); i-- > 0;)
      out.line("case " + Twine(i + 1) + ": status = " + namespaces[i] +
               "::" + call + "; break;");
    out.line("default: break;");
    out.line("}");
    if (!behind.empty())
      out.line("if (status == INGOT_OK) " + behind);
    out.line("return status;");
    out.close();
    out.blank();
  };
  out.open("extern \"C\" ingot_status " + name + "_upload(" + name +
           "_constants *constants, " + (isFile ? "const void *file, " : "") +
           stream + ") {");
  out.line("if (!constants) return INGOT_ERROR_NULL;");
  out.line("*constants = " + name + "_constants();");
  out.line("int number = 0;");
  out.line("ingot_status status = " + inside + "::number(&number);");
  out.line("if (status != INGOT_OK) return status;");
  out.line("switch (number) {");
  for (size_t i = variants.size(); i-- > 0;)
    out.line((i ? "case " + Twine(i + 1) : Twine("default")) +
             ": status = " + namespaces[i] + "::upload(constants, " +
             (isFile ? "file, " : "") + "stream); break;");
  out.line("}");
  out.line("if (status == INGOT_OK) constants->target = number;");
  out.line("return status;");
  out.close();
  out.blank();
  function(name + "_create(" + name + "_handle *handle, const " + name +
               "_constants *constants, " + stream,
           "!handle || !constants", "constants->target",
           "create(handle, constants, stream)",
           "*handle = " + name + "_handle();",
           "handle->target = constants->target;");
  for (const Interface &entry : interfaces)
    function(entry.name + "_run(" + name + "_handle *handle, const " +
                 entry.name + "_io *io, " + stream,
             "!handle", "handle->target",
             entry.localName() + "(handle, io, stream)", "", "");
}

std::string Selector::ofSource(StringRef function) const {
  return (outside + "::" + function).str();
}

void Selector::printNumberInside(TextWriter &out) const {
  out.line("namespace " + outside + " {");
  out.line("namespace {");
  out.line("namespace " + inside + " {");
  out.blank();
  printNumber(out);
  out.blank();
  out.line("} // namespace " + inside);
  out.line("} // namespace");
  out.line("} // namespace " + outside);
  out.blank();
}

void Selector::printRun(
    const Interface &interface, TextWriter &out,
    llvm::function_ref<std::string(size_t number)> functionOf) const {
  const std::string &name = interface.name;
  out.open("extern \"C\" ingot_status " + name + "_run(const " + name +
           "_io *io, void *arena, const ingot_context *context) {");
  out.line("switch (" + ofSource(inside + "::number()") + ") {");
  for (size_t i = variants.size(); i-- > 0;)
    out.line("case " + Twine(i + 1) + ": return " + ofSource(functionOf(i)) +
             "(io, arena, context);");
  out.line("default: return INGOT_ERROR_TARGET;");
  out.line("}");
  out.close();
}

void Selector::printQuestion(TextWriter &out) const {
  out.blank();
  printNumberInside(out);
  for (const Interface &interface : interfaces)
    printRun(interface, out, [&](size_t) { return interface.localName(); });
}

void Selector::print(TextWriter &out) const {
  printNumberInside(out);

  std::string names = "nullptr";
  for (const Variant &variant : variants)
    names += ", \"" + variant.target->name.str() + "\"";
  out.open("extern \"C\" const char *" + interfaces.front().sharedName +
           "_target(void) {");
  out.line("static const char *const names[] = {" + names + "};");
  out.line("return names[" + ofSource(inside + "::number()") + "];");
  out.close();

  for (const Interface &interface : interfaces) {
    out.blank();
    printRun(interface, out, [&](size_t i) {
      return namespaces[i] + "::" + interface.localName();
    });
  }
}

} // namespace ingot
