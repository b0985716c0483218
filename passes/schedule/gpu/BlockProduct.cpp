// Matrix products and convolutions by thread blocks, without tensor cores.
//
// A block computes a tile of the result. For each K tile, it loads both
// operands into shared memory, from which every thread reads; each thread keeps
// a smaller tile of sums in registers.
//
//   for first = 0 .. steps by 16:
//     left_tile[16][rows], right_tile[16][columns] <- operands, zero-padded
//     barrier
//     for step < 16: sums[i][j] += left_tile[step][i] * right_tile[step][j]
//     barrier
//   result = epilogue(sums)
//
// If both operands are f32 with runs of four contiguous elements, K tiles are
// loaded by asynchronous 16-byte copies, the next one while the present one is
// multiplied. This takes two buffers and one barrier per K tile.
//
// Sums start with the bias and add the products in order, so that they equal
// those of an element-wise loop, as --strict requires. Without --strict, if
// there are few tiles for the device, the threads of a block form several
// slices, which compute the same tile from different K tiles (split-K within
// the block) and add their sums in shared memory.

#include "passes/schedule/DeviceTime.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/gpu/Sharing.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Steps (K) of a K tile in shared memory.
constexpr int64_t kTile = 16;

/// The tile of a block and the tile of each thread. The threads of the block
/// form `slices` slices, each of which computes the whole tile for different K
/// tiles.
struct BlockTile {
  int64_t rows, columns, threadRows, threadColumns, slices = 1;

  int64_t across() const { return columns / threadColumns; }
  /// The number of threads in a slice of the block, and the number of sums per
  /// thread.
  int64_t ofSlice() const { return rows / threadRows * across(); }
  int64_t sums() const { return threadRows * threadColumns; }
  int64_t threads() const { return ofSlice() * slices; }
  /// Estimates the registers of a thread: for sums, for operands, and 40 for
  /// addresses, about as many as nvcc 13 uses.
  int64_t registers() const { return sums() + threadRows + threadColumns + 40; }
  int64_t sharedBytes(bool usesVectors) const {
    return 4 * (slices * (usesVectors ? 2 * (rows * pitch + kTile * columns)
                                      : kTile * (rows + 4 + columns)) +
                sumsOfSlices());
  }
  /// The distance in elements between rows of the left tile, if 16-byte copies
  /// load it; padded so that adjacent rows use different banks.
  static constexpr int64_t pitch = kTile + 4;
  int64_t sumsOfSlices() const { return (slices - 1) * rows * columns; }
};

/// The number of f32 elements in a 16-byte access.
constexpr int64_t vectorElements = vectorAccessBytes / sizeof(float);

/// Whether K tiles of a product are loaded by 16-byte copies, provided that the
/// buffers are aligned.
bool comesInVectors(const BlockOperands &operands) {
  return operands.leftType().isF32() && operands.rightType().isF32() &&
         !operands.isUnpacked() && operands.leftRun % vectorElements == 0 &&
         operands.rightRun % vectorElements == 0 &&
         !operands.rightTensor.getDefiningOp<UnpackPanelsOp>();
}

class BlockProductKernel {
public:
  BlockProductKernel(KernelBuilder &b, const BlockOperands &operands,
                     const BlockTile &tile)
      : b(b), operands(operands), tile(tile),
        type(elementOf(b.group.anchor()->getResult(0))),
        usesVectors(comesInVectors(operands) &&
                    hasVectors(b, operands.leftTensor, operands.leftRun) &&
                    hasVectors(b, operands.rightTensor, operands.rightRun)) {}

