// Products of few rows, which read each weight once: by warps of a device.
//
// All that such a product takes is the time in which its right operand comes from memory,
// so that as much of it as possible has to be on its way at once. Warps divide columns and
// steps among themselves; what they have summed up meets in shared memory:
//
//   sums[row][column] <- products of the steps that are this thread's
//   parts[part][row, column] <- sums, those of a warp added
//   barrier
//   result[row, column] = epilogue(sum over part of parts[part][row, column])
//
// Rows that are normalized in front of the product are read as they are: their squares are
// summed up beside the products, and the results multiplied by what follows from these.
//
// Of weights, which are packed with the steps of each column side by side, a warp takes
// `warp_columns` columns, and each of its threads pieces of 16 bytes of their steps. A
// right operand that lies in rows is read along them: each thread has columns of its own.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/gpu/ProductsOfRows.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// What a block computes: its columns, those that a warp has at a time, and how many
/// warps divide the steps of these.
struct RowTile {
  int64_t columns, warpColumns, parts;

  int64_t warps() const { return columns / warpColumns * parts; }
};

/// Elements of a piece of the right operand.
int64_t pieceOf(const BlockOperands &operands) {
  return pieceBytes / bytesOf(operands.rightType());
}

/// The product of a group, or the first of several.
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
  /// Columns of which a thread has sums.
  int64_t ownColumns() const {
    return packed ? tile.warpColumns : tile.warpColumns / b.target.device.warp;
  }
  bool fitsColumns() const { return operands.columns % tile.columns == 0; }

  /// A column to read: beyond the last one that one again, whose sums nobody stores.
  Expr readable(Expr column) {
    return fitsColumns() ? column : min(column, double(operands.columns - 1));
  }

  /// Calls `step(i, sums)` for i = first, first + by, ... below `count`. All threads have
  /// `trips` of them, which compilers know, and some one more; others do the last of all once
  /// more and leave it out, so that what it reads is asked for without a branch.
  Exprs overOwn(Expr first, int64_t by, int64_t count, Exprs sums,
                llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> step) {
    int64_t trips = count / by;
    // As many pieces of weights on their way as there are registers for.
    constexpr int64_t mostPieces = 8;
    if (packed && trips * allColumns() <= mostPieces)
      for (int64_t trip = 0; trip < trips; ++trip)
        sums = step(trip ? first + double(trip * by) : first, sums);
    else if (trips > 0)
      sums = b.loop(Dim(trips), sums, [&](Expr trip, ArrayRef<Expr> carried) {
        named(trip, "trip");
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

  /// The columns of one product after the other of which a thread has sums.
  int64_t allColumns() const { return products() * ownColumns(); }
  /// Sums of products, and of the squares of rows that are normalized.
  Exprs zeros() {
    return Exprs(rows * (allColumns() + (norm ? 1 : 0)), b.constant(0, type));
  }
  /// The sums with the products of one step added.
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
  /// The weights of a step, by what the normalized rows are scaled by there.
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

  /// Sums of columns whose steps are side by side: threads of a warp divide them.
  void sumColumns() {
    int64_t piece = pieceOf(operands), warp = b.target.device.warp,
            padded = llvm::alignTo(operands.steps, piece);
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
    Exprs sums =
        overOwn(part * double(warp) + lane, warp * tile.parts, padded / piece,
                zeros(), [&](Expr at, ArrayRef<Expr> carried) {
                  Exprs sums(carried);
                  Expr step = named(at * double(piece), "step");
                  // Weights are there before the kernel in front has ended.
                  SmallVector<Exprs> weights(piece);
                  for (Value buffer : buffers)
                    for (int64_t j = 0; j < tile.warpColumns; ++j)
                      for (int64_t i = 0; i < piece; ++i)
                        weights[i].push_back(
                            b.loadFrom(buffer, operands.rightType(),
                                       {begins[j] + step + double(i)}));
                  for (int64_t i = 0; i < piece; ++i) {
                    Exprs right;
                    for (const Expr &weight : weights[i])
                      right.push_back(named(convert(weight, type),
                                            "w_" + Twine(right.size())));
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
      // Warps of other columns have the same squares.
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

  /// Sums of columns that are side by side: each thread has some of its own.
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

  /// Stores the sums of columns from `column` of the block on.
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

  /// What a row is normalized by.
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
  /// The products, and what normalizes the rows if it is in the group. The weights of several
  /// and of such are packed.
  ProductsOfRows together;
  mutable LayerNormOp norm;
  int64_t rows;
  /// That of sums.
  Type type;
  /// A right operand with the steps of each column side by side.
  UnpackPanelsOp packed;
  Value parts, squares;
  Expr thread, lane, part, batch, firstColumn, warpColumn;
};

class RowProductStrategy : public BlockStrategy {
public:
  bool matches(GroupView group,
               const TargetDescription &target) const override {
    // Warps add up steps in another order than the operator's.
    if (!target.isDevice() || group.isStrict())
      return false;
    auto operands = operandsOf(group);
    return operands && operands->rows.known() &&
           operands->rows.most() < fewest && fits(*operands, group, target);
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {
        {"columns", 1, 1024}, {"parts", 1, 32}, {"warp_columns", 1, 128}};
    return keys;
  }

  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    auto operands = operandsOf(group);
    bool packs = isPacked(*operands, group);
    int64_t warp = target.device.warp;
    Ranking<RowTile> ranking;
    for (int64_t own : {1, 2, 4})
      for (int64_t parts : {1, 2, 4, 8, 16}) {
        int64_t warpColumns = packs ? own : own * warp;
        // Columns of a thread are loaded together only where no row ends between them.
        if (!packs && operands->rightRun % own != 0)
          continue;
        int64_t groups = std::max<int64_t>(fewestWarps / parts, 1);
        RowTile tile{groups * warpColumns, warpColumns, parts};
        ranking.add(tile, seconds(*operands, tile, own, packs, target));
      }
    RowTile first{packs ? fewestWarps : fewestWarps * warp, packs ? 1 : warp,
                  1};
    return plansOf(std::move(ranking).ranked(first), [&](RowTile tile) {
      return Plan(productOf(group)->getContext(),
                  {{"columns", tile.columns},
                   {"parts", tile.parts},
                   {"warp_columns", tile.warpColumns}});
    });
  }

  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
    RowTile tile = tileOf(plan);
    int64_t warp = target.device.warp;
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
    if (!target.isDevice() || GroupView{producer->getBlock()}.isStrict())
      return {};
    return ProductsOfRows::taken(producer, isMember, isFree, packs);
  }

  void pack(GroupOp group, const Plan &,
            const TargetDescription &) const override {
    GroupView view{&group.getBody().front()};
    for (Operation *product : ProductsOfRows::of(view).products)
      packColumns(group, product);
  }

  void emit(KernelBuilder &b) const override {
    auto operands = operandsOf(b.group);
    RowProductKernel(b, *operands, tileOf(b.plan)).emit();
  }

protected:
  bool fits(const BlockOperands &operands, GroupView,
            const TargetDescription &target) const override {
    // Few steps leave threads of a warp idle, which is no loss where a thread for each column
    // would leave most of the device idle.
    const Device &device = target.device;
    bool areFew = operands.columns * int64_t(device.warp) <=
                  int64_t(device.busyThreads) * device.processors;
    return operands.steps >= int64_t(device.warp) / (areFew ? 2 : 1) &&
           isInColumns(operands);
  }

private:
  /// Warps of a block where nothing asks for more.
  static constexpr int64_t fewestWarps = 4;

  static RowTile tileOf(const Plan &plan) {
    return {plan.number("columns"), plan.number("warp_columns"),
            plan.number("parts")};
  }

  /// Whether the right operand is packed, or will be.
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

  /// Estimates the time of a product: that of the right operand's way from memory, as
  /// far as enough of it is on its way at once, and that of the blocks that follow each
  /// other on a processor, whose threads have `atOnce` loads in flight, each of which takes `latency` (what is
  /// measured on GPUs from Volta to Hopper: 400 to 900 cycles). Sums of a warp are added
  /// in five exchanges of about 25 cycles, of which several are in flight as well.
  static double seconds(const BlockOperands &operands, const RowTile &tile,
                        int64_t own, bool packs,
                        const TargetDescription &target) {
    const Device &device = target.device;
    constexpr double latency = 500e-9, cycle = 1 / 1.5e9;
    constexpr int64_t atOnce = 8;
    double blocks = double(llvm::divideCeil(operands.columns, tile.columns)) *
                    double(operands.batches.most());
    double size = operands.rightBytes;
    int64_t pieces = packs ? llvm::divideCeil(operands.steps, pieceOf(operands))
                           : operands.steps / operands.together;
    int64_t trips =
        llvm::divideCeil(pieces, packs ? tile.parts * device.warp : tile.parts);
    int64_t loads = packs ? trips * own : trips;
    double bytesOfLoad =
        packs ? pieceBytes : double(own * operands.together) * size;
    double threads = double(tile.warps() * device.warp);
    double resident = std::floor(device.residentThreads / threads);
    double waves = std::ceil(blocks / (device.processors * resident));
    double flying = std::min(blocks, device.processors * resident) * threads *
                    double(std::min(loads, atOnce)) * bytesOfLoad;
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
