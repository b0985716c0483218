// Neighbouring columns of few channels as the channels of one, where devices bring pieces.
//
//   %y = conv(%x: 224x224x3, %w: 7x7x3x64) {strides 2, 2, low 3, 3}
//     ->
//   %p = pad(%x) : 224x224x4           %v = pad(%w) : 7x8x4x64, one column in front
//   %j = reshape(%p) : 224x112x8       %u = reshape(%v) : 7x4x8x64
//   %y = conv(%j, %u) {strides 2, 1, low 3, 2}
//
// Blocks of a device copy 16 bytes at a time to the tiles that matrix units multiply. Where
// neighbouring channels are no multiple of that, threads load each element alone and wait for
// it (H100 SXM, November 2026: 57 us of the 61 that patches of 16 x 16 x 3 took). As many
// columns as a window moves by are therefore one, with as many channels of zeros as fill up
// pieces. What is added is products with zeros: windows begin and end at whole columns. Patches
// that do not overlap have none of them.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/decide/KnownValues.h"
#include "passes/decide/Passes.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_JOINCOLUMNS
#include "passes/decide/Passes.h.inc"

namespace {

/// Replaces one convolution.
class Joining {
public:
  Joining(ConvOp conv, int64_t piece)
      : builder(conv), conv(conv), axis(conv.getStrides().size() - 1),
        columns(conv.getStrides().back()),
        channels(shapeOf(conv.getX()).back()) {
    while (columns * channels % piece != 0)
      ++channels;
  }

  void run() {
    int64_t low = conv.getLow().back(), inFront = upToWhole(low);
    SmallVector<int64_t> strides(conv.getStrides()), lows(conv.getLow());
    strides.back() = 1;
    lows.back() = (low + inFront) / columns;
    Value x = joined(conv.getX(), axis + 1, 0);
    Value w = joined(conv.getW(), axis, inFront);
    auto made = ConvOp::create(builder, conv.getLoc(), conv.getType(), x, w,
                               conv.getBias(), strides, conv.getDilations(),
                               lows, conv.getGroups());
    made->setDiscardableAttrs(conv->getDiscardableAttrDictionary());
    conv.replaceAllUsesWith(made.getResult());
    conv.erase();
  }

private:
  /// How many columns make so many a multiple of those that are joined.
  int64_t upToWhole(int64_t count) const {
    return (columns - count % columns) % columns;
  }

  /// The columns of `v`, behind some of zeros and in front of those that make up the last one,
  /// as channels.
  Value joined(Value v, size_t at, int64_t inFront) {
    Location loc = conv.getLoc();
    Dims sizes = dimsOf(v);
    SmallVector<int64_t> low(sizes.size()), high(sizes.size());
    low[at] = inFront;
    high[at] = upToWhole(inFront + *sizes[at].known());
    high[at + 1] = channels - shapeOf(v)[at + 1];
    if (low[at] + high[at] + high[at + 1] > 0) {
      auto type = RankedTensorType::get({}, elementOf(v));
      Value zero = ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type, builder.getZeroAttr(elementOf(v))));
      v = PadOp::create(builder, loc, v, zero, low, high);
    }
    if (columns == 1)
      return v;
    sizes = dimsOf(v);
    sizes[at] = sizes[at].floorDiv(columns);
    sizes[at + 1] = sizes[at + 1] * columns;
    return buildReshape(builder, loc, v, ArrayRef<Dim>(sizes));
  }

  OpBuilder builder;
  ConvOp conv;
  /// The last axis of the kernel; that of the input has one in front.
  size_t axis;
  int64_t columns, channels;
};

struct JoinColumnsPass : impl::JoinColumnsBase<JoinColumnsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!target.isDevice())
      return;
    SmallVector<ConvOp> found;
    getOperation().walk([&](ConvOp conv) {
      if (isByUnits(conv, target) && lacksPieces(conv))
        found.push_back(conv);
    });
    for (ConvOp conv : found)
      Joining(conv, pieceOf(conv)).run();
  }

private:
  /// Elements of a piece of 16 bytes.
  static int64_t pieceOf(ConvOp conv) {
    return 128 / elementOf(conv.getX()).getIntOrFloatBitWidth();
  }

  static bool isByUnits(ConvOp conv, const TargetDescription &target) {
    Type type = elementOf(conv.getX());
    return type.isF16() || ((type.isBF16() || conv->hasAttr(kMultipliedAttr)) &&
                            target.device.multipliesBFloats());
  }

  /// Whether a convolution of known weights brings its windows element by element, and enough of
  /// them that it is worth to fill up what it reads.
  static bool lacksPieces(ConvOp conv) {
    // Fewer rows, columns or steps are no product of matrix units.
    constexpr int64_t fewest = 16;
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    size_t last = conv.getStrides().size();
    return conv.getGroups() == 1 && conv.getDilations().back() == 1 &&
           conv.getLow().back() >= 0 && isKnown(conv.getW()) &&
           dimsOf(conv.getX())[last].known() && w[last] % pieceOf(conv) != 0 &&
           w.back() >= fewest / 2 &&
           ShapedType::getNumElements(w.drop_back()) >= fewest;
  }
};

} // namespace
} // namespace ingot::decide
