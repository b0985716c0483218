// Matrix products and convolutions by warpgroups.
//
// A block has a warpgroup of which one thread fetches, and others that multiply. Strips of
// 128 bytes of steps come into a ring of stages in shared memory, whole tiles at a time;
// two gates of each stage say that it is full, and that it is empty again.
//
//   fetching:                                multiplying:
//     copy right tiles to all stages           for each tile of the block:
//     for each tile of the block:                for each strip:
//       for each strip:                            await full[stage]
//         if its stage has been used:              begin sums += left[stage] * right[stage]
//           await empty[stage]                     await the products of the strip before
//           copy the right tile                    arrive at empty[stage before]
//         copy the left tile                     result = epilogue(sums)
//
// The left tile is of rows of a matrix, or of positions of a window, which the copies find
// by themselves (what is outside of the tensor is zero); the right one of columns of the
// packed weights, with their steps side by side. While the sums of a tile are stored the
// strips of the next one arrive. Where there are few tiles for the device, slices of a
// block each take every so many strips of one tile, and leave their sums in shared memory
// for the first slice.

#include "passes/schedule/gpu/WarpgroupTile.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/ResultPieces.h"
#include "passes/schedule/gpu/StageRing.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

namespace {

class WarpgroupKernel {
public:
  WarpgroupKernel(KernelBuilder &b, const BlockOperands &operands,
                  const WarpgroupTile &tile, int64_t strips)
      : b(b), operands(operands), tile(tile),
        anchor(b.group.anchor()->getResult(0)),
        pieces(b, operands, tile.rows, tile.columns, tile.columns / 8,
               /*mayDeal=*/true, /*areWhole=*/true),
        strips(strips), strip(stripBytes / bytesOf(operands.leftType())) {
    if (auto conv = dyn_cast<ConvOp>(b.group.anchor());
        conv && !isPointwise(conv))
      window = conv;
  }

  /// Whether both operands are where maps can find them.
  bool hasMaps() {
    auto packed = operands.rightTensor.getDefiningOp<UnpackPanelsOp>();
    left = b.bufferOf(operands.leftTensor);
    right = packed ? b.bufferOf(packed.getPacked()) : Value();
    if (!left || !right || !isa<BlockArgument>(left) ||
        !isa<BlockArgument>(right))
      return false;
    int64_t piece = pieceBytes / bytesOf(operands.leftType());
    auto type = cast<MemRefType>(left.getType());
    int64_t offset = 0;
    if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
        strides.size() < 2 || strides.back() != 1)
      return false;
    // Axes that are one in the map follow each other without a gap.
    if (!window)
      for (size_t axis = 0; axis + 2 < strides.size(); ++axis)
        if (strides[axis] != strides[axis + 1] * type.getDimSize(axis + 1))
          return false;
    return llvm::all_of(ArrayRef(strides).drop_back(),
                        [&](int64_t stride) { return stride % piece == 0; });
  }

  void emit() {
    leftTile = sharedForCopies(b, {tile.stages, tile.rows, strip},
                               operands.leftType(), "left_tile");
    rightTile = sharedForCopies(b, {tile.stages, tile.columns, strip},
                                operands.rightType(), "right_tile");
    if (tile.slices > 1) {
      parts = b.shared({tile.slices - 1, tile.sums(), ofSlice()}, sumType(),
                       "parts_of_sums");
      parts.getDefiningOp<memref::AllocaOp>().setAlignment(pieceBytes);
    }
    ring.emplace(b, tile.stages, /*further=*/tile.slices > 1);
    leftMap = window ? mapOfWindows() : mapOfRows();
    rightMap = mapOfWeights();

    rowTiles = (operands.rows + (tile.rows - 1)).floorDiv(tile.rows);
    columnTiles = llvm::divideCeil(operands.columns, tile.columns);
    blocks = warpgroupBlocks(operands, tile, b.target.device);
    b.function.setResident(tile.resident);
    b.onBlocks(blocks, tile.threads(), [&](Expr block, Expr thread) {
      this->block = named(block, "block");
      this->thread = named(thread, "thread");
      // Of each warp one thread says that it has read a stage.
      ring->setUp(thread, ofSlice() / int64_t(b.target.device.warp),
                  tile.slices > 1
                      ? ArrayRef<int64_t>{(tile.slices - 1) * ofSlice()}
                      : ArrayRef<int64_t>());
      double first = double(tile.consumers() * groupThreads);
      b.branch(
          thread < first, [&] { multiply(); },
          [&] {
            setRegistersOfFetching(b, tile);
            b.when(equal(thread, first), [&] { fetch(); });
          });
    });
  }

private:
  Type sumType() const {
    return operands.areBytes() ? elementOf(anchor)
                               : Type(b.builder.getF32Type());
  }
  int64_t ofSlice() const { return tile.groups * groupThreads; }
  int64_t stripsOfSlice() const { return strips / tile.slices; }

