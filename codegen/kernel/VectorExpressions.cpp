// Prints vectors and memory accesses.
//
// Vectors are GCC vector extensions, which GCC and clang support. If one
// operand of float arithmetic is a splat, the scalar itself is printed: the
// extension broadcasts it, `x * w` is readable, and compilers fold the
// broadcast into the instruction.

#include "codegen/kernel/KernelPrinter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

std::string KernelPrinter::useVector(const std::string &name) {
  context.vectorTypes.insert(name);
  return name;
}

//===----------------------------------------------------------------------===//
// Constants and splats
//===----------------------------------------------------------------------===//

Expression KernelPrinter::vectorConstant(arith::ConstantOp op) {
  auto dense = cast<DenseElementsAttr>(op.getValue());
  Type type = op.getType();
  if (isMask(type)) {
    unsigned bits = maskBits(op.getResult());
    std::string name = useVector(maskTypeName(bits, laneCount(type)));
    if (dense.isSplat())
      return {(dense.getSplatValue<APInt>().isZero() ? "" : "~") +
                  out.language.zero(name),
              Binding::Unary};
    std::string text;
    for (auto [i, bit] : llvm::enumerate(dense.getValues<APInt>()))
      text += std::string(i ? ", " : "") + (bit.isZero() ? "0" : "-1");
    return {out.language.vector(name, text)};
  }
  auto literal = [&](Attribute value) {
    auto floating = dyn_cast<FloatAttr>(value);
    if (floating && isBitsFloat(floating.getType()))
      return floatLiteral(floating.getValue());
    return (floating
                ? number(floating.getValue())
                : number(cast<IntegerAttr>(value).getValue(), Sign::Unsigned))
        .text;
  };
  auto isZero = [](Attribute value) {
    if (auto number = dyn_cast<FloatAttr>(value))
      return number.getValue().isPosZero();
    return cast<IntegerAttr>(value).getValue().isZero();
  };
  if (dense.isSplat()) {
    Attribute value = dense.getSplatValue<Attribute>();
    if (isZero(value))
      return {out.language.zero(typeName(type, Sign::Unsigned)),
              Binding::Primary, Sign::Unsigned};
    return splat(type, {literal(value), Binding::Unary});
  }
  SmallVector<std::string> lanes;
  for (Attribute value : dense.getValues<Attribute>())
    lanes.push_back(literal(value));
  return fromLanes(type, lanes);
}

/// Returns the expression for a vector with these lanes.
Expression KernelPrinter::fromLanes(Type type, ArrayRef<std::string> lanes) {
  if (isMask(type)) {
    std::string name = useVector(maskTypeName(32, laneCount(type)));
    return {out.language.vector(name, llvm::join(lanes, ", "))};
  }
  return {out.language.vector(typeName(type, Sign::Unsigned),
                              llvm::join(lanes, ", ")),
          Binding::Primary, Sign::Unsigned};
}

Expression KernelPrinter::splat(Type type, const Expression &scalar) {
  if (!isVector(type))
    return scalar;
  std::string name = typeName(type, Sign::Unsigned);
  context.splats.insert(name);
  return {"splat_" + name + "(" + scalar.text + ")", Binding::Primary,
          Sign::Unsigned};
}

/// If a vector of floats is a splat, returns the expression for its scalar;
/// otherwise nullopt.
std::optional<Expression> KernelPrinter::splatSource(Value vector) {
  Type element = elementOf(vector.getType());
  if (!isVector(vector.getType()) || !(element.isF32() || element.isF64()))
    return std::nullopt;
  if (auto op = vector.getDefiningOp<vector::BroadcastOp>())
    if (!isVector(op.getSourceType()))
      return value(op.getSource());
  if (auto op = vector.getDefiningOp<arith::ConstantOp>()) {
    auto dense = cast<DenseElementsAttr>(op.getValue());
    if (!dense.isSplat())
      return std::nullopt;
    return number(dense.getSplatValue<APFloat>());
  }
  return std::nullopt;
}

