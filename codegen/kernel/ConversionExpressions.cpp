// Prints conversions between types.
//
// Scalars are converted by casts, vectors by __builtin_convertvector. Bits are
// reinterpreted without going through memory. Earlier stages have inserted
// clamps, so that conversions to integers are never out of range.

#include "codegen/kernel/KernelPrinter.h"
#include "targets/ProgramForm.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Whether a value is the extension of a scalar integer to 32 bits.
static bool isExtension(Value value) {
  Type type = value.getType();
  return !isVector(type) && elementOf(type).isInteger(32) &&
         isa_and_nonnull<arith::ExtUIOp, arith::ExtSIOp>(value.getDefiningOp());
}

/// Prints conversions of numbers; `from` and `to` are the signedness of
/// integers.
Expression KernelPrinter::convert(Operation *op, Sign from, Sign to) {
  Value operand = op->getOperand(0);
  Type type = op->getResult(0).getType();
  std::string target = typeName(type, to);
  if (isMask(operand.getType())) {
    // The lanes of a mask (a vector of i1) are 0 or -1, the sign extension of
    // an i1; zero extension keeps only the lowest bit.
    unsigned bits = storageBits(elementOf(type));
    Expression wide =
        castTo(typeName(type, Sign::Unsigned), maskAs(operand, bits));
    wide.sign = Sign::Unsigned;
    if (isa<arith::ExtUIOp>(op))
      wide = {within(wide, Binding::Unary) + " & " +
                  out.language.cast(
                      storageTypeName(elementOf(type), Sign::Unsigned), "1"),
              Binding::Logic, Sign::Unsigned};
    return wide;
  }
  if (isMask(type)) {
    std::string u = typeName(operand.getType(), Sign::Unsigned);
    std::string one = out.language.cast(
        storageTypeName(elementOf(operand.getType()), Sign::Unsigned), "1");
    return {"(" + within(integer(operand, Sign::Unsigned), Binding::Unary) +
                " & " + one + ") != " + out.language.zero(u),
            Binding::Compare};
  }
  if (type.isInteger(1))
    return {"(" + within(integer(operand, Sign::Unsigned), Binding::Unary) +
                " & 1u) != 0u",
            Binding::Compare};
  if (isPartOfByte(type) || isPartOfByte(operand.getType()))
    return convertPartOfByte(op, from, to);
  bool integers = elementOf(operand.getType()).isIntOrIndex();
  Expression source;
  if (integers && isa<arith::TruncIOp>(op) && !isVector(type))
    source = value(operand); // only the low bits are read
  else if (integers)
    source = integer(operand, from);
  else
    source = value(operand);
  if (isVector(type))
    return {"__builtin_convertvector(" + source.text + ", " + target + ")",
            Binding::Primary, to};
  if (operand.getType().isInteger(1) && from == Sign::Signed)
    return {"-" + within(castTo(target, source), Binding::Unary),
            Binding::Unary, to};
  if (isa<arith::UIToFPOp>(op) && isExtension(operand) &&
      isa<arith::ExtUIOp>(operand.getDefiningOp()) &&
      !variables.count(placement.variable(operand)))
    source = integer(operand, Sign::Signed);
  Expression result = castTo(target, source);
  result.sign = to;
  if (isExtension(op->getResult(0)))
    result.promoted = within(source, Binding::Unary);
  return result;
}

/// Prints conversions of integers narrower than a byte, which are stored in the
/// low bits of a byte. Zero extension masks the byte; sign extension is a left
/// shift and an arithmetic right shift.
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
                out.language.cast(storageTypeName(elementOf(operand.getType()),
                                                  Sign::Unsigned),
                                  mask) +
                ")",
            Binding::Primary, Sign::Unsigned};
  } else {
    std::string shift = llvm::utostr(8 - bits);
    byte = {"(" +
                out.language.cast(
                    typeName(narrow, Sign::Signed),
                    out.language.cast(bytes, source + " << " + shift)) +
                " >> " + shift + ")",
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
  // If both types are stored as integers in C++ (as f16 and bf16 are), their
  // bits need no conversion.
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
  // In clang 22, __builtin_bit_cast of an element of a vector reads element 0,
  // whichever the element is. It gets a copy of the element instead.
  auto splat = from.getDefiningOp<vector::BroadcastOp>();
  if ((splat ? splat.getSource() : from).getDefiningOp<vector::ExtractOp>() &&
      isVector(to))
    source = castTo(typeName(from.getType(), source.sign), source);
  std::string function = "__builtin_bit_cast(" + type + ", ";
  if (programForm(context.target).functionWords.empty() && sameShape &&
      !isVector(to)) {
    bool isDouble = to.getIntOrFloatBitWidth() == 64;
    function = helper(isa<FloatType>(to)
                          ? (isDouble ? "f64_of_bits" : "f32_of_bits")
                          : (isDouble ? "bits_of_f64" : "bits_of_f32")) +
               "(";
  }
  return {function + source.text + ")", Binding::Primary, Sign::Unsigned};
}

} // namespace ingot