  Value map(Value tensor, const Dims &sizes, ArrayRef<int64_t> strides,
            ArrayRef<int64_t> box, ArrayRef<int64_t> low,
            ArrayRef<int64_t> high, ArrayRef<int64_t> steps,
            const Twine &name) {
    return kernel::nameValue(
        kernel::TilesOp::create(
            b.builder, b.loc, kernel::TilesType::get(b.builder.getContext()),
            tensor, kernel::sizesAttr(sizes, b.builder.getContext()), strides,
            box, low, high, steps),
        name);
  }
  Value mapOfRows() {
    return map(left, {operands.rows, operands.steps},
               {strides[strides.size() - 2], 1}, {tile.rows, strip}, {}, {}, {},
               "row_tiles");
  }
  /// Columns of units that are dealt out are found in their order: groups of them, units,
  /// threads, two columns.
  Value mapOfWeights() {
    int64_t piece = pieceBytes / bytesOf(operands.rightType()),
            steps = llvm::alignTo(operands.steps, piece),
            units = pieces.units();
    if (units == 1)
      return map(right, {operands.columns, steps}, {steps, 1},
                 {tile.columns, strip}, {}, {}, {}, "weight_tiles");
    return map(right, {operands.columns / (8 * units), units, 4, 2, steps},
               {8 * units * steps, 2 * steps, 2 * units * steps, steps, 1},
               {tile.columns / (8 * units), units, 4, 2, strip}, {}, {}, {},
               "weight_tiles");
  }
  Value mapOfWindows() {
    Dims sizes = dimsOf(window.getX()), y = dimsOf(window.getResult());
    SmallVector<int64_t> low, high;
    for (auto [axis, from] : llvm::enumerate(window.getLow())) {
      low.push_back(-from);
      high.push_back((*y[1 + axis].known() - 1) * window.getStrides()[axis] -
                     from);
    }
    return map(left, sizes, strides, {tile.rows, strip}, low, high,
               window.getStrides(), "window_tiles");
  }

  /// Runs `body` for each tile of this block, with the number of strips before it.
  void forTiles(llvm::function_ref<void(Expr)> body) {
    Dim tiles = rowTiles * columnTiles;
    if (blocks == tiles) {
      findPlace(block);
      return body(b.index(0));
    }
    b.loop(block, b.index(*tiles.known()), *blocks.known(), {b.index(0)},
           [&](Expr number, ArrayRef<Expr> carried) -> Exprs {
             findPlace(named(number, "tile"));
             Expr count = named(carried[0], "strips_before");
             body(count);
             return {count + double(strips)};
           });
  }

  /// Tiles that are computed at the same time are to be near each other in rows and in
  /// columns, so that both operands come from the second cache: bands of rows are taken
  /// column by column.
  void findPlace(Expr number) {
    Expr row = number, column = b.index(0);
    if (columnTiles > 1) {
      int64_t band = bandOfRows();
      if (band == 1) {
        column = number % double(columnTiles);
        row = number / double(columnTiles);
      } else {
        double all = double(band * columnTiles);
        Expr first = named(number / all * double(band), "first_of_band"),
             inBand = named(number % all, "in_band");
        int64_t total = *rowTiles.known();
        Expr height = total % band == 0
                          ? b.index(band)
                          : named(min(b.index(total) - first, double(band)),
                                  "rows_of_band");
        row = first + inBand % height;
        column = inBand / height;
      }
    }
    firstRow = named(row * double(tile.rows), "first_row");
    firstColumn = named(column * double(tile.columns), "first_column");
  }
  int64_t bandOfRows() const {
    if (!rowTiles.known() || !blocks.known())
      return 1;
    // The square of what is computed at once.
    double square =
        std::sqrt(double(*blocks.known() * tile.columns) / double(tile.rows));
    return std::clamp<int64_t>(int64_t(square), 1, *rowTiles.known());
  }

