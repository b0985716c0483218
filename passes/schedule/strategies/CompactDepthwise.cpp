// Depthwise convolutions channel by channel, for scalar cores with little code
// memory.
//
// Each channel is copied with its padding to scratch memory, in which its
// columns are contiguous; the filter stays in registers. Narrow elements are
// widened by the copy. A single tile of positions along a row serves the whole
// result, borders included:
//
//   for each block of rows, for each channel:
//     copy the input rows of the block; load the filter
//     for each row, for each tile of columns:
//       for each kernel row: load the inputs of the tile, multiply, add

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/CursorTile.h"
#include "passes/schedule/tiles/NarrowStorage.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The most bytes of scratch memory for the copy of a channel. Larger channels
/// are processed in bands of rows.
constexpr int64_t mostScratchBytes = 4096;

/// The properties and costs of a depthwise convolution, before code is built.
class DepthwiseShape {
public:
  DepthwiseShape(ConvOp conv, const TargetDescription &target)
      : conv(conv), target(target), type(elementOf(conv.getX())),
        axes(windowAxes(conv)), y(shapeOf(conv.getResult())) {}

  bool isPossible() {
    return axes.size() == 2 && target.maxLanes(type) == 1 &&
           kernelSize() <= mostTaps &&
           (axes[1].output.most() >= fewColumns || conv.getX().getDefiningOp());
  }

  /// Estimates the cycles per output position in tiles of `width` positions,
  /// with a penalty for code size; infinite if a tile does not fit the
  /// registers.
  double cost(int64_t width) const {
    const InstructionCosts &costs = target.costs;
    auto load = [&](int64_t count) {
      return canLoadSeveral(target, type, count)
                 ? costs.load + (count - 1) * costs.loadNext
                 : count * costs.load;
    };
    int64_t multiplyAdd =
        std::min(costs.multiplyAdd, costs.multiply + costs.add);
    int64_t seen = seenColumns(width);
    bool several = canLoadSeveral(target, type, seen);
    if (width > 1 && width + kernelSize() + (several ? seen : 2) + 1 >
                         static_cast<int64_t>(target.vectorRegisters))
      return INFINITY;
    int64_t tile = axes[0].kernel * (load(seen) + 3) +
                   width * kernelSize() * multiplyAdd +
                   width * (costs.store + 6) + 15;
    // Feature maps are halved along a network: a width that also suits the
    // halved sizes lets later layers share this code.
    double cost = 0;
    int64_t sizes = 0;
    for (int64_t size = axes[1].output.most(); size >= width && sizes < 3;
         size /= 2) {
      cost += static_cast<double>(llvm::divideCeil(size, width) * tile) /
              static_cast<double>(size);
      ++sizes;
    }
    return cost * (1 + codePrice * static_cast<double>(width)) /
           static_cast<double>(sizes);
  }

  /// Returns the widths of tiles, in positions of a row, best first.
  std::vector<int64_t> rankedWidths() const {
    Ranking<int64_t> ranking;
    int64_t widest = target.smallestCode ? 1 : axes[1].output.most();
    for (int64_t width = 1; width <= widest && std::isfinite(cost(width));
         ++width)
      ranking.add(width, cost(width));
    return std::move(ranking).ranked(1);
  }

  /// Returns how many result rows are processed together (a band): the largest
  /// divisor of the number of result rows for which the input rows of one
  /// channel fit the scratch memory.
  int64_t rowsPerBand() const {
    int64_t rows = axes[0].output.most();
    int64_t bytes = type.getIntOrFloatBitWidth() / 8;
    while (rows > 1 &&
           (axes[0].output.most() % rows != 0 ||
            planeRows(rows) * planeColumns() * bytes > mostScratchBytes))
      --rows;
    return rows;
  }