  void emit() {
    declareTiles();
    if (tile.slices > 1)
      parts = b.shared({tile.slices - 1, tile.sums(), tile.ofSlice()},
                       sumType(), "parts_of_sums");
    Dim rowTiles = (operands.rows + (tile.rows - 1)).floorDiv(tile.rows);
    int64_t columnTiles = llvm::divideCeil(operands.columns, tile.columns);
    Dim blocks = rowTiles * columnTiles * operands.batches;
    b.onBlocks(blocks, tile.threads(), [&](Expr block, Expr thread) {
      this->thread = thread;
      double columnCount = double(columnTiles);
      Expr rest = columnTiles == 1 ? block : block / columnCount;
      firstColumn = columnTiles == 1
                        ? b.index(0)
                        : named(block % columnCount * double(tile.columns),
                                "first_column");
      if (operands.batches == 1) {
        batch = b.index(0);
        firstRow = named(rest * double(tile.rows), "first_row");
      } else {
        Exprs at = b.delinearize(rest, Dims{operands.batches, rowTiles});
        batch = named(at[0], "batch");
        firstRow = named(at[1] * double(tile.rows), "first_row");
      }
      inSlice = thread;
      if (tile.slices > 1) {
        slice = named(thread / double(tile.ofSlice()), "slice");
        inSlice = named(thread % double(tile.ofSlice()), "thread_of_slice");
      }
      threadRow =
          named(inSlice / double(tile.across()) * double(tile.threadRows),
                "thread_row");
      threadColumn =
          named(inSlice % double(tile.across()) * double(tile.threadColumns),
                "thread_column");
      Exprs sums = overSteps(firstSums());
      tile.slices == 1 ? store(sums) : storeSlices(sums);
    });
  }

private:
  void declareTiles() {
    int64_t buffers = 2 * tile.slices;
    // Rows are padded so that threads that store a column use different banks.
    leftTile = b.shared(usesVectors ? ArrayRef({buffers, tile.rows, tile.pitch})
                                    : ArrayRef({round(), tile.rows + 4}),
                        type, "left_tile");
    rightTile = b.shared(usesVectors ? ArrayRef({buffers, kTile, tile.columns})
                                     : ArrayRef({round(), tile.columns}),
                         type, "right_tile");
  }

  bool fitsRows() const {
    return operands.rows.known() && *operands.rows.known() % tile.rows == 0;
  }
  bool fitsColumns() const { return operands.columns % tile.columns == 0; }
  bool fitsSteps() const { return operands.steps % round() == 0; }
  /// Returns the number of steps (K) that all slices of the block together
  /// multiply per iteration.
  int64_t round() const { return kTile * tile.slices; }
  /// Returns the type of sums: f32 for narrow floats, which are rounded when
  /// the sums are complete.
  Type sumType() const {
    return isa<FloatType>(type) ? b.builder.getF32Type() : type;
  }

  Expr columnOf(int64_t j) { return firstColumn + threadColumn + double(j); }

  Expr biasOf(int64_t j) {
    Expr column = columnOf(j);
    auto bias = [&] { return operands.first(b, batch, column); };
    return fitsColumns() ? bias()
                         : b.ifElse(column < double(operands.columns), bias,
                                    [&] { return b.constant(0, type); });
  }

  Exprs firstSums() {
    if (tile.slices > 1)
      return Exprs(tile.sums(), b.constant(0, type));
    Exprs sums;
    for (int64_t i = 0; i < tile.threadRows; ++i)
      for (int64_t j = 0; j < tile.threadColumns; ++j)
        sums.push_back(i > 0 ? sums[j] : biasOf(j));
    return sums;
  }

  Exprs overSteps(const Exprs &first) {
    return usesVectors ? loopOverVectors(first) : overElements(first);
  }

  Exprs loopOverVectors(const Exprs &first) {
    int64_t end = llvm::alignTo(operands.steps, round());
    fillVectors(b.index(0), b.index(0));
    kernel::CloseCopiesOp::create(b.builder, b.loc);
    return b.loop(b.index(0), b.index(end), round(), first,
                  [&](Expr step, ArrayRef<Expr> sums) {
                    named(step, "first_step");
                    kernel::AwaitCopiesOp::create(b.builder, b.loc, 0);
                    // After the barrier, no thread still reads the other one of
                    // the two buffers, which the next copies fill.
                    b.barrier();
                    Expr parity = named(step / double(round()) % 2.0, "parity");
                    double slices = double(tile.slices);
                    Expr next = step + double(round());
                    b.when(next < double(end), [&] {
                      fillVectors(named(next, "next_step"),
                                  (1.0 - parity) * slices);
                    });
                    kernel::CloseCopiesOp::create(b.builder, b.loc);
                    Expr buffer = parity * slices;
                    if (tile.slices > 1)
                      buffer = buffer + slice;
                    return multiply(sums, named(buffer, "buffer"));
                  });
  }

