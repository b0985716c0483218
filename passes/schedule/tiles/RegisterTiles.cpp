#include "passes/schedule/tiles/RegisterTiles.h"

#include "dialects/kernel/TileRegisters.h"
#include "dialects/kernel/ValueNames.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

static constexpr int64_t bytesOfGroup = 4;

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

std::optional<TileForm> TileForm::of(Type left, Type right, int64_t steps,
                                     const TargetDescription &target) {
  int64_t bits = left.isIntOrFloat() ? left.getIntOrFloatBitWidth() : 0;
  if (target.tiles.count == 0 || steps == 0 || bits == 0 || bits > 16)
    return std::nullopt;
  std::string name;
  llvm::raw_string_ostream(name) << kernel::MultiplyTilesOp::getOperationName()
                                 << '[' << left << ',' << right << ']';
  if (!target.intrinsic(name, Type(), Type()))
    return std::nullopt;
  TileForm form{left, right};
  form.group = bytesOfGroup * 8 / bits;
  form.lanes = target.tiles.bytes / bytesOfGroup;
  if (steps % form.group != 0)
    return std::nullopt;
  int64_t most = target.tiles.bytes * 8 / bits;
  form.chunks = llvm::divideCeil(steps, most);
  while (steps % (form.chunks * form.group) != 0)
    ++form.chunks;
  form.chunk = steps / form.chunks;
  return form;
}

ColumnVectors TileForm::cover(int64_t columns) const {
  ColumnVectors vectors;
  vectors.columns = columns;
  vectors.lanes.assign(llvm::divideCeil(columns, lanes), lanes);
  return vectors;
}

/// Returns the number of tile registers that a block of `down` x `across` tiles
/// of sums needs: for the sums, the left operand and the right operand.
static int64_t tilesOfBlock(int64_t down, int64_t across) {
  return down * across + down + across;
}

double RegisterTileModel::cyclesOfBlock(int64_t ofRows,
                                        int64_t ofColumns) const {
  const TileRegisters &tiles = target.tiles;
  auto down = double(llvm::divideCeil(ofRows, tiles.rows)),
       across = double(llvm::divideCeil(ofColumns, form.lanes));
  double ofChunk =
      std::max({down * across * tiles.productCycles,
                (down + across) * tiles.loadCycles, tiles.productLatency});
  // The sums of a block are stored to memory and loaded from there.
  double leaving = down * across * tiles.storeCycles +
                   double(ofRows) * across / target.rates.loads;
  return double(runs * form.chunks) * ofChunk + tiles.productLatency + leaving;
}

double RegisterTileModel::cycles(const TileChoice &block) const {
  if (!refuseBlock(block.rows, block.vectors, target).empty())
    return INFINITY;
  int64_t width = block.vectors * form.lanes;
  int64_t whole = rows / block.rows, left = rows % block.rows;
  double total = 0;
  auto overRows = [&](int64_t ofColumns) {
    return double(whole) * cyclesOfBlock(block.rows, ofColumns) +
           (left ? cyclesOfBlock(left, ofColumns) : 0) +
           double((whole > 0) + (left > 0)) * target.tiles.shapeCycles;
  };
  total += double(columns / width) * overRows(width);
  if (int64_t rest = columns % width)
    total += overRows(rest);
  return total;
}

std::vector<TileChoice> RegisterTileModel::ranked() const {
  Ranking<TileChoice> ranking(/*tolerance=*/0.001);
  int64_t ofTile = target.tiles.rows,
          needed = llvm::divideCeil(columns, form.lanes);
  for (int64_t across = 1; across <= needed; ++across)
    for (int64_t down = 1;
         tilesOfBlock(down, across) <= int64_t(target.tiles.count) &&
         (down - 1) * ofTile < rows;
         ++down) {
      TileChoice block{std::min(down * ofTile, rows), across, 1};
      if (down == 1 || block.rows % ofTile == 0)
        ranking.add(block, cycles(block));
    }
  return std::move(ranking).ranked({std::min(ofTile, rows), 1, 1});
}