/// Returns the operands of a binary float operator: at least one as a vector,
/// the other as a scalar if it is a splat.
std::pair<Expression, Expression> KernelPrinter::mixedOperands(Value a,
                                                               Value b) {
  std::optional<Expression> left = splatSource(a), right = splatSource(b);
  if (left && !right)
    return {*left, value(b)};
  return {value(a), right ? *right : value(b)};
}

Expression KernelPrinter::broadcast(vector::BroadcastOp op) {
  Type type = op.getType();
  Value source = op.getSource();
  if (isVector(source.getType()) || !isVector(type))
    return value(source);
  if (isMask(type)) {
    // The lanes of a mask (a vector of i1) are 0 or -1, as wide as the elements
    // that were compared.
    unsigned bits = maskBits(op.getResult());
    std::string lanes = llvm::utostr(laneCount(type));
    std::string bitsText = llvm::utostr(bits);
    std::string splatType = useVector("u" + bitsText + "x" + lanes);
    context.splats.insert(splatType);
    Expression ones = {
        "splat_" + splatType + "(" +
        out.language.cast("uint" + bitsText + "_t",
                          "-" + within(value(source), Binding::Unary)) +
        ")"};
    return castTo(useVector(maskTypeName(bits, laneCount(type))), ones);
  }
  bool isInteger = elementOf(type).isInteger();
  return splat(type,
               isInteger ? integer(source, Sign::Unsigned) : value(source));
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Returns the width in bits of the lanes of a mask (a vector of i1): that of
/// the elements whose comparison made the mask; 8 for a mask that is loaded; 32
/// if nothing determines the width.
unsigned KernelPrinter::maskBits(Value mask) {
  if (auto argument = dyn_cast<BlockArgument>(mask)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return maskBits(loop.getTiedLoopInit(argument)->get());
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      unsigned index = argument.getArgNumber();
      if (argument.getOwner() == loop.getBeforeBody())
        return maskBits(loop.getInits()[index]);
      return maskBits(loop.getConditionOp().getArgs()[index]);
    }
    return 32;
  }
  Operation *op = mask.getDefiningOp();
  if (isa<arith::CmpIOp, arith::CmpFOp>(op)) {
    Value operand = op->getOperand(0);
    return isMask(operand.getType())
               ? maskBits(operand)
               : storageBits(elementOf(operand.getType()));
  }
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
    Value left = op->getOperand(0), right = op->getOperand(1);
    return maskBits(left.getDefiningOp<arith::ConstantOp>() ? right : left);
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return maskBits(select.getTrueValue().getDefiningOp<arith::ConstantOp>()
                        ? select.getFalseValue()
                        : select.getTrueValue());
  if (isa<vector::LoadOp>(op))
    return 8;
  if (isa<arith::TruncIOp>(op))
    return storageBits(elementOf(op->getOperand(0).getType()));
  if (auto insert = dyn_cast<vector::InsertOp>(op))
    return maskBits(insert.getDest());
  if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op))
    return maskBits(insert.getDest());
  if (isa<vector::ExtractStridedSliceOp, vector::ShuffleOp>(op) &&
      isMask(op->getOperand(0).getType()))
    return maskBits(op->getOperand(0));
  unsigned index =
      isa<OpResult>(mask) ? cast<OpResult>(mask).getResultNumber() : 0;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return maskBits(loop.getInitArgs()[index]);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return maskBits(loop.getConditionOp().getArgs()[index]);
  if (auto conditional = dyn_cast<scf::IfOp>(op))
    return maskBits(conditional.thenYield().getOperand(index));
  return 32;
}

