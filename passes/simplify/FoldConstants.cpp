// Evaluate what depends on constants alone.
//
// Finds the values that are computed from constants and read by something that
// is not, and replaces them by constants, evaluated by the very code that would
// be generated for them (see Evaluate.h). Results that would be much larger
// than what they are made of stay computed. The bytes of constants that nothing
// reads any more are freed on the way, so that weights are in memory once. (Bodies of
// If and Loop may read the same constants as other functions.)

#include "dialects/graph/GraphDialect.h"
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

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(fold(function.getBody().front())))
        return signalPassFailure();
  }

private:
  LogicalResult fold(Block &body) {
    auto [constant, frontier] = findFoldableValues(body);
    if (frontier.empty())
      return success();
    llvm::DenseSet<const void *> kept = resourcesAfter(constant, frontier);
    auto values = evaluate(frontier, [&](DenseResourceElementsHandle resource) {
      if (!kept.contains(resource.getResource()))
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

  /// The resources that are still referred to when the frontier has been
  /// replaced by its values.
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
    // Under another shape, it is the same resource.
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
