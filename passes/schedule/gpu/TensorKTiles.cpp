// K tiles of both operands in shared memory: how threads fill them, and how
// warps load MMA operands from them.
//
// In both tiles, the steps (K) of a row or column are contiguous: four 16-byte
// units. (Only a 16-bit right operand that is not packed keeps contiguous
// columns and is transposed when it is loaded.) load_matrices reads the same
// unit of 8 adjacent rows at a time. Shared memory has 32 banks of 4 bytes, so
// 128 bytes are 2 rows, and the same unit of rows 0, 2, 4 and 6 would be in the
// same banks. Unit p of row r is therefore stored at p ^ (r / 2 % 4): the 8
// units that are read together are in 8 different groups of four banks. In rows
// of 8 units or more, the place is p ^ (r % 8). Columns that are interleaved
// between MMAs (ResultVectors.h) are read in pairs: 0, 1, 8, 9, 16, 17, 24 and
// 25 of four MMAs. Their units are at p ^ (column / 8 % 4).

#include "passes/schedule/gpu/TensorKTiles.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/Sharing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

TensorKTiles::TensorKTiles(KernelBuilder &b, const BlockOperands &operands,
                           const TensorTile &tile)
    : b(b), operands(operands), tile(tile),
      vectorElements(vectorAccessBytes / bytesOf(operands.leftType())),
      packed(operands.rightTensor.getDefiningOp<UnpackPanelsOp>()),
      columnsLie(!packed && vectorElements == 8),
      vectors(b, operands, tile.rows, tile.columns, unitsAcross(),
              /*mayDeal=*/!columnsLie, /*areWhole=*/false) {
  copiesLeftVectors = hasVectors(b, operands.leftTensor, operands.leftRun);
  copiesRightVectors =
      packed ||
      (columnsLie && hasVectors(b, operands.rightTensor, operands.rightRun));
}

void TensorKTiles::declareTiles() {
  int64_t kTiles = tile.stages * tile.slices;
  leftTile =
      b.shared({kTiles, tile.rows, kTile()}, operands.leftType(), "left_tile");
  rightTile = b.shared(columnsLie ? ArrayRef({kTiles, kTile(), tile.columns})
                                  : ArrayRef({kTiles, tile.columns, kTile()}),
                       operands.rightType(), "right_tile");
}

Expr TensorKTiles::swizzled(Expr row, Expr at, int64_t vectors, int64_t alike) {
  if (vectors >= 8)
    return at ^ (row % 8.0);
  return at ^ (row / double(alike) % double(vectors));
}

Expr TensorKTiles::swizzledColumn(Expr column, Expr at) {
  return swizzled(column, at, kTileRowVectors, vectors.columnsOfGroup());
}

void TensorKTiles::share(int64_t count, llvm::function_ref<void(Expr)> body) {
  schedule::share(b, thread, tile.threads(b.target.device), count, body);
}

void TensorKTiles::shareLoop(int64_t count,
                             llvm::function_ref<void(Expr)> body) {
  b.loop(thread, b.index(count), tile.threads(b.target.device), {},
         [&](Expr mine, ArrayRef<Expr>) -> Exprs {
           body(named(mine, "element"));
           return {};
         });
}

std::optional<Expr> TensorKTiles::both(std::optional<Expr> x,
                                       std::optional<Expr> y) {
  return x && y ? std::optional(*x & *y) : x ? x : y;
}

std::optional<Expr> TensorKTiles::insideRows(Expr row) {
  return fitsRows() ? std::nullopt : std::optional(row < b.size(operands.rows));
}

std::optional<Expr> TensorKTiles::insideColumns(Expr column) {
  return fitsColumns() ? std::nullopt
                       : std::optional(column < double(operands.columns));
}

std::optional<Expr> TensorKTiles::insideSteps(Expr step, int64_t steps) {
  return steps % round() == 0 ? std::nullopt
                              : std::optional(step < double(steps));
}

void TensorKTiles::fill(Expr firstStep, Expr stage) {
  fillLeft(firstStep, stage);
  fillRight(firstStep, stage);
}

void TensorKTiles::fillLeft(Expr firstStep, Expr stage) {
  if (copiesLeftVectors)
    fillLeftVectors(firstStep, stage);
  else
    fillLeftElements(firstStep, stage);
}

void TensorKTiles::fillRight(Expr firstStep, Expr stage) {
  if (packed)
    fillPackedVectors(firstStep, stage);
  else if (copiesRightVectors)
    fillRightVectors(firstStep, stage);
  else
    fillRightElements(firstStep, stage);
}

Expr TensorKTiles::inSlice(Expr mine, int64_t count, Expr &firstStep,
                           Expr &stage) {
  if (tile.slices == 1)
    return mine;
  Expr number = named(mine / double(count), "slice_to_fill");
  firstStep = firstStep + number * double(kTile());
  stage = stage + number;
  return mine % double(count);
}

void TensorKTiles::fillLeftVectors(Expr firstRound, Expr firstStage) {
  int64_t count = tile.rows * kTileRowVectors;
  share(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(kTileRowVectors),
         at = mine % double(kTileRowVectors);
    Expr step = firstStep + at * double(vectorElements), atRow = firstRow + row;
    auto place = operands.leftPlace(b, batch, atRow, step);
    auto inside =
        both(both(insideRows(atRow), insideSteps(step, operands.steps)),
             place.inside);
    copyAhead(b, b.bufferOf(operands.leftTensor), place.at, leftTile,
              {stage, row,
               swizzled(row, at, kTileRowVectors) * double(vectorElements)},
              inside);
  });
}