Expression KernelPrinter::maskAs(Value mask, unsigned bits) {
  std::string type = useVector(maskTypeName(bits, laneCount(mask.getType())));
  if (auto constant = mask.getDefiningOp<arith::ConstantOp>()) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    if (dense.isSplat())
      return {(dense.getSplatValue<APInt>().isZero() ? "" : "~") +
                  out.language.zero(type),
              Binding::Unary};
  }
  Expression expression = value(mask);
  if (maskBits(mask) == bits)
    return expression;
  return {"__builtin_convertvector(" + expression.text + ", " + type + ")"};
}

//===----------------------------------------------------------------------===//
// Lanes and shuffles
//===----------------------------------------------------------------------===//

std::string KernelPrinter::lane(Value vector, const std::string &index) {
  Expression expression = value(vector);
  if (!isVector(vector.getType()))
    return expression.text;
  return within(expression, Binding::Primary) + "[" + index + "]";
}

/// Returns the expression for a scalar as a lane of a vector; in a mask (a
/// vector of i1), it is 0 or -1.
std::string KernelPrinter::laneValue(Value scalar, Type vectorType) {
  if (isMask(vectorType))
    return "-" + out.language.cast("int", value(scalar).text);
  if (elementOf(vectorType).isInteger()) {
    Expression lane = integer(scalar, Sign::Unsigned);
    // A braced initializer does not narrow implicitly. Intrinsics of dot
    // products return int, and so does a choice between a narrow integer and a
    // constant.
    if (isa_and_nonnull<kernel::DotOp, arith::SelectOp>(
            scalar.getDefiningOp()) &&
        !variables.count(placement.variable(scalar)))
      lane = castTo(typeName(scalar.getType(), Sign::Unsigned), lane);
    return lane.text;
  }
  return value(scalar).text;
}

Expression KernelPrinter::extract(vector::ExtractOp op) {
  Value source = op.getSource();
  if (isVector(op.getType()) || op.getMixedPosition().empty())
    return value(source);
  if (!isVector(source.getType()))
    return value(source);
  OpFoldResult position = op.getMixedPosition().front();
  std::string index;
  if (auto attribute = dyn_cast<Attribute>(position))
    index = llvm::itostr(cast<IntegerAttr>(attribute).getInt());
  else
    index = value(cast<Value>(position)).text;
  std::string text = lane(source, index);
  if (isMask(source.getType()))
    return {text + " != 0", Binding::Compare};
  return {text, Binding::Primary, value(source).sign};
}

/// Prints a shuffle that takes consecutive lanes, or that places two vectors
/// side by side, as a call of a function whose name says so. Returns nullopt
/// for other shuffles, for shuffles of few lanes, for masks, and for
/// vectors longer than a register, which some ABIs do not pass to functions.
std::optional<Expression> KernelPrinter::namedShuffle(const Expression &left,
                                                      const Expression &right,
                                                      bool sameOperands,
                                                      Type result, Type operand,
                                                      ArrayRef<int64_t> picks) {
  constexpr int64_t fewest = 16;
  int64_t count = picks.size(), lanes = laneCount(operand);
  const auto &widths = context.target.vectorBytes;
  int64_t bytes = std::max(count, lanes) * storageBits(elementOf(result)) / 8;
  // Where vectors may be wider than a register (wholeRegisters), functions take
  // vectors of any size.
  int64_t most = context.target.wholeRegisters ? bytes
                 : widths.empty()              ? 0
                                               : int64_t(widths.front());
  if (count < fewest || bytes > most || isMask(result))
    return std::nullopt;
  int64_t first = picks[0];
  bool isRange = true, isJoin = count == 2 * lanes;
  for (auto [at, pick] : llvm::enumerate(picks)) {
    isRange &= pick == first + int64_t(at);
    isJoin &=
        pick == int64_t(at) || (sameOperands && pick == int64_t(at) % lanes);
  }
  std::string operandType = typeName(operand, left.sign),
              resultType = typeName(result, left.sign);
  if (isJoin) {
    std::string name = "joined_" + operandType;
    context.parts[name] = {operandType, resultType, 0, count, lanes};
    return Expression{name + "(" + left.text + ", " + right.text + ")",
                      Binding::Primary, left.sign};
  }
  const Expression &from = first < lanes ? left : right;
  first %= lanes;
  if (!isRange || first % count != 0 || first + count > lanes)
    return std::nullopt;
  if (count == lanes)
    return from;
  std::string name =
      "part_" + llvm::itostr(first / count) + "_of_" + operandType;
  if (count * 2 == lanes)
    name = (first == 0 ? "low_half_of_" : "high_half_of_") + operandType;
  context.parts[name] = {operandType, resultType, first, count, lanes};
  return Expression{name + "(" + from.text + ")", Binding::Primary, left.sign};
}

