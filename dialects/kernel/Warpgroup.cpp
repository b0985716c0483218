// Verifiers of warpgroup operations and of copies of whole tiles.

#include "dialects/kernel/Warpgroup.h"

#include "dialects/kernel/NumberTypes.h"
#include "dialects/kernel/OnDevice.h"

using namespace mlir;
using namespace ingot::kernel;

/// Checks that mbarriers are elements of an array of 64-bit words in shared
/// memory.
static LogicalResult verifyMbarriers(Operation *op, Value mbarriers) {
  auto type = cast<MemRefType>(mbarriers.getType());
  if (!isShared(mbarriers) || type.getRank() != 1 ||
      !type.getElementType().isInteger(64))
    return op->emitOpError("has mbarriers in ")
           << type << ", not a list of i64 that the block shares";
  return verifyOnDevice(op);
}
LogicalResult InitMbarrierOp::verify() {
  return verifyMbarriers(*this, getMbarriers());
}
LogicalResult ExpectBytesOp::verify() {
  return verifyMbarriers(*this, getMbarriers());
}
/// Checks that the kernel has clusters of thread blocks. Required by operations
/// on other blocks of the cluster.
static LogicalResult verifyInCluster(Operation *op) {
  if (auto kernel = op->getParentOfType<FuncOp>();
      !kernel || !kernel.getCluster())
    return op->emitOpError("is about other blocks, but its kernel has no "
                           "cluster");
  return verifyOnDevice(op);
}
LogicalResult ClusterBarrierOp::verify() { return verifyInCluster(*this); }
LogicalResult ArriveOp::verify() {
  if (getBlock() && failed(verifyInCluster(*this)))
    return failure();
  return verifyMbarriers(*this, getMbarriers());
}
LogicalResult SendOp::verify() {
  auto to = cast<MemRefType>(getTo().getType());
  Type element = to.getElementType();
  if (!isShared(getTo()) || to.getRank() == 0 || to.getShape().back() != 4 ||
      getValues().size() != 4 ||
      llvm::any_of(getValues().getTypes(),
                   [&](Type type) { return type != element; }))
    return emitOpError("sends ")
           << getValues().getTypes() << " to " << to
           << ", not four numbers to a row of four of them that blocks share";
  if (!fitsRank(getTo(), getToIndices()))
    return emitOpError("has indices of another rank than its buffer");
  if (failed(verifyInCluster(*this)))
    return failure();
  return verifyMbarriers(*this, getMbarriers());
}
LogicalResult WaitMbarrierOp::verify() {
  return verifyMbarriers(*this, getMbarriers());
}
LogicalResult FenceMbarriersOp::verify() { return verifyOnDevice(*this); }

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
  if (getBlocks() && failed(verifyInCluster(*this)))
    return failure();
  return verifyMbarriers(*this, getMbarriers());
}

std::string TileProductOp::getIntrinsicName() {
  std::string name;
  llvm::raw_string_ostream(name)
      << getOperationName() << '[' << getLeftType() << ',' << getRightType()
      << (isLeftWords() ? ",words" : "") << (isTurned() ? ",turned" : "")
      << (getFirst() ? ",first" : "") << ']';
  return name;
}

bool TileProductOp::isLeftWords() { return !isShared(getLeft()); }

/// The bytes of a row of a transposed ("turned") tile.
static constexpr int64_t turnedBytes = 128;

static int64_t distanceIn(Value tile) {
  auto type = cast<MemRefType>(tile.getType());
  return type.getDimSize(type.getRank() - 2) * turnedBytes;
}
int64_t TileProductOp::getLeftDistance() {
  return getLeftTurned() ? distanceIn(getLeft()) : 0;
}
int64_t TileProductOp::getRightDistance() {
  return getRightTurned() ? distanceIn(getRight()) : 0;
}

/// Whether a tile may be transposed ("turned"): it consists of blocks whose
/// rows have 64 16-bit elements, and a row across all blocks has at least
/// `count` elements.
static bool mayBeTurned(Value tile, int64_t count) {
  constexpr int64_t size = 2, ofRow = turnedBytes / size;
  auto type = cast<MemRefType>(tile.getType());
  return type.getElementTypeBitWidth() == 8 * size && type.getRank() >= 3 &&
         type.getShape().back() == ofRow &&
         type.getDimSize(type.getRank() - 3) * ofRow >= count;
}

LogicalResult TileProductOp::verify() {
  auto sums = cast<MemRefType>(getSums().getType());
  auto isByte = [](Type type) {
    return type.isInteger(8) && !type.isSignlessInteger();
  };
  bool areBytes = isByte(getLeftType()) && isByte(getRightType());
  auto left = cast<MemRefType>(getLeft().getType());
  if (!isShared(getRight()) ||
      (isLeftWords() && !left.getElementType().isInteger(32)))
    return emitOpError("multiplies what the block does not share");
  if (isLeftWords() && !isOfHalves())
    return emitOpError("multiplies words of ")
           << getLeftType() << ", which is for floats of 16 bits";
  if (isLeftWords() && getLeftTurned())
    return emitOpError("turns words of the thread");
  if (!fitsRank(getLeft(), getLeftIndices()) ||
      !fitsRank(getRight(), getRightIndices()))
    return emitOpError("has indices of another rank than its buffers");
  if (isShared(getSums()) || sums.getRank() != 1 ||
      sums.getNumElements() % 4 != 0 || sums.getNumElements() > 128)
    return emitOpError("adds to ")
           << sums << ", not a thread's own list of 4 to 128 sums";
  constexpr int64_t rows = 64;
  if ((getLeftTurned() && !mayBeTurned(getLeft(), rows)) ||
      (getRightTurned() && !mayBeTurned(getRight(), 2 * sums.getNumElements())))
    return emitOpError("has a turned tile that is not of rows of 64 numbers of "
                       "16 bits for all rows or columns");
  if (areBytes ? !sums.getElementType().isInteger(32)
               : !sums.getElementType().isF32())
    return emitOpError("sums products of ")
           << getLeftType() << " as " << sums.getElementType();
  return verifyOnDevice(*this);
}

/// Checks that accumulators are arrays private to the thread.
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
    return name + (copy.getShift().empty() ? copy.getBlocks() ? "[blocks]" : ""
                   : copy.getBlocks()      ? "[windows,blocks]"
                                           : "[windows]");
  if (auto arrive = dyn_cast<ArriveOp>(op))
    return name + (arrive.getBlock() ? "[block]" : "");
  if (auto barrier = dyn_cast<ClusterBarrierOp>(op))
    return name + (barrier.getShown() ? "[shown]" : "");
  if (auto set = dyn_cast<SetRegistersOp>(op))
    return name + (set.getFewer() ? "[fewer]" : "");
  return isa<InitMbarrierOp, FenceMbarriersOp, ExpectBytesOp, WaitMbarrierOp,
             SendOp, TilesOp, BeginProductsOp, CloseProductsOp,
             AwaitProductsOp>(op)
             ? name
             : "";
}
