// Products of narrow integers as the target multiplies them.
//
//   matmul(a, b, a_zero, b_zero)
//     ->  matmul(a, b) - a_zero * (column sums of b - steps * b_zero)
//                      - b_zero * row sums of a
//
// where the target has a product for the types of a and b (`Product`). The sums
// and the zero points are exact in si32, modulo 2^32 as the product itself is; of
// constants they are constants, and what is left goes into the product's epilogue.
//
// A target may have a product for other signs only. An operand gets the other sign
// by its highest bit: the same numbers, 128 less or more, as its zero point is then:
//
//   matmul(a: si8, b, a_zero, b_zero)
//     ->  matmul(a ^ 128: ui8, b, a_zero + 128, b_zero)
//
// Other products keep their zero points, which are taken off each element.

#include "dialects/graph/GraphDialect.h"
#include "mlir/IR/Matchers.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/tiles/DotTile.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_FORMINTEGERPRODUCTS
#include "passes/decide/Passes.h.inc"

namespace {

IntegerType otherSign(Type type) {
  auto integer = cast<IntegerType>(type);
  return IntegerType::get(type.getContext(), integer.getWidth(),
                          integer.isUnsigned() ? IntegerType::Signed
                                               : IntegerType::Unsigned);
}

/// Whether `v` is a constant of zeros, or null.
bool isZero(Value v) { return !v || matchPattern(v, m_Zero()); }

class Rewriting {
public:
  Rewriting(MatMulOp product)
      : builder(product), product(product), loc(product.getLoc()) {}

  /// Computes the product with operands of the other sign where that is asked for.
  void run(bool flipA, bool flipB) {
    Type wide = elementOf(product.getResult());
    Operand a = centered(product.getA(), product.getAZero(), flipA);
    Operand b = centered(product.getB(), product.getBZero(), flipB);
    Value y =
        MatMulOp::create(builder, loc, product.getType(), a.values, b.values);
    int64_t steps = shapeOf(a.values).back(), rank = shapeOf(b.values).size();
    if (a.zero) {
      Value sums = sum(b.values, rank - 2);
      if (b.zero)
        sums = elementwise<SubOp>(
            sums, elementwise<MulOp>(b.zero, number(steps, wide)));
      y = elementwise<SubOp>(y, elementwise<MulOp>(sums, a.zero));
    }
    if (b.zero) {
      Value sums = sum(a.values, shapeOf(a.values).size() - 1);
      y = elementwise<SubOp>(y, elementwise<MulOp>(sums, b.zero));
    }
    product.replaceAllUsesWith(y);
    product.erase();
  }

private:
  /// An operand and its zero point in si32, which is null for 0.
  struct Operand {
    Value values, zero;
  };

  Operand centered(Value values, Value zero, bool flip) {
    Operand result{values, isZero(zero)
                               ? Value()
                               : cast(zero, elementOf(product.getResult()))};
    if (!flip)
      return result;
    Type wide = elementOf(product.getResult());
    IntegerType type = otherSign(elementOf(values));
    int64_t half = int64_t(1) << (type.getWidth() - 1);
    Value moved = number(type.isUnsigned() ? half : -half, wide);
    result.zero = result.zero ? elementwise<AddOp>(result.zero, moved) : moved;
    result.values = elementwise<XorOp>(
        cast(values, type), number(type.isUnsigned() ? half : -half, type));
    return result;
  }

  Value cast(Value v, Type type) {
    return CastOp::create(builder, loc, RankedTensorType::get(shapeOf(v), type),
                          v);
  }

  Value number(int64_t value, Type type) {
    APInt bits(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
               /*implicitTrunc=*/true);
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, type), bits));
  }

  template <typename OpT> Value elementwise(Value x, Value y) {
    auto shape = broadcastShapes({shapeOf(x), shapeOf(y)});
    return OpT::create(builder, loc,
                       TypeRange{RankedTensorType::get(*shape, elementOf(x))},
                       ValueRange{x, y})
        .getResult();
  }

  /// The sums over one axis, which stays with size 1.
  Value sum(Value v, int64_t axis) {
    v = cast(v, elementOf(product.getResult()));
    SmallVector<int64_t> shape(shapeOf(v));
    shape[axis] = 1;
    return ReduceSumOp::create(builder, loc,
                               RankedTensorType::get(shape, elementOf(v)), v,
                               ArrayRef<int64_t>{axis});
  }

  OpBuilder builder;
  MatMulOp product;
  Location loc;
};

struct FormIntegerProductsPass
    : impl::FormIntegerProductsBase<FormIntegerProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<MatMulOp> products;
    getOperation().walk([&](MatMulOp op) { products.push_back(op); });
    for (MatMulOp product : products)
      if (product.isWidening() && !hasRunTimeSizes(product) &&
          tensorType(product.getResult()).getNumElements() > 0 &&
          shapeOf(product.getA()).back() > 0)
        form(product, target);
  }

private:
  /// Chooses which operands change their sign: none if the target allows it.
  static void form(MatMulOp product, const TargetDescription &target) {
    Type a = elementOf(product.getA()), b = elementOf(product.getB());
    // The sums of a cost a pass over it, so its sign is the one to change; unless
    // they are needed anyway.
    bool needsRowSums = !isZero(product.getBZero());
    std::pair<bool, bool> flips[] = {{false, false},
                                     {!needsRowSums, needsRowSums},
                                     {needsRowSums, !needsRowSums},
                                     {true, true}};
    double best = 0;
    std::pair<bool, bool> chosen;
    for (auto [flipA, flipB] : flips)
      if (auto dots = schedule::dotForm(flipA ? otherSign(a) : a,
                                        flipB ? otherSign(b) : b, target);
          dots && dots->perCycle > best) {
        best = dots->perCycle;
        chosen = {flipA, flipB};
      }
    auto [flipA, flipB] = chosen;
    if (best > 0 && (flipA || flipB || !product.getZeros().empty()))
      Rewriting(product).run(flipA, flipB);
  }
};

} // namespace
} // namespace ingot::decide