void TensorKTiles::fillPackedVectors(Expr firstRound, Expr firstStage) {
  int64_t steps = llvm::alignTo(operands.steps, vectorElements),
          count = tile.columns * kTileRowVectors;
  share(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr column = mine / double(kTileRowVectors),
         at = mine % double(kTileRowVectors);
    Expr step = firstStep + at * double(vectorElements),
         atColumn = firstColumn + column;
    copyAhead(
        b, b.bufferOf(packed.getPacked()),
        {operands.packedColumn(batch, atColumn) * double(steps) + step},
        rightTile,
        {stage, column, swizzledColumn(column, at) * double(vectorElements)},
        both(insideColumns(atColumn), insideSteps(step, steps)));
  });
}

void TensorKTiles::fillRightVectors(Expr firstRound, Expr firstStage) {
  int64_t vectors = tile.columns / vectorElements, count = kTile() * vectors;
  share(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(vectors), at = mine % double(vectors);
    Expr step = firstStep + row,
         column = firstColumn + at * double(vectorElements);
    auto place = operands.rightPlace(b, batch, step, column);
    copyAhead(b, b.bufferOf(operands.rightTensor), place.at, rightTile,
              {stage, row, swizzled(row, at, vectors) * double(vectorElements)},
              both(insideColumns(column), insideSteps(step, operands.steps)));
  });
}

void TensorKTiles::storeGuarded(Value to, const Exprs &place,
                                std::optional<Expr> inside, Type type,
                                llvm::function_ref<Expr()> load) {
  if (!inside)
    return b.store(to, load(), place);
  b.branch(
      *inside, [&] { b.store(to, load(), place); },
      [&] { b.store(to, b.constant(0, type), place); });
}

void TensorKTiles::fillLeftElements(Expr firstRound, Expr firstStage) {
  int64_t count = tile.rows * kTile();
  shareLoop(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(kTile()), inKTile = mine % double(kTile());
    Expr step = firstStep + inKTile, atRow = firstRow + row;
    Expr place =
        swizzled(row, inKTile / double(vectorElements), kTileRowVectors) *
            double(vectorElements) +
        inKTile % double(vectorElements);
    storeGuarded(leftTile, {stage, row, place},
                 both(insideRows(atRow), insideSteps(step, operands.steps)),
                 operands.leftType(),
                 [&] { return operands.left(b, batch, atRow, step); });
  });
}

void TensorKTiles::fillRightElements(Expr firstRound, Expr firstStage) {
  int64_t count = tile.columns * kTile();
  shareLoop(count * tile.slices, [&](Expr mine) {
    Expr firstStep = firstRound, stage = firstStage;
    mine = inSlice(mine, count, firstStep, stage);
    Expr row = mine / double(tile.columns),
         inTile = mine % double(tile.columns);
    Expr step = firstStep + row, column = firstColumn + inTile;
    Expr at = columnsLie ? inTile : row;
    Expr atVector = at / double(vectorElements);
    atVector = columnsLie
                   ? swizzled(row, atVector, tile.columns / vectorElements)
                   : swizzledColumn(inTile, atVector);
    atVector = atVector * double(vectorElements) + at % double(vectorElements);
    Exprs place = columnsLie ? Exprs{stage, row, atVector}
                             : Exprs{stage, inTile, atVector};
    storeGuarded(rightTile, place,
                 both(insideColumns(column), insideSteps(step, operands.steps)),
                 operands.rightType(),
                 [&] { return operands.right(b, batch, step, column); });
  });
}

SmallVector<Value, 4> TensorKTiles::loadMatrices(Value from, const Exprs &at,
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

SmallVector<Value, 4> TensorKTiles::loadRight(Expr stage, int64_t half,
                                              int64_t pair) {
  StringRef name = "right";
  if (columnsLie) {
    Expr row = lane % 16.0 + double(half * kTile() / 2);
    Expr at =
        warpColumn / double(vectorElements) + lane / 16.0 + double(2 * pair);
    return loadMatrices(rightTile,
                        {stage, row,
                         swizzled(lane, at, tile.columns / vectorElements) *
                             double(vectorElements)},
                        /*transposed=*/true, name);
  }
  Expr column = warpColumn;
  if (int64_t units = vectors.units(); units > 1)
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
      {stage, column,
       swizzled(lane % 8.0, at, kTileRowVectors) * double(vectorElements)},
      /*transposed=*/false, name);
}

SmallVector<SmallVector<Value, 4>> TensorKTiles::loadLeft(Expr stage,
                                                          int64_t half) {
  Expr at = named(
      swizzled(lane % 8.0, lane / 16.0 + double(2 * half), kTileRowVectors) *
          double(vectorElements),
      "left_place");
  SmallVector<SmallVector<Value, 4>> units;
  for (int64_t i = 0; i < unitsDown(); ++i)
    units.push_back(loadMatrices(
        leftTile, {stage, warpRow + lane % 16.0 + double(i * unitRows), at},
        /*transposed=*/false, "left"));
  return units;
}

} // namespace ingot::schedule
