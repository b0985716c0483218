// Folds constant factors and addends per channel into weights and biases.
//
//   mul(conv(x, w, b), s)  ->  conv(x, w * s, b * s)
//   add(conv(x, w, b), t)  ->  conv(x, w, b + t)
//
// This applies to constants s and t with one element per output channel, or one
// in total. It removes a batch normalization after a convolution. Factors are
// folded into matmuls as well; addends stay in the epilogue of the matmul. If
// all elements of an addend of an int8 convolution are integers, the addend
// becomes the bias of the convolution:
//
//   add(cast(conv(x, w) : si32, f32), t)  ->  cast(conv(x, w, t) : si32, f32)
//
// Scalar factors of the operands of a matmul, unless they are very small or
// large, are merged into one factor after it:
//
//   matmul(mul(a, 0.25), transpose(mul(b, 0.5)))  ->
//     mul(matmul(a, transpose(b)), 0.125)
//
// Moreover, x + 0.0 becomes x, and a division by a scalar becomes a
// multiplication, unless the quotient is compared or rounded to an integer.
// These rewrites change roundings or the sign of a zero, so --strict omits this
// pass.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Channels.h"
#include "passes/simplify/Passes.h"
#include "passes/simplify/WordSums.h"
#include "llvm/ADT/SetVector.h"

#include <cstring>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_FOLDSCALES
#include "passes/simplify/Passes.h.inc"

namespace {

/// If one operand of the commutative `op` is the result of a conv or matmul
/// without other users, and the other operand is a constant, returns the conv
/// or matmul and the constant. Returns nulls otherwise.
template <typename OpT> std::pair<Operation *, Value> splitOperands(OpT op) {
  for (unsigned i : {0u, 1u}) {
    Operation *producer = op->getOperand(i).getDefiningOp();
    Value other = op->getOperand(1 - i);
    if (isa_and_nonnull<ConvOp, MatMulOp>(producer) && producer->hasOneUse() &&
        other.getDefiningOp<ConstantOp>() &&
        op->getOperand(i).getType() == op->getResult(0).getType())
      return {producer, other};
  }
  return {nullptr, Value()};
}

/// Returns the largest magnitude in each column (index of the last axis) of a
/// constant of floats, which may be infinite or NaN.
std::vector<double> largestOfColumns(ConstantOp constant) {
  auto type = cast<FloatType>(elementOf(constant));
  unsigned width = type.getWidth();
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(constant.getValue(), storage);
  ArrayRef<int64_t> shape = shapeOf(constant);
  SmallVector<uint64_t> most(shape.empty() ? 1 : shape.back());
  // Without the sign bit, the bits of floats are ordered as their magnitudes.
  uint64_t magnitude = llvm::maskTrailingOnes<uint64_t>(width - 1);
  size_t column = 0;
  for (size_t at = 0; at < bytes.size(); at += width / 8) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width / 8);
    most[column] = std::max(most[column], bits & magnitude);
    column = column + 1 == most.size() ? 0 : column + 1;
  }
  std::vector<double> numbers;
  for (uint64_t bits : most)
    numbers.push_back(FloatAttr::get(type, APFloat(type.getFloatSemantics(),
                                                   APInt(width, bits)))
                          .getValueAsDouble());
  return numbers;
}

/// Whether the element type represents `weights` times `factor` well: in each
/// column, the largest product is zero or a normal number. (Smaller products
/// may be denormal.) f16, for example, cannot represent 100 * 1000, although a
/// sum of products with such weights may be small before it is multiplied.
bool staysNormal(ConstantOp weights, ConstantOp factor) {
  if (!hasData(weights.getValue()) || !hasData(factor.getValue()))
    return true;
  const llvm::fltSemantics &semantics =
      cast<FloatType>(elementOf(weights)).getFloatSemantics();
  std::vector<double> columns = largestOfColumns(weights),
                      factors = largestOfColumns(factor);
  if (factors.size() != 1 && factors.size() != columns.size())
    return false;
  for (auto [i, column] : llvm::enumerate(columns)) {
    double by = factors[factors.size() == 1 ? 0 : i];
    APFloat product(column * by);
    bool losesInfo = false;
    product.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    if (!product.isNormal() && column != 0 && by != 0)
      return false;
  }
  return true;
}

