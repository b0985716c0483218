// Prints operations as expressions: values, literals, intrinsics, and the
// entries of Printable.def.

#include "codegen/kernel/KernelPrinter.h"

#include "dialects/kernel/DotLane.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace ingot {

/// Returns the text of an expression, in parentheses if it binds less tightly
/// than `limit`.
std::string KernelPrinter::within(const Expression &expression, Binding limit) {
  if (expression.binding <= limit)
    return expression.text;
  return "(" + expression.text + ")";
}

Expression KernelPrinter::castTo(const std::string &type,
                                 const Expression &expression) {
  if (out.language.isC)
    return {"(" + type + ")" + within(expression, Binding::Unary),
            Binding::Unary, expression.sign};
  return {out.language.cast(type, expression.text), Binding::Primary,
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

/// Returns the expression for a value as an integer of the given signedness.
Expression KernelPrinter::integer(Value operand, Sign sign) {
  if (auto literal = operand.getDefiningOp<arith::ConstantOp>())
    if (!isVector(operand.getType()))
      return constant(literal, sign);
  // A truncation keeps the low bits for either signedness, so its result is
  // printed with the wanted signedness directly.
  if (auto low = operand.getDefiningOp<arith::TruncIOp>();
      low && sign == Sign::Signed && !isVector(operand.getType()) &&
      !operand.getType().isInteger(1) && !isPartOfByte(operand.getType()) &&
      !variables.count(placement.variable(operand)))
    return convert(low, Sign::Unsigned, sign);
  Expression expression = value(operand);
  if (sign == Sign::Signed && !expression.promoted.empty())
    return {expression.promoted, Binding::Unary, sign};
  if (expression.sign == sign || elementOf(operand.getType()).isInteger(1))
    return expression;
  expression = castTo(typeName(operand.getType(), sign), expression);
  expression.sign = sign;
  return expression;
}

/// Returns the expression to assign to a variable of the given signedness.
Expression KernelPrinter::initializer(Value operand, Sign sign) {
  Type element = elementOf(operand.getType());
  if (element.isIntOrIndex() && !isMask(operand.getType()) &&
      !element.isInteger(1))
    return integer(operand, sign);
  return value(operand);
}

/// By default, integer literals are signed, as in memory.
Expression KernelPrinter::constant(arith::ConstantOp op) {
  return constant(op, Sign::Signed);
}

Expression KernelPrinter::constant(arith::ConstantOp op, Sign sign) {
  Attribute attribute = op.getValue();
  if (isVector(op.getType()))
    return vectorConstant(op);
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    attribute = dense.getSplatValue<Attribute>();
  if (isBitsFloat(elementOf(op.getType())))
    return {floatLiteral(cast<FloatAttr>(attribute).getValue()),
            Binding::Primary, Sign::Unsigned};
  if (auto value = dyn_cast<FloatAttr>(attribute))
    return number(value.getValue());
  return number(cast<IntegerAttr>(attribute).getValue(), sign);
}

/// Prints a float as a literal. A float near `to_integer` (1.5 * 2^23, or 1.5 *
/// 2^52 for double, a constant that is added to round floats to integers) is
/// printed as `to_integer + difference`.
Expression KernelPrinter::number(const APFloat &value) {
  bool isSingle = &value.getSemantics() == &APFloat::IEEEsingle();
  double number = isSingle ? value.convertToFloat() : value.convertToDouble();
  // The subtraction is exact, so the printed expression has the value `number`.
  constexpr double farthest = 65536;
  double difference = number - (isSingle ? 12582912.0 : 6755399441055744.0);
  if (std::abs(difference) <= farthest) {
    std::string text = helper(isSingle ? "to_integer" : "to_integer_f64");
    APFloat distance = isSingle ? APFloat(float(std::abs(difference)))
                                : APFloat(std::abs(difference));
    if (difference == 0)
      return {text};
    return {text + (difference < 0 ? " - " : " + ") + floatLiteral(distance),
            Binding::Sum};
  }
  std::string text = floatLiteral(value);
  return {text, text.front() == '-' ? Binding::Unary : Binding::Primary};
}

Expression KernelPrinter::number(const APInt &value, Sign sign) {
  if (value.getBitWidth() == 32 && value == 0x4B400000u &&
      sign == Sign::Unsigned)
    return {helper("to_integer_bits"), Binding::Primary, sign};
  std::string text = integerLiteral(value, sign);
  return {text, text.front() == '-' ? Binding::Unary : Binding::Primary, sign};
}

/// Returns `name`, the name of a function or constant of PrintedFunctions.cpp,
/// and records that the source must declare it.
std::string KernelPrinter::helper(const std::string &name) {
  context.helpers.insert(name);
  return name;
}

/// Returns the text `spelling` of a target's table with the operands inserted.
std::string KernelPrinter::spelled(StringRef spelling, ValueRange operands) {
  std::string text, written = out.language.spelled(spelling);
  StringRef rest = written;
  while (!rest.empty()) {
    if (rest.size() >= 3 && rest[0] == '{' && rest[2] == '}') {
      text += within(value(operands[rest[1] - '0']), Binding::Unary);
      rest = rest.drop_front(3);
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  return text;
}

Expression KernelPrinter::intrinsic(StringRef spelling, ValueRange operands,
                                    Type type, Sign sign) {
  // Intrinsics return vector types of the target's header, with other element
  // types than the generated source has, so the result is cast.
  Expression call = {spelled(spelling, operands), Binding::Unary,
                     type.isIndex() ? Sign::Signed : Sign::Unsigned};
  if (isVector(type)) {
    call = castTo(typeName(type, sign), call);
    call.sign = sign;
  }
  return call;
}

/// Returns the name, in a target's table, of a shuffle that takes every second
/// group of lanes of two vectors: "vector.shuffle[even 16]" for the groups 0,
/// 2, 4, ... of 16 lanes, "vector.shuffle[odd 16]" for the groups 1, 3, 5, ...
/// Empty for any other shuffle.
static std::string eachSecondGroup(vector::ShuffleOp op) {
  ArrayRef<int64_t> mask = op.getMask();
  int64_t lanes = mask.size(), first = mask[0];
  if (laneCount(op.getV1().getType()) != lanes ||
      laneCount(op.getV2().getType()) != lanes)
    return "";
  int64_t group = first;
  if (first == 0)
    while (group < lanes && mask[group] == group)
      ++group;
  if (group <= 0 || lanes % group != 0)
    return "";
  for (auto [at, lane] : llvm::enumerate(mask))
    if (lane != first + int64_t(at) + int64_t(at) / group * group)
      return "";
  return (op->getName().getStringRef() + (first == 0 ? "[even " : "[odd ") +
          Twine(group) + "]")
      .str();
}

/// If `op` adds the odd lanes of two vectors to the even ones, so that its lanes
/// are the sums of adjacent lanes, returns the vectors; otherwise nullopt.
static std::optional<std::pair<Value, Value>> summedPair(Operation *op) {
  if (!isa<arith::AddIOp, arith::AddFOp>(op))
    return std::nullopt;
  auto even = op->getOperand(0).getDefiningOp<vector::ShuffleOp>(),
       odd = op->getOperand(1).getDefiningOp<vector::ShuffleOp>();
  if (!even || !odd || even.getV1() != odd.getV1() ||
      even.getV2() != odd.getV2() ||
      eachSecondGroup(even) != "vector.shuffle[even 1]" ||
      eachSecondGroup(odd) != "vector.shuffle[odd 1]")
    return std::nullopt;
  return std::pair(even.getV1(), even.getV2());
}

/// Returns the call of the target's intrinsic for an operation; nullopt if
/// there is none. A multiply-add with one lane of a vector as a factor has its
/// own entries in the target's table, such as "vector.fma[2]"; so has a shift
/// of a constant.
std::optional<Expression> KernelPrinter::intrinsic(Operation *op) {
  if (op->getNumResults() == 0)
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  if (auto quotient = dyn_cast<arith::DivFOp>(op);
      quotient && arith::bitEnumContainsAll(quotient.getFastmath(),
                                            arith::FastMathFlags::arcp))
    name = "arith.divf[arcp]";
  if (isa<arith::ShRUIOp>(op) && matchPattern(op->getOperand(0), m_Constant()))
    name = "arith.shrui[of constant]";
  Type type = op->getResult(0).getType(),
       from = op->getNumOperands() ? op->getOperand(0).getType() : Type();
  // Vectors of integers are unsigned, except accumulators that are converted to
  // floats as signed integers.
  Sign sign = signOf(op->getResult(0));
  if (auto product = dyn_cast<vector::FMAOp>(op))
    for (bool swap : {false, true}) {
      Value factor = swap ? product.getRhs() : product.getLhs(),
            other = swap ? product.getLhs() : product.getRhs();
      auto splat = factor.getDefiningOp<vector::BroadcastOp>();
      auto lane = splat ? splat.getSource().getDefiningOp<vector::ExtractOp>()
                        : vector::ExtractOp();
      if (!lane || lane.hasDynamicPosition())
        continue;
      std::string withLane =
          (name + "[" + Twine(lane.getStaticPosition().front()) + "]").str();
      if (const Intrinsic *row = context.target.intrinsic(
              withLane, lane.getSource().getType(), type))
        return intrinsic(row->spelling,
                         {lane.getSource(), other, product.getAcc()}, type);
    }
  if (auto pair = summedPair(op))
    if (const Intrinsic *row =
            context.target.intrinsic((name + "[of pairs]").str(), from, type))
      return intrinsic(row->spelling, {pair->first, pair->second}, type);
  if (const Intrinsic *row = context.target.intrinsic(name, from, type))
    return intrinsic(row->spelling, op->getOperands(), type);
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op))
    if (const Intrinsic *row =
            context.target.intrinsic(eachSecondGroup(shuffle), from, type))
      return intrinsic(row->spelling, op->getOperands(), type);
  if (auto bits = dyn_cast<kernel::LowBitsOp>(op))
    if (const Intrinsic *row =
            context.target.intrinsic(bits.getIntrinsicName(), from, type))
      return intrinsic(row->spelling, op->getOperands(), type);
  if (auto pair = dyn_cast<kernel::RoundPairOp>(op))
    if (const Intrinsic *row =
            context.target.intrinsic(pair.getIntrinsicName(), from, type))
      return intrinsic(row->spelling, op->getOperands(), type);
  if (auto dot = dyn_cast<kernel::DotOp>(op)) {
    std::string kind = kernel::intrinsicName(dot);
    if (matchPattern(dot.getAccumulator(), m_Zero()))
      if (const Intrinsic *row =
              context.target.intrinsic(kind + "[to zero]", from, type))
        return intrinsic(row->spelling, {dot.getA(), dot.getB()}, type, sign);
    if (const Intrinsic *row = context.target.intrinsic(kind, from, type))
      return intrinsic(row->spelling, op->getOperands(), type, sign);
  }
  if (auto dot = dyn_cast<kernel::DotOp>(op))
    if (auto lane = kernel::dotLane(dot.getB()))
      if (const Intrinsic *row = context.target.intrinsic(
              kernel::dotByLane(dot.getTypeOfA(), dot.getTypeOfB(), lane->lane),
              lane->vector.getType(), type))
        return intrinsic(row->spelling,
                         {dot.getA(), lane->vector, dot.getAccumulator()}, type,
                         sign);
  if (auto dot = dyn_cast<kernel::DotOp>(op))
    if (const Product *row =
            context.target.product(dot.getTypeOfA(), dot.getTypeOfB(),
                                   dot.getGroup(), dot.getLanes())) {
      Value word = row->wordSpelling.empty()
                       ? Value()
                       : kernel::DotOp::wordInAllLanes(dot.getB());
      if (word)
        return intrinsic(row->wordSpelling,
                         {dot.getA(), word, dot.getAccumulator()}, type, sign);
      return intrinsic(row->spelling, op->getOperands(), type, sign);
    }
  return std::nullopt;
}

/// Whether an index is known to be non-negative, so that unsigned and signed
/// division give the same result.
static bool isNonNegative(Value value, unsigned depth = 0) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    auto loop = dyn_cast<scf::ForOp>(parent);
    return isa<FunctionOpInterface>(parent) ||
           (loop && argument == loop.getInductionVar() && depth < 8 &&
            isNonNegative(loop.getLowerBound(), depth + 1));
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return constant.value() >= 0;
  if (isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op))
    return true;
  return depth < 8 &&
         isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::RemUIOp,
             arith::DivSIOp, arith::RemSIOp, arith::MinSIOp>(op) &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) { return isNonNegative(operand, depth + 1); });
}

