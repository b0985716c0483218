#include "passes/schedule/Anchors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/schedule/tiles/HalfTile.h"
#include "passes/schedule/tiles/PanelKernel.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

bool mayBeInPanels(Value w, bool packs) {
  if (w.getDefiningOp<UnpackPanelsOp>())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(w))
    if (auto group =
            dyn_cast_or_null<GroupOp>(argument.getOwner()->getParentOp()))
      w = group.getInputs()[argument.getArgNumber()];
  auto constant = w.getDefiningOp<ConstantOp>();
  return packs && constant && isa<func::FuncOp>(constant->getParentOp()) &&
         tensorType(w).getNumElements() != 0;
}

ConvolutionAnchor ConvolutionAnchor::onlyOf(GroupView group) {
  ConvolutionAnchor found;
  for (Operation &op : group.block->without_terminator()) {
    if (auto element = dyn_cast<ElementOpInterface>(op);
        isa<ConstantOp>(op) || (element && element.isCheap()))
      continue;
    if (auto conv = dyn_cast<ConvOp>(op); conv && !found.conv)
      found.conv = conv;
    else if (isDisjointPool(&op) && !found.pool)
      found.pool = &op;
    else
      return {};
  }
  bool isWhole = found.conv && group.results().size() == 1 &&
                 dimsOf(found.result()) == dimsOf(group.results()[0]);
  return isWhole ? found : ConvolutionAnchor();
}

ConvolutionAnchor ConvolutionAnchor::of(GroupView group) {
  ConvolutionAnchor found = onlyOf(group);
  return found.conv && isFusableConvolution(found.conv, group.packs)
             ? found
             : ConvolutionAnchor();
}

int64_t ConvolutionAnchor::across() { return pool ? windowOf(pool).back() : 1; }

int64_t ConvolutionAnchor::steps() {
  return ShapedType::getNumElements(shapeOf(conv.getW()).drop_back());
}

int64_t ConvolutionAnchor::weightBytes() {
  return steps() * channels() * elementOf(conv.getW()).getIntOrFloatBitWidth() /
         8;
}

bool ConvolutionAnchor::isPointwise() {
  Dims x = dimsOf(conv.getX()), y = dimsOf(conv.getResult());
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  for (size_t i = 0; i + 2 < x.size(); ++i)
    if (w[i] != 1 || mayDiffer(x[1 + i], y[1 + i]) ||
        conv.getStrides()[i] != 1 || conv.getLow()[i] != 0)
      return false;
  return true;
}

Dim ConvolutionAnchor::positions() {
  return isMatrix() ? product(ArrayRef(dimsOf(result())).drop_back())
                    : Dim(columns());
}

double ConvolutionAnchor::products() {
  return isMatrix() ? 1
                    : double(ShapedType::getNumElements(
                          shapeOf(conv.getResult()).drop_back(2)));
}

ConvOp depthwiseOf(GroupView group) {
  ConvOp conv = filtersOf(group);
  return conv && isDepthwise(conv) ? conv : nullptr;
}

ConvOp filtersOf(GroupView group) {
  auto conv = dyn_cast_or_null<ConvOp>(group.anchor());
  if (!conv || group.results().size() != 1)
    return nullptr;
  auto isLoaded = [](Value v) {
    Operation *before = v.getDefiningOp();
    return !before ||
           (isWidening(before) && isa<BlockArgument>(before->getOperand(0)));
  };
  bool takes = isLoaded(conv.getX()) && isLoaded(conv.getW()) &&
               dimsOf(conv.getResult()) == dimsOf(group.results()[0]);
  return takes ? conv : nullptr;
}

ConvOp integerFiltersOf(GroupView group) {
  auto conv = dyn_cast_or_null<ConvOp>(group.anchor());
  return conv && group.results().size() == 1 && conv.getXZero() == 0 &&
                 !group.hasDynamicSizes() && isa<BlockArgument>(conv.getX()) &&
                 mayBeInPanels(conv.getW(), group.packs) &&
                 shapeOf(conv.getResult()) == shapeOf(group.results()[0])
             ? conv
             : nullptr;
}

/// Whether all sizes of an image tensor except the batch size are known when
/// compiling.
static bool isOfKnownSize(Value image) {
  return llvm::all_of(ArrayRef(dimsOf(image)).drop_front(),
                      [](const Dim &size) { return size.known().has_value(); });
}

bool isDepthwise(ConvOp conv) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  return !hasDynamicSizes(conv.getW().getType()) &&
         (isa<Float32Type, Float64Type>(elementOf(conv.getX())) ||
          sumsHalves(conv)) &&
         w[w.size() - 2] == 1 && conv.getGroups() > 1 &&
         w.back() == static_cast<int64_t>(conv.getGroups());
}

