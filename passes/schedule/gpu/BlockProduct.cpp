// Matrix products and convolutions by blocks of threads.
//
// A block computes a tile of the result. Step by step it brings a strip of each operand
// into memory that its threads share, where every element is read by all that need it;
// each thread keeps a smaller tile in registers.
//
//   for first = 0 .. steps by 16:
//     left_tile[16][rows], right_tile[16][columns] <- operands, zeros beyond their ends
//     barrier
//     for step < 16: sums[i][j] += left_tile[step][i] * right_tile[step][j]
//     barrier
//   result = epilogue(sums)
//
// Sums begin with the bias and take the products in order: the same numbers as element
// by element, which is what --strict asks for.

#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Steps that are in shared memory at a time.
constexpr int64_t strip = 16;

/// The tile of a block, and that of each of its threads.
struct BlockTile {
  int64_t rows, columns, threadRows, threadColumns;

  int64_t across() const { return columns / threadColumns; }
  int64_t threads() const { return rows / threadRows * across(); }
};

class BlockProductKernel {
public:
  BlockProductKernel(KernelBuilder &b, const BlockOperands &operands,
                     const BlockTile &tile)
      : b(b), operands(operands), tile(tile),
        type(elementOf(b.group.anchor()->getResult(0))) {}

  void emit() {
    // One element more for each row: threads that store a column then use different
    // banks.
    leftTile = b.shared({strip, tile.rows + 4}, type, "left_tile");
    rightTile = b.shared({strip, tile.columns}, type, "right_tile");
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
      threadRow =
          named(thread / double(tile.across()) * double(tile.threadRows),
                "thread_row");
      threadColumn =
          named(thread % double(tile.across()) * double(tile.threadColumns),
                "thread_column");
      store(overSteps(firstSums()));
    });
  }

