#include "passes/schedule/RowChain.h"

#include "dialects/graph/ElementsData.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/GroupCost.h"
#include "passes/schedule/Plan.h"

#include <numeric>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {
namespace {

/// Whether all operators of `group` are elementwise, except `anchor` and a
/// transpose that computes the input of `anchor`, and no elementwise operator
/// computes that input. The arguments of the group that elementwise operators
/// read must be per-channel vectors or, with `readsWhole`, tensors of the
/// result's type.
bool keepsRows(GroupOp group, ConvOp anchor, bool readsWhole) {
  for (Operation &op : group.getBody().front().without_terminator()) {
    bool isRead = isa<TransposeOp>(op) && op.hasOneUse() &&
                  anchor.getX() == op.getResult(0);
    if (!isa<ElementwiseOpInterface, ConstantOp, UnpackPanelsOp>(op) &&
        &op != anchor && !isRead)
      return false;
    // No elementwise operator may compute the input of the convolution
    // `anchor`.
    if (isa<ElementwiseOpInterface>(op) &&
        llvm::is_contained(op.getUsers(), anchor))
      return false;
  }
  return llvm::all_of(group.getBody().getArguments(), [&](Value input) {
    if (!isEpilogueOperand(input, anchor))
      return true;
    bool ofChannels = tensorType(input).getNumElements() ==
                      (shapeOf(input).empty() ? 1 : shapeOf(input).back());
    return ofChannels ||
           (readsWhole && input.getType() == group.getResult(0).getType());
  });
}

/// Whether `group` has a single result, an f32 tensor of rank 4
/// (two-dimensional images) with static sizes, default strides and no use of
/// the second memory.
bool isPlain(GroupOp group) {
  auto isPlainTensor = [](Value v) {
    return shapeOf(v).size() == 4 && elementOf(v).isF32() &&
           !hasDynamicSizes(v.getType());
  };
  return group.getNumResults() == 1 && !group.getOutputStrides() &&
         !group.getInputStrides() && !group.getSecondMemory() &&
         isPlainTensor(group.getResult(0));
}

/// Returns the convolution of `group` if the group has the strategy
/// "convolution" with the order "tiles" (each tile of output positions reads
/// all packed weights), and if the convolution multiplies floats, reads packed
/// weights, is not fused with a pool and has a result of the same type as the
/// group; null otherwise.
ConvOp floatConvolutionOf(GroupOp group) {
  auto anchor = ConvolutionAnchor::of(group);
  return group.getStrategy() == "convolution" && anchor.conv && !anchor.pool &&
                 !anchor.conv.isWidening() && anchor.weights() &&
                 Plan(group.getPlanAttr()).word("order") == "tiles" &&
                 anchor.conv.getResult().getType() ==
                     group.getResult(0).getType()
             ? anchor.conv
             : ConvOp();
}

/// Returns the operand of `group` that `conv` reads as its input; null if an
/// operator of the group computes the input or also reads it.
Value inputOf(GroupOp group, ConvOp conv) {
  auto argument = dyn_cast<BlockArgument>(conv.getX());
  return argument && argument.hasOneUse()
             ? group.getInputs()[argument.getArgNumber()]
             : Value();
}

} // namespace

std::optional<RowChain> RowChain::around(GroupOp depthwise) {
  ConvOp filter = depthwise.getStrategy() == "depthwise"
                      ? depthwiseOf(depthwise)
                      : ConvOp();
  if (!filter || !isPlain(depthwise) ||
      !keepsRows(depthwise, filter, /*readsWhole=*/false))
    return std::nullopt;
  Value x = inputOf(depthwise, filter);
  ArrayRef<int64_t> w = shapeOf(filter.getW());
  // Each input row must lie in some window, and the rows of a window must be
  // adjacent.
  if (!x || w[0] < filter.getStrides()[0] || filter.getDilations()[0] != 1 ||
      filter.getResult().getType() != depthwise.getResult(0).getType())
    return std::nullopt;
  RowChain chain{GroupOp(), depthwise, GroupOp()};
  auto before = x.getDefiningOp<GroupOp>();
  if (before && x.hasOneUse() && isPlain(before))
    if (ConvOp conv = floatConvolutionOf(before);
        conv && keepsRows(before, conv, /*readsWhole=*/false))
      chain.first = before;
  Value y = depthwise.getResult(0);
  auto after =
      y.hasOneUse() ? dyn_cast<GroupOp>(*y.getUsers().begin()) : GroupOp();
  if (after && isPlain(after))
    if (ConvOp conv = floatConvolutionOf(after);
        conv && keepsRows(after, conv, /*readsWhole=*/true) &&
        inputOf(after, conv) == y &&
        ConvolutionAnchor{conv, nullptr}.isMatrix())
      chain.last = after;
  return chain.first || chain.last ? std::make_optional(chain) : std::nullopt;
}