int64_t channelsOfGroup(ConvOp conv) {
  return shapeOf(conv.getW()).back() / static_cast<int64_t>(conv.getGroups());
}

bool multipliesInGroups(ConvOp conv, const TargetDescription &target) {
  Type type = elementOf(conv.getX());
  if (conv.getGroups() == 1 || isDepthwise(conv) || target.smallCode ||
      !isa<Float32Type, Float64Type>(type) ||
      hasDynamicSizes(conv.getW().getType()))
    return false;
  int64_t channels = channelsOfGroup(conv);
  auto vectors = ColumnVectors::cover(channels, target, type, /*padded=*/true);
  return vectors.width() == channels && vectors.lanes.back() > 1;
}

int64_t inputsOfGroup(ConvOp conv) { return shapeOf(conv.getW()).end()[-2]; }

bool hasGroupsInLanes(ConvOp conv, const TargetDescription &target) {
  Type type = elementOf(conv.getX());
  if (conv.getGroups() == 1 || isDepthwise(conv) || target.smallCode ||
      target.wholeRegisters || !isa<Float32Type, Float64Type>(type) ||
      hasDynamicSizes(conv.getW().getType()))
    return false;
  int64_t inputs = inputsOfGroup(conv), outputs = channelsOfGroup(conv);
  // `most` is the largest number of output channels per group for which groups
  // share a vector: half the lanes, so that at least two groups fit. If tiles
  // that use the packed weights of a single group are possible as well
  // (multipliesInGroups), `most` is a quarter of the lanes: for groups that
  // fill half a vector, these tiles are at least as fast (1.1 times as fast for
  // 8 channels, vectors of 16 lanes and eight images).
  int64_t most =
      target.maxLanes(type) / (multipliesInGroups(conv, target) ? 4 : 2);
  return llvm::isPowerOf2_64(inputs) && llvm::isPowerOf2_64(outputs) &&
         inputs <= outputs && outputs <= most;
}

/// Returns how many bits wider a result element is than an operand element.
static int64_t bitsGained(Operation *op) {
  auto bits = [](Value v) -> int64_t {
    return storageType(elementOf(v)).getIntOrFloatBitWidth();
  };
  return bits(op->getResult(0)) - bits(op->getOperand(0));
}

bool isWidening(Operation *op) {
  return isa<CastOp, DequantizeOp>(op) && bitsGained(op) > 0;
}

bool isNarrowing(Operation *op) {
  return isa<CastOp, QuantizeOp>(op) && bitsGained(op) < 0;
}

bool takesChannels(SliceOp slice) {
  Dims from = dimsOf(slice.getX()), to = dimsOf(slice.getResult());
  return !to.empty() && to.back().known() && from.back().known() &&
         slice.getSteps().back() == 1 &&
         ArrayRef(from).drop_back() == ArrayRef(to).drop_back();
}

bool readsByParts(ConcatOp concat) {
  // The convolution kernel gets a separate loop over the channels of each input
  // of the concatenation, so the number of inputs is limited.
  constexpr size_t mostParts = 4;
  int64_t axis = concat.getAxis();
  Dims sizes = dimsOf(concat.getResult());
  auto conv =
      concat->hasOneUse() ? dyn_cast<ConvOp>(*concat->user_begin()) : ConvOp();
  return conv && conv.getX() == concat.getResult() && !conv.isWidening() &&
         conv.getGroups() == 1 && axis + 1 == int64_t(sizes.size()) &&
         concat.getInputs().size() <= mostParts &&
         ConvolutionAnchor{conv, nullptr}.isPointwise() &&
         llvm::all_of(concat.getInputs(), [](Value part) {
           return dimsOf(part).back().known() &&
                  !part.getDefiningOp<ConstantOp>();
         });
}

bool isFusableConvolution(Operation *op, bool packs) {
  auto conv = dyn_cast<ConvOp>(op);
  return conv && dimsOf(conv.getX()).back().known() &&
         !hasDynamicSizes(conv.getW().getType()) &&
         (isa<Float32Type, Float64Type>(elementOf(conv.getX())) ||
          (conv.isWidening() && conv.getXZero() == 0)) &&
         conv.getGroups() == 1 && mayBeInPanels(conv.getW(), packs);
}