Expression KernelPrinter::shuffle(Value a, Value b, Type type,
                                  ArrayRef<int64_t> picks) {
  int64_t lanesOfA = laneCount(a.getType());
  if (!isVector(type)) {
    bool first = picks[0] < lanesOfA;
    Value from = first ? a : b;
    std::string text =
        lane(from, llvm::itostr(picks[0] - (first ? 0 : lanesOfA)));
    if (isMask(from.getType()))
      return {text + " != 0", Binding::Compare};
    return {text, Binding::Primary, value(from).sign};
  }
  Expression left = isMask(type) ? maskAs(a, maskBits(a)) : value(a);
  Expression right = isMask(type) ? maskAs(b, maskBits(a)) : value(b);
  bool sameTypes = a.getType() == b.getType() && isVector(a.getType());
  if (!sameTypes || left.sign != right.sign) {
    SmallVector<std::string> lanes;
    for (int64_t pick : picks) {
      bool first = pick < lanesOfA;
      lanes.push_back(pick < 0
                          ? "0"
                          : lane(first ? a : b,
                                 llvm::itostr(pick - (first ? 0 : lanesOfA))));
    }
    return fromLanes(type, lanes);
  }
  if (std::optional<Expression> call =
          namedShuffle(left, right, a == b, type, a.getType(), picks))
    return *call;
  std::string text = "__builtin_shufflevector(" + left.text + ", " + right.text;
  for (int64_t pick : picks)
    text += ", " + llvm::itostr(pick);
  return {text + ")", Binding::Primary, left.sign};
}

Expression KernelPrinter::shuffle(vector::ShuffleOp op) {
  return shuffle(op.getV1(), op.getV2(), op.getType(),
                 SmallVector<int64_t>(op.getMask()));
}

Expression KernelPrinter::extractSlice(vector::ExtractStridedSliceOp op) {
  int64_t offset = cast<IntegerAttr>(op.getOffsets()[0]).getInt();
  SmallVector<int64_t> lanes;
  for (int64_t i = 0; i < laneCount(op.getType()); ++i)
    lanes.push_back(offset + i);
  return shuffle(op.getSource(), op.getSource(), op.getType(), lanes);
}

/// Returns the inserted scalar, since a vector of one lane is printed as a
/// scalar.
Expression KernelPrinter::insertedLane(vector::InsertOp op) {
  return value(op.getValueToStore());
}

Expression KernelPrinter::fromElements(vector::FromElementsOp op) {
  Type type = op.getType();
  if (!isVector(type))
    return value(op.getElements()[0]);
  SmallVector<std::string> lanes;
  for (Value element : op.getElements())
    lanes.push_back(laneValue(element, type));
  return fromLanes(type, lanes);
}

