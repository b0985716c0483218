// Prints arithmetic operators.
//
// Integers wrap: they are added, subtracted and multiplied as unsigned, and
// first widened to 32 bits where C++ would promote them to int, which may
// overflow. index is plain ptrdiff_t arithmetic, since addresses do not
// overflow.

#include "codegen/kernel/KernelPrinter.h"
#include "targets/ProgramForm.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

/// Prints a sum, difference, product, quotient, remainder or shift of integers.
Expression KernelPrinter::integerArithmetic(Operation *op, const char *spelling,
                                            Binding binding, Sign sign) {
  Type type = op->getResult(0).getType(), element = elementOf(type);
  Value left = op->getOperand(0), right = op->getOperand(1);
  bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  // Operands of shifts are parenthesized: readers expect it and compilers warn
  // otherwise.
  Binding leftLimit = isShift ? Binding::Unary : binding;
  Binding rightLimit =
      binding == Binding::Sum ? Binding::Product : Binding::Unary;
  Expression a = integer(left, sign), b = integer(right, sign);
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  // A shift has the type of its left operand, which is int for the literal of a
  // small number.
  if (isShift && element.isInteger(64) && !isVector(type) &&
      left.getDefiningOp<arith::ConstantOp>())
    a = castTo(typeName(type, sign), a);
  if (isa<arith::SubIOp>(op) && element.isIndex() && a.text == "0")
    return {"-" + within(b, Binding::Primary), Binding::Unary, sign};
  // In a sum, a minus sign belongs to its first term only.
  if (isa<arith::AddIOp>(op) && element.isIndex() && b.text.front() == '-' &&
      b.binding <= Binding::Product) {
    spelling = " - ";
    b.text.erase(0, 1);
  }
  // Instead of adding a small negative number, subtracts its absolute value,
  // and vice versa: as an unsigned number, -1 would be printed as 4294967295u.
  constexpr unsigned mostBits = 24;
  APInt number;
  if (isa<arith::AddIOp, arith::SubIOp>(op) && sign == Sign::Unsigned &&
      bits == 32 && matchPattern(right, m_ConstantInt(&number)) &&
      number.isNegative() && number.getSignificantBits() <= mostBits) {
    std::string text = llvm::utostr(number.getZExtValue());
    if (size_t at = b.text.find(text); at != std::string::npos) {
      b.text.replace(at, text.size(), llvm::itostr(-number.getSExtValue()));
      spelling = isa<arith::AddIOp>(op) ? " - " : " + ";
    }
  }
  if (isVector(type) || element.isIndex() || bits >= 32)
    return {within(a, leftLimit) + spelling + within(b, rightLimit), binding,
            sign};
  // C++ computes 8- and 16-bit integers as int. Unsigned products and left
  // shifts may overflow int, so they are computed as unsigned; the result is
  // truncated.
  if (sign == Sign::Unsigned && isa<arith::MulIOp, arith::ShLIOp>(op))
    a = castTo("uint32_t", a);
  Expression wide = {within(a, leftLimit) + spelling + within(b, rightLimit),
                     binding, sign};
  if (isa<arith::ShRSIOp>(op))
    return wide;
  return castTo(typeName(type, sign), wide);
}

/// Prints `and`, `or` and `xor`: operands of type bool with the operator
/// `ofTruth`, integers and masks (vectors of i1) with the bitwise operator
/// `spelling`.
Expression KernelPrinter::logic(Operation *op, const char *spelling,
                                const char *ofTruth) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = left.getType();
  if (isMask(type)) {
    unsigned bits = maskBits(op->getResult(0));
    if (isa<arith::XOrIOp>(op))
      if (auto ones = right.getDefiningOp<arith::ConstantOp>())
        if (auto dense = dyn_cast<DenseElementsAttr>(ones.getValue()))
          if (dense.isSplat() && dense.getSplatValue<APInt>().isAllOnes())
            return {"~" + within(maskAs(left, bits), Binding::Unary),
                    Binding::Unary, Sign::Signed};
    return {within(maskAs(left, bits), Binding::Unary) + spelling +
                within(maskAs(right, bits), Binding::Unary),
            Binding::Logic, Sign::Signed};
  }
  if (type.isInteger(1)) {
    if (isa<arith::XOrIOp>(op)) {
      if (auto one = right.getDefiningOp<arith::ConstantOp>())
        if (constant(one, Sign::Signed).text == "true")
          return {"!" + within(value(left), Binding::Primary), Binding::Unary};
      return {within(value(left), Binding::Sum) + ofTruth +
                  within(value(right), Binding::Sum),
              Binding::Compare};
    }
    return {within(value(left), Binding::Compare) + ofTruth +
                within(value(right), Binding::Compare),
            Binding::Logic};
  }
  Expression a = integer(left, Sign::Unsigned);
  Expression b = integer(right, Sign::Unsigned);
  Expression result = {within(a, Binding::Unary) + spelling +
                           within(b, Binding::Unary),
                       Binding::Logic, Sign::Unsigned};
  // The C++ result of narrow operands is an int, so it is cast to the type of
  // the operation.
  if (!isVector(type) && type.isIntOrIndex() && !type.isIndex() &&
      elementOf(type).getIntOrFloatBitWidth() < 32)
    return castTo(typeName(type, Sign::Unsigned), result);
  return result;
}

Expression KernelPrinter::floatArithmetic(Operation *op, const char *spelling,
                                          Binding binding) {
  auto [a, b] = mixedOperands(op->getOperand(0), op->getOperand(1));
  Binding rightLimit =
      binding == Binding::Sum ? Binding::Product : Binding::Unary;
  return {within(a, binding) + spelling + within(b, rightLimit), binding};
}

Expression KernelPrinter::negation(arith::NegFOp op) {
  return {"-" + within(value(op.getOperand()), Binding::Primary),
          Binding::Unary};
}

Expression KernelPrinter::builtin(Operation *op, const char *name) {
  Type type = op->getResult(0).getType();
  bool isDouble = type.isF64();
  std::string text;
  if (!programForm(context.target).functionWords.empty())
    text = std::string("__builtin_") + name + (isDouble ? "" : "f");
  else
    text = helper(std::string(name) + (isDouble ? "_f64" : "_f32"));
  text += "(";
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    text += (index ? ", " : "") + value(operand).text;
  return {text + ")"};
}

Expression KernelPrinter::multiplyAdd(math::FmaOp op) {
  return multiplyAdd(op.getA(), op.getB(), op.getC());
}

Expression KernelPrinter::multiplyAdd(vector::FMAOp op) {
  return multiplyAdd(op.getLhs(), op.getRhs(), op.getAcc());
}

/// Prints `left * right + addend` as one expression, which GCC and clang
/// contract to an FMA instruction if the target has one.
Expression KernelPrinter::multiplyAdd(Value left, Value right, Value addend) {
  auto [a, b] = mixedOperands(left, right);
  Expression c = value(addend);
  if (!isVector(addend.getType()) || !(splatSource(left) && splatSource(right)))
    if (auto scalar = splatSource(addend))
      c = *scalar;
  return {within(a, Binding::Product) + " * " + within(b, Binding::Unary) +
              " + " + within(c, Binding::Product),
          Binding::Sum};
}

} // namespace ingot
