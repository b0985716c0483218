// K tiles of both operands in shared memory: how threads fill them, and how
// warps load MMA operands from them.
//
// In both tiles, the steps of a row (or column) are contiguous: 64 bytes, four
// 16-byte units. (Only a non-constant 16-bit right operand keeps contiguous
// columns and is transposed when it is loaded.) load_matrices reads 8 units of
// 8 adjacent rows at a time. Shared memory has 32 banks of 4 bytes, so 128
// bytes are 2 rows, and the same unit of rows 0, 2, 4 and 6 would be in the
// same banks. Unit p of row r is therefore stored at p ^ (r / 2 % 4): the 8
// units that are read together are in 8 different groups of banks. In rows of 8
// units or more it is p ^ (r % 8). Columns that are interleaved between MMAs
// (ResultPieces.h) are read in pairs: 0, 1, 8, 9, 16, 17, 24 and 25 of four
// MMAs. Their units are at p ^ (column / 8 % 4).

#include "passes/schedule/gpu/TensorStrips.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/Sharing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

TensorStrips::TensorStrips(KernelBuilder &b, const BlockOperands &operands,
                           const TensorTile &tile)
    : b(b), operands(operands), tile(tile),
      piece(pieceBytes / bytesOf(operands.leftType())),
      packed(operands.rightTensor.getDefiningOp<UnpackPanelsOp>()),
      columnsLie(!packed && piece == 8),
      pieces(b, operands, tile.rows, tile.columns, unitsAcross(),
             /*mayDeal=*/!columnsLie, /*areWhole=*/false) {
  bringsLeftPieces = hasPieces(b, operands.leftTensor, operands.leftRun);
  bringsRightPieces =
      packed ||
      (columnsLie && hasPieces(b, operands.rightTensor, operands.rightRun));
}

void TensorStrips::declareTiles() {
  int64_t strips = tile.stages * tile.slices;
  leftTile =
      b.shared({strips, tile.rows, strip()}, operands.leftType(), "left_tile");
  rightTile = b.shared(columnsLie ? ArrayRef({strips, strip(), tile.columns})
                                  : ArrayRef({strips, tile.columns, strip()}),
                       operands.rightType(), "right_tile");
}

Expr TensorStrips::swizzled(Expr row, Expr at, int64_t pieces, int64_t alike) {
  if (pieces >= 8)
    return at ^ (row % 8.0);
  return at ^ (row / double(alike) % double(pieces));
}

Expr TensorStrips::swizzledColumn(Expr column, Expr at) {
  return swizzled(column, at, stripPieces, pieces.columnsOfGroup());
}

void TensorStrips::share(int64_t count, llvm::function_ref<void(Expr)> body) {
  schedule::share(b, thread, tile.threads(b.target.device), count, body);
}

void TensorStrips::shareLoop(int64_t count,
                             llvm::function_ref<void(Expr)> body) {
  b.loop(thread, b.index(count), tile.threads(b.target.device), {},
         [&](Expr mine, ArrayRef<Expr>) -> Exprs {
           body(named(mine, "element"));
           return {};
         });
}

std::optional<Expr> TensorStrips::both(std::optional<Expr> x,
                                       std::optional<Expr> y) {
  return x && y ? std::optional(*x & *y) : x ? x : y;
}

std::optional<Expr> TensorStrips::insideRows(Expr row) {
  return fitsRows() ? std::nullopt : std::optional(row < b.size(operands.rows));
}

std::optional<Expr> TensorStrips::insideColumns(Expr column) {
  return fitsColumns() ? std::nullopt
                       : std::optional(column < double(operands.columns));
}

std::optional<Expr> TensorStrips::insideSteps(Expr step, int64_t steps) {
  return steps % round() == 0 ? std::nullopt
                              : std::optional(step < double(steps));
}

void TensorStrips::fill(Expr firstStep, Expr stage) {
  fillLeft(firstStep, stage);
  fillRight(firstStep, stage);
}

void TensorStrips::fillLeft(Expr firstStep, Expr stage) {
  if (bringsLeftPieces)
    fillLeftPieces(firstStep, stage);
  else
    fillLeftElements(firstStep, stage);
}

void TensorStrips::fillRight(Expr firstStep, Expr stage) {
  if (packed)
    fillPackedPieces(firstStep, stage);
  else if (bringsRightPieces)
    fillRightPieces(firstStep, stage);
  else
    fillRightElements(firstStep, stage);
}

Expr TensorStrips::inSlice(Expr mine, int64_t count, Expr &firstStep,
                           Expr &stage) {
  if (tile.slices == 1)
    return mine;
  Expr number = named(mine / double(count), "slice_to_fill");
  firstStep = firstStep + number * double(strip());
  stage = stage + number;
  return mine % double(count);
}

void TensorStrips::fillLeftPieces(Expr firstRound, Expr firstStage) {
  int64_t count = tile.rows * stripPieces;
  share(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(stripPieces), at = mine % double(stripPieces);
    Expr step = firstStep + at * double(piece), atRow = firstRow + row;
    auto place = operands.leftPlace(b, batch, atRow, step);
    auto inside =
        both(both(insideRows(atRow), insideSteps(step, operands.steps)),
             place.inside);
    copyAhead(b, b.bufferOf(operands.leftTensor), place.at, leftTile,
              {stage, row, swizzled(row, at, stripPieces) * double(piece)},
              inside);
  });
}

