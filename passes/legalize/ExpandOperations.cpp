// Applies the patterns of Expansions.h to each kernel until nothing changes.
// This also removes dead operations. The patterns do not change operations that
// have an entry in the target's intrinsics table.

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/legalize/Expansions.h"
#include "passes/legalize/Passes.h"
#include "passes/legalize/TargetPatterns.h"
#include "targets/TargetDescription.h"

using namespace mlir;

namespace ingot::legalize {
#define GEN_PASS_DEF_EXPANDOPERATIONS
#include "passes/legalize/Passes.h.inc"

namespace {
struct ExpandOperationsPass : impl::ExpandOperationsBase<ExpandOperationsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    RewritePatternSet patterns(&getContext());
    populateAffineToStdConversionPatterns(patterns);
    memref::populateFoldMemRefAliasOpPatterns(patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    populateExpandArith(patterns, target);
    populateExpandHalf(patterns, target);
    addForTarget(patterns, target, expandSqrt);
    populateExpandVector(patterns, target);
    addForTarget(patterns, target, expandDot);
    populateFoldIndices(patterns);
    populateJoinAxes(patterns);
    populateStartSums(patterns);
    populateDropUnread(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    for (Operation &op : getOperation().getOps())
      if (isa<kernel::FuncOp, func::FuncOp>(op) &&
          failed(applyPatternsGreedily(&op, frozen, config))) {
        op.emitError("expansions before printing do not end");
        return signalPassFailure();
      }
  }
};
} // namespace

} // namespace ingot::legalize
