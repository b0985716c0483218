// Matrix products and convolutions by the matrix units of a device.
//
// A block computes a tile of the result, each of its warps a part of that. Strips of 64
// bytes of steps come into shared memory ahead of time, in as many buffers as the plan
// has stages; a warp loads matrices of 16 rows or columns from there and multiplies them.
//
//   copy strips 0 .. stages - 2
//   for each strip:
//     copy strip + stages - 1, into the buffer of strip - 1, which nobody reads any more
//     for both halves of the strip:
//       a[i], b[j] <- load_matrices;  sums[i][j] += warp_product(a[i], b[j])
//     await strip + 1; barrier
//   result = epilogue(sums)
//
// Where tiles leave processors idle at the end, blocks divide the strips of all tiles
// evenly, in the order of the tiles: each has the end of a tile, some whole ones, and the
// beginning of another. Of a tile that several blocks have a part of, each leaves its sums
// in memory and counts its strips; the one that completes the number adds all parts, in
// the order of the strips, so that no result depends on who comes when:
//
//   for each tile with strips of this share:
//     sums of these strips
//     all of the tile's?  result = epilogue(sums)
//     else                parts[share, is it the first] = sums
//                         count their strips; the last one?  result = epilogue(sum of parts)
//
// Where there are few tiles for the device, several slices of a block compute one, each
// of every so many strips, and add what they have in shared memory.
//
// Both tiles have the steps of a row, or of a column, side by side: 64 bytes, 4 pieces of
// 16 bytes. (Only a right operand of 16 bits that is no constant is brought as it lies,
// columns side by side, and transposed as it is loaded.) load_matrices reads 8 pieces at a
// time, of 8 neighbouring rows; memory has 32 banks of 4 bytes, 128 bytes are 2 rows, so
// pieces at the same place of rows 0, 2, 4 and 6 would be in the same banks. Piece p of
// row r is therefore stored at place p ^ (r / 2 % 4): the 8 pieces that are read together
// are in 8 different groups of banks. Where a row has 8 pieces or more it is p ^ (r % 8).

#include "passes/schedule/gpu/TensorTile.h"
#include "dialects/kernel/ValueNames.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// How the elements of an operand come into shared memory.
enum class Way {
  Pieces,   ///< 16 bytes at a time
  Elements, ///< one at a time
};

/// Whether pieces of a buffer in which `run` elements lie side by side are at multiples
/// of 16 bytes, if the buffer is.
bool hasPieces(KernelBuilder &b, Value tensor, int64_t run) {
  Value buffer = b.bufferOf(tensor);
  int64_t piece = pieceBytes / bytesOf(elementOf(tensor));
  if (!buffer || run % piece != 0)
    return false;
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  return strides.back() == 1 && offset % piece == 0 &&
         llvm::all_of(ArrayRef(strides).drop_back(),
                      [&](int64_t stride) { return stride % piece == 0; });
}

class TensorProductKernel {
public:
  TensorProductKernel(KernelBuilder &b, const BlockOperands &operands,
                      const TensorTile &tile)
      : b(b), operands(operands), tile(tile),
        anchor(b.group.anchor()->getResult(0)),
        piece(pieceBytes / bytesOf(operands.leftType())),
        packed(operands.rightTensor.getDefiningOp<UnpackPanelsOp>()),
        columnsLie(!packed && piece == 8) {
    leftWay = hasPieces(b, operands.leftTensor, operands.leftRun)
                  ? Way::Pieces
                  : Way::Elements;
    rightWay = packed || (columnsLie &&
                          hasPieces(b, operands.rightTensor, operands.rightRun))
                   ? Way::Pieces
                   : Way::Elements;
  }

