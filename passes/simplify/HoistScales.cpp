// Moves the scales of quantized operands after the contractions that read them.
//
//   conv(dequantize(x, sx, zx), dequantize(w, sw, zw), dequantize(b, sb, 0))
//     ->  dequantize(conv(dequantize(x, 1, zx), dequantize(w, 1, zw),
//                         round(dequantize(b, sb, 0) / (sx * sw))), sx * sw)
//     if sb is a multiple of sx * sw; any other bias is not rounded
//
//   quantize(relu(dequantize(a, s) + b), sy, zy)
//     ->  quantize(relu(dequantize(a, s / sy) + b / sy), 1, zy)    for constants b
//
//   quantize(max_pool(dequantize(x, s, z)), s, z)  ->  max_pool(x)
//
// Matmuls, sums and means are rewritten in the same way. The summands are then
// integers, whose sums are exact in f32 up to 2^24, in any order, and one
// multiplication before the rounding applies all scales. Kernels for integers
// compute the same numbers, so the results are equal, even for ties. With
// scales inside the sum, rounding errors would move values near a tie to the
// next quantization step, and such errors grow from layer to layer.
//
// The scale is written as a dequantize of a float, not as a mul, so that
// FoldScales does not move it. With --strict only contractions are rewritten,
// and the bias is added after the scale. Then each tensor of the model is
// rounded as ONNX defines. ONNX does not define the rounding of the sums inside
// a contraction; exact sums differ least from any order of summation.
//
// 8-bit floats are multiplied in the same way if the target has dot products
// for them, but not with --strict: their products are exact in f32, their sums
// are not.
//
// The pass handles constant positive scales: one for the tensor, or for weights
// also one per output channel. Operators with other scales are unchanged.

#include "dialects/graph/ElementsData.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/SmallFloats.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/simplify/Moves.h"
#include "passes/simplify/Passes.h"
#include "targets/TargetDescription.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_HOISTSCALES
#include "passes/simplify/Passes.h.inc"

namespace {

using Scales = SmallVector<float>;

/// Returns the elements of a constant f32 tensor; reshapes may follow the
/// constant. Returns nothing for other values, or if an element is outside of a
/// range of positive numbers whose products and quotients are normal numbers.
std::optional<Scales> constantScales(Value v) {
  while (auto reshape = v.getDefiningOp<ReshapeOp>())
    v = reshape.getX();
  auto constant = v.getDefiningOp<ConstantOp>();
  if (!constant || !elementOf(v).isF32())
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
      resource && !resource.getRawHandle().getBlob())
    return std::nullopt;
  std::vector<char> storage;
  ArrayRef<char> bytes = elementBytes(constant.getValue(), storage);
  Scales scales(bytes.size() / sizeof(float));
  if (scales.empty())
    return std::nullopt;
  std::memcpy(scales.data(), bytes.data(), scales.size() * sizeof(float));
  bool normal =
      llvm::all_of(scales, [](float s) { return s > 1e-15f && s < 1e15f; });
  return normal ? std::optional(scales) : std::nullopt;
}

/// Whether `type` is an integer of at most 16 bits. Its product with an 8-bit
/// integer fits into the 24 mantissa bits of f32. Products of wider types were
/// not exact before this pass either.
bool isNarrowInteger(Type type) {
  return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 16;
}

/// A value computed from a dequantized tensor by transposes, or, if the tensor
/// has a single scale, by transposes and reshapes.
struct Dequantized {
  DequantizeOp op;
  Moves moves;   // Transposes and reshapes of the result of `op`.
  Scales scales; // One scale, or one for each index along `axis`.
  int64_t axis = -1;

