// Fuses depthwise convolutions and their neighbours into one kernel.
//
//   %1 = group "convolution"(%x)           %3 = group "row-chain"(%x) {
//   %2 = group "depthwise"(%1)        ->     %1 = group "convolution"(%x)
//   %3 = group "convolution"(%2)             %2 = group "depthwise"(%1)
//                                            %3 = group "convolution"(%2) }
//
// Tensors between groups go through the caches; a large tensor has been evicted
// from the L2 cache before it is read. The kernel of a chain computes such a
// tensor row by row, so that the rows stay in the L2 cache, and synchronizes
// threads once instead of three times.

#include "passes/decide/ChainRows.h"

#include "passes/decide/Passes.h"
#include "passes/plan/Buffers.h"
#include "passes/schedule/RowChain.h"
#include "passes/schedule/Strategy.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_CHAINROWS
#include "passes/decide/Passes.h.inc"

void separateStages(GroupOp chain) {
  Block &body = chain.getBody().front();
  for (auto [argument, input] :
       llvm::zip(body.getArguments(), chain.getInputs()))
    argument.replaceAllUsesWith(input);
  for (Operation &stage : llvm::make_early_inc_range(body.without_terminator()))
    stage.moveBefore(chain);
  chain->replaceAllUsesWith(body.getTerminator()->getOperands());
  chain->erase();
}

namespace {

/// Whether the groups of `chain` are faster if they are fused: an intermediate
/// tensor of one image exceeds half of the L2 cache (input and result need the
/// other half), and the chain has enough rows for the threads. If only the
/// batch exceeds the cache, the chain is not fused: tiles of a fused chain end
/// at the end of each row, and for short rows this costs as much as the cache
/// misses. Measured speed relative to separate kernels: 0.7 to 1.1 for batches
/// of eight small images, 1.2 to 1.8 for large images.
bool pays(const schedule::RowChain &chain, const TargetDescription &target) {
  auto stages = chain.stages();
  return chain.parts(target) >= schedule::RowChain::enoughParts &&
         llvm::any_of(ArrayRef(stages).drop_back(), [&](GroupOp stage) {
           Value passed = stage->getResult(0);
           return plan::bytesOf(passed.getType()) / shapeOf(passed)[0] >
                  target.l2Bytes / 2;
         });
}

/// Moves the stages of `chain` (its groups) into a new group, which replaces
/// the last stage.
void build(const schedule::RowChain &chain, const TargetDescription &target) {
  auto stages = chain.stages();
  GroupOp last = stages.back();
  llvm::SetVector<Value> inputs;
  SmallVector<Location> locations;
  for (GroupOp stage : stages) {
    locations.push_back(stage.getLoc());
    for (Value operand : stage.getInputs())
      if (!llvm::is_contained(stages, operand.getDefiningOp<GroupOp>()))
        inputs.insert(operand);
  }
  OpBuilder builder(last);
  auto group = GroupOp::create(builder, builder.getFusedLoc(locations),
                               last.getResultTypes(), inputs.getArrayRef(),
                               builder.getStringAttr(""), DenseI64ArrayAttr(),
                               ArrayAttr(), DictionaryAttr());
  last->replaceAllUsesWith(group);
  Block *body = builder.createBlock(&group.getBody());
  for (Value input : inputs) {
    Value argument = body->addArgument(input.getType(), input.getLoc());
    for (GroupOp stage : stages)
      stage->replaceUsesOfWith(input, argument);
  }
  for (GroupOp stage : stages)
    stage->moveBefore(body, body->end());
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, last.getLoc(), last->getResults());
  schedule::decideStrategy(group, target);
}

struct ChainRowsPass : impl::ChainRowsBase<ChainRowsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<GroupOp> groups(getOperation().getOps<GroupOp>());
    for (GroupOp group : groups)
      if (auto chain = schedule::RowChain::around(group);
          chain && pays(*chain, target))
        build(*chain, target);
  }
};

} // namespace
} // namespace ingot::decide
