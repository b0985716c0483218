// Prints conversions between types.
//
// Scalars convert by casts, vectors by __builtin_convertvector; bits are
// reinterpreted without going through memory. Earlier stages have guarded
// conversions to integers against values out of range.

#include "codegen/kernel/KernelPrinter.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Prints conversions of numbers; `from` and `to` are the signedness of
/// integers.
Expression KernelPrinter::convert(Operation *op, Sign from, Sign to) {
  Value operand = op->getOperand(0);
  Type type = op->getResult(0).getType();
  std::string target = typeName(type, to);
  if (isMask(operand.getType())) {
    // The lanes of a mask, 0 or -1, are the sign extension of an i1; zero
    // extension keeps only the lowest bit.
    unsigned bits = storageBits(elementOf(type));
    Expression wide =
        castTo(typeName(type, Sign::Unsigned), maskAs(operand, bits));
    wide.sign = Sign::Unsigned;
    if (isa<arith::ExtUIOp>(op))
      wide = {wide.text + " & " +
                  storageTypeName(elementOf(type), Sign::Unsigned) + "(1)",
              Binding::Logic, Sign::Unsigned};
    return wide;
  }
  if (isMask(type)) {
    std::string u = typeName(operand.getType(), Sign::Unsigned);
    std::string one =
        storageTypeName(elementOf(operand.getType()), Sign::Unsigned) + "(1)";
    return {"(" + within(integer(operand, Sign::Unsigned), Binding::Unary) +
                " & " + one + ") != " + u + "{}",
            Binding::Compare};
  }
  if (type.isInteger(1))
    return {"(" + within(integer(operand, Sign::Unsigned), Binding::Unary) +
                " & 1u) != 0u",
            Binding::Compare};
  if (isPartOfByte(type) || isPartOfByte(operand.getType()))
    return convertPartOfByte(op, from, to);
  bool integers = elementOf(operand.getType()).isIntOrIndex();
  Expression source = integers ? integer(operand, from) : value(operand);
  if (isVector(type))
    return {"__builtin_convertvector(" + source.text + ", " + target + ")",
            Binding::Primary, to};
  if (operand.getType().isInteger(1) && from == Sign::Signed)
    return {"-" + within(castTo(target, source), Binding::Unary),
            Binding::Unary, to};
  Expression result = castTo(target, source);
  result.sign = to;
  return result;
}

/// Prints conversions of integers narrower than a byte, which are the low bits
/// of a byte: masked, or sign-extended by a left shift and an arithmetic right
/// shift.
Expression KernelPrinter::convertPartOfByte(Operation *op, Sign from, Sign to) {
  Value operand = op->getOperand(0);
  Type type = op->getResult(0).getType();
  Type narrow = isPartOfByte(type) ? type : operand.getType();
  unsigned bits = elementOf(narrow).getIntOrFloatBitWidth();
  std::string source = within(integer(operand, Sign::Unsigned), Binding::Unary);
  std::string bytes = typeName(narrow, Sign::Unsigned);
  std::string mask = llvm::utostr((1u << bits) - 1);
  Expression byte;
  if (from == Sign::Unsigned) {
    byte = {"(" + source + " & " +
                storageTypeName(elementOf(operand.getType()), Sign::Unsigned) +
                "(" + mask + "))",
            Binding::Primary, Sign::Unsigned};
  } else {
    std::string shift = llvm::utostr(8 - bits);
    byte = {"(" + typeName(narrow, Sign::Signed) + "(" + bytes + "(" + source +
                " << " + shift + ")) >> " + shift + ")",
            Binding::Primary, Sign::Signed};
  }
  std::string target = typeName(type, to);
  if (isVector(type))
    return {"__builtin_convertvector(" + byte.text + ", " + target + ")",
            Binding::Primary, to};
  byte = castTo(target, byte);
  byte.sign = to;
  return byte;
}

Expression KernelPrinter::bitcast(Operation *op) {
  Value from = op->getOperand(0);
  Type to = op->getResult(0).getType();
  auto isBits = [](Type type) {
    Type element = elementOf(type);
    return element.isInteger() || isBitsFloat(element);
  };
  Expression source = value(from);
  // If both types are integers in C++ (as f16 and bf16 are), their bits need no
  // conversion.
  bool sameShape = laneCount(from.getType()) == laneCount(to);
  if (sameShape && isBits(from.getType()) && isBits(to)) {
    if (isBitsFloat(elementOf(to)))
      return integer(from, Sign::Unsigned);
    return source;
  }
  std::string type = typeName(to, Sign::Unsigned);
  if (isVector(from.getType()) && isVector(to)) {
    Expression result = castTo(type, source);
    result.sign = Sign::Unsigned;
    return result;
  }
  if (!isVector(from.getType()) && from.getDefiningOp<arith::ConstantOp>() &&
      isBits(from.getType()))
    source = castTo(typeName(from.getType(), Sign::Unsigned),
                    integer(from, Sign::Unsigned));
  return {"__builtin_bit_cast(" + type + ", " + source.text + ")",
          Binding::Primary, Sign::Unsigned};
}

} // namespace ingot