void TensorStrips::fillPackedPieces(Expr firstRound, Expr firstStage) {
  int64_t steps = llvm::alignTo(operands.steps, piece),
          count = tile.columns * stripPieces;
  share(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr column = mine / double(stripPieces), at = mine % double(stripPieces);
    Expr step = firstStep + at * double(piece), atColumn = firstColumn + column;
    copyAhead(b, b.bufferOf(packed.getPacked()),
              {operands.packedColumn(batch, atColumn) * double(steps) + step},
              rightTile,
              {stage, column, swizzledColumn(column, at) * double(piece)},
              both(insideColumns(atColumn), insideSteps(step, steps)));
  });
}

void TensorStrips::fillRightPieces(Expr firstRound, Expr firstStage) {
  int64_t pieces = tile.columns / piece, count = strip() * pieces;
  share(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(pieces), at = mine % double(pieces);
    Expr step = firstStep + row, column = firstColumn + at * double(piece);
    auto place = operands.rightPlace(b, batch, step, column);
    copyAhead(b, b.bufferOf(operands.rightTensor), place.at, rightTile,
              {stage, row, swizzled(row, at, pieces) * double(piece)},
              both(insideColumns(column), insideSteps(step, operands.steps)));
  });
}

void TensorStrips::storeGuarded(Value to, const Exprs &place,
                                std::optional<Expr> inside, Type type,
                                llvm::function_ref<Expr()> load) {
  if (!inside)
    return b.store(to, load(), place);
  b.branch(
      *inside, [&] { b.store(to, load(), place); },
      [&] { b.store(to, b.constant(0, type), place); });
}

void TensorStrips::fillLeftElements(Expr firstRound, Expr firstStage) {
  int64_t count = tile.rows * strip();
  shareLoop(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(strip()), inStrip = mine % double(strip());
    Expr step = firstStep + inStrip, atRow = firstRow + row;
    Expr place =
        swizzled(row, inStrip / double(piece), stripPieces) * double(piece) +
        inStrip % double(piece);
    storeGuarded(leftTile, {stage, row, place},
                 both(insideRows(atRow), insideSteps(step, operands.steps)),
                 operands.leftType(),
                 [&] { return operands.left(b, batch, atRow, step); });
  });
}

void TensorStrips::fillRightElements(Expr firstRound, Expr firstStage) {
  int64_t count = tile.columns * strip();
  shareLoop(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(tile.columns),
         inTile = mine % double(tile.columns);
    Expr step = firstStep + row, column = firstColumn + inTile;
    Expr at = columnsLie ? inTile : row;
    Expr inPieces = at / double(piece);
    inPieces = columnsLie ? swizzled(row, inPieces, tile.columns / piece)
                          : swizzledColumn(inTile, inPieces);
    inPieces = inPieces * double(piece) + at % double(piece);
    Exprs place = columnsLie ? Exprs{stage, row, inPieces}
                             : Exprs{stage, inTile, inPieces};
    storeGuarded(rightTile, place,
                 both(insideColumns(column), insideSteps(step, operands.steps)),
                 operands.rightType(),
                 [&] { return operands.right(b, batch, step, column); });
  });
}

SmallVector<Value, 4> TensorStrips::loadMatrices(Value from, const Exprs &at,
                                                 bool transposed,
                                                 const Twine &name) {
  SmallVector<Value> indices =
      llvm::map_to_vector(at, [](Expr e) { return e.value; });
  Type word = b.builder.getI32Type();
  auto load = kernel::LoadMatricesOp::create(b.builder, b.loc,
                                             TypeRange{word, word, word, word},
                                             from, indices, transposed);
  for (auto [i, part] : llvm::enumerate(load.getParts()))
    kernel::nameValue(part, name + "_" + Twine(i));
  return SmallVector<Value, 4>(load.getParts());
}

SmallVector<Value, 4> TensorStrips::loadRight(Expr stage, int64_t half,
                                              int64_t pair) {
  StringRef name = "right";
  if (columnsLie) {
    Expr row = lane % 16.0 + double(half * strip() / 2);
    Expr at = warpColumn / double(piece) + lane / 16.0 + double(2 * pair);
    return loadMatrices(
        rightTile,
        {stage, row, swizzled(lane, at, tile.columns / piece) * double(piece)},
        /*transposed=*/true, name);
  }
  Expr column = warpColumn;
  if (int64_t units = pieces.units(); units > 1)
    column =
        column + lane % 8.0 / 2.0 * double(2 * units) + lane % 2.0 +
        lane / 16.0 * 2.0 +
        double(2 * pair / units * unitColumns * units + 2 * pair % units * 2);
  else
    column = column + lane % 8.0 + lane / 16.0 * 8.0 +
             double(pair * 2 * unitColumns);
  Expr at = lane / 8.0 % 2.0 + double(2 * half);
  return loadMatrices(
      rightTile,
      {stage, column, swizzled(lane % 8.0, at, stripPieces) * double(piece)},
      /*transposed=*/false, name);
}

SmallVector<SmallVector<Value, 4>> TensorStrips::loadLeft(Expr stage,
                                                          int64_t half) {
  Expr at =
      named(swizzled(lane % 8.0, lane / 16.0 + double(2 * half), stripPieces) *
                double(piece),
            "left_place");
  SmallVector<SmallVector<Value, 4>> units;
  for (int64_t i = 0; i < unitsDown(); ++i)
    units.push_back(loadMatrices(
        leftTile, {stage, warpRow + lane % 16.0 + double(i * unitRows), at},
        /*transposed=*/false, "left"));
  return units;
}

} // namespace ingot::schedule