  int64_t kernelSize() const { return axes[0].kernel * axes[1].kernel; }
  int64_t planeRows(int64_t rows) const {
    return (rows - 1) * axes[0].stride +
           (axes[0].kernel - 1) * axes[0].dilation + 1;
  }
  int64_t seenColumns(int64_t positions) const {
    return (positions - 1) * axes[1].stride +
           (axes[1].kernel - 1) * axes[1].dilation + 1;
  }
  int64_t planeColumns() const { return seenColumns(axes[1].output.most()); }

  ConvOp conv;
  const TargetDescription &target;
  Type type;
  SmallVector<WindowAxis> axes;
  ArrayRef<int64_t> y;

private:
  /// Results with fewer columns are left to other strategies, unless the copy
  /// of the input also widens its elements: a shorter row is a single tile, for
  /// which a copy does not pay.
  static constexpr int64_t fewColumns = 6;
  /// The most elements of a filter, which must fit into registers beside the
  /// tile.
  static constexpr int64_t mostTaps = 12;
  /// Relative gain that each additional position of a tile must bring to
  /// justify its code.
  static constexpr double codePrice = 0.03;
};

class CompactDepthwise : DepthwiseShape {
public:
  CompactDepthwise(KernelBuilder &b, ConvOp conv)
      : DepthwiseShape(conv, b.target), b(b), width(b.plan.number("columns")),
        rows(b.plan.number("rows")) {}

  void emit() {
    plane = b.scratch({planeRows(rows), planeColumns()}, type);
    // Clear the copy once: its columns in the padding stay zero for all
    // channels.
    b.forEach({planeRows(rows), planeColumns()}, [&](ArrayRef<Expr> at) {
      named(at[0], "plane_row");
      named(at[1], "plane_column");
      b.store(plane, b.constant(0, type), at);
    });
    // Emit these loops even for a single trip, so that kernels of different
    // shapes can share code.
    b.forEach({y[0]}, [&](ArrayRef<Expr> batch) {
      named(batch[0], "batch");
      forAlways(b, axes[0].output.most() / rows, [&](Expr band) {
        Expr firstRow = named(named(band, "band") * double(rows), "first_row");
        forAlways(b, y.back(), [&](Expr channel) {
          named(channel, "channel");
          copyChannel(batch[0], firstRow * double(axes[0].stride), channel);
          filterChannel(batch[0], firstRow, channel);
        });
      });
    });
  }

  void copyChannel(Expr batch, Expr top, Expr channel) {
    int64_t low = axes[0].low, left = axes[1].low;
    int64_t count = std::min(axes[1].input.most(), planeColumns() - left);
    // Copy several columns per iteration: a loop costs more overhead per
    // iteration than the copy of one column.
    int64_t together = 6;
    while (count % together != 0)
      --together;
    forAlways(b, planeRows(rows), [&](Expr row) {
      Expr from =
          named(top + named(row, "plane_row") - double(low), "input_row");
      Value inside = arith::CmpIOp::create(
          b.builder, b.loc, arith::CmpIPredicate::ult, from.value,
          b.index(axes[0].input.most()).value);
      auto copy = [&] {
        forCoveringTiles(b, count, together, "column", [&](Expr column) {
          for (int64_t n = 0; n < together; ++n)
            b.store(plane,
                    b.load(conv.getX(),
                           {batch, from,
                            named(column + double(n), "column_" + Twine(n)),
                            channel}),
                    {row, column + double(left + n)});
        });
      };
      b.branch(b.wrap(inside, b.builder.getI1Type()), copy, [&] {
        forAlways(b, count, [&](Expr column) {
          named(column, "column");
          b.store(plane, b.constant(0, type), {row, column + double(left)});
        });
      });
    });
  }