std::string refuseBlock(int64_t rows, int64_t vectors,
                        const TargetDescription &target) {
  int64_t ofTile = target.tiles.rows, down = llvm::divideCeil(rows, ofTile);
  if (rows > ofTile && rows % ofTile != 0)
    return "blocks of " + std::to_string(rows) +
           " rows must be at most, or a multiple of, the rows of a tile, " +
           std::to_string(ofTile);
  if (int64_t count = tilesOfBlock(down, vectors);
      count > int64_t(target.tiles.count))
    return "a block of " + std::to_string(down) + " x " +
           std::to_string(vectors) + " accumulator tiles uses " +
           std::to_string(count) + " tiles, but the target has only " +
           std::to_string(target.tiles.count);
  return "";
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

int64_t pitchOfRows(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  return strides[strides.size() - 2] *
         kernel::elementBytes(type.getElementType());
}

RegisterTiles::RegisterTiles(KernelBuilder &b, const TileForm &form,
                             int64_t rows, const ColumnVectors &columns)
    : b(b), form(form), rows(rows), columns(columns) {}

int64_t RegisterTiles::down() const {
  return llvm::divideCeil(rows, b.target.tiles.rows);
}
int64_t RegisterTiles::across() const { return columns.lanes.size(); }
int64_t RegisterTiles::rowsOfTile(int64_t i) const {
  return std::min<int64_t>(b.target.tiles.rows, rows - i * b.target.tiles.rows);
}

void RegisterTiles::shape() {
  int64_t stepBytes = form.chunk / form.group * bytesOfGroup,
          columnBytes = form.lanes * bytesOfGroup;
  SmallVector<int64_t> shapeRows, shapeBytes;
  auto add = [&](int64_t ofRows, int64_t bytes) {
    shapeRows.push_back(ofRows);
    shapeBytes.push_back(bytes);
  };
  for (int64_t i = 0; i < down(); ++i)
    for (int64_t j = 0; j < across(); ++j)
      add(rowsOfTile(i), columnBytes);
  for (int64_t i = 0; i < down(); ++i)
    add(rowsOfTile(i), stepBytes);
  for (int64_t j = 0; j < across(); ++j)
    add(form.chunk / form.group, columnBytes);
  kernel::ShapeTilesOp::create(b.builder, b.loc, shapeRows, shapeBytes);
}

void RegisterTiles::clear() {
  for (int64_t tile = 0; tile < down() * across(); ++tile)
    kernel::ClearTileOp::create(b.builder, b.loc, tile);
}

void RegisterTiles::multiply(const TileOperand &leftOperand,
                             const PackedPanels &panels,
                             std::optional<Expr> panel, Expr firstGroup) {
  auto load = [&](int64_t tile, Value buffer, ArrayRef<Expr> at,
                  int64_t pitch) {
    auto indices = llvm::map_to_vector(at, [](Expr i) { return i.value; });
    kernel::LoadTileOp::create(b.builder, b.loc, tile, buffer, indices, pitch);
  };
  b.loop(Dim(form.chunks), {}, [&](Expr chunk, ArrayRef<Expr>) -> Exprs {
    named(chunk, "chunk");
    Expr step = named(chunk * double(form.chunk), "step");
    Expr group =
        named(firstGroup + chunk * double(form.chunk / form.group), "group");
    Expr start = panels.start(b, panel, group);
    for (int64_t j = 0; j < across(); ++j)
      load(right(j), panels.buffer,
           {start + double(j * form.lanes * form.group)},
           panels.width(panel.has_value()) * bytesOfGroup);
    for (int64_t i = 0; i < down(); ++i) {
      load(left(i), leftOperand.buffer,
           leftOperand.at(b.index(i * b.target.tiles.rows), step),
           leftOperand.pitch);
      for (int64_t j = 0; j < across(); ++j)
        kernel::MultiplyTilesOp::create(b.builder, b.loc, sums(i, j), left(i),
                                        right(j), form.left, form.right);
    }
    return {};
  });
}

void RegisterTiles::store(Type sumType, int64_t mostTogether,
                          llvm::function_ref<void(Tile &, Expr)> finish) {
  int64_t ofTile = b.target.tiles.rows, width = across() * form.lanes;
  Value memory = b.stack({std::min(rows, ofTile), width}, sumType);
  kernel::nameValue(memory, "sums");
  for (int64_t i = 0; i < down(); ++i) {
    int64_t count = rowsOfTile(i);
    for (int64_t j = 0; j < across(); ++j)
      kernel::StoreTileOp::create(
          b.builder, b.loc, sums(i, j), memory,
          ValueRange{b.index(0).value, b.index(j * form.lanes).value},
          width * bytesOfGroup);
    // Rows that are finished together share the loads of the epilogue's
    // per-column operands.
    int64_t together = std::gcd(count, mostTogether);
    b.loop(b.index(0), b.index(count), together, {},
           [&](Expr row, ArrayRef<Expr>) -> Exprs {
             named(row, "row_of_tile");
             Tile tile{together, columns, {}};
             for (int64_t r = 0; r < together; ++r)
               for (int64_t j = 0; j < across(); ++j)
                 tile.sums.push_back(b.withLanes(form.lanes, [&] {
                   return named(
                       b.loadFrom(memory, sumType,
                                  {row + double(r), b.index(j * form.lanes)}),
                       tile.nameAt("sum", r, j));
                 }));
             finish(tile,
                    i == 0 ? row
                           : named(row + double(i * ofTile), "row_of_block"));
             return {};
           });
  }
}

void RegisterTiles::release(KernelBuilder &b) {
  kernel::ReleaseTilesOp::create(b.builder, b.loc);
}

} // namespace ingot::schedule