  static std::optional<Dequantized> match(Value v, bool mayBeFloats = false) {
    Dequantized result;
    result.moves = Moves::behind(v);
    v = result.moves.from;
    result.op = v.getDefiningOp<DequantizeOp>();
    if (!result.op || !elementOf(v).isF32())
      return std::nullopt;
    Type narrow = elementOf(result.op.getX());
    if (!isNarrowInteger(narrow) && !(mayBeFloats && isFloat8(narrow)))
      return std::nullopt;
    std::optional<Scales> scales = constantScales(result.op.getScale());
    if (!scales)
      return std::nullopt;
    result.scales = *scales;
    if (scales->size() == 1)
      return result;
    ArrayRef<int64_t> shape = shapeOf(result.op.getScale());
    int64_t missing = shapeOf(v).size() - shape.size();
    for (auto [i, size] : llvm::enumerate(shape))
      if (size == static_cast<int64_t>(scales->size()))
        result.axis = missing + i;
    if (result.axis < 0 ||
        shapeOf(v)[result.axis] != static_cast<int64_t>(scales->size()))
      return std::nullopt;
    for (Operation *move : llvm::reverse(result.moves.path)) {
      auto transpose = dyn_cast<TransposeOp>(move);
      if (!transpose)
        return std::nullopt;
      result.axis = llvm::find(transpose.getPerm(), result.axis) -
                    transpose.getPerm().begin();
    }
    return result;
  }
};

class Hoisting {
public:
  Hoisting(func::FuncOp function, bool strict, bool multipliesFloats)
      : function(function), strict(strict), multipliesFloats(multipliesFloats) {
  }

