// Matrix products of few rows on a device, reading each weight once.
//
// The kernel takes about as long as loading the right operand does, so as many
// loads as possible must be in flight. Warps divide the columns and the steps
// (K); partial sums are added in shared memory:
//
//   sums[row][column] <- products of this thread's steps
//   parts[part][row, column] <- sums, reduced over the warp
//   barrier
//   result[row, column] = epilogue(sum over part of parts[part][row, column])
//
// If a norm precedes the product, the kernel reads the input of the norm, sums
// the squares of its rows along with the products, and multiplies the results
// by the norm's factor.
//
// Packed weights have the steps of each column contiguous: a warp computes
// `warp_columns` columns, and its threads divide their steps in 16-byte
// vectors. An unpacked right operand is read along its rows: each thread has
// columns of its own.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/gpu/ProductsOfRows.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The size of a block: its columns, the columns of a warp, and how many warps
/// divide the steps (K) of the same columns.
struct RowTile {
  int64_t columns, warpColumns, parts;

  int64_t warps() const { return columns / warpColumns * parts; }
};

/// Returns the number of elements in a 16-byte vector of the right operand.
int64_t elementsPerVector(const BlockOperands &operands) {
  return vectorAccessBytes / bytesOf(operands.rightType());
}

/// Returns the product of a group, or the first one of several products.
Operation *productOf(GroupView group) {
  SmallVector<Operation *, 2> products = ProductsOfRows::of(group).products;
  return products.empty() ? nullptr : products.front();
}

std::unique_ptr<BlockOperands> operandsOf(GroupView group) {
  return BlockOperands::of(group, productOf(group));
}

class RowProductKernel {
public:
  RowProductKernel(KernelBuilder &b, const BlockOperands &operands,
                   const RowTile &tile)
      : b(b), operands(operands), tile(tile),
        together(ProductsOfRows::of(b.group)), norm(together.norm),
        rows(*operands.rows.known()),
        type(isa<FloatType>(resultType()) ? b.builder.getF32Type()
                                          : resultType()),
        packed(operands.rightTensor.getDefiningOp<UnpackPanelsOp>()) {}

  void emit() {
    parts = b.shared({tile.parts, products() * rows, tile.columns}, type,
                     "parts_of_sums");
    if (norm)
      squares = b.shared({tile.parts, rows}, type, "parts_of_squares");
    int64_t across = llvm::divideCeil(operands.columns, tile.columns);
    b.onBlocks(
        operands.batches * across, threads(), [&](Expr block, Expr thread) {
          this->thread = named(thread, "thread");
          batch = across == 1 ? block : named(block / double(across), "batch");
          firstColumn =
              across == 1
                  ? b.index(0)
                  : named((operands.batches == 1 ? block
                                                 : block % double(across)) *
                              double(tile.columns),
                          "first_column");
          if (operands.batches == 1)
            batch = b.index(0);
          double warp = double(b.target.device.warp);
          lane = named(thread % warp, "lane");
          Expr number = named(thread / warp, "warp");
          part = tile.parts == 1 ? b.index(0)
                                 : named(number % double(tile.parts), "part");
          warpColumn =
              named((tile.parts == 1 ? number : number / double(tile.parts)) *
                        double(tile.warpColumns),
                    "warp_column");
          packed ? sumColumns() : sumRows();
          b.barrier();
          store();
        });
  }

private:
  Type resultType() const {
    return elementOf(together.products.front()->getResult(0));
  }
  int64_t products() const { return int64_t(together.products.size()); }
  int64_t threads() const { return tile.warps() * b.target.device.warp; }
  /// Returns the number of columns of each product for which a thread has sums.
  int64_t ownColumns() const {
    return packed ? tile.warpColumns : tile.warpColumns / b.target.device.warp;
  }
  bool fitsColumns() const { return operands.columns % tile.columns == 0; }

  /// Clamps a column to be read; the sums of columns beyond the last are not
  /// stored.
  Expr readable(Expr column) {
    return fitsColumns() ? column : min(column, double(operands.columns - 1));
  }

