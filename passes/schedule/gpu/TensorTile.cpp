// Matrix products and convolutions on tensor cores.
//
// A block computes a tile of the result, each of its warps a part of the tile.
// K tiles of 64 bytes per row are copied to shared memory in advance, into as
// many buffers as the plan has stages; a warp loads MMA operands of 16 rows or
// columns from there:
//
//   copy K tiles 0 .. stages - 2
//   for each K tile:
//     copy K tile + stages - 1 into the buffer of K tile - 1
//     for both halves of the K tile:
//       a[i], b[j] <- load_matrices;  sums[i][j] += warp_product(a[i], b[j])
//     await K tile + 1; barrier
//   result = epilogue(sums)
//
// If whole tiles would leave SMs idle at the end, blocks divide the K tiles of
// all output tiles evenly, in the order of the tiles (stream-K): each block
// computes the end of a tile, some whole tiles, and the beginning of another
// one. If several blocks share a tile, each stores its sums and adds the number
// of its K tiles to a counter; the block that completes the count adds all
// parts in the order of the K tiles, so that the result is deterministic:
//
//   for each tile with K tiles of this share:
//     sums of these K tiles
//     if these are all K tiles of the tile: result = epilogue(sums)
//     else: parts[share, first or last] = sums
//           count; if complete: result = epilogue(sum of parts)
//
// If there are few tiles for the device, the warps of a block form several
// slices, which compute the same tile from different K tiles and add their sums
// in shared memory.

#include "passes/schedule/gpu/TensorTile.h"
#include "passes/schedule/gpu/TensorKTiles.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class TensorProductKernel : TensorKTiles {
public:
  TensorProductKernel(KernelBuilder &b, const BlockOperands &operands,
                      const TensorTile &tile)
      : TensorKTiles(b, operands, tile),
        anchor(b.group.anchor()->getResult(0)) {}

  void emit() {
    declareTiles();
    if (tile.slices > 1)
      parts = b.shared({tile.slices - 1, sumsOfThread(), ofSlice()}, sumType(),
                       "parts_of_sums");
    Dim rowTiles = (operands.rows + (tile.rows - 1)).floorDiv(tile.rows);
    int64_t columnTiles = llvm::divideCeil(operands.columns, tile.columns);
    int64_t threads = tile.threads(b.target.device);
    if (tile.shares > 0)
      return emitShares(rowTiles, columnTiles);
    b.onBlocks(rowTiles * columnTiles * operands.batches, threads,
               [&](Expr block, Expr thread) {
                 this->thread = named(thread, "thread");
                 findPlace(block, rowTiles, columnTiles);
                 Exprs sums = overKTiles(firstSums());
                 if (tile.slices == 1)
                   store(sums);
                 else
                   storeSlices(sums);
               });
  }

