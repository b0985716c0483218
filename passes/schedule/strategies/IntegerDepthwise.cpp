// One filter of integers per channel, in whole registers.
//
// Where a product sums groups of neighbouring bytes (kernel.dot with both operands in
// vectors), the group is made of kernel columns: the input at four of them is
// interleaved in registers, the weights are packed that way.
//
//   x at kernel columns 0 to 2, one register each      a0 a1 .. | b0 b1 .. | c0 c1 ..
//   interleaved, missing columns as zeros              a0 b0 c0 0  a1 b1 c1 0  ..
//   times the packed weights, summed in groups         one lane of 32 bits a channel
//
// A register holds channels of one position, or neighbouring positions with all their
// channels; at a stride of 2 those of each second position of two registers:
//
//   input columns 0 to 3 | 4 to 7  ->  columns 0 2 4 6 at kernel column 0, 1 3 5 7 at 1
//
// All windows are inside of the input (FormIntegerProducts pads it). Where registers do
// not come out even, the last one starts earlier and some results are computed twice.
// Small windows are unrolled: along a row their weights stay in registers.

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/DotTile.h"
#include "passes/schedule/tiles/JoinedRows.h"
#include "passes/schedule/tiles/TileStore.h"

#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// One group during emission.
class DepthwiseInRegisters {
public:
  DepthwiseInRegisters(KernelBuilder &b, ConvOp conv)
      : b(b), conv(conv), axes(windowAxes(conv)), columns(axes.back()),
        panels(*PackedPanels::of(b, conv.getW())),
        form(*depthwiseForm(conv, b.target)),
        channels(shapeOf(conv.getResult()).back()),
        lanes(b.plan.number("columns")) {}

  void emit() {
    ArrayRef<int64_t> y = shapeOf(conv.getResult());
    b.parallelFor(ShapedType::getNumElements(y.drop_back(2)), [&](Expr row) {
      Exprs position = rowPosition(b, row, dimsOf(conv.getResult()));
      // Along a row weights and scales of the same channels stay in registers.
      if (channels >= lanes)
        overRegisters(channels, lanes, "channel", [&](Expr channel) {
          b.forRange(b.index(0), b.size(columns.output), [&](Expr column) {
            inRegister(position, named(column, "column"), channel);
          });
        });
      else
        overRegisters(
            columns.output.most(), lanes / channels, "column",
            [&](Expr column) { inRegister(position, column, b.index(0)); });
    });
  }

private:
  /// Calls `body` for what covers [0, size) in steps, of which the last one may overlap
  /// the one before.
  void overRegisters(int64_t size, int64_t step, StringRef name,
                     llvm::function_ref<void(Expr)> body) {
    int64_t whole = size / step * step;
    if (whole == step)
      body(b.index(0));
    else
      b.loop(b.index(0), b.index(whole), step, {},
             [&](Expr first, ArrayRef<Expr>) -> Exprs {
               body(named(first, name));
               return {};
             });
    if (whole < size)
      body(b.index(size - step));
  }

  void inRegister(ArrayRef<Expr> position, Expr column, Expr channel) {
    int64_t wide = form.lanes.front();
    Exprs sums(lanes / wide,
               b.broadcast(b.constant(0, elementOf(conv.getResult())), wide));
    if (weightsFitRegisters()) {
      WindowAxis rows = axes.front();
      for (int64_t k = 0; k < rows.kernel; ++k) {
        Expr at = position[1] * double(rows.stride) + double(k * rows.dilation);
        sums = kernelRowOf(b.index(k),
                           {position[0], named(at, "input_row_" + Twine(k))},
                           column, channel, sums);
      }
    } else {
      sums = overKernel(
          b, ArrayRef(axes).drop_back(), position, sums,
          [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
            return kernelRowOf(kernelRow, at, column, channel,
                               Exprs(carried.begin(), carried.end()));
          });
    }
    Tile tile = tileOf(sums);
    storeTile(
        b, tile, conv.getResult(),
        [&](int64_t later, Expr at) {
          return tilePosition(position, column, later, at);
        },
        channel,
        [&](Expr sum, Expr at) {
          return conv.getBias() ? sum + b.load(conv.getBias(), {at}) : sum;
        });
  }

  /// Whether those of a whole window stay in registers from one position to the next, as
  /// they do once it is unrolled, beside the sums and what is interleaved.
  bool weightsFitRegisters() const {
    int64_t groups = llvm::divideCeil(columns.kernel, form.group);
    return axes.size() == 2 &&
           axes.front().kernel * groups * (lanes / form.lanes.front()) <=
               b.target.vectorRegisters / 2;
  }

