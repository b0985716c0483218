// Which expression an operation is.
//
// Values, literals, intrinsics, and the table from operations to the functions
// that spell them.

#include "codegen/kernel/KernelPrinter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
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

Expression KernelPrinter::intrinsic(StringRef spelling, ValueRange operands,
                                    Type type) {
  std::string text;
  StringRef rest = spelling;
  while (!rest.empty()) {
    if (rest.size() >= 3 && rest[0] == '{' && rest[2] == '}') {
      text += within(value(operands[rest[1] - '0']), Binding::Unary);
      rest = rest.drop_front(3);
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  // The table's own vector types become ours; they may differ in element.
  Expression call = {text, Binding::Unary,
                     type.isIndex() ? Sign::Signed : Sign::Unsigned};
  if (isVector(type)) {
    call = castTo(typeName(type, Sign::Unsigned), call);
    call.sign = Sign::Unsigned;
  }
  return call;
}

/// What the target's table has for the operation. A multiply-add with one lane
/// of a vector as its factor has names of its own, as "vector.fma[2]".
std::optional<Expression> KernelPrinter::intrinsic(Operation *op) {
  if (op->getNumResults() == 0)
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  Type type = op->getResult(0).getType(),
       from = op->getNumOperands() ? op->getOperand(0).getType() : Type();
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
  if (const Intrinsic *row = context.target.intrinsic(name, from, type))
    return intrinsic(row->spelling, op->getOperands(), type);
  if (auto dot = dyn_cast<kernel::DotOp>(op))
    if (const Product *row =
            context.target.product(dot.getTypeOfA(), dot.getTypeOfB(),
                                   dot.getGroup(), dot.getLanes())) {
      Value word = row->wordSpelling.empty()
                       ? Value()
                       : kernel::DotOp::wordInAllLanes(dot.getB());
      if (word)
        return intrinsic(row->wordSpelling,
                         {dot.getA(), word, dot.getAccumulator()}, type);
      return intrinsic(row->spelling, op->getOperands(), type);
    }
  return std::nullopt;
}

/// Index values that are surely not negative: their unsigned division is C's.
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
      .Case([&](func::CallOp o) { return callText(o); })
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
      .Case([&](kernel::StringAtOp o) -> Expression {
        return {"(" + kStringTypeName.str() + ")&" +
                    address(o.getCharacters(), o.getPosition()),
                Binding::Unary};
      })
      .Case([&](kernel::EmptyStringOp) -> Expression { return {"\"\""}; })
      .Case([&](kernel::CharacterOp o) -> Expression {
        return {"(int8_t)" + within(value(o.getString()), Binding::Primary) +
                    "[" + value(o.getPosition()).text + "]",
                Binding::Unary};
      })
      .Case([&](vector::LoadOp o) {
        return load(o.getBase(), o.getIndices(), type, o.getAlignment());
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
