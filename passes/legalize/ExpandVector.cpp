// Expands reductions, and math functions on vectors.
//
//     vector.reduction <add>, %v : vector<8xf32>
//  => %a = lanes 0-3 + lanes 4-7, %b = lanes 0-1 + lanes 2-3 of %a, ...
//
// A math function on a vector for which the target has an instruction only for
// scalars is computed lane by lane. If the instruction takes vectors of half
// the width, the vector is split into halves. If the target can multiply a
// vector by one lane of another, each multiply-add gets its own copy of the
// broadcast lane, so that both together can be one instruction.

#include "dialects/kernel/NumberTypes.h"
#include "passes/legalize/Expansions.h"
#include "targets/TargetDescription.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::legalize {

namespace {

Value slice(OpBuilder &b, Location loc, Value vector, int64_t offset,
            int64_t count) {
  return vector::ExtractStridedSliceOp::create(
      b, loc, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{count},
      ArrayRef<int64_t>{1});
}

LogicalResult expandReduction(vector::ReductionOp op,
                              PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Value rest = op.getVector();
  auto combine = [&](Value a, Value b) {
    return vector::makeArithReduction(rewriter, loc, op.getKind(), a, b);
  };
  int64_t lanes = laneCount(rest.getType());
  if (lanes & (lanes - 1))
    return failure();
  for (; lanes > 2; lanes /= 2)
    rest = combine(slice(rewriter, loc, rest, 0, lanes / 2),
                   slice(rewriter, loc, rest, lanes / 2, lanes / 2));
  auto lane = [&](int64_t i) -> Value {
    return vector::ExtractOp::create(rewriter, loc, rest, i);
  };
  Value result = lanes == 2 ? combine(lane(0), lane(1)) : lane(0);
  if (op.getAcc())
    result = combine(op.getAcc(), result);
  rewriter.replaceOp(op, result);
  return success();
}

struct SplitFunction : RewritePattern {
  SplitFunction(MLIRContext *context, const TargetDescription &target)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), target(target) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    StringRef name = op->getName().getStringRef();
    // Only functions of the math dialect are split: conversions of small floats
    // have a bitwise expansion for vectors of all widths.
    if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
        op->getName().getDialectNamespace() != "math" ||
        isa<math::AbsFOp, math::AbsIOp>(op))
      return failure();
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type || !isVector(type) || target.intrinsic(name, type, type))
      return failure();
    Location loc = op->getLoc();
    Value operand = op->getOperand(0);
    int64_t lanes = type.getNumElements(), half = lanes / 2;
    Value result = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(type)));
    auto apply = [&](Value part) {
      OperationState state(loc, op->getName(), part, part.getType(),
                           op->getAttrs());
      return rewriter.create(state)->getResult(0);
    };
    Type element = type.getElementType();
    if (half >= 2 && target.intrinsic(name, VectorType::get(half, element),
                                      VectorType::get(half, element))) {
      for (int64_t offset : {int64_t(0), half})
        result = vector::InsertStridedSliceOp::create(
            rewriter, loc, apply(slice(rewriter, loc, operand, offset, half)),
            result, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{1});
    } else {
      SmallVector<Value> values;
      for (int64_t i = 0; i < lanes; ++i)
        values.push_back(
            apply(vector::ExtractOp::create(rewriter, loc, operand, i)));
      result = vector::FromElementsOp::create(rewriter, loc, type, values);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
  const TargetDescription &target;
};

/// Inserts a vector of one lane as a scalar, since a one-lane vector is a
/// scalar in C.
LogicalResult insertOneLane(vector::InsertStridedSliceOp op,
                            PatternRewriter &rewriter) {
  VectorType source = op.getSourceVectorType(), dest = op.getDestVectorType();
  if (source.getRank() != 1 || dest.getRank() != 1 ||
      source.getNumElements() != 1)
    return failure();
  Value lane =
      vector::ExtractOp::create(rewriter, op.getLoc(), op.getValueToStore(), 0);
  rewriter.replaceOpWithNewOp<vector::InsertOp>(
      op, lane, op.getDest(), cast<IntegerAttr>(op.getOffsets()[0]).getInt());
  return success();
}

/// Gives each multiply-add its own copy of the broadcast lane that it
/// multiplies by, so that both together can be one instruction.
LogicalResult splitLaneUses(vector::FMAOp op, PatternRewriter &rewriter) {
  for (OpOperand &factor : op->getOpOperands().drop_back()) {
    auto splat = factor.get().getDefiningOp<vector::BroadcastOp>();
    auto lane = splat ? splat.getSource().getDefiningOp<vector::ExtractOp>()
                      : vector::ExtractOp();
    if (!lane || lane.hasDynamicPosition() ||
        (splat->hasOneUse() && lane->hasOneUse()))
      continue;
    Value own = rewriter.clone(*lane)->getResult(0);
    own = vector::BroadcastOp::create(rewriter, op.getLoc(), splat.getType(),
                                      own);
    rewriter.modifyOpInPlace(op, [&] { factor.set(own); });
    return success();
  }
  return failure();
}

} // namespace

void populateExpandVector(RewritePatternSet &patterns,
                          const TargetDescription &target) {
  patterns.add(expandReduction).add(insertOneLane);
  patterns.add<SplitFunction>(patterns.getContext(), target);
  if (target.multiplyByLane)
    patterns.add(splitLaneUses);
}

} // namespace ingot::legalize
