//===- PackWeights.cpp - weights into the order kernels read --------------===//
//
//   conv(x, w)  ->  conv(x, unpack_panels(pack_panels(w)))
//
// for constant weights. The packing is a constant and will be folded; the
// unpacking goes into the kernel, whose strategy reads the panels instead. How
// wide panels are is decided here, for the target.
//
//===----------------------------------------------------------------------===//

#include "dialects/graph/GraphDialect.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/PanelKernel.h"

using namespace mlir;

namespace ingot::graph {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/graph/Passes.h.inc"

namespace {

struct PackWeightsPass : impl::PackWeightsBase<PackWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    getOperation().walk([&](Operation *op) {
      if (auto conv = dyn_cast<ConvOp>(op); conv && conv.getGroups() == 1)
        pack(op, positionsTogether(conv), target);
      else if (auto product = dyn_cast<MatMulOp>(op);
               product && shapeOf(product.getB()).size() == 2)
        pack(op,
             kernel::isOneMatrix(product)
                 ? tensorType(product.getResult()).getNumElements() /
                       shapeOf(product.getB()).back()
                 : shapeOf(product.getResult()).drop_back().back(),
             target);
    });
  }

  /// How many output positions a tile may take: all of them for 1x1 kernels,
  /// else one row.
  static int64_t positionsTogether(ConvOp conv) {
    ArrayRef<int64_t> y = shapeOf(conv.getResult()), x = shapeOf(conv.getX()),
                      w = shapeOf(conv.getW());
    bool pointwise =
        x.drop_back() == y.drop_back() &&
        llvm::all_of(w.drop_back(2), [](int64_t k) { return k == 1; }) &&
        llvm::all_of(conv.getLow(), [](int64_t p) { return p == 0; }) &&
        llvm::all_of(conv.getStrides(), [](int64_t s) { return s == 1; });
    return pointwise ? tensorType(conv.getResult()).getNumElements() / y.back()
                     : y[y.size() - 2];
  }

  static void pack(Operation *op, int64_t rows,
                   const TargetDescription &target) {
    Value w = op->getOperand(1);
    Type type = elementOf(w);
    if (!w.getDefiningOp<ConstantOp>() ||
        !isa<Float32Type, Float64Type>(type) ||
        tensorType(w).getNumElements() == 0)
      return;
    int64_t columns = shapeOf(w).back(),
            steps = tensorType(w).getNumElements() / columns;
    kernel::TileChoice choice =
        kernel::chooseTile(rows, columns, steps, target, type);
    int64_t panel = choice.vectors * target.maxLanes(type);
    int64_t left = columns % panel;
    int64_t tail =
        left ? kernel::ColumnVectors::cover(left, target, type, /*padded=*/true)
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
} // namespace ingot::graph
