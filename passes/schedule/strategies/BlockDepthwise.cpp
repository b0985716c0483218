// Depthwise convolutions of int8 on targets that interleave vectors only within
// 128-bit blocks.
//
// A dot-product instruction sums groups of four adjacent int8 products
// (kernel.dot). Each group consists of four kernel columns, as in
// IntegerDepthwise.cpp. A permutation of 32-bit words first moves the channels
// so that they are in order after four columns have been interleaved block by
// block:
//
//   32-bit words of x at one column
//   (64 bytes, 4 channels per word)    0 1 2 3 | 4 5 6 7 | ..
//   words permuted                     0 4 8 12 | 1 5 9 13 | ..
//   interleaved with the same words of the three other columns:
//     first vector                     0 | 1 | 2 | 3   for channels 0 to 15
//     second vector                    4 | 5 | 6 | 7   for channels 16 to 31
//
// Output positions whose windows lie in the same four columns share the
// interleaved vectors: the weights of each position are shifted instead.
//
//   position 0: w0 w1 w2 0     position 1: 0 w0 w1 w2
//
// Columns outside of the input are zero. Channels that remain after the widest
// registers are computed in narrower ones; the last of these may recompute some
// channels.

#include "dialects/kernel/LoopAttributes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/DotForm.h"
#include "passes/schedule/tiles/TileStore.h"

#include <map>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

constexpr int64_t group = 4, blockBytes = 16;

/// Emits the loops of a group's depthwise convolution.
class DepthwiseInBlocks {
public:
  DepthwiseInBlocks(KernelBuilder &b, ConvOp conv)
      : b(b), conv(conv), axes(windowAxes(conv)), columns(axes.back()),
        panels(*PackedPanels::of(b, conv.getW())),
        channels(shapeOf(conv.getResult()).back()),
        groups(llvm::divideCeil(columns.kernel, group)) {}

  void emit() {
    ArrayRef<int64_t> y = shapeOf(conv.getResult());
    b.parallelFor(ShapedType::getNumElements(y.drop_back(2)), [&](Expr row) {
      Exprs position = rowPosition(b, row, dimsOf(conv.getResult()));
      int64_t done = 0;
      for (int64_t bytes : b.target.vectorBytes) {
        if (bytes < blockBytes)
          break;
        int64_t whole = done + (channels - done) / bytes * bytes;
        overChannels(done, whole, bytes, position);
        done = whole;
      }
      if (done < channels)
        overChannels(channels - blockBytes, channels, blockBytes, position);
    });
  }

private:
  void overChannels(int64_t first, int64_t end, int64_t bytes,
                    ArrayRef<Expr> position) {
    auto body = [&](Expr channel) {
      forColumnTiles(b, columns, b.plan.number("columns"),
                     [&](Expr column, TilePlace place, int64_t count) {
                       tileOf(position, column, place, count, channel, bytes);
                     });
    };
    if (first + bytes == end)
      body(b.index(first));
    else if (first < end)
      b.loop(b.index(first), b.index(end), bytes, {},
             [&](Expr channel, ArrayRef<Expr>) -> Exprs {
               body(named(channel, "channel"));
               return {};
             });
  }

  /// Emits `count` output positions of a row from `column` on, for `bytes`
  /// channels from `channel` on.
  void tileOf(ArrayRef<Expr> position, Expr column, const TilePlace &place,
              int64_t count, Expr channel, int64_t bytes) {
    int64_t lanes = bytes / group;
    Tile tile;
    tile.rows = count;
    tile.columns = {SmallVector<int64_t>(group, lanes), bytes};
    Type sum = elementOf(conv.getResult());
    for (int64_t row = 0; row < count; ++row)
      for (int64_t v = 0; v < group; ++v) {
        Expr at =
            named(channel + double(v * lanes), "channel_" + Twine(v * lanes));
        tile.sums.push_back(
            conv.getBias()
                ? b.withLanes(lanes,
                              [&] { return b.load(conv.getBias(), {at}); })
                : b.broadcast(b.constant(0, sum), lanes));
      }
    tile.sums = overKernel(
        b, ArrayRef(axes).drop_back(), position, tile.sums,
        [&](Expr kernelRow, ArrayRef<Expr> at, ArrayRef<Expr> carried) {
          unrollRows();
          Exprs sums(carried.begin(), carried.end());
          addKernelRow(kernelRow, at, column, place, count, channel, bytes,
                       sums);
          return sums;
        });
    storeTile(
        b, tile, conv.getResult(),
        [&](int64_t later, Expr at) {
          return tilePosition(position, column, later, at);
        },
        channel);
  }

