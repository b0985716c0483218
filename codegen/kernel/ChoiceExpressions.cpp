// Prints comparisons and selects.
//
// Comparisons that are true for unordered operands (NaN) print as the negation
// of the opposite comparison. Logic of masks (vectors of i1) prints as bitwise
// operators.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/Extremum.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

Expression KernelPrinter::compare(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  Value left = op.getLhs(), right = op.getRhs();
  static constexpr const char *spellings[] = {
      " == ", " != ", " < ",  " <= ", " > ",
      " >= ", " < ",  " <= ", " > ",  " >= "};
  const char *spelling = spellings[static_cast<unsigned>(predicate)];
  bool isUnsigned = predicate >= P::ult, isEquality = predicate <= P::ne;
  Type type = left.getType();
  if (isMask(type)) {
    // Masks (vectors of i1) are only compared for equality: by xor (ne), or by
    // its complement (eq).
    unsigned bits = maskBits(op.getResult());
    Expression differ = {within(maskAs(left, bits), Binding::Unary) + " ^ " +
                             within(maskAs(right, bits), Binding::Unary),
                         Binding::Logic};
    if (predicate == P::ne)
      return differ;
    return {"~" + within(differ, Binding::Unary), Binding::Unary};
  }
  Expression a, b;
  if (type.isInteger(1)) {
    a = value(left);
    b = value(right);
    if (!isEquality) {
      // Bools are compared as integers: true is 1, or -1 if the comparison is
      // signed.
      for (Expression *truth : {&a, &b})
        *truth = {(isUnsigned ? "" : "-") +
                      out.language.cast("int", truth->text),
                  Binding::Unary};
    }
  } else {
    Sign sign = isUnsigned ? Sign::Unsigned : Sign::Signed;
    if (isEquality && !left.getDefiningOp<arith::ConstantOp>())
      sign = value(left).sign;
    a = integer(left, sign);
    b = integer(right, sign);
  }
  return {within(a, Binding::Sum) + spelling + within(b, Binding::Sum),
          Binding::Compare};
}

/// Returns the name, in a target's table, of a comparison of vectors of floats:
/// "arith.cmpf[olt of splat]" or "arith.cmpf[olt with splat]" if all lanes of
/// the left or only of the right operand are equal, otherwise
/// "arith.cmpf[olt]". A comparison of an operand with itself that detects NaN
/// is named "arith.cmpf[nan]" or, if it is true for numbers,
/// "arith.cmpf[number]".
std::string KernelPrinter::comparisonName(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  Value left = op.getLhs(), right = op.getRhs();
  P predicate = op.getPredicate();
  if (left == right && (predicate == P::UNE || predicate == P::UNO))
    return "arith.cmpf[nan]";
  if (left == right && (predicate == P::OEQ || predicate == P::ORD))
    return "arith.cmpf[number]";
  std::string name =
      ("arith.cmpf[" + arith::stringifyCmpFPredicate(predicate)).str();
  if (splatSource(left))
    name += " of splat";
  else if (splatSource(right))
    name += " with splat";
  return name + "]";
}

Expression KernelPrinter::compare(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  bool vector = isVector(op.getType());
  if (vector)
    if (const Intrinsic *row = context.target.intrinsic(
            comparisonName(op), op.getLhs().getType(), op.getType()))
      return {"(" + spelled(row->spelling, op->getOperands()) + ")",
              Binding::Primary};
  auto [x, y] = mixedOperands(op.getLhs(), op.getRhs());
  std::string a = within(x, Binding::Sum), b = within(y, Binding::Sum);
  auto negated = [&](const std::string &text) -> Expression {
    return {(vector ? "~(" : "!(") + text + ")", Binding::Unary};
  };
  // Predicates that C++ operators compute, and predicates that are the negation
  // of a C++ operator.
  static constexpr std::pair<P, const char *> direct[] = {
      {P::OEQ, " == "}, {P::OGT, " > "},  {P::OGE, " >= "},
      {P::OLT, " < "},  {P::OLE, " <= "}, {P::UNE, " != "}};
  static constexpr std::pair<P, const char *> opposite[] = {
      {P::UGT, " <= "}, {P::UGE, " < "}, {P::ULT, " >= "}, {P::ULE, " > "}};
  for (auto [predicate, spelling] : direct)
    if (op.getPredicate() == predicate)
      return {a + spelling + b, Binding::Compare};
  for (auto [predicate, spelling] : opposite)
    if (op.getPredicate() == predicate)
      return negated(a + spelling + b);
  // ONE and UEQ combine two comparisons. ORD and UNO detect NaN: they compare
  // each operand with itself. To compare a splat with itself, the splat is
  // printed as a vector, not as a scalar as in other operations, since the
  // result must be a mask.
  auto two = [&](const std::string &first, const std::string &second,
                 const char *with) -> Expression {
    return {"(" + first + ")" + with + "(" + second + ")", Binding::Logic};
  };
  auto self = [&](Value operand, const char *spelling) {
    std::string text = within(value(operand), Binding::Sum);
    return text + spelling + text;
  };
  const char *both = vector ? " & " : " && ";
  const char *either = vector ? " | " : " || ";
  switch (op.getPredicate()) {
  case P::ONE:
    return two(a + " < " + b, a + " > " + b, either);
  case P::UEQ:
    return negated(two(a + " < " + b, a + " > " + b, either).text);
  case P::ORD:
    return two(self(op.getLhs(), " == "), self(op.getRhs(), " == "), both);
  case P::UNO:
    return two(self(op.getLhs(), " != "), self(op.getRhs(), " != "), either);
  default:
    llvm_unreachable("folded by legalization");
  }
}

