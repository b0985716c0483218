// Verifiers and methods of vector operations.

#include "dialects/kernel/KernelDialect.h"

#include "dialects/kernel/NumberTypes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::kernel {

int64_t DotOp::getLanes() { return laneCount(getAccumulator().getType()); }

int64_t DotOp::getGroup() { return laneCount(getA().getType()) / getLanes(); }

static std::string signedName(Value vector, bool isUnsigned) {
  Type element = elementOf(vector.getType());
  if (element.isBF16() || element.isF16())
    return element.isF16() ? "f16" : "bf16";
  unsigned bits = elementOf(vector.getType()).getIntOrFloatBitWidth();
  return (isUnsigned ? "ui" : "si") + std::to_string(bits);
}

std::string DotOp::getTypeOfA() { return signedName(getA(), getAUnsigned()); }

std::string DotOp::getTypeOfB() { return signedName(getB(), getBUnsigned()); }

Value DotOp::wordInAllLanes(Value operand) {
  auto cast = operand.getDefiningOp<vector::BitCastOp>();
  auto splat = cast ? cast.getSource().getDefiningOp<vector::BroadcastOp>()
                    : vector::BroadcastOp();
  return splat && splat.getSourceType().isInteger(32) ? splat.getSource()
                                                      : Value();
}

LogicalResult DotOp::verify() {
  int64_t narrow = laneCount(getA().getType());
  Type element = elementOf(getA().getType()),
       sum = elementOf(getAccumulator().getType());
  if (element.isF16() || sum.isF16()) {
    if (getA().getType() != getAccumulator().getType())
      return emitOpError() << "sums " << getA().getType() << " into "
                           << getAccumulator().getType()
                           << "; products of f16 are summed lane by lane";
    return success();
  }
  if (sum.isInteger(16) && (!element.isInteger(8) || narrow != 2 * getLanes()))
    return emitOpError() << "sums " << getA().getType() << " into "
                         << getAccumulator().getType()
                         << "; sums of 16 bits are those of pairs of 8-bit "
                            "integers";
  // 16-bit integers may be multiplied lane by lane.
  bool isSingle = element.isInteger(16) && narrow == getLanes();
  if (narrow % getLanes() != 0 ||
      (!isSingle && !llvm::is_contained({2, 4, 8, 16}, getGroup())))
    return emitOpError() << "sums " << narrow << " products into " << getLanes()
                         << " lanes, which is not 2, 4, 8 or 16 for each";
  bool isFloat = isa<FloatType>(element);
  if (isFloat != isa<FloatType>(sum) ||
      (isFloat && (getAUnsigned() || getBUnsigned())))
    return emitOpError() << "sums " << getA().getType() << " into "
                         << getAccumulator().getType();
  return success();
}

/// Checks an operation that processes its operands in blocks of 128 bits.
template <typename Op> static LogicalResult verifyBlocks(Op op) {
  auto type = cast<VectorType>(op.getX().getType());
  if (type.getNumElements() * type.getElementTypeBitWidth() % 128 != 0)
    return op.emitOpError() << "takes blocks of 128 bits, not " << type;
  return success();
}

/// Checks kernel.narrow_signed and kernel.narrow_unsigned.
template <typename Op> static LogicalResult verifyNarrowing(Op op) {
  auto from = cast<VectorType>(op.getX().getType());
  unsigned bits = from.getElementTypeBitWidth();
  auto to = VectorType::get({2 * from.getNumElements()},
                            IntegerType::get(op.getContext(), bits / 2));
  if (op.getType() != to)
    return op.emitOpError()
           << "makes " << to << " of two " << from << ", not " << op.getType();
  return verifyBlocks(op);
}

LogicalResult NarrowSignedOp::verify() { return verifyNarrowing(*this); }

LogicalResult NarrowUnsignedOp::verify() { return verifyNarrowing(*this); }

LogicalResult RoundSaturatedOp::verify() {
  if (getX().getType().getShape() != getType().getShape())
    return emitOpError() << "converts " << getX().getType() << " to "
                         << getType();
  return success();
}

LogicalResult ZipLowOp::verify() { return verifyBlocks(*this); }

LogicalResult ZipHighOp::verify() { return verifyBlocks(*this); }

std::string LowBitsOp::getIntrinsicName() {
  return (getOperationName() + "[" + Twine(getBits()) + "]").str();
}

LogicalResult LowBitsOp::verify() {
  if (getBits() != 2 && getBits() != 4)
    return emitOpError() << "takes 2 or 4 bits, not " << getBits();
  if (laneCount(getX().getType()) != laneCount(getType()))
    return emitOpError() << "converts " << getX().getType() << " to "
                         << getType() << ", which has other lanes";
  return success();
}

} // namespace ingot::kernel