SmallVector<Operation *>
chainToConvolution(Operation *last,
                   llvm::function_ref<bool(Operation *)> isFree, bool packs) {
  SmallVector<Operation *> chain;
  for (Operation *op = last; op;) {
    if (!op->hasOneUse() || !isFree(op))
      return {};
    chain.push_back(op);
    if (isFusableConvolution(op, packs))
      return chain;
    if (!isa<ElementwiseOpInterface>(op))
      return {};
    Operation *next = nullptr;
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp();
          from && dimsOf(operand) == dimsOf(op->getResult(0)) &&
          isa<ElementwiseOpInterface, ConvOp>(from))
        next = from;
    op = next;
  }
  return {};
}

ArrayRef<int64_t> windowOf(Operation *pool) {
  if (auto max = dyn_cast<MaxPoolOp>(pool))
    return max.getKernel();
  return cast<AveragePoolOp>(pool).getKernel();
}

bool isDisjointPool(Operation *op) {
  auto disjoint = [&](auto pool) {
    if (pool.getKernel() != pool.getStrides())
      return false;
    for (auto [i, size] : llvm::enumerate(pool.getKernel()))
      if (pool.getLow()[i] != 0 || pool.getDilations()[i] != 1 ||
          shapeOf(pool.getResult())[1 + i] * size > shapeOf(pool.getX())[1 + i])
        return false;
    Type element = elementOf(pool.getX());
    return isOfKnownSize(pool.getX()) &&
           (isa<Float32Type, Float64Type>(element) ||
            (isa<MaxPoolOp>(*pool) && isa<IntegerType>(element)));
  };
  if (auto max = dyn_cast<MaxPoolOp>(op))
    return disjoint(max);
  if (auto average = dyn_cast<AveragePoolOp>(op))
    return disjoint(average);
  return false;
}

bool joinsConvolution(Operation *pool, const TargetDescription &target) {
  if (!isDisjointPool(pool))
    return false;
  // Only targets that multiply int8 in general-purpose registers fuse a pool of
  // integers. Other targets compute a tile of int8 results in vector registers,
  // store it, and pool it from memory.
  if (isa<IntegerType>(elementOf(pool->getOperand(0))) && !target.coreRegisters)
    return false;
  // If the target prefers small code, a global pool stays separate: it is
  // little work, and the convolution can then share its kernel function with
  // others.
  ArrayRef<int64_t> y = shapeOf(pool->getResult(0));
  return !target.smallCode ||
         ShapedType::getNumElements(y.drop_front().drop_back()) != 1;
}

ProductSizes::ProductSizes(MatMulOp product)
    : ProductSizes(product.getA(), product.getB(), product.getResult()) {}

ProductSizes::ProductSizes(Value left, Value right, Value result) {
  Dims a = dimsOf(left), y = dimsOf(result);
  steps = a.pop_back_val();
  columns = y.pop_back_val().most();
  oneMatrix = a == y && isCompact(y) &&
              llvm::all_of(shapeOf(right).drop_back(2),
                           [](int64_t size) { return size == 1; });
  rows = y.pop_back_val();
  batches = graph::product(y);
  if (oneMatrix) {
    rows *= batches;
    batches = 1;
  }
}

bool ProductSizes::fitTiles(MatMulOp product) {
  return dimsOf(product.getResult()).back().known().has_value();
}

bool isEpilogueOperand(Value input, Operation *anchor) {
  return llvm::any_of(input.getUsers(), [&](Operation *user) {
    return user != anchor && isa<ElementwiseOpInterface>(user);
  });
}

bool hasFlatEpilogue(GroupView group, Operation *anchor) {
  for (Operation &op : group.block->without_terminator())
    if (!isa<ElementwiseOpInterface, ConstantOp, UnpackPanelsOp>(op) &&
        &op != anchor)
      return false;
  return llvm::all_of(group.block->getArguments(), [&](Value input) {
    return !isEpilogueOperand(input, anchor) ||
           input.getType() == group.results()[0].getType() ||
           tensorType(input).getNumElements() ==
               (shapeOf(input).empty() ? 1 : shapeOf(input).back());
  });
}

bool keepsIndices(Value v, Value result) {
  Dims sizes = dimsOf(result);
  llvm::SetVector<Value> reached;
  reached.insert(v);
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == result)
      continue;
    for (Operation *user : reached[i].getUsers()) {
      if (!isa<ElementwiseOpInterface>(user) ||
          dimsOf(user->getResult(0)) != sizes)
        return false;
      reached.insert(user->getResult(0));
    }
  }
  return true;
}

bool mayBecomeResult(GroupView group, Value input) {
  return group.results().size() == 1 &&
         input.getType() == group.results()[0].getType() &&
         keepsIndices(input, group.results()[0]);
}

bool mayBeInPlace(GroupView group) {
  return llvm::any_of(group.block->getArguments(), [&](Value input) {
    return mayBecomeResult(group, input);
  });
}

} // namespace ingot::schedule