  /// Starts asynchronous copies of a K tile for each slice of the block, from
  /// step (K) `firstStep` on, into consecutive buffers from buffer `first` on.
  void fillVectors(Expr firstStep, Expr first) {
    auto shareVectors = [&](int64_t count,
                            llvm::function_ref<void(Expr, Expr, Expr)> body) {
      share(b, thread, tile.threads(), count * tile.slices, [&](Expr mine) {
        if (tile.slices == 1)
          return body(mine, firstStep, first);
        Expr number = named(mine / double(count), "slice_to_fill");
        body(mine % double(count), firstStep + number * double(kTile),
             first + number);
      });
    };
    auto both = [](std::optional<Expr> x, bool isAlways,
                   llvm::function_ref<Expr()> y) -> std::optional<Expr> {
      return isAlways ? x : x ? *x & y() : y();
    };
    constexpr double ofRow = double(kTile / vectorElements);
    shareVectors(
        tile.rows * kTile / vectorElements, [&](Expr mine, Expr from, Expr to) {
          Expr row = mine / ofRow, at = mine % ofRow * double(vectorElements);
          Expr atRow = firstRow + row, step = from + at;
          auto place = operands.leftPlace(b, batch, atRow, step);
          auto inside = both(place.inside, fitsRows(),
                             [&] { return atRow < b.size(operands.rows); });
          inside = both(inside, fitsSteps(),
                        [&] { return step < double(operands.steps); });
          copyAhead(b, b.bufferOf(operands.leftTensor), place.at, leftTile,
                    {to, row, at}, inside);
        });
    double across = double(tile.columns / vectorElements);
    shareVectors(kTile * tile.columns / vectorElements,
                 [&](Expr mine, Expr from, Expr to) {
                   Expr row = mine / across,
                        at = mine % across * double(vectorElements);
                   Expr column = firstColumn + at, step = from + row;
                   auto place = operands.rightPlace(b, batch, step, column);
                   auto inside = both(place.inside, fitsColumns(), [&] {
                     return column < double(operands.columns);
                   });
                   inside = both(inside, fitsSteps(),
                                 [&] { return step < double(operands.steps); });
                   copyAhead(b, b.bufferOf(operands.rightTensor), place.at,
                             rightTile, {to, row, at}, inside);
                 });
  }

  Exprs overElements(const Exprs &first) {
    return b.loop(b.index(0), b.index(llvm::alignTo(operands.steps, round())),
                  round(), first, [&](Expr step, ArrayRef<Expr> sums) {
                    named(step, "first_step");
                    fill(step);
                    b.barrier();
                    Exprs after = multiply(sums, b.index(0));
                    b.barrier();
                    return after;
                  });
  }

  /// Returns `load()` if all conditions hold, else zero.
  Expr guarded(ArrayRef<Expr> conditions, llvm::function_ref<Expr()> load) {
    if (conditions.empty())
      return load();
    Expr all = conditions.front();
    for (Expr condition : conditions.drop_front())
      all = all & condition;
    return b.ifElse(all, load, [&] { return b.constant(0, type); });
  }

  /// Loads the K tiles of both operands into shared memory, element by element.
  /// Adjacent threads load adjacent steps (K) of the left operand and adjacent
  /// columns of the right one.
  void fill(Expr step) {
    int64_t threads = tile.threads();
    share(b, thread, threads, tile.rows * round(), [&](Expr element) {
      Expr inside = named(element % double(round()), "step"),
           row = named(element / double(round()), "row");
      Expr atStep = step + inside, atRow = firstRow + row;
      SmallVector<Expr> conditions;
      if (!fitsRows())
        conditions.push_back(atRow < b.size(operands.rows));
      if (!fitsSteps())
        conditions.push_back(atStep < double(operands.steps));
      b.store(leftTile,
              guarded(conditions,
                      [&] { return operands.left(b, batch, atRow, atStep); }),
              {inside, row});
    });
    share(b, thread, threads, tile.columns * round(), [&](Expr element) {
      Expr inside = named(element / double(tile.columns), "step"),
           column = named(element % double(tile.columns), "column");
      Expr atStep = step + inside, atColumn = firstColumn + column;
      SmallVector<Expr> conditions;
      if (!fitsColumns())
        conditions.push_back(atColumn < double(operands.columns));
      if (!fitsSteps())
        conditions.push_back(atStep < double(operands.steps));
      b.store(
          rightTile,
          guarded(conditions,
                  [&] { return operands.right(b, batch, atStep, atColumn); }),
          {inside, column});
    });
  }

