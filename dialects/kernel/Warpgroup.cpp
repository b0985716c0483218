// Verifiers of what warpgroups do, and of copies of whole tiles.

#include "dialects/kernel/Warpgroup.h"

#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/OnDevice.h"

using namespace mlir;
using namespace ingot::kernel;

/// A gate is an element of a list of words of 64 bits that the block shares.
static LogicalResult verifyGates(Operation *op, Value gates) {
  auto type = cast<MemRefType>(gates.getType());
  if (!isShared(gates) || type.getRank() != 1 ||
      !type.getElementType().isInteger(64))
    return op->emitOpError("has gates in ")
           << type << ", not a list of i64 that the block shares";
  return verifyOnDevice(op);
}
LogicalResult InitGateOp::verify() { return verifyGates(*this, getGates()); }
LogicalResult ExpectBytesOp::verify() { return verifyGates(*this, getGates()); }
LogicalResult ArriveOp::verify() { return verifyGates(*this, getGates()); }
LogicalResult AwaitGateOp::verify() { return verifyGates(*this, getGates()); }
LogicalResult PublishGatesOp::verify() { return verifyOnDevice(*this); }

LogicalResult TilesOp::verify() {
  size_t rank = getSizes().getSizes().size();
  if (rank < 2 || rank > 5)
    return emitOpError("maps a tensor of ") << rank << " axes, not 2 to 5";
  if (getStrides().size() != rank || getStrides().back() != 1)
    return emitOpError("needs a stride for each axis, the last one 1");
  size_t windows = areWindows() ? rank - 2 : 0;
  if (getLow().size() != windows || getHigh().size() != windows ||
      getSteps().size() != windows)
    return emitOpError("needs low, high and steps of each axis but the first "
                       "and the last");
  if (getBox().size() != (areWindows() ? 2 : rank))
    return emitOpError("has a box of another rank than the tensor");
  if (auto argument = dyn_cast<BlockArgument>(getTensor());
      !argument || !isa<FuncOp>(argument.getOwner()->getParentOp()))
    return emitOpError("maps what is no argument of the kernel");
  return success();
}

LogicalResult CopyTileOp::verify() {
  if (!isShared(getTo()))
    return emitOpError("copies to ")
           << getTo().getType() << ", which is not shared by the block";
  if (!fitsRank(getTo(), getToIndices()))
    return emitOpError("has indices of another rank than its buffer");
  auto tiles = getTiles().getDefiningOp<TilesOp>();
  if (!tiles)
    return emitOpError("copies from what is no map of an argument");
  size_t rank = tiles.getStrides().size();
  if (getAt().size() != rank ||
      getShift().size() != (tiles.areWindows() ? rank - 2 : 0))
    return emitOpError("has a place of another rank than its map");
  return verifyGates(*this, getGates());
}

std::string TileProductOp::getIntrinsicName() {
  std::string name;
  llvm::raw_string_ostream(name)
      << getOperationName() << '[' << getLeftType() << ',' << getRightType()
      << (isLeftWords() ? ",words" : "") << (getAcross() ? ",across" : "")
      << (getFirst() ? ",first" : "") << ']';
  return name;
}

bool TileProductOp::isLeftWords() { return !isShared(getLeft()); }

LogicalResult TileProductOp::verify() {
  auto sums = cast<MemRefType>(getSums().getType());
  auto isByte = [](Type type) {
    return type.isInteger(8) && !type.isSignlessInteger();
  };
  bool areBytes = isByte(getLeftType()) && isByte(getRightType());
  auto left = cast<MemRefType>(getLeft().getType()),
       right = cast<MemRefType>(getRight().getType());
  if (!isShared(getRight()) ||
      (isLeftWords() && !left.getElementType().isInteger(32)))
    return emitOpError("multiplies what the block does not share");
  if ((isLeftWords() || getAcross()) && !isOfHalves())
    return emitOpError("multiplies words of ")
           << getLeftType() << ", or tiles across, which is for floats of 16 "
           << "bits";
  if (getAcross() && (right.getRank() < 2 || right.getShape().back() != 64))
    return emitOpError("multiplies across tiles of ")
           << right << ", whose rows are not of 64 columns";
  if (!fitsRank(getLeft(), getLeftIndices()) ||
      !fitsRank(getRight(), getRightIndices()))
    return emitOpError("has indices of another rank than its buffers");
  if (isShared(getSums()) || sums.getRank() != 1 ||
      sums.getNumElements() % 4 != 0 || sums.getNumElements() > 128)
    return emitOpError("adds to ")
           << sums << ", not a thread's own list of 4 to 128 sums";
  if (areBytes ? !sums.getElementType().isInteger(32)
               : !sums.getElementType().isF32())
    return emitOpError("sums products of ")
           << getLeftType() << " as " << sums.getElementType();
  return verifyOnDevice(*this);
}

/// Sums are arrays of the thread itself.
static LogicalResult verifySums(Operation *op, ValueRange sums) {
  for (Value array : sums)
    if (isShared(array))
      return op->emitOpError("has sums in ")
             << array.getType() << ", which is not the thread's own";
  return verifyOnDevice(op);
}
LogicalResult BeginProductsOp::verify() { return verifySums(*this, getSums()); }
LogicalResult AwaitProductsOp::verify() { return verifySums(*this, getSums()); }
LogicalResult CloseProductsOp::verify() { return verifyOnDevice(*this); }

LogicalResult SetRegistersOp::verify() {
  if (getCount() % 8 != 0)
    return emitOpError("sets ") << getCount() << " registers, no multiple of 8";
  return verifyOnDevice(*this);
}

std::string ingot::kernel::warpgroupIntrinsic(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  if (auto product = dyn_cast<TileProductOp>(op))
    return product.getIntrinsicName();
  if (auto copy = dyn_cast<CopyTileOp>(op))
    return name + (copy.getShift().empty() ? "" : "[windows]");
  if (auto set = dyn_cast<SetRegistersOp>(op))
    return name + (set.getFewer() ? "[fewer]" : "");
  return isa<InitGateOp, PublishGatesOp, ExpectBytesOp, ArriveOp, AwaitGateOp,
             TilesOp, BeginProductsOp, CloseProductsOp, AwaitProductsOp>(op)
             ? name
             : "";
}
