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
// What is copied says WarpgroupCopies.cpp. While the sums of a tile are stored the strips of
// the next one arrive. Where there are few tiles for the device, slices of a
// block each take every so many strips of one tile, and leave their sums in shared memory
// for the first slice.

#include "passes/schedule/gpu/WarpgroupTile.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/gpu/StageRing.h"
#include "passes/schedule/gpu/WarpgroupCopies.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

namespace {

class WarpgroupKernel {
public:
  WarpgroupKernel(KernelBuilder &b, const BlockOperands &operands,
                  const WarpgroupTile &tile, int64_t strips)
      : b(b), operands(operands), tile(tile),
        anchor(b.group.anchor()->getResult(0)), copies(b, operands, tile),
        pieces(b, operands, tile.rows * tile.below, tile.columns * tile.beside,
               tile.columns / 8, copies.mayDeal(), /*areWhole=*/true),
        strips(strips) {}

  bool areMapped() { return copies.areMapped(); }

  void emit() {
    copies.declareTiles();
    if (tile.slices > 1)
      parts = sharedAt(pieceBytes, b, {tile.slices - 1, tile.sums(), ofSlice()},
                       sumType(), "parts_of_sums");
    // Slices meet at one more gate.
    ring.emplace(b, tile.stages, /*further=*/tile.slices > 1);
    copies.makeMaps(pieces.units());

    rowTiles = tile.tilesBelow(operands);
    columnTiles = tile.tilesBeside(operands);
    blocks = warpgroupBlocks(operands, tile, b.target.device);
    b.function.setResident(tile.resident);
    if (tile.cluster() > 1)
      b.function.setCluster(tile.cluster());
    b.onBlocks(blocks, tile.threads(), [&](Expr block, Expr thread) {
      this->block = named(block, "block");
      this->thread = named(thread, "thread");
      findInCluster();
      // Of each warp one thread says that it has read a stage.
      ring->setUp(
          thread, ofSlice() / int64_t(b.target.device.warp) * tile.providers(),
          tile.slices > 1 ? ArrayRef<int64_t>{(tile.slices - 1) * ofSlice()}
                          : ArrayRef<int64_t>(),
          tile.cluster() > 1);
      double first = double(tile.consumers() * groupThreads);
      b.branch(
          thread < first, [&] { multiply(); },
          [&] {
            setRegistersOfFetching(b, tile);
            b.when(equal(thread, first), [&] { fetch(); });
          });
      // Others copy to this block, and tell its gates, until their end.
      if (tile.cluster() > 1)
        kernel::ClusterBarrierOp::create(b.builder, b.loc);
    });
  }

private:
  Type sumType() const {
    return operands.areBytes() ? elementOf(anchor)
                               : Type(b.builder.getF32Type());
  }
  int64_t ofSlice() const { return tile.groups * groupThreads; }
  int64_t stripsOfSlice() const { return strips / tile.slices; }

  /// The number of the block's cluster, and its place there.
  void findInCluster() {
    place.below = place.beside = b.index(0);
    cluster = block;
    if (tile.cluster() == 1)
      return;
    Expr inCluster = named(block % double(tile.cluster()), "in_cluster");
    cluster = named(block / double(tile.cluster()), "cluster");
    place.below = tile.beside == 1
                      ? inCluster
                      : named(inCluster / double(tile.beside), "below");
    place.beside = tile.below == 1
                       ? inCluster
                       : named(inCluster % double(tile.beside), "beside");
  }
  /// Arrives there in all blocks that fetch for this one.
  void arriveAtProviders(Expr gate) {
    if (tile.cluster() == 1)
      return ring->arrive(gate);
    auto at = [&](Expr below, Expr beside) {
      ring->arrive(gate, (below * double(tile.beside) + beside).value);
    };
    for (int64_t i = 0; i < tile.beside; ++i)
      at(place.below, b.index(i));
    for (int64_t i = 1; i < tile.below; ++i)
      at((place.below + double(i)) % double(tile.below), place.beside);
  }
  /// Runs `body` for each tile of this block, with the number of strips before it.
  void forTiles(llvm::function_ref<void(Expr)> body) {
    Dim tiles = rowTiles * columnTiles * operands.batches;
    if (blocks == tiles) {
      findPlace(cluster);
      return body(b.index(0));
    }
    b.loop(cluster, b.index(*tiles.known() / tile.cluster()),
           *blocks.known() / tile.cluster(), {b.index(0)},
           [&](Expr number, ArrayRef<Expr> carried) -> Exprs {
             findPlace(named(number, "tile"));
             Expr count = named(carried[0], "strips_before");
             body(count);
             return {count + double(strips)};
           });
  }

