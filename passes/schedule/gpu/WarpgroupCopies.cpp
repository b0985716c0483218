// TMA copies of the tiles of both operands of a warpgroup product. The order
// (TileOrder) of an operand determines how its tiles are copied:
//
//   order    in memory                     in shared memory
//   Packed   weights with contiguous       rows of 128 bytes of steps, one per
//            steps in each column          column; columns may be interleaved
//   Steps    contiguous steps              rows of 128 bytes of steps
//   Windows  an image of channels          rows of 128 bytes, one per position
//   Turned   contiguous rows or columns    for each 64 of them, rows of 128
//                                          bytes, one per step
//
// The matrix of a batch is addressed by further axes of the TMA descriptor
// ("map"). Elements outside of the tensor are zero.

#include "passes/schedule/gpu/WarpgroupCopies.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/StageRing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

WarpgroupCopies::WarpgroupCopies(KernelBuilder &b,
                                 const BlockOperands &operands,
                                 const WarpgroupTile &tile)
    : b(b), operands(operands), tile(tile),
      leftOrder(leftOrderOf(operands, b.group)),
      rightOrder(rightOrderOf(operands, b.group)),
      isBatched(mayDiffer(operands.batches, 1)),
      kTile(kTileRowBytes / bytesOf(operands.leftType())) {
  if (leftOrder == TileOrder::Windows)
    window = cast<ConvOp>(b.group.anchor());
}

bool WarpgroupCopies::findStored(Value tensor, Stored &stored) const {
  StoredMatrix matrix = storedMatrix(tensor);
  stored.tensor = matrix.tensor;
  stored.isTransposed = matrix.isTransposed;
  stored.buffer = b.bufferOf(matrix.tensor);
  if (!stored.buffer || !isa<BlockArgument>(stored.buffer))
    return false;
  int64_t vectorElements = vectorAccessBytes / bytesOf(operands.leftType()),
          offset = 0;
  auto type = cast<MemRefType>(stored.buffer.getType());
  if (failed(type.getStridesAndOffset(stored.strides, offset)) || offset != 0 ||
      stored.strides.size() < 2 || stored.strides.back() != 1)
    return false;
  ArrayRef<int64_t> strides = stored.strides;
  // Axes that are merged in the descriptor must be contiguous with each other.
  if (!window && !isBatched)
    for (size_t axis = 0; axis + 2 < strides.size(); ++axis)
      if (strides[axis] != strides[axis + 1] * type.getDimSize(axis + 1))
        return false;
  return llvm::all_of(strides.drop_back(), [&](int64_t stride) {
    return stride % vectorElements == 0;
  });
}

bool WarpgroupCopies::areMapped() {
  if (leftOrder == TileOrder::None || rightOrder == TileOrder::None ||
      !findStored(operands.leftTensor, left))
    return false;
  if (rightOrder != TileOrder::Packed)
    return findStored(operands.rightTensor, right);
  auto packed = operands.rightTensor.getDefiningOp<UnpackPanelsOp>();
  right.buffer = packed ? b.bufferOf(packed.getPacked()) : Value();
  return right.buffer && isa<BlockArgument>(right.buffer);
}

void WarpgroupCopies::declareTiles() {
  auto shape = [&](int64_t size, bool isTurned) {
    return isTurned ? SmallVector<int64_t>{tile.stages, size / turnedWidth,
                                           kTile, turnedWidth}
                    : SmallVector<int64_t>{tile.stages, size, kTile};
  };
  leftTile = sharedForCopies(b, shape(tile.rows, isLeftTurned()),
                             operands.leftType(), "left_tile");
  rightTile = sharedForCopies(b, shape(tile.columns, isRightTurned()),
                              operands.rightType(), "right_tile");
}

void WarpgroupCopies::makeMaps(int64_t units) {
  this->units = units;
  int64_t rows = tile.rows / tile.beside, columns = tile.columns / tile.below;
  auto mapOf = [&](const Stored &stored, bool isTurned, const Dim &size,
                   int64_t ofTile, const Twine &name) {
    return isTurned ? mapOfMatrices(stored, operands.steps, size,
                                    {kTile, turnedWidth}, name)
                    : mapOfMatrices(stored, size, operands.steps,
                                    {ofTile, kTile}, name);
  };
  leftMap = window
                ? mapOfWindows()
                : mapOf(left, isLeftTurned(), operands.rows, rows, "row_tiles");
  int64_t vectorElements = vectorAccessBytes / bytesOf(operands.rightType());
  if (rightOrder == TileOrder::Packed)
    right.strides = {int64_t(llvm::alignTo(operands.steps, vectorElements)), 1};
  int64_t columnStride = right.strides[right.strides.size() - 2];
  if (units > 1)
    rightMap = mapOfDealtColumns(columnStride);
  else if (rightOrder == TileOrder::Packed)
    rightMap = map(right, {operands.columns, columnStride}, right.strides,
                   {columns, kTile}, "weight_tiles");
  else
    rightMap = mapOf(right, isRightTurned(), operands.columns, columns,
                     "column_tiles");
}

