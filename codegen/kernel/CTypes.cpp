// Returns the C++ text of types and constants.

#include "codegen/kernel/CTypes.h"

#include "dialects/kernel/KernelDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>
#include <cstring>

using namespace mlir;
using llvm::utostr;

namespace ingot {

Sign signOfArgument(FunctionOpInterface kernel, unsigned argument) {
  return kernel.getArgAttr(argument, kernel::kUnsignedAttr) ? Sign::Unsigned
                                                            : Sign::Signed;
}

std::string storageTypeName(Type element, Sign sign) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  if (isa<kernel::StringType>(element))
    return kStringTypeName.str();
  if (element.isIndex())
    return sign == Sign::Signed ? "ptrdiff_t" : "size_t";
  bool isUnsigned =
      sign == Sign::Unsigned || isBitsFloat(element) || element.isInteger(1);
  return (isUnsigned ? "uint" : "int") + utostr(storageBits(element)) + "_t";
}

std::string vectorTypeName(char kind, unsigned bits, int64_t lanes) {
  return kind + utostr(bits) + "x" + utostr(lanes);
}

std::string maskTypeName(unsigned bits, int64_t lanes) {
  return vectorTypeName('i', bits, lanes);
}

std::string valueTypeName(Type type, Sign sign) {
  Type element = elementOf(type);
  if (!isVector(type))
    return element.isInteger(1) ? "bool" : storageTypeName(element, sign);
  char kind = 'i';
  if (element.isF32() || element.isF64())
    kind = 'f';
  else if (sign == Sign::Unsigned || isBitsFloat(element))
    kind = 'u';
  return vectorTypeName(kind, storageBits(element), laneCount(type));
}

void printVectorTypedef(StringRef name, llvm::raw_ostream &os) {
  StringRef base = name;
  StringRef alignment;
  std::tie(base, alignment) = base.split('_');
  char kind = base.front();
  auto [bitsText, lanesText] = base.drop_front().split('x');
  unsigned bits = 0, lanes = 0;
  bitsText.getAsInteger(10, bits);
  lanesText.getAsInteger(10, lanes);
  os << "typedef ";
  if (kind == 'f')
    os << (bits == 32 ? "float" : "double");
  else
    os << (kind == 'u' ? "uint" : "int") << bits << "_t";
  os << ' ' << name << " __attribute__((vector_size(" << bits / 8 * lanes
     << ")";
  if (alignment == "u")
    os << ", aligned(" << bits / 8 << "), may_alias";
  else if (alignment.consume_front("a"))
    os << ", aligned(" << alignment << "), may_alias";
  os << "));\n";
}

/// Writes the shortest decimal that parses to the same value, with a decimal
/// point or exponent.
template <typename Float>
static StringRef shortestDecimal(Float value, char (&buffer)[40]) {
  char *last = std::to_chars(buffer, buffer + 32, value).ptr;
  if (std::find_if(buffer, last, [](char c) { return c == '.' || c == 'e'; }) ==
      last) {
    *last++ = '.';
    *last++ = '0';
  }
  if (sizeof(Float) == 4)
    *last++ = 'f';
  return {buffer, static_cast<size_t>(last - buffer)};
}

template <typename Float>
static void printFloat(Float value, llvm::raw_ostream &os) {
  char buffer[40];
  bool isSingle = sizeof(Float) == 4;
  if (std::isnan(value))
    os << (isSingle ? "INGOT_NAN" : "INGOT_F64_NAN");
  else if (std::isinf(value))
    os << (value < 0 ? "-" : "")
       << (isSingle ? "INGOT_INFINITY" : "INGOT_F64_INFINITY");
  else
    os << shortestDecimal(value, buffer);
}

std::string floatLiteral(const llvm::APFloat &value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (&value.getSemantics() == &llvm::APFloat::IEEEsingle())
    printFloat(value.convertToFloat(), os);
  else if (&value.getSemantics() == &llvm::APFloat::IEEEdouble())
    printFloat(value.convertToDouble(), os);
  else
    os << "0x" << llvm::utohexstr(value.bitcastToAPInt().getZExtValue(), true);
  return text;
}

std::string integerLiteral(const llvm::APInt &value, Sign sign) {
  if (value.getBitWidth() == 1)
    return value.isZero() ? "false" : "true";
  if (sign == Sign::Unsigned)
    return utostr(value.getZExtValue()) + "u";
  // In C++, `-2147483648` is the negation of a literal of a wider type, so the
  // macro INT32_MIN is printed instead.
  if (value.isMinSignedValue() && value.getBitWidth() >= 32)
    return "INT" + utostr(value.getBitWidth()) + "_MIN";
  return llvm::itostr(value.getSExtValue());
}

template <typename T> static T readAs(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void printElement(Type element, const char *bytes, llvm::raw_ostream &os,
                  Sign sign) {
  if (element.isF32())
    return printFloat(readAs<float>(bytes), os);
  if (element.isF64())
    return printFloat(readAs<double>(bytes), os);
  bool isUnsigned =
      sign == Sign::Unsigned || isBitsFloat(element) || element.isInteger(1);
  switch (storageBits(element)) {
  case 8:
    os << (isUnsigned ? int(readAs<uint8_t>(bytes))
                      : int(readAs<int8_t>(bytes)));
    return;
  case 16:
    os << (isUnsigned ? int(readAs<uint16_t>(bytes))
                      : int(readAs<int16_t>(bytes)));
    return;
  case 32:
    os << integerLiteral(llvm::APInt(32, readAs<uint32_t>(bytes)), sign);
    return;
  default:
    os << integerLiteral(llvm::APInt(64, readAs<uint64_t>(bytes)), sign);
  }
}

} // namespace ingot
