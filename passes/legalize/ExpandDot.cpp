// Expands dot products of 8-bit and 16-bit elements for which the target lacks
// an instruction.
//
//     %s = kernel.dot unsigned %a, %b, %sum : vector<16xi8>, vector<4xi32>
//  => %a0 = arith.extui (lanes 0, 4, 8, 12 of %a)
//     %b0 = arith.extsi (lanes 0, 4, 8, 12 of %b)
//     %s0 = %sum + %a0 * %b0, then the same with lanes 1, 5, 9, 13 and so on
//
// A dot product of two rows by two columns (kOfPairsAttr) becomes one in which
// both are repeated, so that each lane of the sums has its own elements.
//
// A product of halves (kUpperHalfAttr) becomes one of slices of its operands.
//
// A dot product of bf16 becomes multiplications and additions in f32. For f16,
// each product and each sum is rounded to f16.
//
// If the target has the instruction with swapped operands, the operands are
// swapped. A dot product with an instruction is unchanged, with one exception:
// the instruction may accept a 32-bit word as an operand instead of a vector
// with this word in all lanes. Then the broadcast of the word becomes the
// second operand, and is cloned unless the dot product is its only use, so that
// the printer can print the word instead of the broadcast.

#include "dialects/kernel/DotLane.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/NumberTypes.h"
#include "passes/legalize/Expansions.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

/// Gives `op` its own clone of its operand b, the broadcast of a 32-bit word,
/// so that `op` is the only user of the broadcast. If the word is a lane of a
/// vector, its extraction is cloned too. Fails if `op` is the only user
/// already.
static LogicalResult makeOwn(kernel::DotOp op, PatternRewriter &rewriter) {
  auto cast = op.getB().getDefiningOp<vector::BitCastOp>();
  SmallVector<Operation *, 4> chain{cast.getSource().getDefiningOp()};
  if (auto lane = kernel::dotLane(op.getB()))
    while (chain.back()->getOperand(0) != lane->vector)
      chain.push_back(chain.back()->getOperand(0).getDefiningOp());
  if (cast->hasOneUse() &&
      llvm::all_of(chain, [](Operation *part) { return part->hasOneUse(); }))
    return failure();
  IRMapping mapping;
  rewriter.setInsertionPoint(op);
  for (Operation *part : llvm::reverse(chain))
    rewriter.clone(*part, mapping);
  Value own = rewriter.clone(*cast, mapping)->getResult(0);
  rewriter.modifyOpInPlace(op, [&] { op.getBMutable().assign(own); });
  return success();
}

/// Returns a vector of the lanes `first`, `first + step`, ... of `vector`; a
/// scalar if there is only one such lane.
static Value everyNth(OpBuilder &builder, Location loc, Value vector,
                      int64_t first, int64_t step) {
  if (step == 1)
    return vector;
  SmallVector<int64_t> lanes;
  for (int64_t i = first; i < laneCount(vector.getType()); i += step)
    lanes.push_back(i);
  if (lanes.size() == 1)
    return vector::ExtractOp::create(builder, loc, vector, first);
  return vector::ShuffleOp::create(builder, loc, vector, vector, lanes);
}

} // namespace

