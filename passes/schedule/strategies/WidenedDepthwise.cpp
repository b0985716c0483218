// Depthwise convolutions of int8 on targets whose vectors multiply 16-bit
// integers with 32-bit sums, lane by lane (kernel.dot with one product per
// lane).
//
// Vectors run along the channels. Inputs minus their zero point fit into 16
// bits, so positions outside of the input add nothing and need no padding. Each
// input vector is loaded and widened once per kernel row, and its two halves
// are multiplied for all kernel columns that read it:
//
//   8 x i8  x                    extended, minus the zero point: 8 x i16
//   sums of channels 0 to 3   += lower half of x * lower half of w : 4 x i32
//   sums of channels 4 to 7   += upper half of x * upper half of w : 4 x i32

#include "dialects/kernel/DotLane.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/DotForm.h"
#include "passes/schedule/tiles/NarrowStorage.h"
#include "passes/schedule/tiles/TileChoice.h"
#include "passes/schedule/tiles/TileStore.h"

#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// The number of vectors of 32-bit sums for a vector of 16-bit inputs.
constexpr int64_t halves = 2;

/// Emits the loops of a group's depthwise convolution.
class DepthwiseInHalves {
public:
  DepthwiseInHalves(KernelBuilder &b, ConvOp conv)
      : b(b), conv(conv), axes(windowAxes(conv)), columns(axes.back()),
        word(b.builder.getIntegerType(16, /*isSigned=*/true)),
        lanes(b.target.maxLanes(word)), weights(weightsOf(b, conv)) {}

  void emit() {
    ArrayRef<int64_t> y = shapeOf(conv.getResult());
    Dim rows = product(ArrayRef(dimsOf(conv.getResult())).drop_back(2));
    b.parallelFor(
        rows, y.back() / lanes, [&](Expr row, const KernelBuilder::Part &part) {
          Exprs position = rowPosition(b, row, dimsOf(conv.getResult()));
          forColumnTiles(
              b, columns, b.plan.number("columns"),
              [&](Expr first, TilePlace place, int64_t count) {
                b.forLanes(part, y.back(), word, [&](Expr channel, int64_t) {
                  named(channel, "channel");
                  tileOf(position, first, place, count, channel);
                });
              });
        });
  }

private:
  /// Returns the weights as a matrix with a row of kernel columns for each
  /// other kernel position.
  static StoredOperand weightsOf(KernelBuilder &b, ConvOp conv) {
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    int64_t rows = ShapedType::getNumElements(w.drop_back(3));
    return StoredOperand(b, conv.getW(), {rows, w.end()[-3], w.back()});
  }

  /// Emits `count` output positions of a row, from `first` on, for the channels
  /// of one vector.
  void tileOf(ArrayRef<Expr> position, Expr first, const TilePlace &place,
              int64_t count, Expr channel) {
    int64_t ofHalf = lanes / halves;
    Tile tile{count, {{}, lanes}, {}};
    tile.columns.lanes.assign(halves, ofHalf);
    Exprs start;
    for (int64_t half = 0; half < halves; ++half)
      start.push_back(startOf(channel, half * ofHalf, ofHalf));
    for (int64_t p = 0; p < count; ++p)
      tile.sums.append(start);
    Exprs starts = tile.sums;
    tile.sums = overKernel(
        b, ArrayRef(axes).drop_back(), position, starts,
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
          tile.sums.assign(carried.begin(), carried.end());
          addKernelRow(tile, kernelRow, at, first, place, channel);
          return tile.sums;
        });
    storeTile(
        b, tile, conv.getResult(),
        [&](int64_t later, Expr at) {
          return tilePosition(position, first, later, at);
        },
        channel);
  }

  /// Returns the bias of `count` channels from `channel` + `offset` on, or
  /// zeros.
  Expr startOf(Expr channel, int64_t offset, int64_t count) {
    if (!conv.getBias())
      return b.broadcast(b.constant(0, elementOf(conv.getResult())), count);
    Expr at = offset ? channel + double(offset) : channel;
    return named(
        b.withLanes(count, [&] { return b.load(conv.getBias(), {at}); }),
        "bias_" + Twine(offset));
  }

  /// Adds the products of one kernel row to the sums of a tile.
  void addKernelRow(Tile &tile, Expr kernelRow, ArrayRef<Expr> at, Expr first,
                    const TilePlace &place, Expr channel) {
    Expr start = named(first * double(columns.stride) - double(columns.low),
                       "first_input_column");
    std::map<int64_t, Expr> inputs;
    for (int64_t k = 0; k < columns.kernel; ++k) {
      auto [lo, hi] = columns.inside(k, place, tile.rows);
      if (lo >= hi)
        continue;
      Expr w = named(
          widened(b.withLanes(
              lanes,
              [&] { return weights.load({kernelRow, b.index(k), channel}); })),
          "w_" + Twine(k));
      for (int64_t p = lo; p < hi; ++p) {
        int64_t offset = p * columns.stride + k * columns.dilation;
        auto [x, isNew] = inputs.try_emplace(offset);
        if (isNew)
          x->second =
              named(inputAt(at, start, offset, channel), "x_" + Twine(offset));
        for (int64_t half = 0; half < halves; ++half) {
          Expr &sum = tile.at(p, half);
          auto dot = kernel::DotOp::create(
              b.builder, b.loc, sum.value.getType(), x->second.value, w.value,
              sum.value, /*a_unsigned=*/false, /*b_unsigned=*/false);
          dot->setAttr(kernel::kUpperHalfAttr, b.builder.getBoolAttr(half > 0));
          sum.value =
              kernel::nameValue(dot.getResult(), tile.nameAt("sum", p, half));
        }
      }
    }
  }

  /// Returns the inputs minus their zero point at the input column with number
  /// `offset` after column `start`.
  Expr inputAt(ArrayRef<Expr> at, Expr start, int64_t offset, Expr channel) {
    Exprs place(at.begin(), at.end());
    place.push_back(
        named(start + double(offset), "input_column_" + Twine(offset)));
    place.push_back(channel);
    Expr x =
        widened(b.withLanes(lanes, [&] { return b.load(conv.getX(), place); }));
    int64_t zero = conv.getXZero();
    return zero ? x - b.broadcast(b.constantInt(zero, word), lanes) : x;
  }

  Expr widened(Expr narrow) {
    auto type = VectorType::get({lanes}, b.builder.getI16Type());
    Value wide =
        narrow.type.isUnsignedInteger()
            ? arith::ExtUIOp::create(b.builder, b.loc, type, narrow.value)
                  .getResult()
            : arith::ExtSIOp::create(b.builder, b.loc, type, narrow.value)
                  .getResult();
    return b.wrap(wide, word);
  }

  KernelBuilder &b;
  ConvOp conv;
  SmallVector<WindowAxis> axes;
  WindowAxis columns;
  Type word;
  int64_t lanes;
  StoredOperand weights;
};

class WidenedDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    auto conv = dyn_cast_or_null<ConvOp>(group.anchor());
    return conv && group.results().size() == 1 && !group.hasDynamicSizes() &&
           isa<BlockArgument>(conv.getX()) && isa<BlockArgument>(conv.getW()) &&
           shapeOf(conv.getResult()) == shapeOf(group.results()[0]) &&
           filtersWidened(conv, group.target);
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 64}};
    return keys;
  }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto conv = cast<ConvOp>(group.anchor());
    WindowAxis axis = windowAxes(conv).back();
    Ranking<int64_t> ranking(/*tolerance=*/0.001);
    for (int64_t width = 1; width <= mostColumns(axis, group.target); ++width)
      ranking.add(width, rowInstructions(axis, width));
    return plansOf(std::move(ranking).ranked(1), [&](int64_t width) {
      return Plan(conv.getContext(), {{"columns", width}});
    });
  }

  void emit(KernelBuilder &b) const override {
    DepthwiseInHalves(b, cast<ConvOp>(b.group.anchor())).emit();
  }

private:
  /// Returns the maximum number of output positions of a tile whose sums fit
  /// the registers, beside the inputs of one kernel row, a vector of weights
  /// and the zero point.
  static int64_t mostColumns(const WindowAxis &axis,
                             const TargetDescription &target) {
    int64_t most = 1;
    auto needed = [&](int64_t count) {
      return halves * count + (count - 1) * axis.stride + axis.reach() + 3;
    };
    while (most < axis.output.most() &&
           needed(most + 1) <= int64_t(target.vectorRegisters))
      ++most;
    return most;
  }

  /// Returns the instructions for one result row, one kernel row and one vector
  /// of channels, in tiles of `width` positions.
  static double rowInstructions(const WindowAxis &axis, int64_t width) {
    // An input and a weight are loaded and widened; besides, a loop over kernel
    // rows takes some instructions per tile.
    constexpr int64_t ofLoad = 2, ofLoop = 8;
    auto ofTile = [&](int64_t count) {
      int64_t inputs = std::min((count - 1) * axis.stride + axis.reach() + 1,
                                count * axis.kernel);
      return halves * count * axis.kernel + ofLoad * (inputs + axis.kernel) +
             ofLoop;
    };
    int64_t all = axis.output.most(), rest = all % width;
    return double(all / width * ofTile(width) + (rest ? ofTile(rest) : 0));
  }
};

} // namespace

std::unique_ptr<Strategy> createWidenedDepthwiseStrategy() {
  return std::make_unique<WidenedDepthwiseStrategy>();
}

} // namespace ingot::schedule