Expression KernelPrinter::ofOperation(Operation *op) {
  Type type = op->getNumResults() ? op->getResult(0).getType() : Type();
  if (std::optional<Expression> call = intrinsic(op))
    return *call;
  // Integers wrap, so sums and products are computed as unsigned; an index does
  // not overflow and stays signed.
  bool isIndex = type && type.isIndex();
  constexpr Sign Signed = Sign::Signed, Unsigned = Sign::Unsigned;
  const Sign Wrapping = isIndex ? Signed : Unsigned;
  auto arithmetic = [&](const char *spelling, Binding binding, Sign sign) {
    if (isIndex && sign == Sign::Unsigned &&
        llvm::all_of(op->getOperands(),
                     [](Value v) { return isNonNegative(v); }))
      sign = Sign::Signed;
    return integerArithmetic(op, spelling, binding, sign);
  };
  return llvm::TypeSwitch<Operation *, Expression>(op)
#define INGOT_INTEGERS(OP, SPELLING, BINDING, SIGN)                            \
  .Case([&](OP) { return arithmetic(SPELLING, Binding::BINDING, SIGN); })
#define INGOT_FLOATS(OP, SPELLING, BINDING, UPDATE)                            \
  .Case([&](OP) { return floatArithmetic(op, SPELLING, Binding::BINDING); })
#define INGOT_LOGIC(OP, OF_BITS, OF_TRUTH)                                     \
  .Case([&](OP) { return logic(op, OF_BITS, OF_TRUTH); })
#define INGOT_CONVERSION(OP, FROM, TO)                                         \
  .Case([&](OP) { return convert(op, FROM, TO); })
#define INGOT_BUILTIN(OP, NAME) .Case([&](OP) { return builtin(op, NAME); })
#define INGOT_EXPRESSION(OP, FUNCTION, USES)                                   \
  .Case([&](OP o) { return FUNCTION(o); })
#define INGOT_STATEMENT(OP, FUNCTION)
#define INGOT_END(OP)
#include "codegen/kernel/Printable.def"
      .Default([](Operation *op) -> Expression {
        llvm::report_fatal_error("refused by legalization: " +
                                 op->getName().getStringRef());
      });
}

} // namespace ingot