LogicalResult foldFactor(MulOp op, PatternRewriter &rewriter) {
  auto [producer, factor] = splitOperands(op);
  if (!producer || !isa<FloatType>(elementOf(factor)))
    return failure();
  Value weights = producer->getOperand(1);
  auto known = weights.getDefiningOp<ConstantOp>();
  if (!known || elementOf(weights) != elementOf(factor) ||
      !staysNormal(known, factor.getDefiningOp<ConstantOp>()))
    return failure();
  rewriter.setInsertionPoint(op);
  Value s =
      perChannel(rewriter, factor, shapeOf(producer->getResult(0)).back());
  if (!s)
    return failure();
  Operation *scaled = rewriter.clone(*producer);
  rewriter.setInsertionPoint(scaled);
  scaled->setOperand(1, elementwise<MulOp>(rewriter, op.getLoc(), weights, s));
  if (auto conv = dyn_cast<ConvOp>(scaled); conv && conv.getBias())
    conv.getBiasMutable().assign(
        elementwise<MulOp>(rewriter, op.getLoc(), conv.getBias(), s));
  scaled->setLoc(rewriter.getFusedLoc({producer->getLoc(), op.getLoc()}));
  rewriter.replaceOp(op, scaled->getResults());
  rewriter.eraseOp(producer);
  return success();
}

LogicalResult foldTerm(AddOp op, PatternRewriter &rewriter) {
  auto [producer, term] = splitOperands(op);
  auto conv = dyn_cast_or_null<ConvOp>(producer);
  if (!conv)
    return failure();
  Value t = perChannel(rewriter, term, shapeOf(conv.getResult()).back());
  if (!t)
    return failure();
  Value bias = conv.getBias() ? elementwise<AddOp>(rewriter, op.getLoc(),
                                                   conv.getBias(), t)
                              : t;
  auto sum = ConvOp::create(
      rewriter, rewriter.getFusedLoc({conv.getLoc(), op.getLoc()}),
      conv.getType(), conv.getX(), conv.getW(), bias, conv.getStrides(),
      conv.getDilations(), conv.getLow(), conv.getGroups(), conv.getXZero());
  rewriter.replaceOp(op, sum);
  rewriter.eraseOp(conv);
  return success();
}

LogicalResult foldWholeTerm(AddOp op, PatternRewriter &rewriter) {
  for (unsigned i : {0u, 1u}) {
    auto cast = op->getOperand(i).getDefiningOp<CastOp>();
    auto conv = cast && cast->hasOneUse() ? cast.getX().getDefiningOp<ConvOp>()
                                          : ConvOp();
    Value term = op->getOperand(1 - i);
    if (!conv || !conv->hasOneUse() || conv.getBias() || !conv.isWidening() ||
        !elementOf(conv.getResult()).isSignedInteger(32) ||
        op.getType() != cast.getType())
      continue;
    ArrayRef<int64_t> w = shapeOf(conv.getW());
    int64_t channels = w.back(),
            steps = ShapedType::getNumElements(w.drop_back());
    if (tensorType(term).getNumElements() != channels ||
        shapeOf(term).back() != channels)
      continue;
    rewriter.setInsertionPoint(conv);
    Value bias = biasInWords(rewriter, term, steps);
    if (!bias)
      continue;
    bias = buildReshape(rewriter, term.getLoc(), bias, {channels});
    rewriter.modifyOpInPlace(conv, [&] { conv.getBiasMutable().assign(bias); });
    rewriter.replaceOp(op, cast);
    return success();
  }
  return failure();
}

