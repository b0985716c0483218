// Matrix products and convolutions by warpgroups (wgmma).
//
// One thread of a producer warpgroup fetches; consumer warpgroups multiply. TMA
// copies bring K tiles of 128 bytes per row into a ring of stages in shared
// memory; two mbarriers per stage signal that it is full and that it is empty
// again.
//
//   producer:                            consumers:
//     copy right tiles to all stages       for each tile of the block:
//     for each tile of the block:            for each K tile:
//       for each K tile:                       await full[stage]
//         if its stage was used:               start sums += left[stage]
//           await empty[stage]                               * right[stage]
//           copy the right tile                await the previous products
//         copy the left tile                   arrive at empty[stage before]
//                                            result = epilogue(sums)
//
// WarpgroupCopies.cpp describes the copies, WarpgroupSums.cpp the epilogue and
// how slices of a block or blocks of a cluster split K. While the results of a
// tile are stored, K tiles of the next one arrive.

#include "passes/schedule/gpu/WarpgroupTile.h"

#include "dialects/kernel/ValueNames.h"
#include "passes/schedule/gpu/StageRing.h"
#include "passes/schedule/gpu/WarpgroupSums.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

namespace {

class WarpgroupKernel {
public:
  WarpgroupKernel(KernelBuilder &b, const BlockOperands &operands,
                  const WarpgroupTile &tile, int64_t kTiles)
      : b(b), operands(operands), tile(tile), copies(b, operands, tile),
        sums(b, operands, tile, copies.mayDeal(), place),
        kTiles(kTiles / tile.behind) {}

  bool areMapped() { return copies.areMapped(); }

  void emit() {
    copies.declareTiles();
    sums.declareShared();
    // Slices (sets of warpgroups), and the blocks of a split-K cluster, need an
    // additional mbarrier to exchange their sums.
    ring.emplace(b, tile.stages,
                 /*further=*/tile.slices > 1 || tile.behind > 1);
    copies.makeMaps(sums.units());

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
      // One thread of each warp signals that the warp has read a pipeline
      // stage.
      ring->setUp(thread,
                  tile.ofSlice() / int64_t(b.target.device.warp) *
                      tile.providers(),
                  sums.arrivals(), tile.cluster() > 1);
      double first = double(tile.consumers() * groupThreads);
      b.branch(
          thread < first, [&] { multiply(); },
          [&] {
            setRegistersOfFetching(b, tile);
            b.when(equal(thread, first), [&] { fetch(); });
          });
      // The other blocks of the cluster access this block's shared memory and
      // mbarriers until those blocks end, so no block may exit early.
      if (tile.providers() > 1)
        kernel::ClusterBarrierOp::create(b.builder, b.loc, /*shown=*/true);
    });
  }