  Exprs multiply(ArrayRef<Expr> sums, Expr buffer) {
    return b.loop(
        b.index(0), b.index(kTile), 1, sums,
        [&](Expr step, ArrayRef<Expr> carried) {
          named(step, "step");
          if (tile.slices > 1 && !usesVectors)
            step = named(slice * double(kTile) + step, "step_of_round");
          Exprs left, right, after;
          for (int64_t i = 0; i < tile.threadRows; ++i) {
            Expr row = threadRow + double(i);
            left.push_back(
                named(b.loadFrom(leftTile, type,
                                 usesVectors ? Exprs{buffer, row, step}
                                             : Exprs{step, row}),
                      "left_" + Twine(i)));
          }
          for (int64_t j = 0; j < tile.threadColumns; ++j) {
            Expr column = threadColumn + double(j);
            right.push_back(
                named(b.loadFrom(rightTile, type,
                                 usesVectors ? Exprs{buffer, step, column}
                                             : Exprs{step, column}),
                      "right_" + Twine(j)));
          }
          for (int64_t i = 0; i < tile.threadRows; ++i)
            for (int64_t j = 0; j < tile.threadColumns; ++j)
              after.push_back(named(
                  fma(left[i], right[j], carried[i * tile.threadColumns + j]),
                  "sum_" + Twine(i) + "_" + Twine(j)));
          return after;
        });
  }

  /// Emits the reduction over slices (sets of threads that multiply different K
  /// tiles): the threads of the first slice add the sums of all slices and the
  /// bias, in a fixed order, and store the results.
  void storeSlices(const Exprs &sums) {
    b.when(slice > 0.0, [&] {
      for (auto [n, sum] : llvm::enumerate(sums))
        b.store(parts, sum, {slice - 1.0, b.index(n), inSlice});
    });
    b.barrier();
    b.when(equal(slice, 0.0), [&] {
      Exprs totals;
      for (auto [n, sum] : llvm::enumerate(sums)) {
        Expr total = sum + biasOf(n % tile.threadColumns);
        total.type = sumType();
        for (int64_t other = 0; other + 1 < tile.slices; ++other)
          total =
              named(total + b.loadFrom(parts, sumType(),
                                       {b.index(other), b.index(n), inSlice}),
                    "total_" + Twine(n / tile.threadColumns) + "_" +
                        Twine(n % tile.threadColumns));
        total.type = type;
        totals.push_back(total);
      }
      store(totals);
    });
  }

  void store(const Exprs &sums) {
    Value anchor = b.group.anchor()->getResult(0);
    auto when = [&](bool always, Expr condition,
                    llvm::function_ref<void()> body) {
      always ? body() : b.when(condition, body);
    };
    for (int64_t i = 0; i < tile.threadRows; ++i) {
      Expr row = named(firstRow + threadRow + double(i), "row_" + Twine(i));
      when(fitsRows(), row < b.size(operands.rows), [&] {
        for (int64_t j = 0; j < tile.threadColumns; ++j) {
          Expr column = named(columnOf(j), "column_" + Twine(j));
          when(fitsColumns(), column < double(operands.columns), [&] {
            Exprs at = operands.place(b, batch, row, column);
            b.bindElement(anchor, sums[i * tile.threadColumns + j]);
            b.store(0u, b.load(b.result(), at), at);
            b.unbindElement(anchor);
          });
        }
      });
    }
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  BlockTile tile;
  Type type;
  bool usesVectors;
  Value leftTile, rightTile, parts;
  Expr thread, slice, inSlice, batch, firstRow, firstColumn, threadRow,
      threadColumn;
};

class BlockProductStrategy : public BlockStrategy {
public:
  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto operands = BlockOperands::of(group);
    return fields.plans(group.anchor()->getContext(),
                        rank(*operands, group).ranked(largest));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuse(fields.tileOf(plan), group);
  }

  static std::string refuse(const BlockTile &tile, GroupOnTarget group) {
    if (tile.slices > 1 && group.isStrict())
      return "slices change the order of the terms of a sum, which strict mode "
             "does not allow";
    if (int64_t bytes =
            tile.sharedBytes(comesInVectors(*BlockOperands::of(group)));
        bytes > mostShared(group.target.device))
      return "the tiles of a block use " + std::to_string(bytes) +
             " bytes of shared memory, but can use at most " +
             std::to_string(mostShared(group.target.device));
    if (tile.rows % tile.threadRows || tile.columns % tile.threadColumns)
      return "the rows and columns of a tile cannot be divided evenly among "
             "the threads of a block";
    if (tile.threads() > 1024 || tile.threads() % group.target.device.warp)
      return "a block has " + std::to_string(tile.threads()) +
             " threads, but must have a multiple of the warp size, and at most "
             "1024";
    if (int64_t registers = tile.threads() * tile.registers();
        registers > group.target.device.registers)
      return "a block uses about " + std::to_string(registers) +
             " registers, but can use at most " +
             std::to_string(group.target.device.registers);
    return "";
  }