/// Moves constant scalar factors of the operands of a matmul of f32 or f64
/// after the matmul, even if transposes or reshapes are in between. Does so
/// only if no operand of the matmul is a constant.
LogicalResult hoistFactor(MatMulOp op, PatternRewriter &rewriter) {
  if (!isa<Float32Type, Float64Type>(elementOf(op.getResult())) ||
      llvm::any_of(op->getOperands(), [](Value v) {
        return isa_and_nonnull<ConstantOp>(v.getDefiningOp());
      }))
    return failure();
  double factor = 1;
  bool found = false;
  // With other factors, products of the unscaled operands or the merged factor
  // could overflow or be denormal.
  constexpr double least = 1e-6, most = 1e6;
  for (OpOperand &operand : op->getOpOperands()) {
    OpOperand *use = &operand;
    while (use->get().hasOneUse() &&
           isa_and_nonnull<TransposeOp, ReshapeOp>(use->get().getDefiningOp()))
      use = &use->get().getDefiningOp()->getOpOperand(0);
    auto scaled = use->get().getDefiningOp<MulOp>();
    if (!scaled || !scaled->hasOneUse())
      continue;
    for (unsigned i : {0u, 1u}) {
      std::optional<double> number = uniformNumber(scaled->getOperand(i));
      Value other = scaled->getOperand(1 - i);
      // Factors of constant operands have already been folded into the
      // constants.
      if (!number || std::abs(*number) < least || std::abs(*number) > most ||
          other.getType() != scaled.getType() ||
          isa_and_nonnull<ConstantOp>(other.getDefiningOp()))
        continue;
      factor *= *number;
      found = true;
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(other); });
      break;
    }
  }
  if (!found)
    return failure();
  rewriter.setInsertionPointAfter(op);
  Value number = uniformConstant(
      rewriter, op.getLoc(),
      RankedTensorType::get({}, elementOf(op.getResult())), factor);
  Value scaled =
      elementwise<MulOp>(rewriter, op.getLoc(), op.getResult(), number);
  rewriter.replaceAllUsesExcept(op.getResult(), scaled, scaled.getDefiningOp());
  return success();
}

/// Rewrites x + 0.0 as x, which differs for x = -0.0 only.
LogicalResult dropZero(AddOp op, PatternRewriter &rewriter) {
  for (unsigned i : {0u, 1u})
    if (op->getOperand(1 - i).getType() == op.getType() &&
        isUniform(op->getOperand(i), 0.0)) {
      rewriter.replaceOp(op, op->getOperand(1 - i));
      return success();
    }
  return failure();
}

/// Returns the floats whose last digit may change an integer or a truth value:
/// operands of comparisons, roundings and conversions to integers, and the
/// values from which elementwise operators and moves compute these operands.
/// For example, floor(41.0 / 41.0) is 1, but floor(41.0 * (1 / 41.0)) is 0.
/// Quantizations are excepted: their scales are approximations anyway.
llvm::SetVector<Value> decisiveValues(func::FuncOp function) {
  llvm::SetVector<Value> values;
  auto addOperands = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<FloatType>(elementOf(operand)))
        values.insert(operand);
  };
  function.walk([&](ElementwiseOpInterface op) {
    if (isa<FloorOp, CeilOp, RoundOp, ModOp>(op) ||
        (!isa<FloatType>(elementOf(op->getResult(0))) &&
         !isa<QuantizeOp, IsNaNOp, IsInfOp>(op)))
      addOperands(op);
  });
  for (size_t i = 0; i < values.size(); ++i) {
    auto op = values[i].getDefiningOp<ElementOpInterface>();
    if (op && op.isCheap())
      addOperands(op);
  }
  return values;
}

/// Rewrites x / c as x * (1 / c) for a constant c with a single value.
void multiplyInstead(DivOp op) {
  Value divisor = op->getOperand(1);
  std::optional<double> number = uniformNumber(divisor);
  // Outside of [1e-30, 1e30] the inverse of the divisor could overflow or be
  // denormal.
  if (!number || std::abs(*number) < 1e-30 || std::abs(*number) > 1e30 ||
      !isa<Float32Type, Float64Type>(elementOf(divisor)))
    return;
  OpBuilder builder(op);
  Value inverse =
      uniformConstant(builder, op.getLoc(), tensorType(divisor), 1 / *number);
  op.replaceAllUsesWith(MulOp::create(builder, op.getLoc(),
                                      TypeRange{op.getType()},
                                      ValueRange{op->getOperand(0), inverse})
                            .getResult());
  op.erase();
}

struct FoldScalesPass : impl::FoldScalesBase<FoldScalesPass> {
  using Base::Base;
  void runOnOperation() override {
    llvm::SetVector<Value> decisive = decisiveValues(getOperation());
    getOperation().walk([&](DivOp op) {
      if (!decisive.contains(op.getResult()))
        multiplyInstead(op);
    });
    RewritePatternSet patterns(&getContext());
    patterns.add(foldFactor)
        .add(foldTerm)
        .add(foldWholeTerm)
        .add(hoistFactor)
        .add(dropZero);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot::simplify