/// Prints the insertion of a slice into a vector: widens the slice with
/// undefined lanes, then shuffles it into its position.
Expression KernelPrinter::insertSlice(vector::InsertStridedSliceOp op) {
  Value source = op.getValueToStore(), dest = op.getDest();
  int64_t offset = cast<IntegerAttr>(op.getOffsets()[0]).getInt();
  int64_t count = laneCount(source.getType()), all = laneCount(dest.getType());
  Expression into = value(dest);
  Expression slice = value(source);
  Type type = dest.getType();
  if (isMask(type))
    slice = maskAs(source, maskBits(dest));
  else if (elementOf(type).isInteger())
    slice = integer(source, into.sign);
  std::string text = "__builtin_shufflevector(" + into.text +
                     ", __builtin_shufflevector(" + slice.text + ", " +
                     slice.text;
  for (int64_t i = 0; i < all; ++i)
    text += i < count ? ", " + llvm::itostr(i) : ", -1";
  text += ")";
  for (int64_t i = 0; i < all; ++i) {
    bool inside = i >= offset && i < offset + count;
    text += ", " + llvm::itostr(inside ? all + i - offset : i);
  }
  return {text + ")", Binding::Primary, into.sign};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

std::string KernelPrinter::pointer(Value memref) {
  auto known = variables.find(memref);
  if (known != variables.end())
    return known->second.name;
  return value(memref).text;
}

/// Returns the text of an element of a buffer, such as `x[i * 224 + j * 8 +
/// 3]`, with one row-major index.
std::string KernelPrinter::address(Value memref, ValueRange indices) {
  return pointer(memref) + "[" + offsetText(memref, indices) + "]";
}

/// Returns the text of the address of an element, such as `&x[i * 224 + 3]`, or
/// `x` for the first element.
std::string KernelPrinter::pointerTo(Value memref, ValueRange indices) {
  std::string offset = offsetText(memref, indices);
  return offset == "0" ? pointer(memref)
                       : "&" + pointer(memref) + "[" + offset + "]";
}

/// Whether the text of `index` is part of the text of its user and contains a
/// constant that is added, so that it can be added after everything else.
bool KernelPrinter::addsConstant(Value index) const {
  Operation *op = index.getDefiningOp();
  if (!op || !placement.isNested(op))
    return false;
  if (isa<arith::AddIOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp<arith::ConstantIndexOp>() ||
             addsConstant(operand);
    });
  return isa<arith::MulIOp>(op) &&
         op->getOperand(1).getDefiningOp<arith::ConstantIndexOp>() &&
         addsConstant(op->getOperand(0));
}

void KernelPrinter::addTerms(Value index, int64_t factor,
                             SmallVectorImpl<OffsetTerm> &terms,
                             int64_t &offset) {
  if (auto constant = index.getDefiningOp<arith::ConstantIndexOp>()) {
    offset += constant.value() * factor;
  } else if (!addsConstant(index)) {
    terms.push_back({index, factor});
  } else {
    Operation *op = index.getDefiningOp();
    Value right = op->getOperand(1);
    if (isa<arith::MulIOp>(op))
      factor *= right.getDefiningOp<arith::ConstantIndexOp>().value();
    addTerms(op->getOperand(0), factor, terms, offset);
    if (isa<arith::AddIOp>(op))
      addTerms(right, factor, terms, offset);
  }
}

/// Returns the text of the row-major index of an element. Constants come last:
/// then the indices of elements at constant distances begin alike, and GCC
/// computes the common part once.
std::string KernelPrinter::offsetText(Value memref, ValueRange indices) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (type.hasStaticShape() && type.getNumElements() == 0)
    strides.assign(type.getRank(), 0);
  else
    (void)type.getStridesAndOffset(strides, offset);
  SmallVector<OffsetTerm> terms;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    addTerms(index, stride, terms, offset);
  std::string text;
  for (auto [index, factor] : terms) {
    Expression expression = value(index);
    text += text.empty() ? "" : " + ";
    text += factor == 1 ? within(expression,
                                 text.empty() ? Binding::Sum : Binding::Product)
                        : within(expression, Binding::Product) + " * " +
                              llvm::itostr(factor);
  }
  if (text.empty())
    text = llvm::itostr(offset);
  else if (offset != 0)
    text += (offset < 0 ? " - " : " + ") + llvm::itostr(std::abs(offset));
  return text;
}