  void fetch() {
    // At first each stage is empty. Weights come before the kernel in front of this one ends.
    int64_t ahead = std::min(tile.stages, strips);
    findPlace(block);
    b.loop(b.index(0), b.index(ahead), 1, {},
           [&](Expr at, ArrayRef<Expr>) -> Exprs {
             copyWeights(named(at, "strip"), at);
             return {};
           });
    forTiles([&](Expr before) {
      Exprs first = window ? firstOfWindows() : Exprs();
      b.loop(b.index(0), b.index(strips), 1, {},
             [&](Expr at, ArrayRef<Expr>) -> Exprs {
               named(at, "strip");
               Expr count = named(before + at, "count");
               Expr stage = ring->stageOf(count);
               b.when(count >= double(ahead), [&] {
                 ring->await(ring->empty(stage), 1.0 - ring->parityOf(count));
                 copyWeights(at, stage);
               });
               copyRows(at, stage, first);
               return {};
             });
    });
  }

  /// Where the window of the first row of the tile begins.
  Exprs firstOfWindows() {
    Dims y = dimsOf(window.getResult());
    Exprs first = b.delinearize(firstRow, ArrayRef(y).drop_back());
    for (size_t axis = 0; axis + 1 < first.size(); ++axis)
      first[1 + axis] =
          named(first[1 + axis] * double(window.getStrides()[axis]) -
                    double(window.getLow()[axis]),
                "first_of_axis_" + Twine(axis));
    named(first[0], "image");
    return first;
  }

  void copyWeights(Expr at, Expr stage) {
    ring->expect(ring->full(stage), tile.bytesOfStrip());
    Expr step = at * double(strip);
    if (int64_t units = pieces.units(); units > 1) {
      Expr zero = b.index(0);
      copy(rightMap, {firstColumn / double(8 * units), zero, zero, zero, step},
           {}, rightTile, stage);
    } else {
      copy(rightMap, {firstColumn, step}, {}, rightTile, stage);
    }
  }
  void copyRows(Expr at, Expr stage, const Exprs &first) {
    Expr step = named(at * double(strip), "step");
    Exprs place = {firstRow, step}, shift;
    if (window) {
      ArrayRef<int64_t> w = shapeOf(window.getW());
      shift = b.delinearize(step, w.drop_back());
      place = first;
      place.push_back(shift.pop_back_val());
      for (auto [axis, inWindow] : llvm::enumerate(shift))
        inWindow = inWindow * double(window.getDilations()[axis]);
    }
    copy(leftMap, place, shift, leftTile, stage);
  }
  void copy(Value map, const Exprs &place, const Exprs &shift, Value to,
            Expr stage) {
    Value zero = b.index(0).value;
    kernel::CopyTileOp::create(b.builder, b.loc, map, valuesOf(place),
                               valuesOf(shift), to,
                               ValueRange{stage.value, zero, zero}, ring->gates,
                               ring->full(stage).value);
  }

  void multiply() {
    setRegistersOfSums(b, tile);
    double warpThreads = b.target.device.warp;
    lane = named(thread % warpThreads, "lane");
    warp = named(thread % double(groupThreads) / warpThreads, "warp");
    Expr group = thread / double(groupThreads);
    slice = b.index(0);
    if (tile.slices > 1) {
      slice = named(group / double(tile.groups), "slice");
      group = group % double(tile.groups);
    }
    groupRow = tile.groups == 1 ? b.index(0)
                                : named(group * double(tile.rows / tile.groups),
                                        "group_row");
    for (int64_t i = 0; i < tile.productsDown(); ++i)
      sums.push_back(kernel::nameValue(
          memref::AllocaOp::create(
              b.builder, b.loc,
              MemRefType::get({tile.sumsOfProduct()}, storageType(sumType()))),
          tile.productsDown() == 1 ? Twine("sums") : "sums_" + Twine(i)));
    forTiles([&](Expr before) {
      startSums();
      b.loop(b.index(0), b.index(stripsOfSlice()), 1, {},
             [&](Expr at, ArrayRef<Expr>) -> Exprs {
               multiplyStrip(named(at, "strip"), before);
               return {};
             });
      kernel::AwaitProductsOp::create(b.builder, b.loc, sums, 0);
      giveBack(b.index(stripsOfSlice() - 1), before);
      if (tile.slices == 1)
        store();
      else
        storeSlices();
    });
  }

