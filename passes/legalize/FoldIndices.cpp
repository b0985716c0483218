// Folds indices that do not affect the address.
//
//     %at = arith.subi %c0, %i
//     memref.load %x[%at, %j] : memref<1x8xf32>  =>  memref.load %x[%c0, %j]
//
// The printer does not print such an index. If the IR still contained it, the
// operations that compute it would be printed as unused variables; without it,
// they are dead and are removed.
//
//     scf.for %i = %c0 to %c1 step %c1 { ... %i ... }  =>  ... %c0 ...
//
// A loop with one iteration is replaced by its body. Before this pass, kernels
// that differ only in a trip count have been merged into one that has the trip
// count as an argument.

#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/TileRegisters.h"
#include "passes/legalize/Expansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

MemRefType accessed(memref::LoadOp op) { return op.getMemRefType(); }
MemRefType accessed(memref::StoreOp op) { return op.getMemRefType(); }
MemRefType accessed(vector::LoadOp op) { return op.getMemRefType(); }
MemRefType accessed(vector::StoreOp op) { return op.getMemRefType(); }
MemRefType accessed(kernel::LoadTileOp op) {
  return cast<MemRefType>(op.getBuffer().getType());
}
MemRefType accessed(kernel::StoreTileOp op) {
  return cast<MemRefType>(op.getBuffer().getType());
}
MemRefType accessed(kernel::CursorOp op) {
  return cast<MemRefType>(op.getSource().getType());
}

template <typename Op> struct FoldIndices : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    MemRefType type = accessed(op);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    // An access to a buffer without elements is never executed, so all its
    // indices may become 0.
    if (type.hasStaticShape() && type.getNumElements() == 0)
      strides.assign(type.getRank(), 0);
    else if (failed(type.getStridesAndOffset(strides, offset)))
      return failure();
    SmallVector<OpOperand *> folded;
    for (auto [index, stride, size] :
         llvm::zip_equal(op.getIndicesMutable(), strides, type.getShape()))
      if ((size == 1 || stride == 0) && !matchPattern(index.get(), m_Zero()))
        folded.push_back(&index);
    if (folded.empty())
      return failure();
    Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
    rewriter.modifyOpInPlace(op, [&] {
      for (OpOperand *index : folded)
        index->set(zero);
    });
    return success();
  }
};

struct FoldSingleTrip : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    APInt lower, upper, step;
    if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
        !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
        !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
        !lower.slt(upper) || (lower + step).slt(upper))
      return failure();
    SmallVector<Value> arguments{loop.getLowerBound()};
    llvm::append_range(arguments, loop.getInitArgs());
    Operation *yield = loop.getBody()->getTerminator();
    SmallVector<Value> results(yield->getOperands());
    for (Value &result : results)
      if (auto argument = dyn_cast<BlockArgument>(result);
          argument && argument.getOwner() == loop.getBody())
        result = arguments[argument.getArgNumber()];
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(loop.getBody(), loop, arguments);
    rewriter.replaceOp(loop, results);
    return success();
  }
};

} // namespace

void populateFoldIndices(RewritePatternSet &patterns) {
  patterns
      .add<FoldIndices<memref::LoadOp>, FoldIndices<memref::StoreOp>,
           FoldIndices<vector::LoadOp>, FoldIndices<vector::StoreOp>,
           FoldIndices<kernel::LoadTileOp>, FoldIndices<kernel::StoreTileOp>,
           FoldIndices<kernel::CursorOp>, FoldSingleTrip>(
          patterns.getContext());
}

} // namespace ingot::legalize
