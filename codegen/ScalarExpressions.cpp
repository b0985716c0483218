//===- ScalarExpressions.cpp - operations as C expressions ----------------===//
//
// Integers wrap: they are added, subtracted and multiplied as unsigned, widened
// to 32 bits first where C would promote to a signed int that may overflow.
// index is plain ptrdiff_t arithmetic: addresses do not overflow.
//
//===----------------------------------------------------------------------===//

#include "codegen/KernelPrinter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ingot {

/// The text, in parentheses if it binds less tightly than `limit`.
std::string KernelPrinter::within(const Expression &expression, Binding limit) {
  if (expression.binding <= limit)
    return expression.text;
  return "(" + expression.text + ")";
}

Expression KernelPrinter::castTo(const std::string &type,
                                 const Expression &expression) {
  return {"(" + type + ")" + within(expression, Binding::Unary), Binding::Unary,
          expression.sign};
}

std::string KernelPrinter::typeName(Type type, Sign sign) {
  std::string name = valueTypeName(type, sign);
  return isVector(type) ? useVector(name) : name;
}

Expression KernelPrinter::value(Value value) {
  auto known = variables.find(placement.variable(value));
  if (known != variables.end())
    return {known->second.name, Binding::Primary, known->second.sign};
  return ofOperation(value.getDefiningOp());
}

/// The value as an integer of one C type.
Expression KernelPrinter::integer(Value operand, Sign sign) {
  if (auto literal = operand.getDefiningOp<arith::ConstantOp>())
    if (!isVector(operand.getType()))
      return constant(literal, sign);
  Expression expression = value(operand);
  if (expression.sign == sign || elementOf(operand.getType()).isInteger(1))
    return expression;
  expression = castTo(typeName(operand.getType(), sign), expression);
  expression.sign = sign;
  return expression;
}

/// The value to assign to a variable of that sign: scalars convert on their
/// own, but a literal must fit.
Expression KernelPrinter::initializer(Value operand, Sign sign) {
  bool isInteger = elementOf(operand.getType()).isIntOrIndex();
  if (isInteger && !isMask(operand.getType()) &&
      (isVector(operand.getType()) ||
       operand.getDefiningOp<arith::ConstantOp>()))
    return integer(operand, sign);
  return value(operand);
}

Expression KernelPrinter::constant(arith::ConstantOp op, Sign sign) {
  Attribute attribute = op.getValue();
  if (isVector(op.getType()))
    return vectorConstant(op);
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    attribute = dense.getSplatValue<Attribute>();
  std::string text;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    text = floatLiteral(number.getValue());
  else
    text = integerLiteral(llvm::cast<IntegerAttr>(attribute).getValue(), sign);
  bool negative = text.front() == '-';
  if (isBitsFloat(elementOf(op.getType())))
    sign = Sign::Unsigned;
  return {text, negative ? Binding::Unary : Binding::Primary, sign};
}

/// A product, sum or shift of integers.
Expression KernelPrinter::integerArithmetic(Operation *op, const char *spelling,
                                            Binding binding, Sign sign) {
  Type type = op->getResult(0).getType(), element = elementOf(type);
  Value left = op->getOperand(0), right = op->getOperand(1);
  bool isShift = isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
  // A shift mixes operators that readers, and compilers, want in parentheses.
  Binding leftLimit = isShift ? Binding::Unary : binding;
  Binding rightLimit =
      binding == Binding::Sum ? Binding::Product : Binding::Unary;
  Expression a = integer(left, sign), b = integer(right, sign);
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (isa<arith::AddIOp>(op) && element.isIndex() && b.text.front() == '-') {
    spelling = " - ";
    b.text.erase(0, 1);
  }
  if (isVector(type) || element.isIndex() || bits >= 32)
    return {within(a, leftLimit) + spelling + within(b, rightLimit), binding,
            sign};
  // C computes narrow integers as int. Unsigned products and left shifts may
  // leave it, so they start from unsigned; the result is cut to its width.
  if (sign == Sign::Unsigned && isa<arith::MulIOp, arith::ShLIOp>(op))
    a = castTo("uint32_t", a);
  Expression wide = {within(a, leftLimit) + spelling + within(b, rightLimit),
                     binding, sign};
  if (isa<arith::ShRUIOp, arith::ShRSIOp, arith::DivUIOp, arith::RemUIOp,
          arith::RemSIOp>(op))
    return wide;
  return castTo(typeName(type, sign), wide);
}