  /// The number of the strip in all that the block fetches.
  Expr countOf(Expr at, Expr before) {
    return tile.slices == 1 ? before + at
                            : before + at * double(tile.slices) + slice;
  }
  /// One thread of the warp says that the stage of a strip may be written again.
  void giveBack(Expr at, Expr before) {
    Expr stage = countOf(at, before) % double(tile.stages);
    b.when(equal(lane, 0.0), [&] { ring->arrive(ring->empty(stage)); });
  }

  void multiplyStrip(Expr at, Expr before) {
    Expr count = named(countOf(at, before), "count"),
         stage = ring->stageOf(count);
    ring->await(ring->full(stage), ring->parityOf(count));
    kernel::BeginProductsOp::create(b.builder, b.loc, sums);
    int64_t steps = 32 / bytesOf(operands.leftType());
    Value zero = b.index(0).value;
    for (int64_t step = 0; step < strip; step += steps)
      for (auto [i, array] : llvm::enumerate(sums)) {
        Expr row = groupRow + double(int64_t(i) * groupRows);
        Value inStrip = b.index(step).value;
        kernel::TileProductOp::create(
            b.builder, b.loc, leftTile,
            ValueRange{stage.value, row.value, inStrip}, rightTile,
            ValueRange{stage.value, zero, inStrip}, array,
            multiplied(operands.leftType()), multiplied(operands.rightType()),
            /*across=*/false, /*first=*/false);
      }
    kernel::CloseProductsOp::create(b.builder, b.loc);
    // The tiles of the strip before are read when its products are done.
    kernel::AwaitProductsOp::create(b.builder, b.loc, ValueRange(), 1);
    b.when(at > 0.0, [&] { giveBack(at - 1.0, before); });
  }
  Type multiplied(Type stored) const {
    return operands.multiplied ? operands.multiplied : stored;
  }

  /// Runs `body` for each of so many numbers, which it may index sums by.
  void unrolled(int64_t count, const Twine &name,
                llvm::function_ref<void(Expr)> body) {
    Value zero = b.index(0).value, end = b.index(count).value,
          one = b.index(1).value;
    auto loop = scf::ForOp::create(b.builder, b.loc, zero, end, one);
    loop->setAttr(kernel::kUnrolledAttr, b.builder.getBoolAttr(true));
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(loop.getBody());
    body(named(b.wrap(loop.getInductionVar(), b.builder.getIndexType()), name));
  }

  Expr rowOf(int64_t i, int64_t half) {
    return firstRow + groupRow + warp * 16.0 + lane / 4.0 +
           double(i * groupRows + 8 * half);
  }
  int64_t groups() const { return tile.columns / 8 / pieces.units(); }
  Expr columnOf(Expr group, int64_t offset) {
    return named(pieces.columnOf(firstColumn, lane, group, offset), "column");
  }
  /// The place of a sum of one of the columns that the thread has of a group.
  Expr sumAt(Expr group, int64_t half, int64_t offset) {
    return group * double(4 * pieces.units()) +
           double(offset / 2 * 4 + 2 * half + offset % 2);
  }
  Expr biasOf(Expr group, int64_t offset) {
    int64_t inPiece = offset % pieces.columns();
    Expr first =
        operands.first(b, b.index(0),
                       pieces.insideColumn(columnOf(group, offset - inPiece)) +
                           double(inPiece));
    first.type = sumType();
    return first;
  }

  void startSums() {
    unrolled(groups(), "group", [&](Expr group) {
      for (int64_t at = 0; at < pieces.columnsOfGroup(); ++at) {
        Expr first = tile.slices == 1 ? named(biasOf(group, at), "first")
                                      : b.constant(0, sumType());
        for (Value array : sums)
          for (int64_t half : {0, 1})
            b.store(array, first, {sumAt(group, half, at)});
      }
    });
  }

  void storeSlices() {
    Expr inSlice = named(thread % double(ofSlice()), "thread_of_slice");
    auto place = [&](int64_t i, Expr at) {
      return at + double(i * tile.sumsOfProduct());
    };
    b.branch(
        slice > 0.0,
        [&] {
          for (auto [i, array] : llvm::enumerate(sums))
            unrolled(tile.sumsOfProduct(), "n", [&](Expr n) {
              b.store(parts, b.loadFrom(array, sumType(), {n}),
                      {slice - 1.0, place(i, n), inSlice});
            });
          ring->arrive(ring->further(0));
        },
        [&] {
          ring->await(ring->further(0), b.index(0));
          for (auto [i, array] : llvm::enumerate(sums))
            unrolled(groups(), "group", [&](Expr group) {
              for (int64_t half : {0, 1})
                for (int64_t column = 0; column < pieces.columnsOfGroup();
                     ++column) {
                  Expr at = sumAt(group, half, column);
                  Expr total = b.loadFrom(array, sumType(), {at}) +
                               biasOf(group, column);
                  for (int64_t other = 0; other + 1 < tile.slices; ++other)
                    total = total +
                            b.loadFrom(parts, sumType(),
                                       {b.index(other), place(i, at), inSlice});
                  b.store(array, total, {at});
                }
            });
          store();
        });
  }