private:
  int64_t kTilesPerSlice() const { return kTiles / tile.slices; }

  /// Computes the number of the block's cluster and the block's position in it.
  void findInCluster() {
    place.below = place.beside = b.index(0);
    cluster = block;
    if (tile.cluster() == 1)
      return;
    inCluster = named(block % double(tile.cluster()), "in_cluster");
    cluster = named(block / double(tile.cluster()), "cluster");
    if (tile.behind > 1)
      return;
    place.below = tile.beside == 1
                      ? inCluster
                      : named(inCluster / double(tile.beside), "below");
    place.beside = tile.below == 1
                       ? inCluster
                       : named(inCluster % double(tile.beside), "beside");
  }
  /// Arrives at the mbarrier in all blocks that fetch for this one.
  void arriveAtProviders(Expr mbarrier) {
    if (tile.providers() == 1)
      return ring->arrive(mbarrier);
    auto at = [&](Expr below, Expr beside) {
      ring->arrive(mbarrier, (below * double(tile.beside) + beside).value);
    };
    for (int64_t i = 0; i < tile.beside; ++i)
      at(place.below, b.index(i));
    for (int64_t i = 1; i < tile.below; ++i)
      at((place.below + double(i)) % double(tile.below), place.beside);
  }
  /// Emits `body` for each output tile of this block. `body` gets the number of
  /// K tiles that the block fetches for all earlier output tiles.
  void forTiles(llvm::function_ref<void(Expr)> body) {
    Dim tiles = rowTiles * columnTiles * operands.batches;
    if (blocks == tiles * tile.behind) {
      findPlace(cluster);
      return body(b.index(0));
    }
    b.loop(cluster, b.index(*tiles.known() / tile.cluster()),
           *blocks.known() / tile.cluster(), {b.index(0)},
           [&](Expr number, ArrayRef<Expr> carried) -> Exprs {
             findPlace(named(number, "tile"));
             Expr count = named(carried[0], "k_tiles_before");
             body(count);
             return {count + double(kTiles)};
           });
  }

  /// Sets `place` to tile `number`. Tiles that are computed at the same time
  /// should be close to each other in rows and columns, so that both operands
  /// come from L2. Therefore the tiles are numbered band by band, where a band
  /// consists of some tile rows, and column by column within a band. The tiles
  /// of a cluster count as one.
  void findPlace(Expr number) {
    Dim rowTiles = this->rowTiles.floorDiv(tile.below);
    int64_t columnTiles = this->columnTiles / tile.beside;
    place.batch = b.index(0);
    if (mayDiffer(operands.batches, 1)) {
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
    // The tiles that are computed at the same time should form a square; a band
    // is as high as that square.
    double square =
        std::sqrt(double(*blocks.known() / tile.behind * tile.columns) /
                  double(tile.rows));
    return std::clamp<int64_t>(int64_t(square) / tile.below, 1,
                               *rowTiles.known() / tile.below);
  }

  void fetch() {
    sums.expect(*ring);
    // All pipeline stages are empty at first. Weights, as constants, can be
    // copied before the preceding kernel, which may compute the left operand,
    // has ended.
    int64_t ahead = std::min(tile.stages, kTiles);
    findPlace(cluster);
    b.loop(b.index(0), b.index(ahead), 1, {},
           [&](Expr at, ArrayRef<Expr>) -> Exprs {
             copyRight(named(at, "k_tile"), at);
             return {};
           });
    forTiles([&](Expr before) {
      copies.findWindow(place);
      b.loop(b.index(0), b.index(kTiles), 1, {},
             [&](Expr at, ArrayRef<Expr>) -> Exprs {
               named(at, "k_tile");
               Expr count = named(before + at, "count");
               Expr stage = ring->stageOf(count);
               b.when(count >= double(ahead), [&] {
                 ring->await(ring->empty(stage), 1.0 - ring->parityOf(count));
                 copyRight(at, stage);
               });
               copies.copyLeft(place, inProduct(at), stage, ring->mbarriers,
                               ring->full(stage));
               return {};
             });
    });
  }

  void copyRight(Expr at, Expr stage) {
    ring->expect(ring->full(stage), tile.kTileBytes());
    copies.copyRight(place, inProduct(at), stage, ring->mbarriers,
                     ring->full(stage));
  }
  /// Returns the number, among all K tiles of the output tile, of this block's
  /// K tile `at`.
  Expr inProduct(Expr at) {
    return tile.behind == 1 ? at : inCluster * double(kTiles) + at;
  }

  void multiply() {
    setRegistersOfSums(b, tile);
    double warpThreads = b.target.device.warp;
    WarpgroupSums::Thread own;
    own.number = thread;
    own.lane = named(thread % warpThreads, "lane");
    own.warp = named(thread % double(groupThreads) / warpThreads, "warp");
    own.inCluster = inCluster;
    Expr group = thread / double(groupThreads);
    own.slice = b.index(0);
    if (tile.slices > 1) {
      own.slice = named(group / double(tile.groups), "slice");
      group = group % double(tile.groups);
    }
    own.groupRow =
        tile.groups == 1
            ? b.index(0)
            : named(group * double(tile.rows / tile.groups), "group_row");
    lane = own.lane;
    slice = own.slice;
    groupRow = own.groupRow;
    sums.declare(own);
    forTiles([&](Expr before) {
      sums.start();
      b.loop(b.index(0), b.index(kTilesPerSlice()), 1, {},
             [&](Expr at, ArrayRef<Expr>) -> Exprs {
               multiplyKTile(named(at, "k_tile"), before);
               return {};
             });
      kernel::AwaitProductsOp::create(b.builder, b.loc, sums.arrays(), 0);
      giveBack(b.index(kTilesPerSlice() - 1), before);
      sums.store(*ring);
    });
  }

  /// Returns the number, among all K tiles that the block fetches, of K tile
  /// `at` of this slice (a set of warpgroups); `before` K tiles belong to
  /// earlier output tiles.
  Expr countOf(Expr at, Expr before) {
    return tile.slices == 1 ? before + at
                            : before + at * double(tile.slices) + slice;
  }
  /// Lets one thread of the warp signal that the pipeline stage of K tile `at`
  /// may be overwritten.
  void giveBack(Expr at, Expr before) {
    Expr stage = countOf(at, before) % double(tile.stages);
    b.when(equal(lane, 0.0), [&] { arriveAtProviders(ring->empty(stage)); });
  }

  void multiplyKTile(Expr at, Expr before) {
    Expr count = named(countOf(at, before), "count"),
         stage = ring->stageOf(count);
    ring->await(ring->full(stage), ring->parityOf(count));
    kernel::BeginProductsOp::create(b.builder, b.loc, sums.arrays());
    int64_t size = bytesOf(operands.leftType());
    for (int64_t step = 0; step < kTileRowBytes / size; step += 32 / size)
      for (auto [i, array] : llvm::enumerate(sums.arrays()))
        copies.multiply(stage, groupRow + double(int64_t(i) * groupRows), step,
                        array);
    kernel::CloseProductsOp::create(b.builder, b.loc);
    // The pipeline stage of the previous K tile may be freed once its products
    // are complete.
    kernel::AwaitProductsOp::create(b.builder, b.loc, ValueRange(), 1);
    b.when(at > 0.0, [&] { giveBack(at - 1.0, before); });
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  WarpgroupTile tile;
  WarpgroupCopies::Place place;
  WarpgroupCopies copies;
  WarpgroupSums sums;
  /// The number of K tiles per output tile that this block processes.
  int64_t kTiles;
  std::optional<StageRing> ring;
  Dim rowTiles = 1, blocks = 1;
  int64_t columnTiles = 1;
  Expr block, cluster, inCluster, thread, lane, slice, groupRow;
};

} // namespace

bool emitWarpgroupProduct(KernelBuilder &b, const BlockOperands &operands,
                          const WarpgroupTile &tile) {
  WarpgroupKernel kernel(b, operands, tile, kTilesOf(operands, b.group));
  if (!kernel.areMapped())
    return false;
  kernel.emit();
  return true;
}

} // namespace ingot::schedule