  /// Makes compilers unroll the loop over kernel rows at the insertion point, if
  /// there is one and all rows are inside of the input: its body is short.
  void unrollRows() {
    auto loop =
        dyn_cast<scf::ForOp>(b.builder.getInsertionBlock()->getParentOp());
    constexpr int64_t most = 4;
    if (!loop)
      return;
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (trips && trips->sgt(1) && trips->sle(most))
      loop->setAttr(kernel::kUnrollCountAttr,
                    b.builder.getI64IntegerAttr(trips->getSExtValue()));
  }

  void addKernelRow(Expr kernelRow, ArrayRef<Expr> at, Expr column,
                    const TilePlace &place, int64_t count, Expr channel,
                    int64_t bytes, Exprs &sums) {
    // For each input column, counted from the first column of the tile's first
    // window: whether some window reads that column inside of the input.
    SmallVector<bool> isRead;
    for (int64_t k = 0; k < columns.kernel; ++k) {
      auto [lo, hi] = columns.inside(k, place, count);
      for (int64_t p = lo; p < hi; ++p) {
        size_t column = indexOf(p, k);
        isRead.resize(std::max(isRead.size(), column + 1));
        isRead[column] = true;
      }
    }
    for (int64_t g = 0; g * group < int64_t(isRead.size()); ++g) {
      Exprs taps;
      for (int64_t t = g * group; t < (g + 1) * group; ++t)
        taps.push_back(
            t < int64_t(isRead.size()) && isRead[t]
                ? wordsInTurn(load(at, column, t, channel, bytes))
                : b.broadcast(b.constant(0, elementOf(conv.getX())), bytes));
      Exprs parts = interleaved(taps);
      for (int64_t p = 0; p < count; ++p)
        for (int64_t v = 0; v < group; ++v) {
          std::optional<Expr> weights =
              weightsOf(kernelRow, p, g, channel, v * bytes / group, bytes);
          if (!weights)
            continue;
          Expr &sum = sums[p * group + v];
          sum.value = kernel::DotOp::create(
              b.builder, b.loc, sum.value.getType(), parts[v].value,
              weights->value, sum.value, /*a_unsigned=*/true,
              /*b_unsigned=*/false);
          named(sum, "sum_" + Twine(p) + "_" + Twine(v));
        }
    }
  }

  /// Returns the input column that kernel column `k` reads for output position
  /// `position` of the tile, counted from the first column of the tile's first
  /// window.
  int64_t indexOf(int64_t position, int64_t k) const {
    return position * columns.stride + k;
  }

  Expr load(ArrayRef<Expr> at, Expr column, int64_t index, Expr channel,
            int64_t bytes) {
    Exprs place(at.begin(), at.end());
    place.push_back(named(column * double(columns.stride) +
                              double(index * columns.dilation - columns.low),
                          "input_column_" + Twine(index)));
    place.push_back(channel);
    Expr x = b.withLanes(bytes, [&] { return b.load(conv.getX(), place); });
    return named(x, "x_" + Twine(index));
  }

  Expr inLanes(Expr vector, int64_t bits) {
    auto type = cast<VectorType>(vector.value.getType());
    if (type.getElementTypeBitWidth() == bits)
      return vector;
    auto to = VectorType::get(
        {type.getNumElements() * type.getElementTypeBitWidth() / bits},
        b.builder.getIntegerType(bits));
    return b.wrap(vector::BitCastOp::create(b.builder, b.loc, to, vector.value),
                  vector.type);
  }