/// &, | and ^; of bools the logical operators, of masks the bitwise ones.
Expression KernelPrinter::logic(Operation *op, const char *spelling) {
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
      return {within(value(left), Binding::Sum) +
                  " != " + within(value(right), Binding::Sum),
              Binding::Compare};
    } else {
      spelling = isa<arith::AndIOp>(op) ? " && " : " || ";
    }
    return {within(value(left), Binding::Compare) + spelling +
                within(value(right), Binding::Compare),
            Binding::Logic};
  }
  Expression a = integer(left, Sign::Unsigned);
  Expression b = integer(right, Sign::Unsigned);
  Expression result = {within(a, Binding::Unary) + spelling +
                           within(b, Binding::Unary),
                       Binding::Logic, Sign::Unsigned};
  // Of narrow operands the result is an int; keep to the type it stands for.
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

/// One expression, which both compilers make one instruction where there is
/// one.
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
    // Of masks only equality is legal: xor, or its complement.
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
      // As numbers: true is 1, or -1 where the order is signed.
      const char *number = isUnsigned ? "(int)" : "-(int)";
      a = {number + within(a, Binding::Unary), Binding::Unary};
      b = {number + within(b, Binding::Unary), Binding::Unary};
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

Expression KernelPrinter::compare(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  bool vector = isVector(op.getType());
  auto [x, y] = mixedOperands(op.getLhs(), op.getRhs());
  std::string a = within(x, Binding::Sum), b = within(y, Binding::Sum);
  auto plain = [&](const char *spelling) -> Expression {
    return {a + spelling + b, Binding::Compare};
  };
  auto negated = [&](const char *spelling) -> Expression {
    return {(vector ? "~(" : "!(") + a + spelling + b + ")", Binding::Unary};
  };
  // Both operands are compared with themselves: vectors even if one is a
  // scalar that the other's type would have widened.
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
  case P::OEQ:
    return plain(" == ");
  case P::OGT:
    return plain(" > ");
  case P::OGE:
    return plain(" >= ");
  case P::OLT:
    return plain(" < ");
  case P::OLE:
    return plain(" <= ");
  case P::UNE:
    return plain(" != ");
  case P::UGT:
    return negated(" <= ");
  case P::UGE:
    return negated(" < ");
  case P::ULT:
    return negated(" >= ");
  case P::ULE:
    return negated(" > ");
  case P::ONE:
    return two(a + " < " + b, a + " > " + b, either);
  case P::UEQ: {
    Expression differ = two(a + " < " + b, a + " > " + b, either);
    return {(vector ? "~(" : "!(") + differ.text + ")", Binding::Unary};
  }
  case P::ORD:
    return two(self(op.getLhs(), " == "), self(op.getRhs(), " == "), both);
  case P::UNO:
    return two(self(op.getLhs(), " != "), self(op.getRhs(), " != "), either);
  case P::AlwaysFalse:
  case P::AlwaysTrue:
    break;
  }
  llvm_unreachable("folded by legalization");
}

/// The C type of integers that two values are brought to: their own if it is
/// the same, literals following the other.
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

/// `a > b ? a : b` of vectors, where the target has an instruction that
/// compilers do not always find.
std::optional<Expression> KernelPrinter::extremum(arith::SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || !isVector(op.getType()))
    return std::nullopt;
  bool isMax = compare.getPredicate() == arith::CmpFPredicate::OGT;
  if (!isMax && compare.getPredicate() != arith::CmpFPredicate::OLT)
    return std::nullopt;
  // `b < a ? a : b` is the same.
  if (compare.getLhs() == op.getFalseValue() &&
      compare.getRhs() == op.getTrueValue())
    isMax = !isMax;
  else if (compare.getLhs() != op.getTrueValue() ||
           compare.getRhs() != op.getFalseValue())
    return std::nullopt;
  const char *name = isMax ? "max" : "min";
  const Intrinsic *row =
      context.target.intrinsic(name, op.getType(), op.getType());
  if (!row)
    return std::nullopt;
  std::string type = typeName(op.getType(), Sign::Unsigned);
  std::string helper = std::string(name) + "_" + type;
  context.extrema[helper] = row;
  return Expression{helper + "(" + value(op.getTrueValue()).text + ", " +
                    value(op.getFalseValue()).text + ")"};
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

