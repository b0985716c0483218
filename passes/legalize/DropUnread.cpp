// Drops loop-carried values that are never used.
//
//     %sum = scf.for .. iter_args(%s = %zero) {       scf.for .. {
//       memref.store %x, %y[%i]                 =>      memref.store %x, %y[%i]
//       %next = arith.addf %s, %x                     }
//       scf.yield %next
//     }                      (%sum has no use)
//
// In C these values would be variables that are set but not used.

#include "passes/legalize/Expansions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

/// Whether the value that `loop` carries as number `index` is used only to
/// compute its own value for the next iteration.
bool onlyFeedsItself(scf::ForOp loop, unsigned index) {
  Operation *end = loop.getBody()->getTerminator();
  SmallVector<Value> worklist = {loop.getRegionIterArg(index)};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user == end && use.getOperandNumber() == index)
        continue;
      if (user->getBlock() != loop.getBody() || user == end ||
          !wouldOpBeTriviallyDead(user))
        return false;
      if (seen.insert(user).second)
        llvm::append_range(worklist, user->getResults());
    }
  return true;
}

/// Stops a loop from updating a carried value whose final value is not used:
/// each iteration passes the initial value on. The carried value then never
/// changes, and canonicalization removes it.
struct StopUpdates : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    Operation *end = loop.getBody()->getTerminator();
    bool changed = false;
    for (OpResult result : loop->getResults()) {
      unsigned index = result.getResultNumber();
      Value first = loop.getInitArgs()[index];
      bool isUpdated =
          loop.getRegion().isAncestor(end->getOperand(index).getParentRegion());
      if (!result.use_empty() || !isUpdated || !onlyFeedsItself(loop, index))
        continue;
      rewriter.modifyOpInPlace(end, [&] { end->setOperand(index, first); });
      changed = true;
    }
    return success(changed);
  }
};

} // namespace

void populateDropUnread(RewritePatternSet &patterns) {
  patterns.add<StopUpdates>(patterns.getContext());
  for (StringRef name :
       {scf::ForOp::getOperationName(), scf::IfOp::getOperationName(),
        scf::WhileOp::getOperationName()})
    populateRegionBranchOpInterfaceCanonicalizationPatterns(patterns, name);
}

} // namespace ingot::legalize
