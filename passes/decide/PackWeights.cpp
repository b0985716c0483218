// Weights into the order kernels read.
//
//   conv(x, w)  ->  conv(x, unpack_panels(pack_panels(w)))
//
// for constant weights. The packing is a constant and will be folded; the
// unpacking goes into the kernel, whose strategy reads the panels instead. How
// wide panels are is decided here, for the target.

#include "dialects/graph/GraphDialect.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/tiles/CompactConvolution.h"

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
               product && shapeOf(product.getB()).size() == 2)
        pack(op, productWork(product), target);
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
    ArrayRef<int64_t> y = shapeOf(product.getResult());
    int64_t rows = schedule::isOneMatrix(product)
                       ? tensorType(product.getResult()).getNumElements() /
                             shapeOf(product.getB()).back()
                       : y.drop_back().back();
    return {rows, y.back(), shapeOf(product.getB())[0]};
  }

  static void pack(Operation *op, const schedule::TileWork &work,
                   const TargetDescription &target) {
    Value w = op->getOperand(1);
    Type type = elementOf(w);
    if (!w.getDefiningOp<ConstantOp>() ||
        !isa<Float32Type, Float64Type>(type) ||
        tensorType(w).getNumElements() == 0)
      return;
    int64_t columns = shapeOf(w).back(),
            steps = tensorType(w).getNumElements() / columns;
    int64_t panel = schedule::panelWidth(work, target, type);
    int64_t left = columns % panel;
    int64_t tail = left ? schedule::ColumnVectors::cover(left, target, type,
                                                         /*padded=*/true)
                              .width()
                        : 0;
    OpBuilder builder(op);
    auto flat = RankedTensorType::get(
        {(columns / panel) * panel * steps + tail * steps}, type);
    auto packed =
        PackPanelsOp::create(builder, op->getLoc(), flat, w, panel, tail);
    op->setOperand(1, UnpackPanelsOp::create(builder, op->getLoc(), w.getType(),
                                             packed, panel, tail));
  }
};

} // namespace
} // namespace ingot::decide