  /// Loads all that is read for the results of both rows of a product before the first of
  /// them is stored, or where these are too many for the registers, of one row: stores, and
  /// conditions between loads, would have each wait for the one before.
  void store() {
    bool areFew = tile.sumsOfProduct() <= 64;
    Type type = computeType(elementOf(b.result()));
    SmallVector<Value, 2> results;
    for (int64_t rows = 0; rows < (areFew ? 2 : 1); ++rows)
      results.push_back(kernel::nameValue(
          memref::AllocaOp::create(b.builder, b.loc,
                                   MemRefType::get({tile.columns / 4}, type)),
          "results"));
    for (auto [i, array] : llvm::enumerate(sums)) {
      SmallVector<Expr, 2> rows;
      for (int64_t half : {0, 1}) {
        rows.push_back(named(rowOf(i, half), "row"));
        findResults(array, half, rows[half], results[areFew ? half : 0]);
        if (!areFew)
          storeResults(rows[half], results[0]);
      }
      if (areFew)
        for (int64_t half : {0, 1})
          storeResults(rows[half], results[half]);
    }
  }
  void forPieces(llvm::function_ref<void(Expr, int64_t)> body) {
    unrolled(groups(), "group", [&](Expr group) {
      for (int64_t first = 0; first < pieces.columnsOfGroup();
           first += pieces.columns())
        body(group, first);
    });
  }
  Expr resultAt(Expr group, int64_t offset) {
    return group * double(pieces.columnsOfGroup()) + double(offset);
  }
  void findResults(Value array, int64_t half, Expr row, Value results) {
    Expr inside = named(pieces.insideRow(row), "row");
    forPieces([&](Expr group, int64_t first) {
      Exprs own;
      for (int64_t at = first; at < first + pieces.columns(); ++at) {
        own.push_back(named(
            b.loadFrom(array, sumType(), {sumAt(group, half, at)}), "sum"));
        own.back().type = elementOf(anchor);
      }
      Expr column = pieces.insideColumn(columnOf(group, first));
      for (auto [k, result] :
           llvm::enumerate(pieces.resultsOf(own, b.index(0), inside, column)))
        b.store(results, result, {resultAt(group, first + int64_t(k))});
    });
  }
  void storeResults(Expr row, Value results) {
    Type stored = elementOf(b.result());
    pieces.whenRow(row, [&] {
      forPieces([&](Expr group, int64_t first) {
        Expr column = columnOf(group, first);
        pieces.whenColumn(column, [&] {
          Exprs own;
          for (int64_t at = first; at < first + pieces.columns(); ++at) {
            own.push_back(b.loadFrom(results, computeType(stored),
                                     {resultAt(group, at)}));
            own.back().type = stored;
          }
          pieces.store(own, b.index(0), row, column);
        });
      });
    });
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  WarpgroupTile tile;
  Value anchor;
  ResultPieces pieces;
  int64_t strips;
  /// Steps of a strip.
  int64_t strip;
  /// A convolution whose rows are windows; null where they are those of a matrix.
  ConvOp window;
  SmallVector<int64_t> strides;
  Value left, right, leftTile, rightTile, parts, leftMap, rightMap;
  std::optional<StageRing> ring;
  SmallVector<Value> sums;
  Dim rowTiles = 1, blocks = 1;
  int64_t columnTiles = 1;
  Expr block, thread, lane, warp, slice, groupRow, firstRow, firstColumn;
};

} // namespace

bool emitWarpgroupProduct(KernelBuilder &b, const BlockOperands &operands,
                          const WarpgroupTile &tile) {
  WarpgroupKernel kernel(b, operands, tile, stripsOf(operands, b.group));
  if (!kernel.hasMaps())
    return false;
  kernel.emit();
  return true;
}

} // namespace ingot::schedule