/// Number conversions; `from` and `to` are the C types of integers.
Expression KernelPrinter::convert(Operation *op, Sign from, Sign to) {
  Value operand = op->getOperand(0);
  Type type = op->getResult(0).getType();
  std::string target = typeName(type, to);
  if (isMask(operand.getType())) {
    // 0 or -1 is already the sign extension; zero extension keeps one bit.
    unsigned bits = storageBits(elementOf(type));
    Expression wide =
        castTo(typeName(type, Sign::Unsigned), maskAs(operand, bits));
    wide.sign = Sign::Unsigned;
    if (isa<arith::ExtUIOp>(op))
      wide = {wide.text + " & (" +
                  storageTypeName(elementOf(type), Sign::Unsigned) + ")1",
              Binding::Logic, Sign::Unsigned};
    return wide;
  }
  if (isMask(type)) {
    std::string u = typeName(operand.getType(), Sign::Unsigned);
    std::string one =
        "(" + storageTypeName(elementOf(operand.getType()), Sign::Unsigned) +
        ")1";
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

/// The low bits of a byte: masked, or moved to its top and back for their sign.
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
    byte = {"(" + source + " & (" +
                storageTypeName(elementOf(operand.getType()), Sign::Unsigned) +
                ")" + mask + ")",
            Binding::Primary, Sign::Unsigned};
  } else {
    std::string shift = llvm::utostr(8 - bits);
    byte = {"((" + typeName(narrow, Sign::Signed) + ")(" + bytes + ")(" +
                source + " << " + shift + ") >> " + shift + ")",
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

Expression KernelPrinter::bitcast(Value from, Type to) {
  auto isBits = [](Type type) {
    Type element = elementOf(type);
    return element.isInteger() || isBitsFloat(element);
  };
  Expression source = value(from);
  // Bits that are an integer already.
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

Expression KernelPrinter::intrinsic(const Intrinsic &row, Operation *op) {
  std::string text;
  llvm::StringRef rest = row.spelling;
  while (!rest.empty()) {
    if (rest.size() >= 3 && rest[0] == '{' && rest[2] == '}') {
      text += within(value(op->getOperand(rest[1] - '0')), Binding::Unary);
      rest = rest.drop_front(3);
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  // The table's own vector types become ours; they may differ in element.
  Type type = op->getResult(0).getType();
  Expression call = {text, Binding::Unary, Sign::Unsigned};
  if (isVector(type)) {
    call = castTo(typeName(type, Sign::Unsigned), call);
    call.sign = Sign::Unsigned;
  }
  return call;
}

/// Index values that are surely not negative: their unsigned division is C's.
static bool isNonNegative(Value value, unsigned depth = 0) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return isa<func::FuncOp>(parent) ||
           (loop && argument == loop.getInductionVar() && depth < 8 &&
            isNonNegative(loop.getLowerBound(), depth + 1));
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value() >= 0;
  return depth < 8 &&
         isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp,
             arith::DivSIOp, arith::RemSIOp, arith::MinSIOp>(op) &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) { return isNonNegative(operand, depth + 1); });
}

Expression KernelPrinter::ofOperation(Operation *op) {
  Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
  if (op->getNumOperands() > 0)
    if (const Intrinsic *row = context.target.intrinsic(
            op->getName().getStringRef(), op->getOperand(0).getType(), type))
      return intrinsic(*row, op);
  // Sums and products of index stay signed.
  bool isIndex = type && type.isIndex();
  Sign wrapping = isIndex ? Sign::Signed : Sign::Unsigned;
  auto arithmetic = [&](const char *spelling, Binding binding, Sign sign) {
    if (isIndex && sign == Sign::Unsigned &&
        llvm::all_of(op->getOperands(),
                     [](Value v) { return isNonNegative(v); }))
      sign = Sign::Signed;
    return integerArithmetic(op, spelling, binding, sign);
  };
  return llvm::TypeSwitch<Operation *, Expression>(op)
      .Case([&](arith::ConstantOp o) {
        // Without a wish, integers are as in memory.
        return constant(o, Sign::Signed);
      })
      .Case([&](arith::AddIOp) {
        return arithmetic(" + ", Binding::Sum, wrapping);
      })
      .Case([&](arith::SubIOp) {
        return arithmetic(" - ", Binding::Sum, wrapping);
      })
      .Case([&](arith::MulIOp) {
        return arithmetic(" * ", Binding::Product, wrapping);
      })
      .Case([&](arith::DivSIOp) {
        return arithmetic(" / ", Binding::Product, Sign::Signed);
      })
      .Case([&](arith::DivUIOp) {
        return arithmetic(" / ", Binding::Product, Sign::Unsigned);
      })
      .Case([&](arith::RemSIOp) {
        return arithmetic(" % ", Binding::Product, Sign::Signed);
      })
      .Case([&](arith::RemUIOp) {
        return arithmetic(" % ", Binding::Product, Sign::Unsigned);
      })
      .Case([&](arith::ShLIOp) {
        return arithmetic(" << ", Binding::Shift, Sign::Unsigned);
      })
      .Case([&](arith::ShRSIOp) {
        return arithmetic(" >> ", Binding::Shift, Sign::Signed);
      })
      .Case([&](arith::ShRUIOp) {
        return arithmetic(" >> ", Binding::Shift, Sign::Unsigned);
      })
      .Case([&](arith::AndIOp) { return logic(op, " & "); })
      .Case([&](arith::OrIOp) { return logic(op, " | "); })
      .Case([&](arith::XOrIOp) { return logic(op, " ^ "); })
      .Case([&](arith::AddFOp) {
        return floatArithmetic(op, " + ", Binding::Sum);
      })
      .Case([&](arith::SubFOp) {
        return floatArithmetic(op, " - ", Binding::Sum);
      })
      .Case([&](arith::MulFOp) {
        return floatArithmetic(op, " * ", Binding::Product);
      })
      .Case([&](arith::DivFOp) {
        return floatArithmetic(op, " / ", Binding::Product);
      })
      .Case([&](arith::NegFOp o) -> Expression {
        return {"-" + within(value(o.getOperand()), Binding::Primary),
                Binding::Unary};
      })
      .Case([&](math::AbsFOp o) -> Expression {
        return {
            std::string(type.isF64() ? "__builtin_fabs(" : "__builtin_fabsf(") +
            value(o.getOperand()).text + ")"};
      })
      .Case([&](math::CopySignOp o) -> Expression {
        return {std::string(type.isF64() ? "__builtin_copysign("
                                         : "__builtin_copysignf(") +
                value(o.getLhs()).text + ", " + value(o.getRhs()).text + ")"};
      })
      .Case([&](math::FmaOp o) {
        return multiplyAdd(o.getA(), o.getB(), o.getC());
      })
      .Case([&](vector::FMAOp o) {
        return multiplyAdd(o.getLhs(), o.getRhs(), o.getAcc());
      })
      .Case([&](arith::CmpIOp o) { return compare(o); })
      .Case([&](arith::CmpFOp o) { return compare(o); })
      .Case([&](arith::SelectOp o) { return select(o); })
      .Case([&](scf::IfOp o) { return conditional(o); })
      .Case<arith::ExtSIOp, arith::SIToFPOp, arith::FPToSIOp,
            arith::IndexCastOp>(
          [&](auto) { return convert(op, Sign::Signed, Sign::Signed); })
      .Case<arith::ExtUIOp, arith::UIToFPOp, arith::FPToUIOp>(
          [&](auto) { return convert(op, Sign::Unsigned, Sign::Unsigned); })
      .Case<arith::IndexCastUIOp>(
          [&](auto) { return convert(op, Sign::Unsigned, wrapping); })
      .Case<arith::TruncIOp>(
          [&](auto) { return convert(op, Sign::Unsigned, Sign::Unsigned); })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return convert(op, Sign::Signed, Sign::Signed); })
      .Case<arith::BitcastOp, vector::BitCastOp>(
          [&](auto) { return bitcast(op->getOperand(0), type); })
      .Case([&](memref::LoadOp o) {
        return load(o.getMemRef(), o.getIndices(), type);
      })
      .Case([&](vector::LoadOp o) {
        return load(o.getBase(), o.getIndices(), type);
      })
      .Case([&](memref::GetGlobalOp o) -> Expression {
        return {context.globals[o.getName()]};
      })
      .Case([&](vector::BroadcastOp o) { return broadcast(o); })
      .Case([&](vector::ExtractOp o) { return extract(o); })
      .Case([&](vector::InsertOp o) { return value(o.getValueToStore()); })
      .Case([&](vector::ShuffleOp o) {
        return shuffle(o.getV1(), o.getV2(), type,
                       SmallVector<int64_t>(o.getMask()));
      })
      .Case([&](vector::ExtractStridedSliceOp o) {
        int64_t offset = llvm::cast<IntegerAttr>(o.getOffsets()[0]).getInt();
        SmallVector<int64_t> lanes;
        for (int64_t i = 0; i < laneCount(type); ++i)
          lanes.push_back(offset + i);
        return shuffle(o.getSource(), o.getSource(), type, lanes);
      })
      .Case([&](vector::InsertStridedSliceOp o) { return insertSlice(o); })
      .Case([&](vector::FromElementsOp o) -> Expression {
        if (!isVector(type))
          return value(o.getElements()[0]);
        SmallVector<std::string> lanes;
        for (Value element : o.getElements())
          lanes.push_back(laneValue(element, type));
        return fromLanes(type, lanes);
      })
      .Default([](Operation *op) -> Expression {
        llvm::report_fatal_error("refused by legalization: " +
                                 op->getName().getStringRef());
      });
}

} // namespace ingot