private:
  bool fitsRows() const {
    return operands.rows.known() && *operands.rows.known() % tile.rows == 0;
  }
  bool fitsColumns() const { return operands.columns % tile.columns == 0; }
  bool fitsSteps() const { return operands.steps % strip == 0; }

  Expr columnOf(int64_t j) { return firstColumn + threadColumn + double(j); }

  Exprs firstSums() {
    Exprs sums;
    for (int64_t i = 0; i < tile.threadRows; ++i)
      for (int64_t j = 0; j < tile.threadColumns; ++j) {
        if (i > 0) {
          sums.push_back(sums[j]);
          continue;
        }
        Expr column = columnOf(j);
        auto bias = [&] { return operands.first(b, column); };
        sums.push_back(fitsColumns()
                           ? bias()
                           : b.ifElse(column < double(operands.columns), bias,
                                      [&] { return b.constant(0, type); }));
      }
    return sums;
  }

  Exprs overSteps(const Exprs &first) {
    return b.loop(b.index(0), b.index(llvm::alignTo(operands.steps, strip)),
                  strip, first, [&](Expr step, ArrayRef<Expr> sums) {
                    named(step, "first_step");
                    fill(step);
                    b.barrier();
                    Exprs after = multiply(sums);
                    b.barrier();
                    return after;
                  });
  }

  /// `load()` where the conditions hold, else zero.
  Expr guarded(ArrayRef<Expr> conditions, llvm::function_ref<Expr()> load) {
    if (conditions.empty())
      return load();
    Expr all = conditions.front();
    for (Expr condition : conditions.drop_front())
      all = all & condition;
    return b.ifElse(all, load, [&] { return b.constant(0, type); });
  }

  /// Brings both strips into shared memory. Neighbouring threads take neighbouring steps
  /// of the left operand, and neighbouring columns of the right one.
  void fill(Expr step) {
    int64_t threads = tile.threads();
    share(
        tile.rows * strip,
        [&](Expr element) {
          Expr inside = named(element % double(strip), "step"),
               row = named(element / double(strip), "row");
          Expr atStep = step + inside, atRow = firstRow + row;
          SmallVector<Expr> conditions;
          if (!fitsRows())
            conditions.push_back(atRow < b.size(operands.rows));
          if (!fitsSteps())
            conditions.push_back(atStep < double(operands.steps));
          b.store(
              leftTile,
              guarded(conditions,
                      [&] { return operands.left(b, batch, atRow, atStep); }),
              {inside, row});
        },
        threads);
    share(
        tile.columns * strip,
        [&](Expr element) {
          Expr inside = named(element / double(tile.columns), "step"),
               column = named(element % double(tile.columns), "column");
          Expr atStep = step + inside, atColumn = firstColumn + column;
          SmallVector<Expr> conditions;
          if (!fitsColumns())
            conditions.push_back(atColumn < double(operands.columns));
          if (!fitsSteps())
            conditions.push_back(atStep < double(operands.steps));
          b.store(rightTile,
                  guarded(conditions,
                          [&] {
                            return operands.right(b, batch, atStep, atColumn);
                          }),
                  {inside, column});
        },
        threads);
  }

  /// Divides `count` elements among the threads.
  void share(int64_t count, llvm::function_ref<void(Expr)> body,
             int64_t threads) {
    for (int64_t first = 0; first < count; first += threads) {
      Expr element = first ? thread + double(first) : thread;
      if (first + threads <= count)
        body(element);
      else
        b.when(element < double(count), [&] { body(element); });
    }
  }

  Exprs multiply(ArrayRef<Expr> sums) {
    return b.loop(
        b.index(0), b.index(strip), 1, sums,
        [&](Expr step, ArrayRef<Expr> carried) {
          named(step, "step");
          Exprs left, right, after;
          for (int64_t i = 0; i < tile.threadRows; ++i)
            left.push_back(
                named(b.loadFrom(leftTile, type, {step, threadRow + double(i)}),
                      "left_" + Twine(i)));
          for (int64_t j = 0; j < tile.threadColumns; ++j)
            right.push_back(named(
                b.loadFrom(rightTile, type, {step, threadColumn + double(j)}),
                "right_" + Twine(j)));
          for (int64_t i = 0; i < tile.threadRows; ++i)
            for (int64_t j = 0; j < tile.threadColumns; ++j)
              after.push_back(named(
                  fma(left[i], right[j], carried[i * tile.threadColumns + j]),
                  "sum_" + Twine(i) + "_" + Twine(j)));
          return after;
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
  Value leftTile, rightTile;
  Expr thread, batch, firstRow, firstColumn, threadRow, threadColumn;
};

class BlockProductStrategy : public BlockStrategy {
public:
  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 8, 256},
                                   {"rows", 8, 256},
                                   {"thread_columns", 1, 16},
                                   {"thread_rows", 1, 16}};
    return keys;
  }

  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    static constexpr BlockTile tiles[] = {
        {128, 128, 8, 8}, {128, 64, 8, 4}, {64, 64, 4, 4}, {64, 32, 4, 4},
        {32, 64, 4, 4},   {32, 32, 2, 4},  {16, 64, 2, 4}, {16, 32, 2, 2}};
    auto operands = BlockOperands::of(group);
    Ranking<BlockTile> ranking;
    for (const BlockTile &tile : tiles)
      ranking.add(tile, seconds(*operands, tile, target));
    return plansOf(std::move(ranking).ranked(tiles[0]), [&](BlockTile tile) {
      return Plan(group.anchor()->getContext(),
                  {{"columns", tile.columns},
                   {"rows", tile.rows},
                   {"thread_columns", tile.threadColumns},
                   {"thread_rows", tile.threadRows}});
    });
  }

  std::string refuse(GroupView, const Plan &plan,
                     const TargetDescription &target) const override {
    BlockTile tile = tileOf(plan);
    if (tile.rows % tile.threadRows || tile.columns % tile.threadColumns)
      return "threads of such tiles do not make up a block";
    if (tile.threads() > 1024 || tile.threads() % target.device.warp)
      return "its blocks have " + std::to_string(tile.threads()) +
             " threads: whole warps make up a block, and 1024 threads at most";
    return "";
  }

  void emit(KernelBuilder &b) const override {
    auto operands = BlockOperands::of(b.group);
    BlockProductKernel(b, *operands, tileOf(b.plan)).emit();
  }

protected:
  bool fits(const BlockOperands &operands, GroupView,
            const TargetDescription &) const override {
    return !operands.areBytes();
  }

private:
  static BlockTile tileOf(const Plan &plan) {
    return {plan.number("rows"), plan.number("columns"),
            plan.number("thread_rows"), plan.number("thread_columns")};
  }

  /// Estimates the time of a product: processors take one block after the other; a
  /// thread reads what it multiplies from shared memory; all strips come from the
  /// second cache, which yields about three times what memory does (the data sheets of
  /// A100 and H100).
  static double seconds(const BlockOperands &operands, const BlockTile &tile,
                        const TargetDescription &target) {
    const Device &device = target.device;
    double blocks = double(llvm::divideCeil(operands.rows.most(), tile.rows)) *
                    double(llvm::divideCeil(operands.columns, tile.columns)) *
                    double(operands.batches.most());
    double waves = std::ceil(blocks / device.processors);
    double own = double(tile.threadRows * tile.threadColumns),
           reads = 2 * double(tile.threadRows + tile.threadColumns);
    double perProcessor = device.multiplyAddsPerSecond / device.processors;
    double steps = double(operands.steps);
    double computing = waves * steps * double(tile.rows * tile.columns) *
                       (1 + reads / own) / perProcessor;
    double bytes =
        blocks * steps * double(tile.rows + tile.columns) * sizeof(float);
    return std::max(computing, bytes / (3 * device.bytesPerSecond));
  }
};

} // namespace

std::unique_ptr<Strategy> createBlockProductStrategy() {
  return std::make_unique<BlockProductStrategy>();
}

} // namespace ingot::schedule
