// Verifiers of operations that the threads of a warp or block execute together.

#include "dialects/kernel/OnDevice.h"

#include "dialects/kernel/KernelModule.h"
#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/SmallFloats.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace ingot::kernel;

bool ingot::kernel::isShared(Value buffer) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
      cast<MemRefType>(buffer.getType()).getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}

bool ingot::kernel::fitsRank(Value buffer, ValueRange indices) {
  return cast<MemRefType>(buffer.getType()).getRank() ==
         static_cast<int64_t>(indices.size());
}

LogicalResult ingot::kernel::verifyOnDevice(Operation *op) {
  auto function = op->getParentOfType<FuncOp>();
  if (function && !function.getThreads())
    return op->emitOpError(
        "is in a kernel that runs on no threads of a device");
  return success();
}

/// Rejects an access unless `buffer` is in shared memory and there is one index
/// for each of its axes.
static LogicalResult verifyShared(Operation *op, StringRef access, Value buffer,
                                  ValueRange indices) {
  if (!isShared(buffer))
    return op->emitOpError(access)
           << " " << buffer.getType() << ", which is not shared by the block";
  if (!fitsRank(buffer, indices))
    return op->emitOpError("has ")
           << indices.size() << " indices into " << buffer.getType();
  return success();
}

LogicalResult CountOp::verify() {
  auto type = cast<MemRefType>(getCounts().getType());
  if (type.getRank() != 1 || !type.getElementType().isInteger(32))
    return emitOpError("counts in ")
           << type << ", which is no list of integers of 32 bits";
  auto argument = dyn_cast<BlockArgument>(getCounts());
  auto function = (*this)->getParentOfType<FuncOp>();
  if (!argument || !function ||
      !function.getArgAttr(argument.getArgNumber(), kClearedAttr))
    return emitOpError("counts in what no launch clears");
  return verifyOnDevice(*this);
}

LogicalResult CloseCopiesOp::verify() { return verifyOnDevice(*this); }
LogicalResult AwaitCopiesOp::verify() { return verifyOnDevice(*this); }
LogicalResult AwaitInputsOp::verify() { return verifyOnDevice(*this); }

LogicalResult LoadMatricesOp::verify() {
  auto type = cast<MemRefType>(getTile().getType());
  if (failed(verifyShared(*this, "loads from", getTile(), getIndices())))
    return failure();
  if (!llvm::is_contained({1, 2, 4}, int(getParts().size())))
    return emitOpError("loads ")
           << getParts().size() << " matrices, which is not 1, 2 or 4";
  if (getTransposed() && ingot::storageBits(type.getElementType()) != 16)
    return emitOpError("transposes elements of ")
           << type << ", which are not of 16 bits";
  return success();
}

std::string LoadMatricesOp::getIntrinsicName() {
  return (getOperationName() + "[" + Twine(getParts().size()) +
          (getTransposed() ? ",transposed]" : "]"))
      .str();
}

std::string RoundPairOp::getIntrinsicName() {
  std::string name;
  llvm::raw_string_ostream(name)
      << getOperationName() << '[' << getElement() << ']';
  return name;
}

LogicalResult RoundPairOp::verify() {
  if (!getElement().isF16() && !getElement().isBF16())
    return emitOpError("rounds to ") << getElement() << ", not f16 or bf16";
  return success();
}

std::string WarpProductOp::getIntrinsicName() {
  std::string name;
  llvm::raw_string_ostream(name)
      << getOperationName() << '[' << getLeft() << ',' << getRight() << ']';
  return name;
}

Value WarpProductOp::resultOf(OpOperand &sum) {
  unsigned first = getA().size() + getB().size();
  return sum.getOperandNumber() < first
             ? Value()
             : getResult(sum.getOperandNumber() - first);
}

