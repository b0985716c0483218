//===- Legalize.cpp - what the printer may be given -----------------------===//
//
// Turns a planned module into one that prints: expansions in each kernel until
// nothing changes, which leaves no dead operation, then arguments that are
// never written are marked read-only, then every operation is checked. After it
// the printer cannot fail. A failure here is ours, not the user's: what a model
// may contain was decided long ago.
//
//===----------------------------------------------------------------------===//

#include "codegen/Legalize.h"

#include "codegen/Codegen.h"
#include "codegen/Interface.h"
#include "codegen/Placement.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace ingot {

static LogicalResult expand(ModuleOp module, const TargetDescription &target) {
  RewritePatternSet patterns(module.getContext());
  populateAffineToStdConversionPatterns(patterns);
  memref::populateFoldMemRefAliasOpPatterns(patterns);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  populateExpandArith(patterns, target);
  populateExpandHalf(patterns, target);
  populateExpandSqrt(patterns, target);
  populateExpandVector(patterns, target);
  populateFoldIndices(patterns);
  populateDropUnread(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));

  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPrivate() &&
        failed(applyPatternsGreedily(function, frozen, config)))
      return function.emitError("expansions before printing do not end");
  return success();
}

/// Arguments that nothing is stored to: const in C.
static void markReadOnly(func::FuncOp kernel) {
  llvm::DenseSet<Value> written;
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.insert(bufferRoot(store.getMemRef()));
    else if (auto store = dyn_cast<vector::StoreOp>(op))
      written.insert(bufferRoot(store.getBase()));
    else if (auto call = dyn_cast<func::CallOp>(op))
      for (Value operand : call.getOperands())
        written.insert(operand);
  });
  auto unit = UnitAttr::get(kernel.getContext());
  for (BlockArgument argument : kernel.getArguments())
    if (isa<MemRefType>(argument.getType()) && !written.contains(argument))
      kernel.setArgAttr(argument.getArgNumber(), kernel::kReadAttr, unit);
}

/// A weight or an input must not be written, nor may a global lack its value.
static LogicalResult checkMain(func::FuncOp main, ModuleOp module) {
  bool valid = true;
  for (auto global : module.getOps<memref::GlobalOp>())
    if (!forEachPiece(global, [](ArrayRef<char>) {})) {
      global.emitError("the constant has no value");
      valid = false;
    }
  SymbolTable symbols(module);
  for (Operation &op : main.getBody().front()) {
    if (!isa<kernel::ArenaOp, kernel::ViewOp, kernel::LaunchOp,
             kernel::RequireEqualOp, memref::GetGlobalOp, func::ReturnOp>(op)) {
      op.emitOpError("is not of the kernel level; the main function only "
                     "launches kernels");
      valid = false;
    }
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch)
      continue;
    auto callee = symbols.lookup<func::FuncOp>(launch.getCallee());
    if (!callee || launch->getNumResults() != 0) {
      launch.emitOpError("is not planned: it has no callee, or results");
      valid = false;
      continue;
    }
    for (auto [index, operand] : llvm::enumerate(launch.getOperands())) {
      Value root = bufferRoot(operand);
      auto argument = dyn_cast<BlockArgument>(root);
      bool isConst = root.getDefiningOp<memref::GetGlobalOp>() ||
                     (argument && !main.getArgAttr(argument.getArgNumber(),
                                                   "ingot.output"));
      if (isConst && !callee.getArgAttr(index, kernel::kReadAttr)) {
        launch.emitOpError("writes to operand ")
            << index << ", which is constant";
        valid = false;
      }
    }
  }
  return success(valid);
}

LogicalResult legalizeForPrinting(ModuleOp module,
                                  const TargetDescription &target) {
  func::FuncOp main = mainFunction(module);
  if (!main)
    return module.emitError("has no public function to run");
  if (failed(expand(module, target)))
    return failure();
  bool valid = true;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function == main || function.isDeclaration())
      continue;
    markReadOnly(function);
    function.getBody().walk(
        [&](Operation *op) { valid &= succeeded(checkPrintable(op, target)); });
  }
  return success(valid && succeeded(checkMain(main, module)));
}

} // namespace ingot