  void emit() {
    int64_t strips = tile.stages * tile.slices;
    leftTile = b.shared({strips, tile.rows, strip()}, operands.leftType(),
                        "left_tile");
    rightTile = b.shared(columnsLie ? ArrayRef({strips, strip(), tile.columns})
                                    : ArrayRef({strips, tile.columns, strip()}),
                         operands.rightType(), "right_tile");
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
                 Exprs sums = overStrips(firstSums());
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
            Expr from = named(max(begin - first, 0.0), "first_strip"),
                 to = named(min(end - first, ofTile), "end_of_strips");
            Expr strips = named(to - from, "strips");
            Exprs sums = overStrips(
                Exprs(sumsOfThread(), b.constant(0, elementOf(anchor))),
                Part{from, to});
            b.branch(
                equal(strips, ofTile), [&] { store(withBias(sums)); },
                [&] {
                  keepPart(sums, share, first, begin);
                  Expr done =
                      b.wrap(kernel::CountOp::create(
                                 b.builder, b.loc, b.builder.getIndexType(),
                                 counts, number.value, strips.value)
                                 .getTotal(),
                             strips.type);
                  b.when(equal(named(done, "done"), ofTile),
                         [&] { store(withBias(sumOfParts(first, ofShare))); });
                });
          });
    });
  }
  /// A share has at most two parts of tiles: the first one and the last.
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
      Expr total = sum + biasOf(columnOf(n / 4 % unitsAcross(), n % 2));
      total.type = type;
      totals.push_back(total);
    }
    return totals;
  }

  int64_t strip() const { return stripPieces * piece; }
  /// Steps that the slices multiply together, and how often they do.
  int64_t round() const { return strip() * tile.slices; }
  int64_t rounds() const { return llvm::divideCeil(operands.steps, round()); }
  /// Threads of a slice, and sums that each of them has.
  int64_t ofSlice() const { return tile.warps() * b.target.device.warp; }
  int64_t sumsOfThread() const { return 4 * unitsDown() * unitsAcross(); }
  Type sumType() const {
    return operands.areBytes() ? elementOf(anchor)
                               : Type(b.builder.getF32Type());
  }
  int64_t unitsDown() const { return tile.warpRows / unitRows; }
  int64_t unitsAcross() const { return tile.warpColumns / unitColumns; }
  bool fitsRows() const {
    return operands.rows.known() && *operands.rows.known() % tile.rows == 0;
  }
  bool fitsColumns() const { return operands.columns % tile.columns == 0; }

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

  /// Of this thread, the rows and columns of a unit that its sums are of.
  Expr rowOf(int64_t i, int64_t half) {
    return firstRow + warpRow + lane / 4.0 + double(i * unitRows + 8 * half);
  }
  Expr columnOf(int64_t j, int64_t second) {
    return firstColumn + warpColumn + lane % 4.0 * 2.0 +
           double(j * unitColumns + second);
  }

  Expr biasOf(Expr column) {
    auto bias = [&] { return operands.first(b, batch, column); };
    return fitsColumns()
               ? bias()
               : b.ifElse(column < double(operands.columns), bias,
                          [&] { return b.constant(0, elementOf(anchor)); });
  }

  Exprs firstSums() {
    Type type = elementOf(anchor);
    if (tile.slices > 1)
      return Exprs(sumsOfThread(), b.constant(0, type));
    Exprs ofRow;
    for (int64_t j = 0; j < unitsAcross(); ++j)
      for (int64_t second : {0, 1}) {
        ofRow.push_back(biasOf(columnOf(j, second)));
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

  /// Rounds of a tile.
  struct Part {
    Expr from, to;
  };
  /// Adds the products of all rounds, or of those that a share has.
  Exprs overStrips(const Exprs &first, std::optional<Part> part = {}) {
    int64_t ahead = tile.stages - 1;
    double stages = double(tile.stages);
    for (int64_t s = 0; s < ahead; ++s) {
      if (part) {
        Expr at = part->from + double(s);
        b.when(at < part->to, [&] { fill(at * double(round()), at % stages); });
      } else if (s < rounds()) {
        fill(b.index(s * round()), b.index(s * tile.slices));
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
      named(at, tile.slices == 1 ? "strip" : "round");
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

  /// Where piece `at` of a row is in shared memory; rows have so many pieces.
  Expr swizzled(Expr row, Expr at, int64_t pieces) {
    if (pieces >= 8)
      return at ^ (row % 8.0);
    return at ^ (row / double(8 / pieces) % double(pieces));
  }

  /// Divides `count` things among the threads.
  void share(int64_t count, llvm::function_ref<void(Expr)> body) {
    int64_t threads = tile.threads(b.target.device);
    for (int64_t first = 0; first < count; first += threads) {
      Expr mine = first ? thread + double(first) : thread;
      if (first + threads <= count)
        body(mine);
      else
        b.when(mine < double(count), [&] { body(mine); });
    }
  }
  /// The same in a loop.
  void shareLoop(int64_t count, llvm::function_ref<void(Expr)> body) {
    b.loop(thread, b.index(count), tile.threads(b.target.device), {},
           [&](Expr mine, ArrayRef<Expr>) -> Exprs {
             body(named(mine, "element"));
             return {};
           });
  }

  static std::optional<Expr> both(std::optional<Expr> x,
                                  std::optional<Expr> y) {
    return x && y ? std::optional(*x & *y) : x ? x : y;
  }
  std::optional<Expr> insideRows(Expr row) {
    return fitsRows() ? std::nullopt
                      : std::optional(row < b.size(operands.rows));
  }
  std::optional<Expr> insideColumns(Expr column) {
    return fitsColumns() ? std::nullopt
                         : std::optional(column < double(operands.columns));
  }
  std::optional<Expr> insideSteps(Expr step, int64_t steps) {
    return steps % round() == 0 ? std::nullopt
                                : std::optional(step < double(steps));
  }

  void fill(Expr firstStep, Expr stage) {
    if (leftWay == Way::Pieces)
      fillLeftPieces(firstStep, stage);
    else
      fillLeftElements(firstStep, stage);
    if (packed)
      fillPackedPieces(firstStep, stage);
    else if (rightWay == Way::Pieces)
      fillRightPieces(firstStep, stage);
    else
      fillRightElements(firstStep, stage);
  }

  /// The number of something in the tile of its slice, of which each has `count`; moves
  /// `firstStep` and `stage` on to that slice.
  Expr inSlice(Expr mine, int64_t count, Expr &firstStep, Expr &stage) {
    if (tile.slices == 1)
      return mine;
    Expr number = named(mine / double(count), "slice_to_fill");
    firstStep = firstStep + number * double(strip());
    stage = stage + number;
    return mine % double(count);
  }

  void fillLeftPieces(Expr firstRound, Expr firstStage) {
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
  void fillPackedPieces(Expr firstRound, Expr firstStage) {
    int64_t steps = llvm::alignTo(operands.steps, piece),
            count = tile.columns * stripPieces;
    share(count * tile.slices, [&](Expr mine) {
      Expr firstStep = firstRound, stage = firstStage;
      mine = inSlice(mine, count, firstStep, stage);
      Expr column = mine / double(stripPieces), at = mine % double(stripPieces);
      Expr step = firstStep + at * double(piece),
           atColumn = firstColumn + column;
      copyAhead(
          b, b.bufferOf(packed.getPacked()),
          {operands.packedColumn(batch, atColumn) * double(steps) + step},
          rightTile,
          {stage, column, swizzled(column, at, stripPieces) * double(piece)},
          both(insideColumns(atColumn), insideSteps(step, steps)));
    });
  }
  void fillRightPieces(Expr firstRound, Expr firstStage) {
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

  /// Stores `load()` where the condition holds, else zero.
  void storeGuarded(Value to, const Exprs &place, std::optional<Expr> inside,
                    Type type, llvm::function_ref<Expr()> load) {
    if (!inside)
      return b.store(to, load(), place);
    b.branch(
        *inside, [&] { b.store(to, load(), place); },
        [&] { b.store(to, b.constant(0, type), place); });
  }
  void fillLeftElements(Expr firstRound, Expr firstStage) {
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
  void fillRightElements(Expr firstRound, Expr firstStage) {
    int64_t count = tile.columns * strip();
    shareLoop(count * tile.slices, [&](Expr mine) {
      Expr firstStep = firstRound, stage = firstStage;
      mine = inSlice(mine, count, firstStep, stage);
      Expr row = mine / double(tile.columns),
           inTile = mine % double(tile.columns);
      Expr step = firstStep + row, column = firstColumn + inTile;
      auto inPieces = [&](Expr of, Expr at, int64_t pieces) {
        return swizzled(of, at / double(piece), pieces) * double(piece) +
               at % double(piece);
      };
      Exprs place =
          columnsLie
              ? Exprs{stage, row, inPieces(row, inTile, tile.columns / piece)}
              : Exprs{stage, inTile, inPieces(inTile, row, stripPieces)};
      storeGuarded(
          rightTile, place,
          both(insideColumns(column), insideSteps(step, operands.steps)),
          operands.rightType(),
          [&] { return operands.right(b, batch, step, column); });
    });
  }

  SmallVector<Value, 4> loadMatrices(Value from, const Exprs &at,
                                     bool transposed, const Twine &name) {
    SmallVector<Value> indices =
        llvm::map_to_vector(at, [](Expr e) { return e.value; });
    Type word = b.builder.getI32Type();
    auto load = kernel::LoadMatricesOp::create(
        b.builder, b.loc, TypeRange{word, word, word, word}, from, indices,
        transposed);
    for (auto [i, part] : llvm::enumerate(load.getParts()))
      kernel::nameValue(part, name + "_" + Twine(i));
    return SmallVector<Value, 4>(load.getParts());
  }

  /// Two units of columns, in the half of a strip.
  SmallVector<Value, 4> loadRight(Expr stage, int64_t half, int64_t pair) {
    Twine name = "right";
    if (columnsLie) {
      Expr row = lane % 16.0 + double(half * strip() / 2);
      Expr at = warpColumn / double(piece) + lane / 16.0 + double(2 * pair);
      return loadMatrices(
          rightTile,
          {stage, row,
           swizzled(lane, at, tile.columns / piece) * double(piece)},
          /*transposed=*/true, name);
    }
    Expr column = warpColumn + lane % 8.0 + lane / 16.0 * 8.0 +
                  double(pair * 2 * unitColumns);
    Expr at = lane / 8.0 % 2.0 + double(2 * half);
    return loadMatrices(
        rightTile,
        {stage, column, swizzled(lane % 8.0, at, stripPieces) * double(piece)},
        /*transposed=*/false, name);
  }

  Type multiplied(Type stored) const {
    return operands.multiplied ? operands.multiplied : stored;
  }

  Exprs multiply(ArrayRef<Expr> carried, Expr stage) {
    Exprs sums(carried);
    for (int64_t half : {0, 1}) {
      SmallVector<SmallVector<Value, 4>> left, right;
      Expr at = named(
          swizzled(lane % 8.0, lane / 16.0 + double(2 * half), stripPieces) *
              double(piece),
          "left_place");
      for (int64_t i = 0; i < unitsDown(); ++i)
        left.push_back(loadMatrices(
            leftTile, {stage, warpRow + lane % 16.0 + double(i * unitRows), at},
            /*transposed=*/false, "left"));
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

  /// Adds the sums of all slices, in their order, and has the first one store them.
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
        Expr column = columnOf(n / 4 % unitsAcross(), n % 2);
        Expr total = sum + biasOf(column);
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

  void store(const Exprs &sums) {
    auto when = [&](std::optional<Expr> condition,
                    llvm::function_ref<void()> body) {
      condition ? b.when(*condition, body) : body();
    };
    for (int64_t i = 0; i < unitsDown(); ++i)
      for (int64_t half : {0, 1}) {
        Expr row = named(rowOf(i, half), "row_" + Twine(i));
        when(insideRows(row), [&] {
          for (int64_t j = 0; j < unitsAcross(); ++j)
            for (int64_t second : {0, 1}) {
              Expr column = named(columnOf(j, second), "column_" + Twine(j));
              when(insideColumns(column), [&] {
                Exprs at = operands.place(b, batch, row, column);
                b.bindElement(
                    anchor,
                    sums[4 * (i * unitsAcross() + j) + 2 * half + second]);
                b.store(0u, b.load(b.result(), at), at);
                b.unbindElement(anchor);
              });
            }
        });
      }
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  TensorTile tile;
  Value anchor;
  /// Elements of a piece.
  int64_t piece;
  /// A constant right operand, with the steps of each column side by side.
  UnpackPanelsOp packed;
  /// Whether the right tile has columns side by side.
  bool columnsLie;
  Way leftWay, rightWay;
  Value leftTile, rightTile, parts;
  Expr thread, lane, slice, batch, firstRow, firstColumn, warpRow, warpColumn;
};

} // namespace

void emitTensorProduct(KernelBuilder &b, const BlockOperands &operands,
                       const TensorTile &tile) {
  TensorProductKernel(b, operands, tile).emit();
}

} // namespace ingot::schedule