private:
  void emitShares(const Dim &rowTiles, int64_t columnTiles) {
    Dim tiles = rowTiles * columnTiles * operands.batches;
    int64_t all = *tiles.known() * rounds(), shares = tile.shares,
            each = llvm::divideCeil(all, shares);
    parts = b.scratch({2 * shares, sumsOfThread(), ofSlice()}, sumType());
    Value counts = b.counts(*tiles.known());
    double ofTile = double(rounds()), ofShare = double(each);
    b.onBlocks(shares, ofSlice(), [&](Expr block, Expr thread) {
      this->thread = named(thread, "thread");
      Expr share = named(block, "share");
      Expr begin = named(share * ofShare, "begin_of_share"),
           end = named(min(begin + ofShare, double(all)), "end_of_share");
      b.forRange(
          begin / ofTile, (end + (ofTile - 1)) / ofTile, [&](Expr number) {
            named(number, "tile");
            findPlace(number, rowTiles, columnTiles);
            Expr first = named(number * ofTile, "first_of_tile");
            Expr from = named(max(begin - first, 0.0), "first_k_tile"),
                 to = named(min(end - first, ofTile), "end_of_k_tiles");
            Expr kTiles = named(to - from, "k_tiles");
            Exprs sums = overKTiles(
                Exprs(sumsOfThread(), b.constant(0, elementOf(anchor))),
                Part{from, to});
            b.branch(
                equal(kTiles, ofTile), [&] { store(withBias(sums)); },
                [&] {
                  keepPart(sums, share, first, begin);
                  Expr done =
                      b.wrap(kernel::CountOp::create(
                                 b.builder, b.loc, b.builder.getIndexType(),
                                 counts, number.value, kTiles.value)
                                 .getTotal(),
                             kTiles.type);
                  b.when(equal(named(done, "done"), ofTile),
                         [&] { store(withBias(sumOfParts(first, ofShare))); });
                });
          });
    });
  }
  /// Returns the index of a partial tile in `parts`. A share (the K tiles of
  /// one block) has at most two partial tiles, its first and its last tile.
  /// `firstOfTile` is the number of the first K tile of the output tile,
  /// `begin` that of the first K tile of the share.
  Expr placeOfPart(Expr share, Expr firstOfTile, Expr begin) {
    return named(share * 2.0 +
                     select(firstOfTile > begin, b.index(1), b.index(0)),
                 "part");
  }
  void keepPart(const Exprs &sums, Expr share, Expr firstOfTile, Expr begin) {
    Expr part = placeOfPart(share, firstOfTile, begin);
    for (auto [n, sum] : llvm::enumerate(sums))
      b.store(parts, sum, {part, b.index(n), thread});
  }
  Exprs sumOfParts(Expr firstOfTile, double ofShare) {
    Exprs sums = b.loop(
        firstOfTile / ofShare,
        (firstOfTile + double(rounds() - 1)) / ofShare + 1.0, 1,
        Exprs(sumsOfThread(), b.constant(0, sumType())),
        [&](Expr share, ArrayRef<Expr> carried) {
          named(share, "other_share");
          Expr part = placeOfPart(share, firstOfTile, share * ofShare);
          Exprs sums;
          for (auto [n, sum] : llvm::enumerate(carried))
            sums.push_back(named(
                sum + b.loadFrom(parts, sumType(), {part, b.index(n), thread}),
                "total_" + Twine(n)));
          return sums;
        });
    for (Expr &sum : sums)
      sum.type = elementOf(anchor);
    return sums;
  }
  Exprs withBias(const Exprs &sums) {
    Exprs totals;
    for (auto [n, sum] : llvm::enumerate(sums)) {
      Type type = sum.type;
      Expr total = sum + biasOf(n / 4 % unitsAcross(), n % 2);
      total.type = type;
      totals.push_back(total);
    }
    return totals;
  }

  /// Returns the number of iterations over all K tiles of an output tile; each
  /// slice of the block multiplies one K tile per iteration.
  int64_t rounds() const { return llvm::divideCeil(operands.steps, round()); }
  /// Return the number of threads in a slice of the block, and the number of
  /// sums per thread.
  int64_t ofSlice() const { return tile.warps() * b.target.device.warp; }
  int64_t sumsOfThread() const { return 4 * unitsDown() * unitsAcross(); }
  Type sumType() const {
    return operands.areBytes() ? elementOf(anchor)
                               : Type(b.builder.getF32Type());
  }
  void findPlace(Expr block, const Dim &rowTiles, int64_t columnTiles) {
    firstColumn = b.index(0);
    Expr rest = block;
    if (columnTiles > 1) {
      double count = double(columnTiles);
      firstColumn = named(block % count * double(tile.columns), "first_column");
      rest = block / count;
    }
    Exprs at = operands.batches == 1
                   ? Exprs{b.index(0), rest}
                   : b.delinearize(rest, Dims{operands.batches, rowTiles});
    batch = named(at[0], "batch");
    firstRow = named(at[1] * double(tile.rows), "first_row");
    double warpThreads = b.target.device.warp;
    lane = named(thread % warpThreads, "lane");
    Expr warp = named(thread / warpThreads, "warp");
    slice = b.index(0);
    if (tile.slices > 1) {
      slice = named(warp / double(tile.warps()), "slice");
      warp = warp % double(tile.warps());
    }
    double across = double(tile.warpsAcross());
    warpRow = named(warp / across * double(tile.warpRows), "warp_row");
    warpColumn = named(warp % across * double(tile.warpColumns), "warp_column");
  }

  /// Return the row and the column of a sum of this thread: row number `half`
  /// of its two rows (8 rows apart) in the warp's MMA `i` along the rows; and
  /// the column at position `offset` of the thread's columns in group `group`
  /// of interleaved MMAs.
  Expr rowOf(int64_t i, int64_t half) {
    return firstRow + warpRow + lane / 4.0 + double(i * unitRows + 8 * half);
  }
  Expr columnOf(int64_t group, int64_t offset) {
    return vectors.columnOf(firstColumn + warpColumn, lane, b.index(group),
                            offset);
  }
  /// Returns the bias of column `second` (0 or 1) of the two columns that this
  /// thread has in MMA `unit`.
  Expr biasOf(int64_t unit, int64_t second) {
    int64_t offset = unit % vectors.units() * 2 + second,
            inVector = offset % vectors.columns();
    Expr column = columnOf(unit / vectors.units(), offset - inVector);
    return operands.first(b, batch,
                          vectors.insideColumn(column) + double(inVector));
  }

  Exprs firstSums() {
    Type type = elementOf(anchor);
    if (tile.slices > 1)
      return Exprs(sumsOfThread(), b.constant(0, type));
    Exprs ofRow;
    for (int64_t j = 0; j < unitsAcross(); ++j)
      for (int64_t second : {0, 1}) {
        ofRow.push_back(biasOf(j, second));
      }
    Exprs sums;
    for (int64_t i = 0; i < unitsDown(); ++i)
      for (int64_t j = 0; j < unitsAcross(); ++j)
        for ([[maybe_unused]] int64_t half : {0, 1})
          for (int64_t second : {0, 1})
            sums.push_back(ofRow[2 * j + second]);
    return sums;
  }

  void closeCopies() { kernel::CloseCopiesOp::create(b.builder, b.loc); }
  void awaitCopies(int64_t newest) {
    kernel::AwaitCopiesOp::create(b.builder, b.loc, newest);
    b.barrier();
  }

  /// A range [from, to) of the iterations over the K tiles of an output tile.
  struct Part {
    Expr from, to;
  };
  /// Returns the sums `first` plus the products of all K tiles of an output
  /// tile, or of only those in the range `part` of iterations.
  Exprs overKTiles(const Exprs &first, std::optional<Part> part = {}) {
    int64_t ahead = tile.stages - 1;
    double stages = double(tile.stages);
    // Load weights first: as constants, they can be loaded before the preceding
    // kernel, which may compute the left operand, has ended.
    for (int64_t s = 0; !part && s < std::min(ahead, rounds()); ++s)
      fillRight(b.index(s * round()), b.index(s * tile.slices));
    for (int64_t s = 0; s < ahead; ++s) {
      if (part) {
        Expr at = part->from + double(s);
        b.when(at < part->to, [&] { fill(at * double(round()), at % stages); });
      } else if (s < rounds()) {
        fillLeft(b.index(s * round()), b.index(s * tile.slices));
      }
      closeCopies();
    }
    awaitCopies(ahead - 1);
    auto buffer = [&](Expr stage) {
      return tile.slices == 1 ? stage : stage * double(tile.slices);
    };
    Expr from = part ? part->from : b.index(0),
         to = part ? part->to : b.index(rounds());
    return b.loop(from, to, 1, first, [&](Expr at, ArrayRef<Expr> sums) {
      named(at, tile.slices == 1 ? "k_tile" : "round");
      if (part || rounds() > ahead)
        b.when(part ? at + double(ahead) < to : at < double(rounds() - ahead),
               [&] {
                 Expr next = at + double(ahead);
                 fill(named(next * double(round()), "first_step"),
                      named(buffer(next % stages), "stage_to_fill"));
               });
      closeCopies();
      Expr mine = buffer(at % stages);
      if (tile.slices > 1)
        mine = mine + slice;
      Exprs after = multiply(sums, named(mine, "stage"));
      awaitCopies(ahead - 1);
      return after;
    });
  }

  Type multiplied(Type stored) const {
    return operands.multiplied ? operands.multiplied : stored;
  }

  Exprs multiply(ArrayRef<Expr> carried, Expr stage) {
    Exprs sums(carried);
    for (int64_t half : {0, 1}) {
      SmallVector<SmallVector<Value, 4>> left = loadLeft(stage, half), right;
      for (int64_t pair = 0; pair < unitsAcross() / 2; ++pair)
        right.push_back(loadRight(stage, half, pair));
      for (int64_t i = 0; i < unitsDown(); ++i)
        for (int64_t j = 0; j < unitsAcross(); ++j) {
          auto mine =
              MutableArrayRef(sums).slice(4 * (i * unitsAcross() + j), 4);
          auto product = kernel::WarpProductOp::create(
              b.builder, b.loc, left[i],
              ArrayRef(right[j / 2]).slice(j % 2 * 2, 2),
              llvm::map_to_vector(mine, [](Expr e) { return e.value; }),
              multiplied(operands.leftType()),
              multiplied(operands.rightType()));
          for (auto [n, sum] : llvm::enumerate(mine))
            sum = named(b.wrap(product.getResult(n), sum.type),
                        "sum_" + Twine(i) + "_" + Twine(j) + "_" + Twine(n));
        }
    }
    return sums;
  }

  /// Emits the reduction over slices (sets of warps that multiply different K
  /// tiles): the threads of the first slice add the sums of all slices and the
  /// bias, in a fixed order, and store the results.
  void storeSlices(const Exprs &sums) {
    Expr inSlice = named(thread % double(ofSlice()), "thread_of_slice");
    b.when(slice > 0.0, [&] {
      for (auto [n, sum] : llvm::enumerate(sums))
        b.store(parts, sum, {slice - 1.0, b.index(n), inSlice});
    });
    b.barrier();
    b.when(equal(slice, 0.0), [&] {
      Exprs totals;
      for (auto [n, sum] : llvm::enumerate(sums)) {
        Expr total = sum + biasOf(n / 4 % unitsAcross(), n % 2);
        total.type = sumType();
        for (int64_t other = 0; other + 1 < tile.slices; ++other)
          total =
              named(total + b.loadFrom(parts, sumType(),
                                       {b.index(other), b.index(n), inSlice}),
                    "total_" + Twine(n));
        total.type = sum.type;
        totals.push_back(total);
      }
      store(totals);
    });
  }

  /// Computes and stores the results. All operands of the epilogue are loaded
  /// before the first store, since stores between loads would serialize the
  /// loads.
  void store(const Exprs &sums) {
    struct ResultVector {
      Expr column;
      Exprs results;
    };
    struct Row {
      Expr row, inside;
      SmallVector<ResultVector> vectors;
    };
    SmallVector<Row> rows;
    int64_t units = vectors.units();
    for (int64_t i = 0; i < unitsDown(); ++i)
      for (int64_t half : {0, 1}) {
        Row &row = rows.emplace_back();
        row.row = named(rowOf(i, half), "row_" + Twine(i));
        row.inside = named(vectors.insideRow(row.row), "row_" + Twine(i));
        auto sumOf = [&](int64_t unit, int64_t second) {
          return sums[4 * (i * unitsAcross() + unit) + 2 * half + second];
        };
        for (int64_t group = 0; group < unitsAcross() / units; ++group)
          for (int64_t first = 0; first < vectors.columnsOfGroup();
               first += vectors.columns()) {
            Exprs own;
            for (int64_t at = first; at < first + vectors.columns(); ++at)
              own.push_back(sumOf(group * units + at / 2, at % 2));
            ResultVector &vector = row.vectors.emplace_back();
            vector.column =
                named(columnOf(group, first), "column_" + Twine(group));
            vector.results = vectors.resultsOf(
                own, batch, row.inside, vectors.insideColumn(vector.column));
          }
      }
    for (const Row &row : rows)
      vectors.whenRow(row.row, [&] {
        for (const ResultVector &vector : row.vectors)
          vectors.whenColumn(vector.column, [&] {
            vectors.store(vector.results, batch, row.inside,
                          vectors.insideColumn(vector.column));
          });
      });
  }

  Value anchor, parts;
};

} // namespace

void emitTensorProduct(KernelBuilder &b, const BlockOperands &operands,
                       const TensorTile &tile) {
  TensorProductKernel(b, operands, tile).emit();
}

} // namespace ingot::schedule