/// Returns the signedness of the C type to which two integers are converted:
/// the signedness of both or, if one is a literal, that of the other operand.
/// If their signedness differs, vectors become unsigned and scalars signed.
Sign KernelPrinter::commonSign(Value a, Value b) {
  Type type = a.getType();
  if (isMask(type) || !elementOf(type).isIntOrIndex())
    return isVector(type) ? Sign::Unsigned : Sign::Signed;
  if (a.getDefiningOp<arith::ConstantOp>())
    return value(b).sign;
  if (b.getDefiningOp<arith::ConstantOp>() || value(a).sign == value(b).sign)
    return value(a).sign;
  return isVector(type) ? Sign::Unsigned : Sign::Signed;
}

/// Prints the maximum `a > b ? a : b` or the minimum `a < b ? a : b` of vectors
/// as an intrinsic. Returns nullopt if the target's table has none: it contains
/// only those that compilers do not reliably select. The name in the table is
/// "max" or "min", or "max[of splat]", "max[with splat]" and so on if all lanes
/// of the left or of the right operand are equal.
std::optional<Expression> KernelPrinter::extremum(arith::SelectOp op) {
  std::optional<bool> isMax =
      isVector(op.getType()) ? kernel::isMaximum(op) : std::nullopt;
  if (!isMax)
    return std::nullopt;
  Value operands[] = {op.getTrueValue(), op.getFalseValue()};
  std::string name = *isMax ? "max" : "min";
  auto find = [&](const Twine &name) {
    return context.target.intrinsic(name.str(), op.getType(), op.getType());
  };
  const Intrinsic *row = find(name);
  if (!row && splatSource(operands[0]))
    row = find(name + "[of splat]");
  if (!row && splatSource(operands[1]))
    row = find(name + "[with splat]");
  if (!row)
    return std::nullopt;
  return intrinsic(row->spelling, operands, op.getType());
}

Expression KernelPrinter::select(arith::SelectOp op) {
  Value condition = op.getCondition();
  Type type = op.getType();
  if (std::optional<Expression> call = extremum(op))
    return *call;
  auto choose = [&](const Expression &c, const Expression &a,
                    const Expression &b) -> Expression {
    return {within(c, Binding::Compare) + " ? " + within(a, Binding::Sum) +
                " : " + within(b, Binding::Sum),
            Binding::Choice, a.sign};
  };
  if (isMask(type)) {
    unsigned bits = maskBits(op.getResult());
    Expression a = maskAs(op.getTrueValue(), bits);
    Expression b = maskAs(op.getFalseValue(), bits);
    if (!isMask(condition.getType()))
      return choose(value(condition), a, b);
    std::string c = within(maskAs(condition, bits), Binding::Unary);
    return {"(" + c + " & " + within(a, Binding::Unary) + ") | (~" + c + " & " +
                within(b, Binding::Unary) + ")",
            Binding::Logic};
  }
  Sign sign = commonSign(op.getTrueValue(), op.getFalseValue());
  bool integers = elementOf(type).isIntOrIndex() && !type.isInteger(1);
  auto arm = [&](Value operand) {
    return integers ? integer(operand, sign) : value(operand);
  };
  Expression a = arm(op.getTrueValue()), b = arm(op.getFalseValue());
  if (isMask(condition.getType()) && out.language.isC) {
    std::string name = typeName(type, a.sign);
    context.selects.insert(name);
    return {"select_" + name + "(" +
                maskAs(condition, storageBits(elementOf(type))).text + ", " +
                a.text + ", " + b.text + ")",
            Binding::Primary, a.sign};
  }
  if (isMask(condition.getType()))
    return choose(maskAs(condition, storageBits(elementOf(type))), a, b);
  return choose(value(condition), a, b);
}

Expression KernelPrinter::conditional(scf::IfOp op) {
  Type type = op.getResult(0).getType();
  Sign sign =
      commonSign(op.thenYield().getOperand(0), op.elseYield().getOperand(0));
  bool integers = elementOf(type).isIntOrIndex() && !type.isInteger(1);
  auto arm = [&](Block &block) -> Expression {
    Value result = block.getTerminator()->getOperand(0);
    if (isMask(type))
      return maskAs(result, maskBits(op.getResult(0)));
    return integers ? integer(result, sign) : value(result);
  };
  return {within(value(op.getCondition()), Binding::Compare) + " ? " +
              within(arm(*op.thenBlock()), Binding::Sum) + " : " +
              within(arm(*op.elseBlock()), Binding::Sum),
          Binding::Choice, sign};
}

} // namespace ingot
