// The strategy for depthwise convolutions of integers in whole vector
// registers.
//
// The target must have a dot-product instruction that sums groups of four
// adjacent int8 products (kernel.dot with two vector operands). Here, the four
// products of a group belong to four kernel columns of the same channel. The
// input at these kernel columns is interleaved in registers (StreamInput.h),
// and the weights are packed in the same order. For three kernel columns a, b,
// c of channels 0, 1, ...:
//
//   x, interleaved with a column of zeros       a0 b0 c0 0  a1 b1 c1 0  ..
//   times the packed weights, summed in groups  one 32-bit lane per channel
//
// All windows must be inside of the input; FormIntegerDots pads the input
// before.

#include "passes/schedule/Anchors.h"
#include "passes/schedule/Strategy.h"
#include "passes/schedule/tiles/ColumnTiles.h"
#include "passes/schedule/tiles/StreamLoops.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

class IntegerDepthwiseStrategy : public Strategy {
public:
  bool matches(GroupOnTarget group) const override {
    ConvOp conv = integerFiltersOf(group);
    return conv && ChannelStream::of(conv, group.target) &&
           llvm::all_of(
               windowAxes(conv),
               [](const WindowAxis &axis) { return axis.hasNoBorders(); }) &&
           reachesInside(conv, group.target);
  }

  /// Whether the elements that the kernel loads after the last window of a row,
  /// as it loads whole vectors, are also part of the input.
  static bool reachesInside(ConvOp conv, const TargetDescription &target) {
    WindowAxis columns = windowAxes(conv).back();
    int64_t reach = (columns.kernel - 1) * columns.dilation + 1;
    return ((columns.output - 1) * columns.stride + reach +
            ChannelStream::of(conv, target)->overreach() - columns.input)
               .most() <= 0;
  }

  ArrayRef<PlanKey> planKeys() const override {
    static const PlanKey keys[] = {{"columns", 1, 1 << 16}, {"rows", 1, 2}};
    return keys;
  }
  /// Returns the only plan. With `rows` = 2, two result rows are computed
  /// together, and each input row that both of them read is loaded and
  /// interleaved only once. For a 3x3 window with stride 1, these are 2 of the
  /// 4 input rows.
  SmallVector<Plan> plans(GroupOnTarget group) const override {
    auto conv = cast<ConvOp>(group.anchor());
    ChannelStream stream = *ChannelStream::of(conv, group.target);
    bool sharesRows = isUnrolled(conv, stream, group.target) &&
                      !keepsWeights(conv, stream, group.target) &&
                      shapeOf(conv.getResult())[1] > 1;
    return {Plan(conv.getContext(),
                 {{"columns", stream.lanes}, {"rows", sharesRows ? 2 : 1}})};
  }
  std::string refuse(GroupOnTarget group, const Plan &plan) const override {
    auto conv = cast<ConvOp>(group.anchor());
    ChannelStream stream = *ChannelStream::of(conv, group.target);
    if (plan.number("columns") != stream.lanes)
      return "the plan has " + std::to_string(plan.number("columns")) +
             " columns, but must have " + std::to_string(stream.lanes);
    if (plan.number("rows") > 1 && !isUnrolled(conv, stream, group.target))
      return "the plan has several rows, which requires an unrolled window";
    return "";
  }
  void pack(GroupOnTarget group, const Plan &) const override {
    auto conv = cast<ConvOp>(group.anchor());
    ChannelStream stream = *ChannelStream::of(conv, group.target);
    if (!isa<BlockArgument>(conv.getW()) ||
        !mayBeInPanels(conv.getW(), /*packs=*/true))
      return;
    packWithMore(group.op(), conv->getOpOperand(1), stream, stream.form.group,
                 /*axes=*/2);
    if (!stream.crossesPositions())
      return;
    addBiasBehind(conv);
    // The epilogue's per-channel operands need the layout of the weights, in
    // which the first channels are repeated at the end.
    SmallVector<OpOperand *> uses;
    for (BlockArgument argument : group.block->getArguments())
      if (tensorType(argument).getNumElements() == stream.channels &&
          shapeOf(argument).size() > 1 &&
          shapeOf(argument).back() == stream.channels &&
          mayBeInPanels(argument, /*packs=*/true))
        for (OpOperand &use : argument.getUses())
          if (isa<ElementwiseOpInterface>(use.getOwner()))
            uses.push_back(&use);
    for (OpOperand *use : uses)
      packWithMore(group.op(), *use, stream, /*group=*/1, /*axes=*/1);
  }
  void emit(KernelBuilder &b) const override {
    emitStream(b, cast<ConvOp>(b.group.anchor()));
  }

private:
  /// Packs the operand of `use` with its first channels repeated at the end,
  /// since a vector may begin at any channel and continue with the first
  /// channels of the next position. The UnpackPanelsOp in the group describes
  /// this layout as a tail panel that is wider than the number of channels.
  /// `together` and `axes` are the parameters `steps` and `axes` of packPanels.
  static void packWithMore(GroupOp group, OpOperand &use,
                           const ChannelStream &stream, int64_t together,
                           int64_t axes) {
    Value given =
        group.getInputs()[cast<BlockArgument>(use.get()).getArgNumber()];
    Location loc = use.getOwner()->getLoc();
    OpBuilder builder(group);
    int64_t width = stream.channels + stream.channelsAgain();
    Value all = given;
    if (width > stream.channels) {
      SmallVector<int64_t> none(shapeOf(given).size()), more(none);
      more.back() = stream.channelsAgain();
      Type element = elementOf(given);
      auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                         builder.getZeroAttr(element));
      all = PadOp::create(
          builder, loc, given,
          ConstantOp::create(builder, loc, cast<ElementsAttr>(zero)), none,
          more, "wrap");
    }
    Value packed = PackPanelsOp::create(builder, loc, all, width, /*tail=*/0,
                                        together, axes);
    Value argument = replaceInput(group, use, packed);
    builder.setInsertionPoint(use.getOwner());
    use.set(UnpackPanelsOp::create(builder, loc, given.getType(), argument,
                                   width, width > stream.channels ? width : 0,
                                   together, axes));
  }

  /// Replaces the convolution's bias, if there is one, by an AddOp after the
  /// convolution, so that the bias is read like the other per-channel operands.
  static void addBiasBehind(ConvOp conv) {
    Value bias = conv.getBias();
    auto argument = dyn_cast_or_null<BlockArgument>(bias);
    if (!argument || !argument.hasOneUse())
      return;
    auto group = cast<GroupOp>(conv->getParentOp());
    OpBuilder builder(group);
    int64_t channels = shapeOf(bias).back();
    auto row = RankedTensorType::get({1, channels}, elementOf(bias));
    Value asRow = ReshapeOp::create(builder, conv.getLoc(), row,
                                    group.getInputs()[argument.getArgNumber()]);
    replaceInput(group, conv.getBiasMutable()[0], asRow);
    conv.getBiasMutable().clear();
    builder.setInsertionPointAfter(conv);
    auto sum = AddOp::create(builder, conv.getLoc(), conv.getType(),
                             conv.getResult(), argument);
    conv.getResult().replaceAllUsesExcept(sum, sum);
  }
};

} // namespace

std::unique_ptr<Strategy> createIntegerDepthwiseStrategy() {
  return std::make_unique<IntegerDepthwiseStrategy>();
}

} // namespace ingot::schedule
