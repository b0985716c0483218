// Merges neighbouring columns of the inputs of convolutions with few channels,
// so that devices can read them by 16-byte vector accesses.
//
//   %y = conv(%x: 224x224x3, %w: 7x7x3x64) {strides 2, 2, low 3, 3}
//     ->
//   %p = pad(%x) : 224x224x4           %v = pad(%w) : 7x8x4x64, 1 column before
//   %j = reshape(%p) : 224x112x8       %u = reshape(%v) : 7x4x8x64
//   %y = conv(%j, %u) {strides 2, 1, low 3, 2}
//
// Device blocks copy 16 bytes at a time to the tiles that matrix units
// multiply. If neighbouring channels are not a multiple of 16 bytes, threads
// load single elements and stall (H100 SXM, November 2026: 57 us of the 61 us
// that 16 x 16 x 3 patches took). So as many columns as the stride of the
// window are merged into one, with channels zero-padded to multiples of 16
// bytes. This costs additional multiplications by zero, since windows now begin
// and end at whole merged columns. Windows that do not overlap, such as
// patches, begin and end there anyway.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/decide/KnownValues.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/ExecutionModel.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_JOINCOLUMNS
#include "passes/decide/Passes.h.inc"

namespace {

/// Rewrites one convolution: merges groups of `columns` neighbouring columns of
/// its input and weights, each into the channels of one column.
class Joining {
public:
  Joining(ConvOp conv, int64_t vectorElements)
      : builder(conv), conv(conv), axis(conv.getStrides().size() - 1),
        columns(conv.getStrides().back()),
        channels(shapeOf(conv.getX()).back()) {
    while (columns * channels % vectorElements != 0)
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
  /// Returns the number of columns by which `count` must grow to be a multiple
  /// of `columns`, the number of columns that are merged into one.
  int64_t upToWhole(int64_t count) const {
    return (columns - count % columns) % columns;
  }

  /// Returns `v` with every `columns` neighbouring columns (axis `at`) merged
  /// into the channels of one column. Before that, `v` is padded with zeros:
  /// with `inFront` columns at the beginning, with columns at the end up to a
  /// multiple of `columns`, and with channels up to `channels`.
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
  /// The last spatial axis of the weights, which is axis `axis` + 1 of the
  /// input.
  size_t axis;
  int64_t columns, channels;
};

struct JoinColumnsPass : impl::JoinColumnsBase<JoinColumnsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    if (!schedule::modelOf(target).accessBytes)
      return;
    SmallVector<ConvOp> found;
    getOperation().walk([&](ConvOp conv) {
      if (isByUnits(conv, target) && lacksVectors(conv))
        found.push_back(conv);
    });
    for (ConvOp conv : found)
      Joining(conv, elementsPerVector(conv)).run();
  }

private:
  /// Returns the number of elements in a 16-byte vector access.
  static int64_t elementsPerVector(ConvOp conv) {
    return 128 / elementOf(conv.getX()).getIntOrFloatBitWidth();
  }

  static bool isByUnits(ConvOp conv, const TargetDescription &target) {
    Type type = elementOf(conv.getX());
    return type.isF16() || ((type.isBF16() || conv->hasAttr(kMultipliedAttr)) &&
                            target.device.multipliesBf16());
  }

  /// Whether a convolution with constant weights loads its windows element by
  /// element, and is large enough for padding to pay off.
  static bool lacksVectors(ConvOp conv) {
    // Matrix units are used only for convolutions with at least this number of
    // steps (multiplications per output element) and half as many output
    // channels.
    constexpr int64_t fewest = 16;
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    size_t last = conv.getStrides().size();
    return conv.getGroups() == 1 && conv.getDilations().back() == 1 &&
           conv.getLow().back() >= 0 && isKnown(conv.getW()) &&
           dimsOf(conv.getX())[last].known() &&
           w[last] % elementsPerVector(conv) != 0 && w.back() >= fewest / 2 &&
           ShapedType::getNumElements(w.drop_back()) >= fewest;
  }
};

} // namespace
} // namespace ingot::decide