Value WarpgroupCopies::map(const Stored &stored, const Dims &sizes,
                           ArrayRef<int64_t> strides, ArrayRef<int64_t> box,
                           const Twine &name) const {
  ArrayRef<int64_t> none;
  return kernel::nameValue(
      kernel::TilesOp::create(
          b.builder, b.loc, kernel::TilesType::get(b.builder.getContext()),
          stored.buffer, kernel::sizesAttr(sizes, b.builder.getContext()),
          strides, box, none, none, none),
      name);
}

Value WarpgroupCopies::mapOfMatrices(const Stored &stored, const Dim &rows,
                                     const Dim &columns, ArrayRef<int64_t> box,
                                     const Twine &name) const {
  ArrayRef<int64_t> strides = stored.strides;
  if (!isBatched)
    return map(stored, {rows, columns}, {strides[strides.size() - 2], 1}, box,
               name);
  SmallVector<int64_t> ofAll(strides.size() - 2, 1);
  llvm::append_range(ofAll, box);
  return map(stored, dimsOf(stored.tensor), strides, ofAll, name);
}

/// Creates the descriptor for interleaved columns, with five axes that address
/// the columns in their interleaved order: groups of MMAs, MMAs, threads, two
/// columns, and steps (K).
Value WarpgroupCopies::mapOfDealtColumns(int64_t stride) const {
  Dim steps = rightOrder == TileOrder::Packed ? stride : operands.steps;
  return map(right, {operands.columns / (8 * units), units, 4, 2, steps},
             {8 * units * stride, 2 * stride, 2 * units * stride, stride, 1},
             {tile.columns / tile.below / (8 * units), units, 4, 2, kTile},
             "weight_tiles");
}

Value WarpgroupCopies::mapOfWindows() const {
  Dims sizes = dimsOf(window.getX()), y = dimsOf(window.getResult());
  SmallVector<int64_t> low, high;
  for (auto [axis, from] : llvm::enumerate(window.getLow())) {
    low.push_back(-from);
    high.push_back((*y[1 + axis].known() - 1) * window.getStrides()[axis] -
                   from);
  }
  return kernel::nameValue(
      kernel::TilesOp::create(
          b.builder, b.loc, kernel::TilesType::get(b.builder.getContext()),
          left.buffer, kernel::sizesAttr(sizes, b.builder.getContext()),
          left.strides, ArrayRef<int64_t>{tile.rows / tile.beside, kTile}, low,
          high, window.getStrides()),
      "window_tiles");
}

void WarpgroupCopies::findWindow(Place &place) const {
  if (!window)
    return;
  Dims y = dimsOf(window.getResult());
  Expr first = place.firstRow + firstOf(place.beside, tile.rows, tile.beside);
  place.window = b.delinearize(first, ArrayRef(y).drop_back());
  for (size_t axis = 0; axis + 1 < place.window.size(); ++axis)
    place.window[1 + axis] =
        named(place.window[1 + axis] * double(window.getStrides()[axis]) -
                  double(window.getLow()[axis]),
              "first_of_axis_" + Twine(axis));
  named(place.window[0], "image");
}

void WarpgroupCopies::copy(Value map, const Exprs &at, const Exprs &shift,
                           Value to, ArrayRef<Expr> place, Value mbarriers,
                           Expr mbarrier, Value blocks) const {
  kernel::CopyTileOp::create(b.builder, b.loc, map, valuesOf(at),
                             valuesOf(shift), to, valuesOf(place), mbarriers,
                             mbarrier.value, blocks);
}

Expr WarpgroupCopies::firstOf(Expr number, int64_t size, int64_t count) const {
  return count == 1 ? b.index(0) : number * double(size / count);
}

Value WarpgroupCopies::blocksOfRow(const Place &place) const {
  if (tile.beside == 1)
    return {};
  // In a multicast mask, the bits of the second row of a cluster's blocks
  // follow those of the first.
  int64_t bits = (int64_t(1) << tile.beside) - 1;
  if (tile.below == 1)
    return b.index(bits).value;
  return select(place.below > 0.0, b.index(bits << tile.beside), b.index(bits))
      .value;
}