LogicalResult expandDot(kernel::DotOp op, const TargetDescription &target,
                        PatternRewriter &rewriter) {
  std::string a = op.getTypeOfA(), b = op.getTypeOfB();
  unsigned group = op.getGroup(), lanes = op.getLanes();
  if (target.intrinsic(kernel::intrinsicName(op), op.getA().getType(),
                       op.getType()))
    return failure();
  if (op->hasAttr(kernel::kAcrossLanesAttr)) {
    // A dot product across lanes may add products to the lanes in any order. So
    // it may also be computed like an ordinary dot product, in which each lane
    // adds only the products of its own elements.
    rewriter.modifyOpInPlace(op,
                             [&] { op->removeAttr(kernel::kAcrossLanesAttr); });
    return success();
  }
  if (op->hasAttr(kernel::kOfPairsAttr)) {
    // Repeat the rows and the columns, so that each lane of the sums has its
    // own row and column.
    int64_t half = laneCount(op.getA().getType()) / 2;
    auto repeated = [&](Value pair, ArrayRef<int64_t> halves) -> Value {
      SmallVector<int64_t> order;
      for (int64_t which : halves)
        llvm::append_range(
            order, llvm::seq<int64_t>(which * half, (which + 1) * half));
      return vector::ShuffleOp::create(rewriter, op.getLoc(), pair, pair,
                                       order);
    };
    rewriter.replaceOpWithNewOp<kernel::DotOp>(
        op, op.getType(), repeated(op.getA(), {0, 0, 1, 1}),
        repeated(op.getB(), {0, 1, 0, 1}), op.getAccumulator(),
        op.getAUnsigned(), op.getBUnsigned());
    return success();
  }
  if (auto isUpper = op->getAttrOfType<BoolAttr>(kernel::kUpperHalfAttr)) {
    auto halfOf = [&](Value vector) -> Value {
      return vector::ExtractStridedSliceOp::create(
          rewriter, op.getLoc(), vector, isUpper.getValue() ? lanes : 0, lanes,
          1);
    };
    rewriter.replaceOpWithNewOp<kernel::DotOp>(
        op, op.getType(), halfOf(op.getA()), halfOf(op.getB()),
        op.getAccumulator(), op.getAUnsigned(), op.getBUnsigned());
    return success();
  }
  auto swap = [&] {
    rewriter.replaceOpWithNewOp<kernel::DotOp>(
        op, op.getType(), op.getB(), op.getA(), op.getAccumulator(),
        op.getBUnsigned(), op.getAUnsigned());
    return success();
  };
  const Product *row = target.product(a, b, group, lanes),
                *swapped = target.product(b, a, group, lanes);
  auto takesWord = [](const Product *row, Value operand) {
    return row && !row->wordSpelling.empty() &&
           kernel::DotOp::wordInAllLanes(operand);
  };
  auto takesLane = [&](StringRef vector, StringRef group, Value operand) {
    auto lane = kernel::dotLane(operand);
    return lane &&
           target.intrinsic(kernel::dotByLane(vector, group, lane->lane),
                            lane->vector.getType(), op.getType());
  };
  if (takesLane(a, b, op.getB()) || takesWord(row, op.getB()))
    return makeOwn(op, rewriter);
  if (takesLane(b, a, op.getA()))
    return swap();
  if (takesWord(swapped, op.getA()) || (!row && swapped))
    return swap();
  if (row)
    return failure();
  Location loc = op.getLoc();
  Value sum = op.getAccumulator();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(sum));
  for (unsigned inGroup = 0; inGroup < group; ++inGroup) {
    auto widened = [&](Value vector, bool isUnsigned) -> Value {
      Value narrow = everyNth(rewriter, loc, vector, inGroup, group);
      if (narrow.getType() == sum.getType())
        return narrow;
      if (isFloat)
        return arith::ExtFOp::create(rewriter, loc, sum.getType(), narrow);
      if (isUnsigned)
        return arith::ExtUIOp::create(rewriter, loc, sum.getType(), narrow);
      return arith::ExtSIOp::create(rewriter, loc, sum.getType(), narrow);
    };
    Value a = widened(op.getA(), op.getAUnsigned()),
          b = widened(op.getB(), op.getBUnsigned());
    if (isFloat) {
      Value product = arith::MulFOp::create(rewriter, loc, a, b);
      sum = arith::AddFOp::create(rewriter, loc, sum, product);
      continue;
    }
    Value product = arith::MulIOp::create(rewriter, loc, a, b);
    sum = arith::AddIOp::create(rewriter, loc, sum, product);
  }
  rewriter.replaceOp(op, sum);
  return success();
}

} // namespace ingot::legalize