  void filterChannel(Expr batch, Expr firstRow, Expr channel) {
    StoredOperand weights(b, conv.getW(), {kernelSize(), y.back()});
    Exprs taps;
    for (int64_t k = 0; k < kernelSize(); ++k)
      taps.push_back(named(weights.load({b.index(k), channel}),
                           "w_" + Twine(k / axes[1].kernel) + "_" +
                               Twine(k % axes[1].kernel)));
    Expr first = conv.getBias() ? b.load(conv.getBias(), {channel})
                                : b.constant(0, type);
    forAlways(b, rows, [&](Expr row) {
      named(row, "band_row");
      forCoveringTiles(
          b, axes[1].output.most(), width, "column", [&](Expr column) {
            Exprs sums(width, first);
            for (int64_t k = 0; k < axes[0].kernel; ++k)
              addKernelRow(row, column, k, taps, sums);
            for (int64_t n = 0; n < width; ++n) {
              Exprs at{batch, named(firstRow + row, "row"),
                       named(column + double(n), "column_" + Twine(n)),
                       channel};
              b.bindElement(conv.getResult(), sums[n]);
              b.store(0u, b.load(b.result(), at), at);
            }
            b.unbindElement(conv.getResult());
          });
    });
  }

  void addKernelRow(Expr row, Expr column, int64_t k, ArrayRef<Expr> taps,
                    Exprs &sums) {
    int64_t seen = seenColumns(width);
    Value cursor =
        cursorAt(b, plane,
                 {row * double(axes[0].stride) + double(k * axes[0].dilation),
                  column * double(axes[1].stride)},
                 "next_x");
    Exprs x;
    if (canLoadSeveral(b.target, type, seen))
      x = loadSeveral(b, cursor, type, seen, b.target.loadRegisterCount - seen);
    else
      for (int64_t i = 0; i < seen; ++i)
        x.push_back(named(loadNext(b, cursor, type), "x_" + Twine(i)));
    for (int64_t j = 0; j < axes[1].kernel; ++j)
      for (int64_t n = 0; n < width; ++n)
        sums[n] = named(fma(x[n * axes[1].stride + j * axes[1].dilation],
                            taps[k * axes[1].kernel + j], sums[n]),
                        width == 1 ? "sum" : "sum_" + Twine(n));
  }

  KernelBuilder &b;
  int64_t width, rows;
  Value plane;
};

class CompactDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvOp conv = depthwiseOf(group);
    return group.target.smallCode && conv &&
           DepthwiseShape(conv, group.target).isPossible();
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 64}, {"rows", 1, 1 << 16}};
    return keys;
  }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    DepthwiseShape shape(depthwiseOf(group), group.target);
    return plansOf(shape.rankedWidths(), [&](int64_t width) {
      return Plan(shape.type.getContext(),
                  {{"columns", width}, {"rows", shape.rowsPerBand()}});
    });
  }
  double cost(GroupOnTarget group, const Plan &plan) const override {
    DepthwiseShape shape(depthwiseOf(group), group.target);
    return shape.cost(plan.number("columns")) *
           double(ShapedType::getNumElements(shape.y));
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    DepthwiseShape shape(depthwiseOf(group), group.target);
    int64_t rows = shape.axes[0].output.most(),
            columns = shape.axes[1].output.most();
    if (plan.number("columns") <= columns && rows % plan.number("rows") == 0)
      return "";
    return "a result of " + std::to_string(rows) + " x " +
           std::to_string(columns) +
           " positions cannot be divided into row bands of " +
           std::to_string(plan.number("rows")) + " rows and tiles of " +
           std::to_string(plan.number("columns")) + " columns";
  }

  /// Stores weights and bias in a narrower integer type if they are whole
  /// numbers. They are converted when they are loaded, which happens only once
  /// per channel.
  void pack(GroupOnTarget group, const Plan &) const override {
    ConvOp conv = depthwiseOf(group);
    for (OpOperand &operand : llvm::drop_begin(conv->getOpOperands()))
      storeNarrow(group.op(), operand);
  }

  void emit(KernelBuilder &b) const override {
    CompactDepthwise(b, depthwiseOf(b.group)).emit();
  }
};

} // namespace

std::unique_ptr<Strategy> createCompactDepthwiseStrategy() {
  return std::make_unique<CompactDepthwiseStrategy>();
}

} // namespace ingot::schedule