  /// Emits `sums = step(i, sums)` for i = first, first + by, ... below `count`,
  /// and returns the final sums. All threads have at least `trips` iterations,
  /// a static number. If some threads have one more, the others execute it too,
  /// with index `count` - 1, and discard its results, so that the loads need no
  /// branch.
  Exprs overOwn(Expr first, int64_t by, int64_t count, Exprs sums,
                llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> step) {
    int64_t trips = count / by;
    // Unroll the loop if it loads at most `mostVectorLoads` vectors of weights.
    // All of them can then be in flight at once, and registers can hold them.
    constexpr int64_t mostVectorLoads = 8;
    if (packed && trips * allColumns() <= mostVectorLoads)
      for (int64_t trip = 0; trip < trips; ++trip)
        sums = step(trip ? first + double(trip * by) : first, sums);
    else if (trips > 0)
      sums = b.loop(Dim(trips), sums, [&](Expr trip, ArrayRef<Expr> carried) {
        named(trip, "iteration");
        return step(trip * double(by) + first, carried);
      });
    if (count % by == 0)
      return sums;
    Expr last = named(trips ? first + double(trips * by) : first, "last");
    Exprs more = step(named(min(last, double(count - 1)), "last_inside"), sums);
    Expr isInside = named(last < double(count), "is_inside");
    for (auto [sum, withLast] : llvm::zip_equal(sums, more))
      sum = named(select(isInside, withLast, sum), "sum");
    return sums;
  }