std::optional<RowChain> RowChain::of(GroupView group) {
  SmallVector<GroupOp> stages;
  for (Operation &op : group.block->without_terminator()) {
    stages.push_back(dyn_cast<GroupOp>(op));
    if (!stages.back())
      return std::nullopt;
  }
  for (GroupOp stage : stages)
    if (auto chain = around(stage))
      return chain->stages() == stages && group.results().size() == 1 &&
                     group.results()[0] == stages.back().getResult(0)
                 ? chain
                 : std::nullopt;
  return std::nullopt;
}

SmallVector<GroupOp> RowChain::stages() const {
  SmallVector<GroupOp> all{first, depthwise, last};
  llvm::erase_if(all, [](GroupOp group) { return !group; });
  return all;
}

/// Returns the number of rows of all images.
static int64_t rowsOf(Value images) {
  return shapeOf(images)[0] * shapeOf(images)[1];
}

SmallVector<int64_t> RowChain::scratchBytes() const {
  auto rowBytes = [](Value v) {
    return tensorType(v).getNumElements() / rowsOf(v) *
           bytesPerElement(elementOf(v));
  };
  ConvOp filter = depthwiseOf(depthwise);
  SmallVector<int64_t> bytes;
  if (first)
    bytes.push_back(rowBytes(filter.getX()) * shapeOf(filter.getW())[0]);
  if (last)
    bytes.push_back(rowBytes(filter.getResult()));
  if (int64_t packed = packedElements())
    bytes.push_back(packed * bytesPerElement(elementOf(filter.getX())));
  return bytes;
}

int64_t RowChain::packedElements() const {
  int64_t most = 0;
  for (GroupOp stage : {first, last}) {
    Plan plan(stage ? stage.getPlanAttr() : DictionaryAttr());
    if (!stage || !stage.getPlanAttr() || !plan.optionalNumber("packed"))
      continue;
    for (auto conv : stage.getBody().front().getOps<ConvOp>())
      most = std::max(most, plan.number("rows") * shapeOf(conv.getX()).back());
  }
  return most;
}

int64_t RowChain::parts(const TargetDescription &target) const {
  // `most` parts are enough for a few threads to share evenly. `mostTwice` is
  // the share of the work that recomputed rows and the traffic of scratch
  // memory may cost.
  constexpr int64_t most = 16;
  constexpr double mostTwice = 0.1;
  GroupOp before = first, group = depthwise;
  ConvOp filter = depthwiseOf(group);
  double all = 0, ofRow = 0;
  for (GroupOp stage : stages())
    all += static_cast<double>(workOf(stage));
  if (before)
    ofRow = static_cast<double>(workOf(before)) /
            static_cast<double>(rowsOf(before.getResult(0)));
  double twice =
      static_cast<double>(shapeOf(filter.getW())[0] - filter.getStrides()[0]) *
      ofRow;
  SmallVector<int64_t> scratch = scratchBytes();
  int64_t ofPart = std::accumulate(scratch.begin(), scratch.end(), int64_t(0));
  int64_t rows = rowsOf(group.getResult(0));
  auto fits = [&](int64_t parts) {
    // The scratch memory of each part of the rows (the work of one thread)
    // should stay in the cache of its thread. Otherwise, a thread that computes
    // several parts fetches the scratch memory of each part and writes back
    // that of its previous part.
    bool stay = parts * ofPart <= target.l2Bytes;
    if (!stay && (parts > enoughParts || ofPart > target.l2Bytes / 2))
      return false;
    double fetched = stay ? 0
                          : 2 * static_cast<double>(parts * ofPart) /
                                target.rates.cacheBytes * workPerCycle(target);
    return static_cast<double>(parts - 1) * twice + fetched <= mostTwice * all;
  };
  int64_t parts = 1;
  while (2 * parts <= std::min(most, rows / 2) && fits(2 * parts))
    parts *= 2;
  return parts;
}

} // namespace ingot::schedule
