// Prints calls of the C functions of custom operators.

#include "codegen/kernel/ExternalCalls.h"

#include "codegen/kernel/KernelPrinter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Returns the C type of the elements of a buffer that is passed to a function
/// of the user, which only reads the elements of inputs.
static std::string elementName(Type element, bool isInput) {
  if (isa<kernel::StringType>(element))
    return isInput ? "const char *const" : "const char *";
  auto integer = dyn_cast<IntegerType>(element);
  return (isInput ? "const " : "") +
         storageTypeName(element, integer && integer.isUnsigned()
                                      ? Sign::Unsigned
                                      : Sign::Signed);
}

/// Returns the declaration of the C parameter `name` that takes a constant.
static std::string parameter(Attribute constant, StringRef name) {
  StringRef type = isa<IntegerAttr>(constant)  ? "int64_t "
                   : isa<FloatAttr>(constant)  ? "float "
                   : isa<StringAttr>(constant) ? "const char *__restrict "
                   : isa<DenseI64ArrayAttr>(constant)
                       ? "const int64_t *__restrict "
                       : "const float *__restrict ";
  return (type + name).str();
}

std::string declarationOf(kernel::CallExternalOp call) {
  SmallVector<std::string> parameters;
  NameScope names;
  auto nameOf = [&](size_t i) {
    return names.unique(cast<StringAttr>(call.getNames()[i]).getValue());
  };
  auto elements = call.getElements().getAsValueRange<TypeAttr>();
  size_t inputs = call.getInputs().size();
  for (Type element : elements) {
    std::string type = elementName(element, parameters.size() < inputs);
    parameters.push_back(type + (StringRef(type).ends_with("*") ? "" : " ") +
                         "*__restrict " + nameOf(parameters.size()));
  }
  for (size_t i = 0; i < call.getSizes().size(); ++i)
    parameters.push_back("int64_t " + nameOf(parameters.size()));
  for (Attribute constant : call.getConstants())
    parameters.push_back(parameter(constant, nameOf(parameters.size())));
  return "void " + call.getFunction().str() + "(" +
         llvm::join(parameters, ", ") + ")";
}

static std::string floatText(float value) {
  return floatLiteral(llvm::APFloat(value));
}

/// Prints the attribute `list` as a local array called `name`.
static void printList(Attribute list, StringRef name, TextWriter &out) {
  SmallVector<std::string> elements;
  auto integers = dyn_cast<DenseI64ArrayAttr>(list);
  if (integers)
    for (int64_t element : integers.asArrayRef())
      elements.push_back(llvm::itostr(element));
  else
    for (float element : cast<DenseF32ArrayAttr>(list).asArrayRef())
      elements.push_back(floatText(element));
  // C++ has no empty arrays.
  size_t count = std::max<size_t>(elements.size(), 1);
  out.line(Twine("const ") + (integers ? "int64_t " : "float ") + name + "[" +
           Twine(count) + "] = {" + llvm::join(elements, ", ") + "};");
}

void KernelPrinter::printCallExternal(kernel::CallExternalOp call) {
  size_t buffers = call.getElements().size(), inputs = call.getInputs().size();
  SmallVector<std::string> arguments;
  for (auto [i, buffer] :
       llvm::enumerate(call.getOperands().take_front(buffers))) {
    Type element = cast<TypeAttr>(call.getElements()[i]).getValue();
    std::string text = pointer(buffer);
    if (elementName(element, /*isInput=*/false) !=
            storageTypeName(cast<MemRefType>(buffer.getType()).getElementType(),
                            signOfElements(buffer)) &&
        !isa<kernel::StringType>(element))
      text = out.language.elementsAt(elementName(element, i < inputs), text);
    arguments.push_back(text);
  }
  for (Value size : call.getSizes())
    arguments.push_back(initializer(size, Sign::Signed).text);
  auto name = call.getNames().getAsValueRange<StringAttr>().begin();
  std::advance(name, arguments.size());
  for (Attribute constant : call.getConstants()) {
    if (auto integer = dyn_cast<IntegerAttr>(constant)) {
      arguments.push_back(integerLiteral(integer.getValue(), Sign::Signed));
    } else if (auto number = dyn_cast<FloatAttr>(constant)) {
      arguments.push_back(floatLiteral(number.getValue()));
    } else if (auto text = dyn_cast<StringAttr>(constant)) {
      std::string escaped;
      llvm::raw_string_ostream os(escaped);
      for (unsigned char c : text.getValue())
        // An octal escape ends after three digits even if another digit
        // follows.
        if (c < ' ' || c >= 127 || c == '"' || c == '\\' || c == '?')
          os << '\\' << char('0' + c / 64) << char('0' + c / 8 % 8)
             << char('0' + c % 8);
        else
          os << c;
      arguments.push_back("\"" + escaped + "\"");
    } else {
      arguments.push_back(names.unique(*name));
      printList(constant, arguments.back(), out);
    }
    ++name;
  }
  // The call is qualified, since the generated file may have a function of the
  // same name.
  out.line((out.language.isC ? "" : "::") + call.getFunction() + "(" +
           llvm::join(arguments, ", ") + ");");
}

} // namespace ingot