  /// Adds one kernel row.
  Exprs kernelRowOf(Expr kernelRow, ArrayRef<Expr> at, Expr column,
                    Expr channel, Exprs sums) {
    Type type = elementOf(conv.getX());
    Value x = b.bufferOf(conv.getX());
    int64_t groups = llvm::divideCeil(columns.kernel, form.group),
            wide = form.lanes.front();
    Expr start = named(column * double(columns.stride), "first_input_column");
    auto load = [&](int64_t offset) {
      Exprs place(at.begin(), at.end());
      place.push_back(
          named(start + double(offset), "input_column_" + Twine(offset)));
      place.push_back(channel);
      return b.withLanes(wide * form.group,
                         [&] { return b.loadFrom(x, type, place); });
    };
    // Of each second position: those at even and at odd columns from an offset on.
    std::map<int64_t, std::array<Expr, 2>> halves;
    auto tap = [&](int64_t offset) {
      if (channels >= lanes || columns.stride == 1)
        return load(offset);
      int64_t even = offset / 2 * 2;
      auto [found, isNew] = halves.try_emplace(even);
      if (isNew) {
        Exprs both{load(even), load(even + lanes / channels)};
        for (int64_t odd : {0, 1})
          found->second[odd] = eachSecond(both, odd);
      }
      return found->second[offset % 2];
    };
    for (int64_t g = 0; g < groups; ++g) {
      Exprs taps;
      for (int64_t k = g * form.group;
           k < std::min(columns.kernel, (g + 1) * form.group); ++k)
        taps.push_back(named(tap(k * columns.dilation), "x_" + Twine(k)));
      Exprs parts = interleaveInParts(b, taps, form.group, wide * form.group);
      Expr step = named(kernelRow * double(groups) + double(g), "group");
      for (auto [v, sum] : llvm::enumerate(sums)) {
        Expr weights = weightsAt(step, channel, int64_t(v) * wide);
        sum.value = kernel::DotOp::create(
            b.builder, b.loc, sum.value.getType(), parts[v].value,
            weights.value, sum.value, type.isUnsignedInteger(),
            elementOf(conv.getW()).isUnsignedInteger());
      }
    }
    return sums;
  }

  /// The channels of positions `odd`, `odd` + 2, ... of two registers.
  Expr eachSecond(ArrayRef<Expr> both, int64_t odd) {
    SmallVector<int64_t> order;
    for (int64_t position = odd; position < 2 * lanes / channels; position += 2)
      for (int64_t c = 0; c < channels; ++c)
        order.push_back(position * channels + c);
    return b.wrap(vector::ShuffleOp::create(b.builder, b.loc, both[0].value,
                                            both[1].value, order),
                  both[0].type);
  }

  /// The weights of the channels of one vector of sums.
  Expr weightsAt(Expr step, Expr channel, int64_t offset) {
    int64_t count = std::min(form.lanes.front(), channels);
    Expr at = step * double(channels * form.group) +
              (channel + double(offset % channels)) * double(form.group);
    Expr once = b.withLanes(count * form.group, [&] {
      return b.loadFrom(panels.buffer, panels.type, {named(at, "at_step")});
    });
    return joined(b, Exprs(form.lanes.front() / count, once));
  }

  /// Neighbouring positions as rows.
  Tile tileOf(ArrayRef<Expr> sums) {
    int64_t wide = form.lanes.front(),
            columnsOfTile = std::min(channels, lanes),
            part = std::min(wide, columnsOfTile);
    Tile tile;
    tile.rows = lanes / columnsOfTile;
    tile.columns = {SmallVector<int64_t>(columnsOfTile / part, part),
                    columnsOfTile};
    for (const Expr &sum : sums)
      for (int64_t from = 0; from < wide; from += part)
        tile.sums.push_back(lanesOf(b, sum, from, part));
    return tile;
  }

  KernelBuilder &b;
  ConvOp conv;
  SmallVector<WindowAxis> axes;
  WindowAxis columns;
  PackedPanels panels;
  DotForm form;
  int64_t channels, lanes;
};

class IntegerDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupView group,
               const TargetDescription &target) const override {
    ConvOp conv = integerFiltersOf(group);
    return conv && depthwiseLanes(conv, target) > 0 &&
           llvm::all_of(
               windowAxes(conv),
               [](const WindowAxis &axis) { return axis.hasNoBorders(); }) &&
           reachesInside(conv, target);
  }

  /// Whether the input has what is loaded beside the last window of a row.
  static bool reachesInside(ConvOp conv, const TargetDescription &target) {
    WindowAxis columns = windowAxes(conv).back();
    int64_t reach = (columns.kernel - 1) * columns.dilation + 1;
    return ((columns.output - 1) * columns.stride + reach +
            depthwiseOverreach(conv, target) - columns.input)
               .most() <= 0;
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 1 << 16}};
    return keys;
  }
  SmallVector<Plan> plans(GroupView group,
                          const TargetDescription &target) const override {
    auto conv = cast<ConvOp>(group.anchor());
    return {
        Plan(conv.getContext(), {{"columns", depthwiseLanes(conv, target)}})};
  }
  std::string refuse(GroupView group, const Plan &plan,
                     const TargetDescription &target) const override {
    int64_t lanes = depthwiseLanes(cast<ConvOp>(group.anchor()), target);
    return plan.number("columns") == lanes
               ? ""
               : "its plan has " + std::to_string(plan.number("columns")) +
                     " columns, not " + std::to_string(lanes);
  }
  void pack(GroupOp group, const Plan &,
            const TargetDescription &target) const override {
    auto conv = cast<ConvOp>(GroupView{&group.getBody().front()}.anchor());
    packPanels(group, conv->getOpOperand(1), shapeOf(conv.getResult()).back(),
               /*tail=*/0, depthwiseForm(conv, target)->group, /*axes=*/2);
  }

  void emit(KernelBuilder &b) const override {
    DepthwiseInRegisters(b, cast<ConvOp>(b.group.anchor())).emit();
  }
};

} // namespace

std::unique_ptr<Strategy> createIntegerDepthwiseStrategy() {
  return std::make_unique<IntegerDepthwiseStrategy>();
}

} // namespace ingot::schedule