  /// Tiles that are computed at the same time are to be near each other in rows and in
  /// columns, so that both operands come from the second cache: bands of rows are taken
  /// column by column. Tiles of a cluster are one.
  void findPlace(Expr number) {
    Dim rowTiles = this->rowTiles.floorDiv(tile.below);
    int64_t columnTiles = this->columnTiles / tile.beside;
    place.batch = b.index(0);
    if (operands.batches != 1) {
      Expr ofBatch = b.size(rowTiles * columnTiles);
      place.batch = named(number / ofBatch, "batch");
      number = named(number % ofBatch, "in_batch");
    }
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
    if (tile.below > 1)
      row = row * double(tile.below) + place.below;
    if (tile.beside > 1)
      column = column * double(tile.beside) + place.beside;
    place.firstRow = named(row * double(tile.rows), "first_row");
    place.firstColumn = named(column * double(tile.columns), "first_column");
  }
  int64_t bandOfRows() const {
    if (!rowTiles.known() || !blocks.known())
      return 1;
    // The square of what is computed at once.
    double square =
        std::sqrt(double(*blocks.known() * tile.columns) / double(tile.rows));
    return std::clamp<int64_t>(int64_t(square) / tile.below, 1,
                               *rowTiles.known() / tile.below);
  }

  void fetch() {
    // At first each stage is empty. Weights come before the kernel in front of this one ends.
    int64_t ahead = std::min(tile.stages, strips);
    findPlace(cluster);
    b.loop(b.index(0), b.index(ahead), 1, {},
           [&](Expr at, ArrayRef<Expr>) -> Exprs {
             copyRight(named(at, "strip"), at);
             return {};
           });
    forTiles([&](Expr before) {
      copies.findWindow(place);
      b.loop(b.index(0), b.index(strips), 1, {},
             [&](Expr at, ArrayRef<Expr>) -> Exprs {
               named(at, "strip");
               Expr count = named(before + at, "count");
               Expr stage = ring->stageOf(count);
               b.when(count >= double(ahead), [&] {
                 ring->await(ring->empty(stage), 1.0 - ring->parityOf(count));
                 copyRight(at, stage);
               });
               copies.copyLeft(place, at, stage, ring->gates,
                               ring->full(stage));
               return {};
             });
    });
  }