  /// Permutes the 32-bit words of a vector of n 16-byte blocks: block b of the
  /// result has the words b, b + n, b + 2n and b + 3n of `x`.
  Expr wordsInTurn(Expr x) {
    int64_t bytes = cast<VectorType>(x.value.getType()).getNumElements(),
            blocks = bytes / blockBytes;
    if (blocks == 1)
      return x;
    SmallVector<int64_t> order;
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t part = 0; part < group; ++part)
        order.push_back(part * blocks + block);
    Value words = inLanes(x, 32).value;
    Value moved =
        vector::ShuffleOp::create(b.builder, b.loc, words, words, order);
    return named(inLanes(b.wrap(moved, x.type), 8),
                 kernel::nameOf(x.value) + "_in_turn");
  }

  /// Interleaves the lanes (of `bits` bits) of two vectors: those of the upper
  /// or of the lower half of each 16-byte block.
  Expr zipped(Expr x, Expr y, int64_t bits, bool isUpper) {
    Value a = inLanes(x, bits).value, c = inLanes(y, bits).value;
    Value both =
        isUpper ? kernel::ZipHighOp::create(b.builder, b.loc, a.getType(), a, c)
                      .getResult()
                : kernel::ZipLowOp::create(b.builder, b.loc, a.getType(), a, c)
                      .getResult();
    return inLanes(b.wrap(both, x.type), 8);
  }

  /// Interleaves the inputs at four columns, a vector of channels each. Returns
  /// four vectors of groups; a group is one channel at the four columns.
  Exprs interleaved(ArrayRef<Expr> taps) {
    Exprs parts;
    for (bool isUpper : {false, true}) {
      Expr low = zipped(taps[0], taps[1], 8, isUpper),
           high = zipped(taps[2], taps[3], 8, isUpper);
      for (bool isUpperPair : {false, true})
        parts.push_back(named(zipped(low, high, 16, isUpperPair),
                              "x_part_" + Twine(parts.size())));
    }
    return parts;
  }

  /// Returns the weights by which output position number `position` of a tile
  /// multiplies group `g` of interleaved columns: its packed weights, shifted
  /// by the distance of its window from the first window. Nothing if all are
  /// zero.
  std::optional<Expr> weightsOf(Expr kernelRow, int64_t position, int64_t g,
                                Expr channel, int64_t offset, int64_t bytes) {
    int64_t distance = position * columns.stride, own = g - distance / group,
            bits = distance % group * 8;
    Type word = b.builder.getIntegerType(32, /*isSigned=*/false);
    auto moved = [&](int64_t index, bool isLeft, int64_t by) {
      Expr w = packed(kernelRow, index, channel, offset, bytes);
      if (by == 0)
        return w;
      Expr words{&b, inLanes(w, 32).value, word},
          count = b.broadcast(b.constantInt(by, word), bytes / group);
      return inLanes({&b,
                      isLeft ? arith::ShLIOp::create(b.builder, b.loc,
                                                     words.value, count.value)
                                   .getResult()
                             : arith::ShRUIOp::create(b.builder, b.loc,
                                                      words.value, count.value)
                                   .getResult(),
                      w.type},
                     8);
    };
    auto exists = [&](int64_t index) { return index >= 0 && index < groups; };
    std::optional<Expr> result;
    if (exists(own))
      result = moved(own, /*isLeft=*/true, bits);
    if (bits > 0 && exists(own - 1) &&
        own * group - bits / 8 < columns.kernel) {
      Expr before = moved(own - 1, /*isLeft=*/false, 32 - bits);
      result = result ? *result | before : before;
    }
    return result;
  }

  /// Loads the packed weights of one kernel row for group number `index` of
  /// kernel columns, for `bytes` / 4 channels from `channel` + `offset` on.
  Expr packed(Expr kernelRow, int64_t index, Expr channel, int64_t offset,
              int64_t bytes) {
    Expr step = kernelRow * double(groups) + double(index);
    Expr at = named(step * double(channels * group) +
                        (channel + double(offset)) * double(group),
                    "at_step");
    return b.withLanes(
        bytes, [&] { return b.loadFrom(panels.buffer, panels.type, {at}); });
  }

  KernelBuilder &b;
  ConvOp conv;
  SmallVector<WindowAxis> axes;
  WindowAxis columns;
  PackedPanels panels;
  int64_t channels, groups;
};

class BlockDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvOp conv = integerFiltersOf(group);
    return conv && filtersInBlocks(conv, group.target) &&
           (shapeOf(conv.getW()).back() % blockBytes == 0 ||
            !mayBeInPlace(group));
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 16}};
    return keys;
  }
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto conv = cast<ConvOp>(group.anchor());
    WindowAxis axis = windowAxes(conv).back();
    return {
        Plan(conv.getContext(), {{"columns", columnsOf(axis, group.target)}})};
  }

  void pack(GroupOnTarget group, const Plan &) const override {
    auto conv = cast<ConvOp>(group.anchor());
    packPanels(group.op(), conv->getOpOperand(1),
               shapeOf(conv.getResult()).back(),
               /*tail=*/0, schedule::group, /*axes=*/2);
  }

  void emit(KernelBuilder &b) const override {
    DepthwiseInBlocks(b, cast<ConvOp>(b.group.anchor())).emit();
  }

private:
  /// Returns the columns of a tile: the most output positions whose windows
  /// together read no more groups of four columns than one window, and whose
  /// sums fit the registers beside the interleaved vectors.
  static int64_t columnsOf(const WindowAxis &axis,
                           const TargetDescription &target) {
    int64_t room = llvm::alignTo(axis.kernel, group) - axis.kernel,
            most = axis.dilation == 1 ? room / axis.stride + 1 : 1,
            fitting = (int64_t(target.vectorRegisters) - 2 * group) / group;
    return std::max<int64_t>(1, std::min({most, fitting, axis.output.most()}));
  }
};

} // namespace

std::unique_ptr<Strategy> createBlockDepthwiseStrategy() {
  return std::make_unique<BlockDepthwiseStrategy>();
}

} // namespace ingot::schedule