Value WarpgroupCopies::blocksOfColumn(const Place &place) const {
  if (tile.below == 1)
    return {};
  int64_t bits = 0;
  for (int64_t row = 0; row < tile.below; ++row)
    bits |= int64_t(1) << (row * tile.beside);
  if (tile.beside == 1)
    return b.index(bits).value;
  return select(place.beside > 0.0, b.index(bits << 1), b.index(bits)).value;
}

/// Returns the index of a tile in the tensor of a TMA descriptor: (`first`,
/// `second`), preceded by the batch indices of `inOperand` if matrices are
/// batched.
Exprs WarpgroupCopies::placeIn(const Stored &stored, Exprs inOperand,
                               Expr first, Expr second) const {
  if (!isBatched)
    return {first, second};
  inOperand[inOperand.size() - 2] = first;
  inOperand.back() = second;
  return inOperand;
}

void WarpgroupCopies::copyLeft(const Place &place, Expr at, Expr stage,
                               Value mbarriers, Expr mbarrier) const {
  Expr step = named(at * double(kTile), "step"), zero = b.index(0);
  Expr inTile = firstOf(place.beside, tile.rows, tile.beside),
       firstRow = place.firstRow + inTile;
  Value blocks = blocksOfRow(place);
  if (window) {
    ArrayRef<int64_t> w = shapeOf(window.getW());
    Exprs shift = b.delinearize(step, w.drop_back()), inWindow = place.window;
    inWindow.push_back(shift.pop_back_val());
    for (auto [axis, inShift] : llvm::enumerate(shift))
      inShift = inShift * double(window.getDilations()[axis]);
    return copy(leftMap, inWindow, shift, leftTile, {stage, inTile, zero},
                mbarriers, mbarrier, blocks);
  }
  Exprs inOperand;
  if (isBatched)
    inOperand = operands.leftPlace(b, place.batch, firstRow, step).at;
  if (!isLeftTurned())
    return copy(leftMap, placeIn(left, inOperand, firstRow, step), {}, leftTile,
                {stage, inTile, zero}, mbarriers, mbarrier, blocks);
  for (int64_t part = 0; part < tile.rows / tile.beside / turnedWidth; ++part)
    copy(leftMap,
         placeIn(left, inOperand, step, firstRow + double(part * turnedWidth)),
         {}, leftTile,
         {stage, inTile / double(turnedWidth) + double(part), zero, zero},
         mbarriers, mbarrier, blocks);
}

void WarpgroupCopies::copyRight(const Place &place, Expr at, Expr stage,
                                Value mbarriers, Expr mbarrier) const {
  Expr step = at * double(kTile), zero = b.index(0);
  Expr inTile = firstOf(place.below, tile.columns, tile.below),
       firstColumn = place.firstColumn + inTile;
  Value blocks = blocksOfColumn(place);
  if (units > 1)
    return copy(rightMap,
                {firstColumn / double(8 * units), zero, zero, zero, step}, {},
                rightTile, {stage, inTile, zero}, mbarriers, mbarrier, blocks);
  Exprs inOperand;
  if (isBatched)
    inOperand = operands.rightPlace(b, place.batch, step, firstColumn).at;
  if (!isRightTurned())
    return copy(rightMap, placeIn(right, inOperand, firstColumn, step), {},
                rightTile, {stage, inTile, zero}, mbarriers, mbarrier, blocks);
  for (int64_t part = 0; part < tile.columns / tile.below / turnedWidth; ++part)
    copy(rightMap,
         placeIn(right, inOperand, step,
                 firstColumn + double(part * turnedWidth)),
         {}, rightTile,
         {stage, inTile / double(turnedWidth) + double(part), zero, zero},
         mbarriers, mbarrier, blocks);
}

void WarpgroupCopies::multiply(Expr stage, Expr row, int64_t firstStep,
                               Value sums) const {
  Expr zero = b.index(0), step = b.index(firstStep);
  Exprs inLeft = {stage, row, step}, inRight = {stage, zero, step};
  if (isLeftTurned())
    inLeft = {stage, row / double(turnedWidth), step, zero};
  if (isRightTurned())
    inRight = {stage, zero, step, zero};
  kernel::TileProductOp::create(
      b.builder, b.loc, leftTile, valuesOf(inLeft), rightTile,
      valuesOf(inRight), sums, multiplied(operands.leftType()),
      multiplied(operands.rightType()), isLeftTurned(), isRightTurned(),
      /*first=*/false);
}

} // namespace ingot::schedule
