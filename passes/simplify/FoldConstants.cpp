// Evaluates, at compile time, the values that depend on constants only.
//
// Finds the values that are computed from constants only and are used by an
// operator that also has other operands, and replaces these values by
// constants. They are evaluated by the very code that would be generated for
// them (see Evaluate.h). Results that are much larger than their operands are
// not evaluated, but computed at run time. The data of constants that are no
// longer used is freed during evaluation, so that the weights are in memory
// only once; of constants that are still used, the pages of mapped files are
// given back. Bodies of If and Loop may use the same constants as other
// functions, so the pass runs on the module.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/MappedData.h"
#include "passes/evaluate/Evaluate.h"
#include "passes/simplify/FoldableValues.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/simplify/Passes.h.inc"

namespace {

struct FoldConstantsPass : impl::FoldConstantsBase<FoldConstantsPass> {
  using Base::Base;

  // All functions are folded together, so that constants that they share are
  // computed once.
  void runOnOperation() override {
    FoldableValues found;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) {
        auto [operations, frontier] =
            findFoldableValues(function.getBody().front());
        if (frontier.empty())
          continue;
        found.operations.insert_range(operations);
        llvm::append_range(found.frontier, frontier);
      }
    if (!found.frontier.empty() && failed(fold(found)))
      signalPassFailure();
  }

private:
  LogicalResult fold(FoldableValues &found) {
    auto &[constant, frontier] = found;
    llvm::DenseSet<const void *> kept = resourcesAfter(constant, frontier);
    // Constants that nothing reads any more, such as tables that are read from
    // packed weights (TieWeights).
    for (Operation *op : constant)
      if (auto unused = dyn_cast<ConstantOp>(op); unused && op->use_empty())
        if (auto value = dyn_cast<DenseResourceElementsAttr>(unused.getValue());
            value && !kept.contains(value.getRawHandle().getResource()))
          value.getRawHandle().getResource()->setBlob({});
    auto &mapped = MappedData::of(&getContext());
    auto values = evaluate(frontier, [&](DenseResourceElementsHandle resource) {
      if (kept.contains(resource.getResource()))
        mapped.releasePages();
      else
        resource.getResource()->setBlob({});
    });
    if (failed(values))
      return failure();
    for (auto [value, data] : llvm::zip(frontier, *values)) {
      OpBuilder builder(value.getDefiningOp());
      value.replaceAllUsesWith(
          ConstantOp::create(builder, value.getLoc(), data));
    }
    for (Operation *op : llvm::reverse(constant))
      if (op->use_empty())
        op->erase();
    return success();
  }

  /// Returns the resources (weight data) that are still used after each value
  /// of `frontier` has been replaced by a constant.
  llvm::DenseSet<const void *>
  resourcesAfter(const llvm::SetVector<Operation *> &constant,
                 ArrayRef<Value> frontier) {
    llvm::DenseSet<const void *> kept;
    auto keep = [&](Operation *op) {
      op->getAttrDictionary().walk([&](DenseResourceElementsAttr attr) {
        kept.insert(attr.getRawHandle().getResource());
      });
    };
    getOperation()->walk([&](Operation *op) {
      if (!constant.contains(op) ||
          llvm::any_of(op->getUsers(), [&](Operation *user) {
            return !constant.contains(user);
          }))
        keep(op);
    });
    // The value of a reshaped constant is a constant with the same resource, so
    // this resource is kept.
    for (Value value : frontier) {
      while (auto reshape = value.getDefiningOp<ReshapeOp>())
        value = reshape.getX();
      keep(value.getDefiningOp());
    }
    return kept;
  }
};

} // namespace
} // namespace ingot::simplify