std::string KernelPrinter::loadOf(const std::string &vector,
                                  const std::string &from) {
  context.loads.insert(vector);
  return (out.language.isC ? "*load_" : "load_") + vector + "(" + from + ")";
}

/// Returns the name of a vector type in memory: aligned to `alignment` bytes
/// or, without it, to its elements.
std::string KernelPrinter::memoryVector(const std::string &name,
                                        std::optional<int64_t> alignment) {
  return useVector(name + (alignment ? "_a" + llvm::itostr(*alignment) : "_u"));
}

Expression KernelPrinter::load(memref::LoadOp op) {
  return load(op.getMemRef(), op.getIndices(), op.getType());
}

Expression KernelPrinter::load(vector::LoadOp op) {
  return load(op.getBase(), op.getIndices(), op.getType(), op.getAlignment());
}

void KernelPrinter::printStore(memref::StoreOp op) {
  store(op.getValueToStore(), op.getMemRef(), op.getIndices());
}

void KernelPrinter::printStore(vector::StoreOp op) {
  store(op.getValueToStore(), op.getBase(), op.getIndices(), op.getAlignment());
}

Expression KernelPrinter::global(memref::GetGlobalOp op) {
  return {context.globals[op.getName()]};
}

Expression KernelPrinter::stringAt(kernel::StringAtOp op) {
  return {out.language.reinterpret(
      kStringTypeName, pointerTo(op.getCharacters(), op.getPosition()))};
}

Expression KernelPrinter::emptyString(kernel::EmptyStringOp) {
  return {"\"\""};
}

Expression KernelPrinter::character(kernel::CharacterOp op) {
  return castTo("int8_t", {within(value(op.getString()), Binding::Primary) +
                           "[" + value(op.getPosition()).text + "]"});
}

Expression KernelPrinter::load(Value memref, ValueRange indices, Type type,
                               std::optional<int64_t> alignment) {
  Type memory = cast<MemRefType>(memref.getType()).getElementType();
  if (!isVector(type)) {
    std::string element = address(memref, indices);
    if (memory.isInteger(1))
      return {element + " != 0", Binding::Compare};
    return {element, Binding::Primary,
            isBitsFloat(memory) ? Sign::Unsigned : signOfElements(memref)};
  }
  unsigned bits = storageBits(memory);
  char kind = memory.isF32() || memory.isF64() ? 'f' : 'u';
  std::string name = useVector(vectorTypeName(kind, bits, laneCount(type)));
  Expression whole = {
      loadOf(memoryVector(name, alignment), pointerTo(memref, indices)),
      out.language.isC ? Binding::Unary : Binding::Primary, Sign::Unsigned};
  if (isMask(type))
    return {whole.text + " != " + out.language.zero(name), Binding::Compare};
  return whole;
}

void KernelPrinter::store(Value stored, Value memref, ValueRange indices,
                          std::optional<int64_t> alignment) {
  Type type = stored.getType();
  Type memory = cast<MemRefType>(memref.getType()).getElementType();
  if (!isVector(type)) {
    out.line(address(memref, indices) + " = " +
             initializer(stored, signOfElements(memref)).text + ";");
    return;
  }
  unsigned bits = storageBits(memory);
  char kind = memory.isF32() || memory.isF64() ? 'f' : 'u';
  std::string name = useVector(vectorTypeName(kind, bits, laneCount(type)));
  std::string text;
  if (isMask(type))
    text = castTo(name, maskAs(stored, 8)).text + " & " +
           out.language.cast("uint8_t", "1");
  else if (kind == 'u' && memory.isInteger())
    text = integer(stored, Sign::Unsigned).text;
  else
    text = value(stored).text;
  std::string vector = memoryVector(name, alignment);
  context.stores.insert(vector);
  out.line((out.language.isC ? "*at_" : "at_") + vector + "(" +
           pointerTo(memref, indices) + ") = " + text + ";");
}

} // namespace ingot