LogicalResult WarpProductOp::verify() {
  if (getA().size() != 4 || getB().size() != 2 || getSums().size() != 4)
    return emitOpError(
               "takes 4, 2 and 4 registers of the operands and sums, not ")
           << getA().size() << ", " << getB().size() << " and "
           << getSums().size();
  if (getSums().getTypes() != getResults().getTypes())
    return emitOpError("has results of other types than its sums");
  auto isByte = [](Type type) {
    return type.isInteger(8) && !type.isSignlessInteger();
  };
  bool areBytes = isByte(getLeft()) && isByte(getRight());
  bool areFloats =
      (isFloat8(getLeft()) && isFloat8(getRight())) ||
      (getLeft() == getRight() && (getLeft().isF16() || getLeft().isBF16() ||
                                   isa<FloatTF32Type>(getLeft())));
  if (!areBytes && !areFloats)
    return emitOpError("multiplies ")
           << getLeft() << " and " << getRight()
           << "; both must be si8 or ui8, both 8-bit floats, or both f16, "
              "bf16 or tf32";
  for (Type sum : getSums().getTypes())
    if (areBytes ? !sum.isInteger(32) : !sum.isF32())
      return emitOpError("sums products of ") << getLeft() << " as " << sum;
  return success();
}

void WarpProductOp::print(OpAsmPrinter &p) {
  p << ' ' << getA() << " times " << getB() << " plus " << getSums();
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {getOperandSegmentSizesAttrName()});
  p << " : " << (getSums().empty() ? Type() : getSums()[0].getType());
}

ParseResult WarpProductOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> a, b, sums;
  Type type;
  if (parser.parseOperandList(a) || parser.parseKeyword("times") ||
      parser.parseOperandList(b) || parser.parseKeyword("plus") ||
      parser.parseOperandList(sums) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  Type word = parser.getBuilder().getI32Type();
  if (parser.resolveOperands(a, word, result.operands) ||
      parser.resolveOperands(b, word, result.operands) ||
      parser.resolveOperands(sums, type, result.operands))
    return failure();
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      int(a.size()), int(b.size()), int(sums.size())};
  result.addTypes(SmallVector<Type>(sums.size(), type));
  return success();
}

/// Whether the buffer is known to be aligned to 16 bytes.
static bool isAligned(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(bufferRoot(buffer));
  auto function =
      argument ? dyn_cast_or_null<FuncOp>(argument.getOwner()->getParentOp())
               : FuncOp();
  auto align = function ? function.getArgAttrOfType<IntegerAttr>(
                              argument.getArgNumber(), kAlignAttr)
                        : IntegerAttr();
  return isShared(buffer) || (align && align.getInt() % 16 == 0);
}

std::string StoreVectorOp::getIntrinsicName() {
  std::string name;
  llvm::raw_string_ostream(name)
      << getOperationName() << '['
      << cast<MemRefType>(getTo().getType()).getElementType()
      << (isAligned(getTo()) ? "]" : ",unaligned]");
  return name;
}

LogicalResult StoreVectorOp::verify() {
  auto type = cast<MemRefType>(getTo().getType());
  if (!fitsRank(getTo(), getIndices()))
    return emitOpError("has ")
           << getIndices().size() << " indices into " << type;
  int64_t bytes = int64_t(getValues().size()) *
                  ingot::kernel::elementBytes(type.getElementType());
  bool isVectorAccess =
      bytes == 16 || (!isShared(getTo()) && (bytes == 4 || bytes == 8));
  if (!isa<FloatType>(type.getElementType()) || !isVectorAccess)
    return emitOpError("stores ") << getValues().size() << " numbers to "
                                  << type << ", which are not 16 bytes"
                                  << (isShared(getTo()) ? "" : ", nor 4 or 8");
  return verifyOnDevice(*this);
}

LogicalResult CopyAheadOp::verify() {
  if (!isShared(getTo()))
    return emitOpError("copies to ")
           << getTo().getType() << ", which is not shared by the block";
  auto from = cast<MemRefType>(getFrom().getType()),
       to = cast<MemRefType>(getTo().getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError("copies from ") << from << " to " << to;
  if (!fitsRank(getFrom(), getFromIndices()) ||
      !fitsRank(getTo(), getToIndices()))
    return emitOpError("has indices of another rank than its buffers");
  return success();
}