  /// Returns the number of columns, of all products together, for which a
  /// thread has sums.
  int64_t allColumns() const { return products() * ownColumns(); }
  /// Returns the initial sums of the products, and of the squares if there is a
  /// norm.
  Exprs zeros() {
    return Exprs(rows * (allColumns() + (norm ? 1 : 0)), b.constant(0, type));
  }
  /// Adds the products of one step (K) to the sums, and the squares of the left
  /// operand's elements if there is a norm.
  void add(MutableArrayRef<Expr> sums, ArrayRef<Expr> left,
           ArrayRef<Expr> right) {
    for (int64_t row = 0; row < rows && norm; ++row) {
      Expr &square = sums[rows * allColumns() + row];
      square = named(fma(left[row], left[row], square), "sum_of_squares");
    }
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < allColumns(); ++column) {
        Expr &sum = sums[row * allColumns() + column];
        sum = named(fma(left[row], right[column], sum), sumName(row, column));
      }
  }
  std::string sumName(int64_t row, int64_t column) const {
    std::string name = "sum";
    if (rows > 1)
      name += "_" + std::to_string(row);
    return name + "_" + std::to_string(column);
  }
  Exprs leftAt(Expr step, bool mayBeOutside) {
    Exprs values;
    for (int64_t row = 0; row < rows; ++row) {
      auto load = [&] {
        return norm
                   ? b.load(norm.getInput(),
                            operands.leftPlace(b, batch, b.index(row), step).at)
                   : operands.left(b, batch, b.index(row), step);
      };
      Expr value = mayBeOutside
                       ? b.ifElse(step < double(operands.steps), load,
                                  [&] { return b.constant(0, loadedType()); })
                       : load();
      values.push_back(named(convert(value, type), "x_" + Twine(row)));
    }
    return values;
  }

  Type loadedType() const {
    return norm ? elementOf(norm.getInput()) : operands.leftType();
  }
  /// Multiplies the weights of a step (K) by the norm's scale for that step, if
  /// there is one. `mayBeOutside` says that the step may be beyond the last
  /// one.
  void scale(MutableArrayRef<Expr> right, Expr step, bool mayBeOutside) {
    if (!norm || norm.getAffine().empty())
      return;
    Value scales = norm.getAffine()[0];
    auto load = [&] { return convert(b.load(scales, {step}), type); };
    Expr scale =
        named(mayBeOutside ? b.ifElse(step < double(operands.steps), load,
                                      [&] { return b.constant(0, type); })
                           : load(),
              "scale");
    for (Expr &weight : right)
      weight = named(weight * scale, "scaled");
  }

  /// Computes the sums for packed weights: the threads of a warp divide the
  /// steps (the indices along K).
  void sumColumns() {
    int64_t vectorElements = elementsPerVector(operands),
            warp = b.target.device.warp,
            padded = llvm::alignTo(operands.steps, vectorElements);
    SmallVector<Value> buffers;
    for (Operation *product : together.products)
      buffers.push_back(b.bufferOf(
          product->getOperand(1).getDefiningOp<UnpackPanelsOp>().getPacked()));
    Exprs begins;
    for (int64_t j = 0; j < tile.warpColumns; ++j)
      begins.push_back(
          named(operands.packedColumn(
                    batch, readable(firstColumn + warpColumn + double(j))) *
                    double(padded),
                "column_" + Twine(j)));
    Exprs sums = overOwn(
        part * double(warp) + lane, warp * tile.parts, padded / vectorElements,
        zeros(), [&](Expr at, ArrayRef<Expr> carried) {
          Exprs sums(carried);
          Expr step = named(at * double(vectorElements), "step");
          // Load the weights first: as constants, they can be loaded before the
          // preceding kernel, which may compute the left operand, has ended.
          SmallVector<Exprs> weights(vectorElements);
          for (Value buffer : buffers)
            for (int64_t j = 0; j < tile.warpColumns; ++j)
              for (int64_t i = 0; i < vectorElements; ++i)
                weights[i].push_back(
                    b.loadFrom(buffer, operands.rightType(),
                               {begins[j] + step + double(i)}));
          for (int64_t i = 0; i < vectorElements; ++i) {
            Exprs right;
            for (const Expr &weight : weights[i])
              right.push_back(
                  named(convert(weight, type), "w_" + Twine(right.size())));
            bool mayBeOutside = padded != operands.steps;
            scale(right, step + double(i), mayBeOutside);
            add(sums, leftAt(step + double(i), mayBeOutside), right);
          }
          return sums;
        });
    for (Expr &sum : sums)
      sum = b.acrossWarp(sum, [](Expr x, Expr y) { return x + y; });
    b.when(equal(lane, 0.0), [&] {
      keep(sums, warpColumn);
      // Only the warps of the block's first columns store the sums of squares,
      // since those of other columns have computed the same sums.
      auto keepSquares = [&] {
        for (int64_t row = 0; row < rows; ++row)
          b.store(squares, sums[rows * allColumns() + row],
                  {part, b.index(row)});
      };
      if (norm && tile.columns == tile.warpColumns)
        keepSquares();
      else if (norm)
        b.when(equal(warpColumn, 0.0), keepSquares);
    });
  }

  /// Computes the sums for an unpacked right operand: each thread has its own
  /// columns.
  void sumRows() {
    Expr own = named(warpColumn + lane * double(ownColumns()), "own_column");
    Exprs columns;
    for (int64_t j = 0; j < ownColumns(); ++j)
      columns.push_back(
          named(readable(firstColumn + own + double(j)), "column_" + Twine(j)));
    Exprs sums = overOwn(
        part, tile.parts, operands.steps / operands.together, zeros(),
        [&](Expr at, ArrayRef<Expr> carried) {
          Expr step = named(at * double(operands.together), "step");
          Exprs sums(carried);
          SmallVector<Exprs> ofColumn;
          for (const Expr &column : columns)
            ofColumn.push_back(operands.rightSteps(b, batch, step, column));
          for (int64_t i = 0; i < operands.together; ++i) {
            Exprs right;
            for (auto [j, weights] : llvm::enumerate(ofColumn))
              right.push_back(
                  named(convert(weights[i], type), "w_" + Twine(j)));
            add(sums, leftAt(step + double(i), /*mayBeOutside=*/false), right);
          }
          return sums;
        });
    keep(sums, own);
  }

  /// Stores this thread's partial sums in shared memory, as sums of the block's
  /// columns from `column` on.
  void keep(ArrayRef<Expr> sums, Expr column) {
    for (int64_t product = 0; product < products(); ++product)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t j = 0; j < ownColumns(); ++j)
          b.store(parts, sums[row * allColumns() + product * ownColumns() + j],
                  {part, b.index(product * rows + row), column + double(j)});
  }

  void store() {
    int64_t count = rows * tile.columns;
    for (int64_t first = 0; first < count; first += threads()) {
      Expr mine = first ? thread + double(first) : thread;
      if (first + threads() <= count)
        storeOne(mine);
      else
        b.when(mine < double(count), [&] { storeOne(mine); });
    }
  }
  void storeOne(Expr mine) {
    Expr row =
             rows == 1 ? b.index(0) : named(mine / double(tile.columns), "row"),
         inBlock = rows == 1 ? mine : mine % double(tile.columns);
    Expr column = named(firstColumn + inBlock, "column");
    auto one = [&] {
      std::optional<Expr> by;
      if (norm)
        by = factor(row);
      for (auto [n, product] : llvm::enumerate(together.products)) {
        Expr sum = convert(operands.first(b, batch, column), type);
        Expr at = n == 0 ? row : row + double(int64_t(n) * rows);
        for (int64_t p = 0; p < tile.parts; ++p)
          sum = named(sum + b.loadFrom(parts, type, {b.index(p), at, inBlock}),
                      "sum");
        if (by)
          sum = sum * *by;
        sum.type = resultType();
        b.bindElement(product->getResult(0), sum);
      }
      Exprs at = operands.place(b, batch, row, column);
      b.store(0u, b.load(b.result(), at), at);
      for (Operation *product : together.products)
        b.unbindElement(product->getResult(0));
    };
    fitsColumns() ? one() : b.when(column < double(operands.columns), one);
  }

  /// Returns the factor by which the norm scales a row.
  Expr factor(Expr row) {
    Expr square = b.constant(0, type);
    for (int64_t p = 0; p < tile.parts; ++p)
      square = named(square + b.loadFrom(squares, type, {b.index(p), row}),
                     "square");
    square = meanOf(square, operands.steps);
    return named(1.0 / sqrt(square + norm.getEpsilon().convertToDouble()),
                 "factor");
  }

  KernelBuilder &b;
  const BlockOperands &operands;
  RowTile tile;
  /// The products, and the norm of their rows if it is in the group. If there
  /// are several products or a norm, the weights of the products are packed.
  ProductsOfRows together;
  mutable LayerNormOp norm;
  int64_t rows;
  /// The type of the sums.
  Type type;
  /// The operator that unpacks the right operand if its packed layout has
  /// contiguous steps (K) in each column; else null.
  UnpackPanelsOp packed;
  Value parts, squares;
  Expr thread, lane, part, batch, firstColumn, warpColumn;
};

