// Verifiers of operations on tile registers: tiles have known shapes, and the
// shapes of the tiles of a multiplication match.

#include "dialects/kernel/TileRegisters.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace ingot::kernel;

LogicalResult ShapeTilesOp::verify() {
  if (getRows().size() != getBytes().size() || getRows().empty())
    return emitOpError("has rows of ")
           << getRows().size() << " tiles and bytes of " << getBytes().size();
  for (auto [rows, bytes] : llvm::zip_equal(getRows(), getBytes()))
    if (rows <= 0 || bytes <= 0 || bytes % 4 != 0)
      return emitOpError("shapes a tile of ")
             << rows << " rows of " << bytes
             << " bytes, not some rows of whole words";
  return success();
}

LogicalResult ReleaseTilesOp::verify() {
  auto function = (*this)->getParentOfType<FunctionOpInterface>();
  bool isNeeded =
      !function ||
      function->walk([](ShapeTilesOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return isNeeded ? success()
                  : emitOpError("is in a function that gives tiles no shapes");
}

/// Returns the last operation that configures the shapes of the tiles before
/// `op`, or before a loop that encloses `op`. Null if there is none, or if an
/// operation between it and `op` releases the tiles or may change their shapes.
static ShapeTilesOp shapesAt(Operation *op) {
  for (; op && !isa<FunctionOpInterface>(op); op = op->getParentOp())
    for (Operation *before = op->getPrevNode(); before;
         before = before->getPrevNode()) {
      if (auto shapes = dyn_cast<ShapeTilesOp>(before))
        return shapes;
      auto changes = [](Operation *inside) {
        return isa<ShapeTilesOp, ReleaseTilesOp>(inside)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      };
      if (before->walk(changes).wasInterrupted())
        return {};
    }
  return {};
}

/// Checks that the shapes of tiles are known at `op`, and that each tile in
/// `tiles` has a shape.
static LogicalResult verifyTiles(Operation *op, ArrayRef<int64_t> tiles) {
  ShapeTilesOp shapes = shapesAt(op);
  if (!shapes)
    return op->emitOpError("is where it is not known which shapes tiles have");
  for (int64_t tile : tiles)
    if (tile >= int64_t(shapes.getRows().size()))
      return op->emitOpError("is of tile ")
             << tile << ", which has been given no shape";
  return success();
}

static LogicalResult verifyMove(Operation *op, int64_t tile, Value buffer,
                                ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getRank() != int64_t(indices.size()))
    return op->emitOpError("has ")
           << indices.size() << " indices into " << type;
  return verifyTiles(op, int64_t(tile));
}

LogicalResult ClearTileOp::verify() {
  return verifyTiles(*this, int64_t(getTile()));
}
LogicalResult LoadTileOp::verify() {
  return verifyMove(*this, getTile(), getBuffer(), getIndices());
}
LogicalResult StoreTileOp::verify() {
  return verifyMove(*this, getTile(), getBuffer(), getIndices());
}

std::string MultiplyTilesOp::getIntrinsicName() {
  std::string name;
  llvm::raw_string_ostream(name)
      << getOperationName() << '[' << getLeft() << ',' << getRight() << ']';
  return name;
}

LogicalResult MultiplyTilesOp::verify() {
  auto isByte = [](Type type) {
    return type.isInteger(8) && !type.isSignlessInteger();
  };
  if (!(isByte(getLeft()) && isByte(getRight())) &&
      !(getLeft() == getRight() && getLeft().isBF16()))
    return emitOpError("multiplies ") << getLeft() << " and " << getRight()
                                      << "; both must be si8 or ui8, or both "
                                         "bf16";
  int64_t sums = getSums(), a = getA(), b = getB();
  if (sums == a || sums == b || a == b)
    return emitOpError("is of tiles ")
           << sums << ", " << a << " and " << b << ", which are not three";
  if (failed(verifyTiles(*this, {sums, a, b})))
    return failure();
  ShapeTilesOp shapes = shapesAt(*this);
  ArrayRef<int64_t> rows = shapes.getRows(), bytes = shapes.getBytes();
  if (rows[sums] != rows[a] || bytes[a] != 4 * rows[b] ||
      bytes[sums] != bytes[b])
    return emitOpError("multiplies a tile of ")
           << rows[a] << " rows of " << bytes[a] << " bytes by one of "
           << rows[b] << " rows of " << bytes[b]
           << " bytes, which does not fit the sums: " << rows[sums]
           << " rows of " << bytes[sums] << " bytes";
  return success();
}

#define GET_OP_CLASSES
#include "dialects/kernel/TileRegisterOps.cpp.inc"