  void copyRight(Expr at, Expr stage) {
    ring->expect(ring->full(stage), tile.bytesOfStrip());
    copies.copyRight(place, at, stage, ring->gates, ring->full(stage));
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
    declareOperands();
    forTiles([&](Expr before) {
      startSums();
      loadEarly();
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
    b.when(equal(lane, 0.0), [&] { arriveAtProviders(ring->empty(stage)); });
  }

  void multiplyStrip(Expr at, Expr before) {
    Expr count = named(countOf(at, before), "count"),
         stage = ring->stageOf(count);
    ring->await(ring->full(stage), ring->parityOf(count));
    kernel::BeginProductsOp::create(b.builder, b.loc, sums);
    int64_t size = bytesOf(operands.leftType());
    for (int64_t step = 0; step < stripBytes / size; step += 32 / size)
      for (auto [i, array] : llvm::enumerate(sums))
        copies.multiply(stage, groupRow + double(int64_t(i) * groupRows), step,
                        array);
    kernel::CloseProductsOp::create(b.builder, b.loc);
    // The tiles of the strip before are read when its products are done.
    kernel::AwaitProductsOp::create(b.builder, b.loc, ValueRange(), 1);
    b.when(at > 0.0, [&] { giveBack(at - 1.0, before); });
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
    return place.firstRow + groupRow + warp * 16.0 + lane / 4.0 +
           double(i * groupRows + 8 * half);
  }
  int64_t groups() const { return tile.columns / 8 / pieces.units(); }
  Expr columnOf(Expr group, int64_t offset) {
    return named(pieces.columnOf(place.firstColumn, lane, group, offset),
                 "column");
  }
  /// The place of a sum of one of the columns that the thread has of a group.
  Expr sumAt(Expr group, int64_t half, int64_t offset) {
    return group * double(4 * pieces.units()) +
           double(offset / 2 * 4 + 2 * half + offset % 2);
  }
  Expr biasOf(Expr group, int64_t offset) {
    int64_t inPiece = offset % pieces.columns();
    Expr first =
        operands.first(b, place.batch,
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

  /// Operands of what follows that have the place of the result. As far as there are registers
  /// for the elements of one it is on its way while strips are multiplied. Other ones are
  /// loaded for a row before anything is computed of it, as loads with something in between
  /// would not become one.
  void declareOperands() {
    GroupView group = b.group;
    if (!hasFlatEpilogue(group, group.anchor()))
      return;
    // nvcc 13 keeps to the registers that a thread has at the start.
    constexpr int64_t others = 28;
    int64_t left =
        tile.registersAtStart(b.target.device) - tile.sums() - others;
    for (Value tensor : group.block->getArguments()) {
      if (tensor.getType() != group.results()[0].getType() ||
          !isEpilogueOperand(tensor, group.anchor()) || !b.bufferOf(tensor))
        continue;
      Type element =
          cast<MemRefType>(b.bufferOf(tensor).getType()).getElementType();
      int64_t registers = tile.sums() * bytesOf(element) / 4;
      bool isEarly = tile.slices == 1 && registers <= left;
      if (isEarly)
        left -= registers;
      int64_t count = isEarly ? tile.sums() : tile.columns / 4;
      epilogueOperands.push_back(
          {tensor,
           kernel::nameValue(
               memref::AllocaOp::create(b.builder, b.loc,
                                        MemRefType::get({count}, element)),
               isEarly ? "early" : "operand"),
           isEarly});
    }
  }
  struct Operand {
    Value tensor, elements;
    bool isEarly;
  };
  Expr elementAt(const Operand &operand, int64_t i, int64_t half, Expr group,
                 int64_t offset) {
    Expr at = resultAt(group, offset);
    return operand.isEarly ? at + double((2 * i + half) * (tile.columns / 4))
                           : at;
  }
  /// Loads the elements of a row.
  void load(const Operand &operand, int64_t i, int64_t half, Expr row) {
    forPieces([&](Expr group, int64_t first) {
      Expr column = pieces.insideColumn(columnOf(group, first));
      for (int64_t k = 0; k < pieces.columns(); ++k) {
        Exprs at = operands.place(b, place.batch, row, column + double(k));
        Value element = memref::LoadOp::create(
            b.builder, b.loc, b.bufferOf(operand.tensor), valuesOf(at));
        memref::StoreOp::create(
            b.builder, b.loc, element, operand.elements,
            elementAt(operand, i, half, group, first + k).value);
      }
    });
  }
  void loadEarly() {
    for (const Operand &operand : epilogueOperands)
      for (int64_t i = 0; operand.isEarly && i < tile.productsDown(); ++i)
        for (int64_t half : {0, 1})
          load(operand, i, half,
               named(pieces.insideRow(rowOf(i, half)), "row"));
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
        findResults(int64_t(i), half, rows[half], results[areFew ? half : 0]);
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
  void findResults(int64_t i, int64_t half, Expr row, Value results) {
    Value array = sums[size_t(i)];
    Expr inside = named(pieces.insideRow(row), "row");
    for (const Operand &operand : epilogueOperands)
      if (!operand.isEarly)
        load(operand, i, half, inside);
    forPieces([&](Expr group, int64_t first) {
      Exprs own;
      for (int64_t at = first; at < first + pieces.columns(); ++at) {
        own.push_back(named(
            b.loadFrom(array, sumType(), {sumAt(group, half, at)}), "sum"));
        own.back().type = elementOf(anchor);
      }
      Expr column = pieces.insideColumn(columnOf(group, first));
      SmallVector<ResultPieces::Loaded> loaded;
      for (const Operand &operand : epilogueOperands) {
        loaded.push_back({operand.tensor, {}});
        for (int64_t at = first; at < first + pieces.columns(); ++at)
          loaded.back().elements.push_back(
              b.loadFrom(operand.elements, elementOf(operand.tensor),
                         {elementAt(operand, i, half, group, at)}));
      }
      for (auto [k, result] : llvm::enumerate(
               pieces.resultsOf(own, place.batch, inside, column, loaded)))
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
          pieces.store(own, place.batch, row, column);
        });
      });
    });
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  WarpgroupTile tile;
  Value anchor;
  WarpgroupCopies copies;
  ResultPieces pieces;
  int64_t strips;
  Value parts;
  std::optional<StageRing> ring;
  SmallVector<Value> sums;
  SmallVector<Operand, 1> epilogueOperands;
  Dim rowTiles = 1, blocks = 1;
  int64_t columnTiles = 1;
  Expr block, cluster, thread, lane, warp, slice, groupRow;
  WarpgroupCopies::Place place;
};

} // namespace

bool emitWarpgroupProduct(KernelBuilder &b, const BlockOperands &operands,
                          const WarpgroupTile &tile) {
  WarpgroupKernel kernel(b, operands, tile, stripsOf(operands, b.group));
  if (!kernel.areMapped())
    return false;
  kernel.emit();
  return true;
}

} // namespace ingot::schedule
