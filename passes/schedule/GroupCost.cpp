#include "passes/schedule/GroupCost.h"

#include "dialects/graph/ElementsData.h"

#include <cmath>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

int64_t multiplyAddsOf(GroupView group) {
  int64_t sum = 0;
  for (Operation &op : group.block->without_terminator())
    sum += multiplyAddsOf(&op);
  return sum;
}

double workPerCycle(const TargetDescription &target) {
  return target.rates.multiplyAdds *
         double(target.vectorBytes.empty() ? 1
                                           : target.vectorBytes.front() / 4);
}

int64_t workOf(GroupView group) {
  int64_t sum = multiplyAddsOf(group);
  for (Operation &op : group.block->without_terminator())
    if (!isa<ConstantOp, UnpackPanelsOp, RestoreKernelOp>(op))
      for (Value result : op.getResults())
        sum += tensorType(result).getNumElements();
  return sum;
}

/// Whether the operator reads only those elements of its first operand that it
/// returns.
static bool readsParts(Operation *op) {
  return isa<GatherOp, GatherNDOp, GatherElementsOp, SliceOp>(op);
}

static int64_t bytesOf(Value value) {
  return tensorType(value).getNumElements() * bytesPerElement(elementOf(value));
}

/// Returns how many bytes of a tensor are read: if only slices and gathers read
/// it, the bytes that they return, else all. Looks through operators that only
/// rearrange the tensor, since an embedding table may be stored in the layout
/// of the final matrix product.
static int64_t bytesReadOf(Value tensor) {
  int64_t stored = bytesOf(tensor), parts = 0;
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    if (isa<UnpackPanelsOp, TransposeOp, ReshapeOp>(user))
      parts += bytesReadOf(user->getResult(0));
    else if (use.getOperandNumber() == 0 && readsParts(user))
      parts += bytesOf(user->getResult(0));
    else
      return stored;
  }
  return std::min(stored, parts);
}

int64_t bytesRead(BlockArgument operand) { return bytesReadOf(operand); }

/// Returns the bytes that a group reads and writes, each tensor counted once.
static int64_t bytesMoved(GroupView group) {
  SetVector<Value> moved;
  for (Operation &op : *group.block)
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != group.block ||
          isa<BlockArgument>(operand) || operand.getDefiningOp<ConstantOp>() ||
          op.hasTrait<OpTrait::IsTerminator>())
        moved.insert(operand);
  int64_t bytes = 0;
  for (Value value : moved)
    bytes += bytesOf(value);
  return bytes;
}

/// Returns the number of f32 elements that vector instructions process per
/// cycle.
static double vectorRate(GroupOnTarget group) {
  auto single = Float32Type::get(group.block->getParentOp()->getContext());
  return group.target.rates.multiplyAdds *
         double(group.target.maxLanes(single));
}

/// Estimates the cycles of a decision-tree operator; 0 for other operators.
static double forestCyclesOf(Operation *op, const TargetDescription &target) {
  auto count = [](Value v) { return double(tensorType(v).getNumElements()); };
  auto rowsOf = [](Value result) { return shapeOf(result)[0]; };
  if (auto masks = dyn_cast<ForestMasksOp>(op)) {
    // Rows that do not fill a vector are processed one by one.
    int64_t rows = rowsOf(masks.getResult()),
            lanes = target.maxLanes(elementOf(masks.getX()));
    return double(rows / lanes + rows % lanes) *
           (ForestCycles::ofNode * count(masks.getFeature()) +
            ForestCycles::ofWord * count(masks.getFirstLeaf()) +
            ForestCycles::ofTree * (count(masks.getWordsOf()) - 1));
  }
  if (auto forest = dyn_cast<ForestOp>(op)) {
    // The nodes of the forest are not available here, so the depths of its
    // trees are unknown: assume balanced trees, whose depth is the logarithm of
    // their number of nodes.
    double trees = count(forest.getRoots());
    return ForestCycles::ofStep * double(rowsOf(forest.getResult())) * trees *
           std::log2(count(forest.getFeature()) / trees + 1);
  }
  return 0;
}

double elementCyclesOf(GroupOnTarget group) {
  // Instructions per vector of elements: for arithmetic (`plain`), for the
  // maximum over a window, for selects around arithmetic (`choice`), for norms,
  // and for functions such as exp.
  constexpr int64_t plain = 1, window = 2, choice = 4, norm = 12, function = 20;
  int64_t instructions = 0;
  double ofOthers = 0;
  bool hasProducts = multiplyAddsOf(group) > 0;
  for (Operation &op : group.block->without_terminator()) {
    if (auto stage = dyn_cast<GroupOp>(op)) {
      ofOthers += elementCyclesOf({stage, group.target});
      continue;
    }
    if (isa<ConstantOp, UnpackPanelsOp, RestoreKernelOp>(op) ||
        multiplyAddsOf(&op) > 0)
      continue;
    // A softmax in a group with matrix products is part of an attention, whose
    // strategy includes the softmax in its own estimate.
    if (isa<SoftmaxOp>(op) && hasProducts)
      continue;
    if (double ofForest = forestCyclesOf(&op, group.target)) {
      ofOthers += ofForest;
      continue;
    }
    int64_t elements = 0;
    for (Value value : llvm::concat<Value>(op.getOperands(), op.getResults()))
      elements =
          std::max<int64_t>(elements, tensorType(value).getNumElements());
    if (readsParts(&op))
      elements = tensorType(op.getResult(0)).getNumElements();
    bool isPlain = readsParts(&op) ||
                   isa<AddOp, SubOp, MulOp, MaximumOp, MinimumOp, ReluOp,
                       CastOp, QuantizeOp, DequantizeOp, ReshapeOp, RefillOp,
                       TransposeOp, ConcatOp, PadOp, ReductionOpInterface>(op);
    bool isWindow = isa<MaxPoolOp, AveragePoolOp>(op);
    bool isChoice =
        isa<HardSwishOp, HardSigmoidOp, LeakyReluOp, PReluOp, ThresholdedReluOp,
            NegOp, AbsOp, SignOp, FloorOp, CeilOp, RoundOp, WhereOp, EqualOp,
            LessOp, LessOrEqualOp, AndOp, OrOp, XorOp, NotOp>(op);
    bool isNorm = isa<LayerNormOp>(op);
    instructions += elements * (isPlain    ? plain
                                : isWindow ? window
                                : isChoice ? choice
                                : isNorm   ? norm
                                           : function);
  }
  return ofOthers + double(instructions) / vectorRate(group);
}

int64_t cyclesOf(GroupOnTarget group) {
  return static_cast<int64_t>(
      double(multiplyAddsOf(group)) / vectorRate(group) +
      elementCyclesOf(group) +
      double(bytesMoved(group)) / group.target.rates.cacheBytes);
}

bool paysToFork(GroupOnTarget group) {
  // A second thread saves at most half of the time, which must exceed the cost
  // of forking.
  return group.target.hasThreads &&
         cyclesOf(group) / 2 > group.target.forkCycles;
}

} // namespace ingot::schedule
