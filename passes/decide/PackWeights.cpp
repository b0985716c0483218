// Weights into the order kernels read.
//
//   conv(x, w)  ->  conv(x, unpack_panels(pack_panels(w)))
//
// for constant weights. The packing is a constant and will be folded; the
// unpacking goes into the kernel, whose strategy reads the panels instead. How
// wide panels are is decided here, for the target; and in groups of how many steps
// weights of narrow integers lie side by side.

#include "dialects/graph/GraphDialect.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/Anchors.h"
#include "passes/schedule/tiles/CompactConvolution.h"
#include "passes/schedule/tiles/DotTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/decide/Passes.h.inc"

namespace {

struct PackWeightsPass : impl::PackWeightsBase<PackWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    getOperation().walk([&](Operation *op) {
      // Of nothing there are no panels.
      if (op->getNumResults() == 1 &&
          tensorType(op->getResult(0)).getNumElements() == 0)
        return;
      if (auto conv = dyn_cast<ConvOp>(op); conv && conv.getGroups() == 1)
        pack(op, schedule::convolutionWork(conv, poolBehind(conv, target)),
             target);
      else if (auto product = dyn_cast<MatMulOp>(op);
               product && shapeOf(product.getB()).size() == 2) {
        schedule::TileWork work = productWork(product);
        if (auto form = schedule::dotForm(product, target))
          packGroups(op, work, *form, target);
        else
          pack(op, work, target);
      }
    });
  }

  /// The pool that the convolution will be computed with, or null.
  static Operation *poolBehind(Operation *conv,
                               const TargetDescription &target) {
    Operation *op = conv;
    do {
      if (!op->hasOneUse())
        return nullptr;
      op = *op->getUsers().begin();
    } while (isa<ElementwiseOpInterface>(op));
    return schedule::joinsConvolution(op, target) ? op : nullptr;
  }

  static schedule::TileWork productWork(MatMulOp product) {
    schedule::ProductSizes sizes(product);
    return {sizes.rows, sizes.columns, sizes.steps};
  }

  static void pack(Operation *op, const schedule::TileWork &work,
                   const TargetDescription &target) {
    Type type = elementOf(op->getOperand(1));
    if (!isa<Float32Type, Float64Type>(type))
      return;
    int64_t panel = schedule::panelWidth(work, target, type);
    int64_t left = work.columns % panel;
    int64_t tail = left ? schedule::ColumnVectors::cover(left, target, type,
                                                         /*padded=*/true)
                              .width()
                        : 0;
    replaceWeights(op, panel, tail, /*group=*/1);
  }

  static void packGroups(Operation *op, const schedule::TileWork &work,
                         const schedule::DotForm &form,
                         const TargetDescription &target) {
    int64_t panel = schedule::DotModel(work.positions, work.columns, work.steps,
                                       form, target)
                        .ranked()
                        .front()
                        .vectors *
                    form.lanes.front();
    int64_t tail = schedule::coverWithDots(work.columns % panel, form, target,
                                           /*padded=*/true)
                       .width();
    replaceWeights(op, panel, tail, form.group);
  }

  static void replaceWeights(Operation *op, int64_t panel, int64_t tail,
                             int64_t group) {
    Value w = op->getOperand(1);
    if (!w.getDefiningOp<ConstantOp>() || tensorType(w).getNumElements() == 0)
      return;
    OpBuilder builder(op);
    auto packed =
        PackPanelsOp::create(builder, op->getLoc(), w, panel, tail, group);
    op->setOperand(1, UnpackPanelsOp::create(builder, op->getLoc(), w.getType(),
                                             packed, panel, tail, group));
  }
};

} // namespace
} // namespace ingot::decide