  void run() {
    SmallVector<Operation *> operations;
    for (Operation &op : function.getBody().front().without_terminator())
      operations.push_back(&op);
    for (Operation *op : operations) {
      if (auto conv = dyn_cast<ConvOp>(op))
        hoistProduct(conv, conv.getBiasMutable());
      else if (auto product = dyn_cast<MatMulOp>(op))
        hoistProduct(product, matrixBias(product));
      else if (auto pool = dyn_cast<MaxPoolOp>(op))
        hoistMaximum(pool);
      else if (isa<ReduceSumOp, ReduceMeanOp>(op) && !strict)
        hoistSum(op);
    }
    eraseDead();
    // If some operators now read the integers of a dequantized tensor, makes
    // its other users read these integers times the scale, so that only the
    // integers are stored in memory.
    for (auto [dequantize, integers] : integersOf) {
      OpBuilder builder(dequantize);
      builder.setInsertionPointAfter(dequantize);
      auto op = cast<DequantizeOp>(dequantize);
      dequantize->getResult(0).replaceAllUsesWith(
          MulOp::create(builder, op.getLoc(), integers, op.getScale())
              .getResult());
    }
    function.walk([&](QuantizeOp op) {
      if (Value integers = thereAndBack(op))
        op.replaceAllUsesWith(integers);
      else if (!strict)
        mergeScales(op);
    });
    eraseDead();
  }

private:
  static Value constant(OpBuilder &builder, Location loc,
                        ArrayRef<int64_t> shape, ArrayRef<float> values) {
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return ConstantOp::create(
        builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(type, values)));
  }

  /// Returns a constant with the scales: a scalar if there is one scale,
  /// otherwise a tensor of rank `rank` with the scales along its last axis.
  static Value lastAxis(OpBuilder &builder, Location loc,
                        ArrayRef<float> scales, int64_t rank) {
    SmallVector<int64_t> shape;
    if (scales.size() > 1) {
      shape.assign(rank, 1);
      shape.back() = scales.size();
    }
    return constant(builder, loc, shape, scales);
  }

  /// Returns the value that `from` matched, but dequantized with scale 1, so
  /// that its elements are integers.
  Value integers(const Dequantized &from) {
    DequantizeOp op = from.op;
    Value &unit = integersOf[op];
    if (!unit) {
      OpBuilder builder(op);
      unit = DequantizeOp::create(
          builder, op.getLoc(), TypeRange{op.getType()},
          ValueRange{op.getX(), constant(builder, op.getLoc(), {}, {1.0f}),
                     op.getZero()});
    }
    return from.moves.repeat(unit);
  }

  /// Replaces `values` by `values` * `scales` in all its uses.
  static void scaleAfter(Value values, ArrayRef<float> scales) {
    OpBuilder builder(values.getContext());
    builder.setInsertionPointAfterValue(values);
    Location loc = values.getLoc();
    Value scale = lastAxis(builder, loc, scales, shapeOf(values).size());
    auto scaled = DequantizeOp::create(
        builder, loc, TypeRange{values.getType()},
        ValueRange{values, scale, constant(builder, loc, {}, {0.0f})});
    values.replaceAllUsesExcept(scaled->getResult(0), scaled);
  }

  /// If the only reader of `product` adds a quantized bias to it, returns the
  /// operand of this addition that is the bias; otherwise an empty range.
  static MutableOperandRange matrixBias(MatMulOp product) {
    Value y = product.getResult();
    auto add = y.hasOneUse() ? dyn_cast<AddOp>(*y.user_begin()) : AddOp();
    if (!add || add.getType() != y.getType())
      return {product, 0, 0};
    unsigned other = add->getOperand(0) == y ? 1 : 0;
    Value bias = add->getOperand(other);
    bool perColumn =
        !shapeOf(bias).empty() && shapeOf(bias).back() == shapeOf(y).back();
    if (!perColumn || !isRounded(bias))
      return {product, 0, 0};
    return {add, other, 1};
  }

  /// Whether both operands of a contraction are integers, or both are 8-bit
  /// floats and `w` is constant.
  static bool isAlike(const Dequantized &x, const Dequantized &w) {
    DequantizeOp left = x.op, right = w.op;
    bool areFloats = isFloat8(elementOf(left.getX()));
    return areFloats == isFloat8(elementOf(right.getX())) &&
           (!areFloats || right.getX().getDefiningOp<ConstantOp>());
  }

  static bool isRounded(Value bias) {
    auto op = bias.getDefiningOp<DequantizeOp>();
    return op && isa<IntegerType>(elementOf(op.getX()));
  }

  /// Whether the quantized `bias` is a whole number of steps, the units of the
  /// sums that it is added to: its scales are multiples of `steps`.
  static bool isWhole(Value bias, ArrayRef<float> steps) {
    if (!isRounded(bias))
      return false;
    Value scale = bias.getDefiningOp<DequantizeOp>().getScale();
    std::optional<Scales> own = constantScales(scale);
    if (!own)
      return false;
    auto count = static_cast<int64_t>(own->size());
    if (count != 1 && (shapeOf(scale).back() != count ||
                       (steps.size() != 1 && own->size() != steps.size())))
      return false;
    for (size_t i = 0; i < std::max(own->size(), steps.size()); ++i) {
      float ratio = (*own)[i % own->size()] / steps[i % steps.size()],
            whole = std::round(ratio);
      if (whole < 1 || std::abs(ratio - whole) > 1e-5f * ratio)
        return false;
    }
    return true;
  }

  /// Moves the scales of the two operands of the contraction `op` after it.
  /// `bias` is the operand that is added to its result; an empty range if there
  /// is none.
  void hoistProduct(Operation *op, const MutableOperandRange &bias) {
    std::optional<Dequantized> x = Dequantized::match(op->getOperand(0),
                                                      multipliesFloats),
                               w = Dequantized::match(op->getOperand(1),
                                                      multipliesFloats);
    Value y = op->getResult(0);
    int64_t columns = shapeOf(op->getOperand(1)).size() - 1;
    if (!x || !w || x->axis >= 0 || (w->axis >= 0 && w->axis != columns) ||
        !elementOf(y).isF32() || !isAlike(*x, *w))
      return;
    Scales scales;
    for (float s : w->scales)
      scales.push_back(x->scales[0] * s);
    if (isa<MatMulOp>(op) &&
        shapeOf(y).back() != shapeOf(op->getOperand(1)).back())
      return;
    op->setOperand(0, integers(*x));
    op->setOperand(1, integers(*w));
    bool isOwn = !bias.empty() && bias.getOwner() == op,
         rounds = !bias.empty() && isWhole(bias.begin()->get(), scales);
    if (isOwn && strict)
      return scaleAndAdd(op, MutableOperandRange(bias), scales);
    // A tensor with other scales is added to the product after it is scaled.
    if ((isOwn || rounds) && !strict) {
      OpOperand &operand = *bias.begin();
      Operation *reader = operand.getOwner();
      OpBuilder builder(reader);
      Value given = operand.get();
      Value steps = DivOp::create(
          builder, reader->getLoc(), given,
          lastAxis(builder, reader->getLoc(), scales, shapeOf(given).size()));
      if (rounds)
        steps = RoundOp::create(builder, reader->getLoc(), steps);
      operand.set(steps);
      y = reader->getResult(0);
    }
    scaleAfter(y, scales);
  }

  /// Adds the bias of `op` after its result has been multiplied by the scales:
  /// op * scales + bias.
  static void scaleAndAdd(Operation *op, MutableOperandRange bias,
                          ArrayRef<float> scales) {
    Value added = bias.begin()->get(), y = op->getResult(0);
    bias.clear();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto sum = AddOp::create(builder, op->getLoc(), TypeRange{y.getType()},
                             ValueRange{y, added});
    y.replaceAllUsesExcept(sum->getResult(0), sum);
    scaleAfter(y, scales);
  }

  /// Rewrites max_pool(dequantize(x)) as dequantize(max_pool(x)).
  static void hoistMaximum(MaxPoolOp pool) {
    std::optional<Dequantized> x = Dequantized::match(pool.getX());
    if (!x || x->axis >= 0)
      return;
    OpBuilder builder(pool);
    Location loc = pool.getLoc();
    Value integers = x->op.getX();
    auto greatest = MaxPoolOp::create(
        builder, loc,
        TypeRange{tensorOf(dimsOf(pool.getResult()), elementOf(integers))},
        ValueRange{x->moves.repeat(integers)}, pool->getAttrs());
    pool.replaceAllUsesWith(
        DequantizeOp::create(
            builder, loc, TypeRange{pool.getType()},
            ValueRange{greatest.getResult(), x->op.getScale(), x->op.getZero()})
            ->getResult(0));
  }

  /// Returns the integers that `op` quantizes again after they were dequantized
  /// with the same scale and zero point, so that rounding restores them.
  /// Returns null if `op` quantizes anything else.
  static Value thereAndBack(QuantizeOp op) {
    std::optional<Dequantized> from = Dequantized::match(op.getX());
    if (!from || from->axis >= 0 ||
        elementOf(from->op.getX()) != elementOf(op.getResult()))
      return {};
    auto isSame = [](Value x, Value y) {
      auto a = x.getDefiningOp<ConstantOp>(), b = y.getDefiningOp<ConstantOp>();
      return x == y || (a && b && a.getValue() == b.getValue());
    };
    return isSame(from->op.getScale(), op.getScale()) &&
                   isSame(from->op.getZero(), op.getZero())
               ? from->moves.repeat(from->op.getX())
               : Value();
  }

  /// Moves the scale of the operand of a sum or mean after the reduction. A
  /// division by the number of elements (mean) becomes part of the scale.
  void hoistSum(Operation *op) {
    std::optional<Dequantized> x = Dequantized::match(op->getOperand(0));
    if (!x || x->axis >= 0 || !elementOf(op->getResult(0)).isF32())
      return;
    auto reduction = cast<ReductionOpInterface>(op);
    float count = 1;
    for (int64_t axis : reduction.getAxes()) {
      Dim size = dimsOf(op->getOperand(0))[axis];
      // A dynamic number of elements cannot become part of a constant scale.
      if (isa<ReduceMeanOp>(op) && !size.known())
        return;
      count *= size.most();
    }
    float scale = isa<ReduceMeanOp>(op) ? x->scales[0] / count : x->scales[0];
    OpBuilder builder(op);
    auto sum = ReduceSumOp::create(builder, op->getLoc(), integers(*x),
                                   reduction.getAxes());
    op->replaceAllUsesWith(sum->getResults());
    scaleAfter(sum.getResult(), scale);
  }

  /// Divides the operand of `op` by the scale of `op`, by changing the scales
  /// and constants from which the operand is computed; the scale of `op`
  /// becomes 1. Does so only if the operand depends on sums, and positive
  /// factors commute with all operators in between.
  static void mergeScales(QuantizeOp op) {
    std::optional<Scales> to = constantScales(op.getScale());
    if (!to || to->size() != 1 || !scalesSums(op.getX()))
      return;
    op->setOperand(0, divided(op.getX(), (*to)[0]));
    OpBuilder builder(op);
    op->setOperand(
        1, constant(builder, op.getLoc(), shapeOf(op.getScale()), {1.0f}));
  }

  /// Whether `v` can be multiplied by a positive factor by changing the
  /// constants and scales from which it is computed, and one of these scales is
  /// the scale of a sum. For values computed only from int8 tensors, this would
  /// save nothing.
  static bool scalesSums(Value v) {
    Seen seen;
    return takesFactor(v, seen) && seen.hasSum;
  }

  /// The state of takesFactor, which searches the operands of a value
  /// recursively.
  struct Seen {
    bool hasSum = false;
    /// The number of values visited. Models have a few values between two
    /// quantizations; a limit bounds the search in unusual models.
    unsigned values = 0;
  };

  static bool takesFactor(Value v, Seen &seen) {
    Operation *op = v.getDefiningOp();
    if (!op || !elementOf(v).isF32() || ++seen.values > 64)
      return false;
    if (isConstant(v))
      return true;
    if (!v.hasOneUse())
      return false;
    if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
      seen.hasSum |= elementOf(dequantize.getX()).isF32();
      return constantScales(dequantize.getScale()).has_value();
    }
    if (isa<MulOp>(op)) {
      auto integers = op->getOperand(0).getDefiningOp<DequantizeOp>();
      seen.hasSum |= !integers || elementOf(integers.getX()).isF32();
      return constantScales(op->getOperand(1)).has_value();
    }
    seen.hasSum |= isa<AddOp, SubOp>(op);
    return isa<ReluOp, TransposeOp, ReshapeOp, MaxPoolOp, AddOp, SubOp,
               MaximumOp, MinimumOp>(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return takesFactor(operand, seen);
           });
  }

  /// Whether `v` is a constant, or computed from a constant by dequantizing,
  /// moving, rounding or dividing by a constant.
  static bool isConstant(Value v) {
    while (Operation *op = v.getDefiningOp()) {
      if (isa<ConstantOp>(op))
        return true;
      if (!isa<DequantizeOp, TransposeOp, ReshapeOp, DivOp, RoundOp>(op) ||
          !llvm::all_of(op->getOperands().drop_front(), [](Value operand) {
            return operand.getDefiningOp<ConstantOp>();
          }))
        return false;
      v = op->getOperand(0);
    }
    return false;
  }

  /// Returns `v` / `by` for a `v` for which takesFactor is true. Modifies, in
  /// place, the operators and constants from which `v` is computed.
  static Value divided(Value v, float by) {
    Operation *op = v.getDefiningOp();
    OpBuilder builder(op);
    auto over = [&](Value number) {
      builder.setInsertionPointAfterValue(number);
      return DivOp::create(builder, op->getLoc(), number,
                           constant(builder, op->getLoc(), {}, {by}))
          .getResult();
    };
    if (isConstant(v))
      return over(v);
    if (isa<DequantizeOp, MulOp>(op)) {
      Scales scales = *constantScales(op->getOperand(1));
      for (float &s : scales)
        s /= by;
      op->setOperand(1, constant(builder, op->getLoc(),
                                 shapeOf(op->getOperand(1)), scales));
      return v;
    }
    for (OpOperand &operand : op->getOpOperands())
      operand.set(divided(operand.get(), by));
    return v;
  }

  void eraseDead() {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op)) {
        integersOf.erase(&op);
        op.erase();
      }
  }

  func::FuncOp function;
  bool strict, multipliesFloats;
  llvm::MapVector<Operation *, Value> integersOf;
};

struct HoistScalesPass : impl::HoistScalesBase<HoistScalesPass> {
  using Base::Base;
  void runOnOperation() override {
    bool multipliesFloats =
        !strict && lookupTarget(targetName)->multipliesFloat8();
    Hoisting(getOperation(), strict, multipliesFloats).run();
  }
};

} // namespace
} // namespace ingot::simplify