  void emit(KernelBuilder &b) const override {
    auto operands = BlockOperands::of(b.group);
    BlockProductKernel(b, *operands, fields.tileOf(b.plan)).emit();
  }

protected:
  bool fits(const BlockOperands &operands, GroupOnTarget group) const override {
    // A convolution with groups uses this strategy only if its kernel is faster
    // than a kernel with one thread per result element. If `group` is a kernel
    // function already, this strategy has been chosen for it.
    return !operands.areBytes() &&
           (!operands.areGroups ||
            isa<kernel::FuncOp>(group.block->getParentOp()) ||
            rank(operands, group).leastCost() <
                operands.elementSeconds(group.target.device));
  }

private:
  static inline const PlanFields<BlockTile> fields = {
      {{"columns", 8, 256}, &BlockTile::columns},
      {{"rows", 8, 256}, &BlockTile::rows},
      {{"slices", 1, 16}, &BlockTile::slices},
      {{"thread_columns", 1, 16}, &BlockTile::threadColumns},
      {{"thread_rows", 1, 16}, &BlockTile::threadRows}};

  static constexpr BlockTile largest = {128, 128, 8, 8};

  static Ranking<BlockTile> rank(const BlockOperands &operands,
                                 GroupOnTarget group) {
    static constexpr BlockTile tiles[] = {
        largest,        {128, 64, 8, 4}, {64, 64, 4, 4}, {64, 32, 4, 4},
        {32, 64, 4, 4}, {32, 32, 2, 4},  {16, 64, 2, 4}, {16, 32, 2, 2}};
    Ranking<BlockTile> ranking;
    for (BlockTile tile : tiles)
      for (int64_t slices : {1, 2, 4, 8}) {
        tile.slices = slices;
        if (refuse(tile, group).empty())
          ranking.add(tile, seconds(operands, tile, group.target));
      }
    return ranking;
  }

  /// Estimates the time of a product. Threads read operands from shared memory.
  /// Loading a K tile takes about 15 instructions per 16-byte copy or element
  /// of a matrix (an SM starts 1.4 warp instructions per cycle) and 40 per
  /// element of a convolution window. While a block waits for its K tile, only
  /// other blocks compute. Merging slices moves their sums through shared
  /// memory and back at 128 bytes per cycle.
  static double seconds(const BlockOperands &operands, const BlockTile &tile,
                        const TargetDescription &target) {
    const Device &device = target.device;
    constexpr double cycle = 1 / 1.5e9;
    double tiles = double(llvm::divideCeil(operands.rows.most(), tile.rows)) *
                   double(llvm::divideCeil(operands.columns, tile.columns)) *
                   double(operands.batches.most());
    double own = double(tile.threadRows * tile.threadColumns),
           reads = 2 * double(tile.threadRows + tile.threadColumns);
    double perMultiprocessor =
        device.multiplyAddsPerSecond / device.multiprocessors;
    auto slices = double(tile.slices), rows = double(tile.rows),
         columns = double(tile.columns);
    bool isWindow = operands.steps > operands.leftRun,
         usesVectors = comesInVectors(operands);
    double instructions = (rows * (isWindow ? 40 : 15) + columns * 15) * kTile *
                          slices / double(usesVectors ? vectorElements : 1) /
                          device.warp;
    KTileLoop loop;
    loop.kTiles = std::ceil(double(operands.steps) / kTile / slices);
    loop.bytes = (rows + columns) * kTile * slices * sizeof(float);
    loop.busy = kTile * slices * rows * columns * (1 + reads / own) /
                    perMultiprocessor +
                instructions / 1.4 * cycle;
    // Latency: loads and sums of 16 steps (K), which overlap; a barrier; and
    // the loading instructions of a thread, each of which waits for the
    // previous one.
    loop.waiting =
        (200 + instructions * device.warp / double(tile.threads()) * 5.7) *
            cycle +
        (usesVectors ? 0 : arrivalSeconds);
    loop.closing = closingSeconds(double(tile.sums())) +
                   double(tile.sumsOfSlices()) * 8 / 128 * cycle;
    auto resident = std::min<int64_t>(
        {device.residentThreads / tile.threads(),
         device.registers / (tile.threads() * tile.registers()),
         device.sharedBytes / tile.sharedBytes(usesVectors)});
    return secondsOf(loop, tiles, double(std::max<int64_t>(resident, 1)),
                     device);
  }
};

} // namespace

std::unique_ptr<Strategy> createBlockProductStrategy() {
  return std::make_unique<BlockProductStrategy>();
}

} // namespace ingot::schedule