class RowProductStrategy : public BlockStrategy {
public:
  bool matches(GroupOnTarget group) const override {
    // Strict mode does not allow that warps add the products along K in another
    // order than the operator does.
    if (group.isStrict())
      return false;
    auto operands = operandsOf(group);
    return operands && operands->rows.known() &&
           operands->rows.most() < fewest && fits(*operands, group);
  }

  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto operands = operandsOf(group);
    bool packs = isPacked(*operands, group);
    int64_t warp = group.target.device.warp;
    Ranking<RowTile> ranking;
    for (int64_t own : {1, 2, 4})
      for (int64_t parts : {1, 2, 4, 8, 16}) {
        int64_t warpColumns = packs ? own : own * warp;
        // Columns of a thread are loaded as one vector, which must not cross
        // the end of a row.
        if (!packs && operands->rightRun % own != 0)
          continue;
        int64_t groups = std::max<int64_t>(fewestWarps / parts, 1);
        RowTile tile{groups * warpColumns, warpColumns, parts};
        ranking.add(tile, seconds(*operands, tile, own, packs, group.target));
      }
    RowTile first{packs ? fewestWarps : fewestWarps * warp, packs ? 1 : warp,
                  1};
    return fields.plans(productOf(group)->getContext(),
                        std::move(ranking).ranked(first));
  }

  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    RowTile tile = fields.tileOf(plan);
    int64_t warp = group.target.device.warp;
    auto operands = operandsOf(group);
    if (tile.columns % tile.warpColumns ||
        (!isPacked(*operands, group) && tile.warpColumns % warp))
      return "the columns of a block cannot be divided evenly among its warps";
    if (tile.warps() * warp > 1024)
      return "a block has " + std::to_string(tile.warps() * warp) +
             " threads, but can have at most 1024";
    return "";
  }

  SmallVector<Operation *> takes(Operation *producer,
                                 llvm::function_ref<bool(Operation *)> isMember,
                                 llvm::function_ref<bool(Operation *)> isFree,
                                 const TargetDescription &target,
                                 bool packs) const override {
    if (GroupView(producer->getBlock()).isStrict())
      return {};
    return ProductsOfRows::taken(producer, isMember, isFree, packs);
  }

  void pack(GroupOnTarget group, const Plan &) const override {
    for (Operation *product : ProductsOfRows::of(group).products)
      packColumns(group.op(), product);
  }

  void emit(KernelBuilder &b) const override {
    auto operands = operandsOf(b.group);
    RowProductKernel(b, *operands, fields.tileOf(b.plan)).emit();
  }

