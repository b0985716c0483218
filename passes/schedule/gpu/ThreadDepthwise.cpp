// Depthwise convolutions on a device.
//
// A thread computes some adjacent channels of some adjacent positions in a row;
// their sums and the weights of a kernel row stay in registers. As channels are
// contiguous, a thread loads up to 16 bytes at once and a warp reads contiguous
// memory. A thread loads each input once for all its positions that use it.
//
//   for each kernel row that is inside of the input:
//     w <- weights of the kernel row
//     for each input column in the windows of the positions:
//       x <- input, or zero outside of it
//       for each position: sums[position] += x * w[kernel column]
//   result = epilogue(sums)
//
// With one thread per element, 3 x 3 weights take 18 loads and 9 multiply-adds
// per element; 4 positions of 4 channels take 27 loads and 144 multiply-adds
// together.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/PlanFields.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/TileChoice.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// How many channels and output columns one thread computes.
struct DepthwiseTile {
  int64_t channels, columns;
};

class ThreadDepthwiseKernel {
public:
  ThreadDepthwiseKernel(KernelBuilder &b, ConvOp conv, DepthwiseTile tile)
      : b(b), conv(conv), tile(tile), axes(windowAxes(conv)),
        last(axes.back()) {}

  void emit() {
    ArrayRef<int64_t> y = shapeOf(conv.getResult());
    int64_t groups = y.back() / tile.channels;
    Dim tiles = (last.output + (tile.columns - 1)).floorDiv(tile.columns),
        rows = product(ArrayRef(dimsOf(conv.getResult())).drop_back(2));
    int64_t threads = b.target.device.blockThreads;
    b.onThreads(rows * tiles * groups, threads, [&](Expr part) {
      firstChannel =
          named(part % double(groups) * double(tile.channels), "first_channel");
      Exprs at = b.delinearize(named(part / double(groups), "place"),
                               Dims{rows, tiles});
      firstColumn = named(at[1] * double(tile.columns), "first_column");
      position = rowPosition(b, named(at[0], "row"), dimsOf(conv.getResult()));
      store(overKernel(
          b, ArrayRef(axes).drop_back(), position, firstSums(),
          [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
            return rowOfTaps(kernelRow, at, carried);
          }));
    });
  }

private:
  bool fitsColumns() const {
    return last.output.known() && *last.output.known() % tile.columns == 0;
  }
  Expr channelAt(int64_t c) {
    return c ? named(firstChannel + double(c), "channel_" + Twine(c))
             : firstChannel;
  }
  bool startsWithBias() { return conv.getBias() && !b.group.isStrict(); }

  Exprs firstSums() {
    Exprs ofPosition;
    for (int64_t c = 0; c < tile.channels; ++c)
      ofPosition.push_back(
          startsWithBias()
              ? named(b.load(conv.getBias(), {channelAt(c)}), "bias")
              : b.constant(0, elementOf(conv.getResult())));
    Exprs sums;
    for (int64_t p = 0; p < tile.columns; ++p)
      llvm::append_range(sums, ofPosition);
    return sums;
  }

  /// Loads this thread's channels of `tensor`, the input or the weights. `at`
  /// is the index without the channel.
  Exprs channelsOf(Value tensor, Exprs at, StringRef name) {
    Exprs values;
    at.push_back(firstChannel);
    for (int64_t c = 0; c < tile.channels; ++c) {
      at.back() = channelAt(c);
      values.push_back(named(b.load(tensor, at), name + "_" + Twine(c)));
    }
    return values;
  }
  Exprs weightsAt(Expr kernelRow, int64_t column) {
    ArrayRef<int64_t> shape = shapeOf(conv.getW());
    Exprs at = b.delinearize(kernelRow, shape.drop_back(3));
    at.push_back(b.index(column));
    at.push_back(b.index(0));
    return channelsOf(conv.getW(), at, "w");
  }