protected:
  bool fits(const BlockOperands &operands, GroupOnTarget group) const override {
    // With few steps (K), some threads of each warp are idle. That is
    // acceptable if one thread per column would leave most of the device idle.
    const Device &device = group.target.device;
    bool areFew = operands.columns * int64_t(device.warp) <=
                  int64_t(device.busyThreads) * device.multiprocessors;
    return operands.steps >= int64_t(device.warp) / (areFew ? 2 : 1) &&
           isInColumns(operands);
  }

private:
  static inline const PlanFields<RowTile> fields = {
      {{"columns", 1, 1024}, &RowTile::columns},
      {{"parts", 1, 32}, &RowTile::parts},
      {{"warp_columns", 1, 128}, &RowTile::warpColumns}};

  /// The number of warps in a block, unless `parts`, the number of warps that
  /// divide the steps (K) of the same columns, is larger.
  static constexpr int64_t fewestWarps = 4;

  /// Whether the right operand is packed, or will be packed.
  static bool isPacked(const BlockOperands &operands, GroupView group) {
    Value right = operands.rightTensor;
    if (operands.isUnpacked())
      return false;
    if (right.getDefiningOp<UnpackPanelsOp>())
      return true;
    bool isMatrix =
        !isa<MatMulOp>(productOf(group)) || shapeOf(right).size() == 2;
    return isMatrix && mayBeInPanels(right, group.packs);
  }

  /// Estimates the time: loading the right operand, at full bandwidth only if
  /// enough loads are in flight, plus the latency of consecutive blocks on an
  /// SM. A thread has `atOnce` loads in flight, each of which takes `latency`
  /// (400 to 900 cycles, measured on GPUs from Volta to Hopper). A warp reduces
  /// sums by five shuffles of about 25 cycles, several of which are in flight.
  static double seconds(const BlockOperands &operands, const RowTile &tile,
                        int64_t own, bool packs,
                        const TargetDescription &target) {
    const Device &device = target.device;
    constexpr double latency = 500e-9, cycle = 1 / 1.5e9;
    constexpr int64_t atOnce = 8;
    double blocks = double(llvm::divideCeil(operands.columns, tile.columns)) *
                    double(operands.batches.most());
    double size = operands.rightBytes;
    int64_t vectors =
        packs ? llvm::divideCeil(operands.steps, elementsPerVector(operands))
              : operands.steps / operands.together;
    int64_t trips = llvm::divideCeil(vectors, packs ? tile.parts * device.warp
                                                    : tile.parts);
    int64_t loads = packs ? trips * own : trips;
    double bytesOfLoad =
        packs ? vectorAccessBytes : double(own * operands.together) * size;
    double threads = double(tile.warps() * device.warp);
    double resident = std::floor(device.residentThreads / threads);
    double waves = std::ceil(blocks / (device.multiprocessors * resident));
    double flying = std::min(blocks, device.multiprocessors * resident) *
                    threads * double(std::min(loads, atOnce)) * bytesOfLoad;
    double share = std::min(1.0, flying / (device.bytesPerSecond * latency));
    double bytes = double(operands.columns * operands.steps) *
                   double(operands.batches.most()) * size;
    double exchanges =
        packs ? double(own * operands.rows.most()) * 5 * 8 * cycle : 0;
    return bytes / device.bytesPerSecond / share +
           waves * (double(llvm::divideCeil(loads, atOnce)) * latency +
                    exchanges + 10 * double(tile.parts) * cycle);
  }
};

} // namespace

std::unique_ptr<Strategy> createRowProductStrategy() {
  return std::make_unique<RowProductStrategy>();
}

} // namespace ingot::schedule