  Exprs rowOfTaps(Expr kernelRow, ArrayRef<Expr> outer,
                  ArrayRef<Expr> carried) {
    Exprs sums(carried);
    SmallVector<Exprs> weights;
    for (int64_t k = 0; k < last.kernel; ++k)
      weights.push_back(weightsAt(kernelRow, k));
    Expr start = named(firstColumn * double(last.stride) - double(last.low),
                       "first_input_column");
    for (int64_t at = 0; at <= (tile.columns - 1) * last.stride + last.reach();
         ++at) {
      SmallVector<std::pair<int64_t, int64_t>> taps;
      for (int64_t p = 0; p < tile.columns; ++p)
        if (int64_t from = at - p * last.stride;
            from >= 0 && from <= last.reach() && from % last.dilation == 0)
          taps.push_back({p, from / last.dilation});
      if (taps.empty())
        continue;
      Exprs x = inputsAt(outer, named(start + double(at), "input_column"));
      for (auto [p, k] : taps)
        for (int64_t c = 0; c < tile.channels; ++c) {
          Expr &sum = sums[p * tile.channels + c];
          sum = named(fma(x[c], weights[k][c], sum),
                      "sum_" + Twine(p) + "_" + Twine(c));
        }
    }
    return sums;
  }

  /// Loads this thread's channels of an input column; zeros outside of the
  /// input.
  Exprs inputsAt(ArrayRef<Expr> outer, Expr column) {
    Exprs at(outer);
    at.push_back(column);
    if (last.hasNoBorders() && fitsColumns())
      return channelsOf(conv.getX(), at, "x");
    Expr inside = (column >= 0.0) & (column < b.size(last.input));
    Type type = computeType(elementOf(conv.getX()));
    auto branch = scf::IfOp::create(
        b.builder, b.loc, SmallVector<Type>(tile.channels, type), inside.value,
        /*withElseRegion=*/true);
    auto yield = [&](Region &region, llvm::function_ref<Exprs()> values) {
      OpBuilder::InsertionGuard guard(b.builder);
      b.builder.setInsertionPointToStart(&region.front());
      scf::YieldOp::create(
          b.builder, b.loc,
          llvm::map_to_vector(values(), [](Expr e) { return e.value; }));
    };
    yield(branch.getThenRegion(),
          [&] { return channelsOf(conv.getX(), at, "x"); });
    yield(branch.getElseRegion(), [&] {
      return Exprs(tile.channels, b.constant(0, elementOf(conv.getX())));
    });
    Exprs x;
    for (auto [c, value] : llvm::enumerate(branch.getResults()))
      x.push_back(
          named(b.wrap(value, elementOf(conv.getX())), "x_" + Twine(c)));
    return x;
  }

  /// Stores the results. All channels of a position are computed before the
  /// first one is stored, so that the compiler merges the stores.
  void store(ArrayRef<Expr> sums) {
    for (int64_t p = 0; p < tile.columns; ++p) {
      Expr column = named(firstColumn + double(p), "column_" + Twine(p));
      auto one = [&] {
        Exprs results;
        auto placeOf = [&](int64_t c) {
          Exprs at(position);
          at.append({column, channelAt(c)});
          return at;
        };
        for (int64_t c = 0; c < tile.channels; ++c) {
          Expr sum = sums[p * tile.channels + c];
          if (conv.getBias() && !startsWithBias())
            sum = sum + b.load(conv.getBias(), {channelAt(c)});
          b.bindElement(conv.getResult(), sum);
          results.push_back(b.load(b.result(), placeOf(c)));
        }
        b.unbindElement(conv.getResult());
        for (int64_t c = 0; c < tile.channels; ++c)
          b.store(0u, results[c], placeOf(c));
      };
      p == 0 || fitsColumns() ? one()
                              : b.when(column < b.size(last.output), one);
    }
  }

  KernelBuilder &b;
  ConvOp conv;
  DepthwiseTile tile;
  SmallVector<WindowAxis> axes;
  WindowAxis last;
  Expr firstChannel, firstColumn;
  Exprs position;
};

class ThreadDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvOp conv = depthwiseOf(group);
    return conv && isa<FloatType>(elementOf(conv.getResult())) &&
           tensorType(conv.getResult()).getNumElements() > 0;
  }
  bool takesDynamicSizes() const override { return true; }

  ArrayRef<PlanKey> planKeys() const override { return fields.keys(); }

  SmallVector<Plan> plans(GroupOnTarget group) const override {
    ConvOp conv = depthwiseOf(group);
    Ranking<DepthwiseTile> ranking;
    for (int64_t channels : {4, 2, 1, 8})
      for (int64_t columns : {1, 2, 4, 8})
        if (DepthwiseTile tile{channels, columns}; refuse(conv, tile).empty())
          ranking.add(tile, seconds(conv, tile, group.target));
    return fields.plans(conv->getContext(), std::move(ranking).ranked({1, 1}));
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    return refuse(depthwiseOf(group), fields.tileOf(plan));
  }

  void emit(KernelBuilder &b) const override {
    ThreadDepthwiseKernel(b, depthwiseOf(b.group), fields.tileOf(b.plan))
        .emit();
  }

private:
  static inline const PlanFields<DepthwiseTile> fields = {
      {{"channels", 1, 8}, &DepthwiseTile::channels},
      {{"columns", 1, 16}, &DepthwiseTile::columns}};

  static std::string refuse(ConvOp conv, DepthwiseTile tile) {
    int64_t all = shapeOf(conv.getResult()).back();
    if (all % tile.channels)
      return std::to_string(tile.channels) +
             " channels of a thread must divide the number of channels, " +
             std::to_string(all);
    // Registers of a thread: for sums, weights of a kernel row, inputs of a
    // column, and 40 others.
    int64_t registers =
        tile.channels * (tile.columns + windowAxes(conv).back().kernel + 1) +
        40;
    constexpr int64_t most = 160;
    if (registers > most)
      return "each thread uses about " + std::to_string(registers) +
             " registers, but can use at most " + std::to_string(most);
    return "";
  }

  /// Estimates the time of a kernel: that of its traffic at memory bandwidth,
  /// or that of its instructions, whichever is longer. An SM starts 128
  /// instructions of single threads per cycle if it has 512 threads. A load
  /// takes one instruction per 16 bytes and four for the address, and a warp's
  /// load takes a cycle per 128 bytes.
  static double seconds(ConvOp conv, DepthwiseTile tile,
                        const TargetDescription &target) {
    const Device &device = target.device;
    constexpr double clock = 1.5e9;
    WindowAxis last = windowAxes(conv).back();
    ArrayRef<int64_t> y = shapeOf(conv.getResult()), w = shapeOf(conv.getW());
    double size = double(bytesOf(elementOf(conv.getX())));
    double rows = double(ShapedType::getNumElements(y.drop_back(2)));
    double threads =
        rows * double(llvm::divideCeil(last.output.most(), tile.columns) *
                      (y.back() / tile.channels));
    double kernelRows = double(ShapedType::getNumElements(w.drop_back(3))),
           inputs = double((tile.columns - 1) * last.stride + last.reach() + 1);
    double channels = double(tile.channels);
    auto loads = [&](double bytes) {
      double vectors = std::ceil(channels * bytes / 16);
      return vectors * 5 + channels * bytes / 4;
    };
    double selects = last.hasNoBorders() ? 0 : 6;
    double instructions =
        kernelRows *
            (inputs * (loads(size) + selects) + double(last.kernel) * loads(4) +
             double(tile.columns * last.kernel) * channels) +
        double(tile.columns) * (4 * channels + 6) + 30;
    double busy = std::min(1.0, threads / (512.0 * device.multiprocessors));
    double bytes = (double(tensorType(conv.getX()).getNumElements()) +
                    double(tensorType(conv.getResult()).getNumElements())) *
                   size;
    return std::max(instructions * threads / (128 * device.multiprocessors) /
                        clock,
                    bytes / device.bytesPerSecond) /
           busy;
  }
};

} // namespace

std::unique_ptr<Strategy> createThreadDepthwiseStrategy() {
  return std::make_unique<ThreadDepthwiseStrategy>();
}

} // namespace ingot::schedule
