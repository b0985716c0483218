// Raises decomposed activation functions.
//
// Most activation functions are products, for example x * 0.5 * (1 + erf(x /
// sqrt(2))), whose factors may have any order and grouping. So the factors of
// each product are collected first.

#include "dialects/graph/ops/Patterns.h"
#include "passes/simplify/RaiseComposites.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
namespace {

/// A product: a constant times some factors.
struct Product {
  double number = 1;
  SmallVector<Value> factors;

  /// Collects the factors of `v` through products of the same type; a square or
  /// cube counts as its base two or three times. A product other than `v` that
  /// has several users is a single factor.
  static Product of(Value v, Matched &matched) {
    Product product;
    product.collect(v, v, matched, mostDepth);
    return product;
  }

  /// Whether the product is `expected` * x^count, within the precision of the
  /// type of `x`.
  bool isPowerOf(Value x, size_t count, double expected) const {
    return factors.size() == count && isAbout(number, expected, x) &&
           llvm::all_of(factors, [&](Value f) { return f == x; });
  }
  /// Returns the other factor if there are two factors and one of them is `x`;
  /// null otherwise.
  Value cofactor(Value x) const {
    if (factors.size() != 2)
      return {};
    return factors[0] == x   ? factors[1]
           : factors[1] == x ? factors[0]
                             : Value();
  }

private:
  /// More products in a row than any activation function has; the limit keeps
  /// the search linear in the length of a chain of products.
  static constexpr int mostDepth = 16;

  void collect(Value v, Value root, Matched &matched, int depth) {
    if (std::optional<double> value = uniformNumber(v)) {
      number *= *value;
      return;
    }
    Operation *op = v.getDefiningOp();
    if (!op || depth == 0 || v.getType() != root.getType() ||
        (v != root && !v.hasOneUse()))
      return factors.push_back(v);
    if (isa<MulOp>(op)) {
      matched.add(op);
      collect(op->getOperand(0), root, matched, depth - 1);
      collect(op->getOperand(1), root, matched, depth - 1);
    } else if (auto divisor = isa<DivOp>(op) ? uniformNumber(op->getOperand(1))
                                             : std::nullopt) {
      matched.add(op);
      number /= *divisor;
      collect(op->getOperand(0), root, matched, depth - 1);
    } else if (auto exponent = isa<PowOp>(op) ? uniformNumber(op->getOperand(1))
                                              : std::nullopt;
               exponent && (*exponent == 2 || *exponent == 3)) {
      matched.add(op);
      factors.append(static_cast<size_t>(*exponent), op->getOperand(0));
    } else {
      factors.push_back(v);
    }
  }
};

/// Returns y if `v` is y + number; null otherwise.
Value withoutTerm(Value v, double number, Matched &matched) {
  auto sum = matched.take<AddOp>(v);
  for (unsigned i : {0u, 1u})
    if (sum && isAbout(sum->getOperand(i), number) &&
        otherOperand(sum, i).getType() == sum.getType())
      return otherOperand(sum, i);
  return {};
}

/// Returns y if `v` is y clamped to [low, high], with the two bounds applied in
/// either order; null otherwise.
Value withoutBounds(Value v, double low, double high, Matched &matched) {
  auto bounded = [&](Value v, bool isLower) -> Value {
    Operation *op = v ? v.getDefiningOp() : nullptr;
    if (isLower && low == 0 && isa_and_nonnull<ReluOp>(op)) {
      matched.add(op);
      return op->getOperand(0);
    }
    if (isLower ? !isa_and_nonnull<MaximumOp>(op)
                : !isa_and_nonnull<MinimumOp>(op))
      return {};
    for (unsigned i : {0u, 1u})
      if (uniformNumber(op->getOperand(i)) == (isLower ? low : high)) {
        matched.add(op);
        return otherOperand(op, i);
      }
    return {};
  };
  if (Value inner = bounded(v, /*isLower=*/true))
    return bounded(inner, /*isLower=*/false);
  return bounded(bounded(v, /*isLower=*/false), /*isLower=*/true);
}

/// Replaces `root` by OpT(x). Fails if `x` is not a tensor of floats of the
/// type of the result, or if an operation outside of `matched` uses the result
/// of an operation in `matched` other than `root`.
template <typename OpT>
LogicalResult raise(PatternRewriter &rewriter, Operation *root, Value x,
                    Matched &matched,
                    ArrayRef<NamedAttribute> attributes = {}) {
  Type type = root->getResult(0).getType();
  if (x.getType() != type || !isa<FloatType>(elementOf(x)))
    return failure();
  matched.add(root);
  if (!matched.isPrivateTo(root))
    return failure();
  auto op = OpT::create(rewriter, matched.location(rewriter), TypeRange{type},
                        ValueRange{x}, attributes);
  rewriter.replaceOp(root, op->getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Patterns for products of x and a function of x
//===----------------------------------------------------------------------===//

/// Whether `u` is sqrt(2 / pi) * (x + 0.044715 * x^3).
bool isTanhArgument(Value u, Value x, Matched &matched) {
  constexpr double root = 0.79788456080286535588, cubic = 0.044715;
  Product product = Product::of(u, matched);
  if (!isAbout(product.number, root, x))
    return false;
  // Matches root * (x + cubic * x^3).
  if (product.factors.size() == 1) {
    auto sum = matched.take<AddOp>(product.factors[0]);
    for (unsigned i : {0u, 1u})
      if (sum && sum->getOperand(i) == x)
        return Product::of(otherOperand(sum, i), matched)
            .isPowerOf(x, 3, cubic);
    return false;
  }
  // Matches root * x * (1 + cubic * x^2).
  Value other = product.cofactor(x);
  Value square = other ? withoutTerm(other, 1, matched) : Value();
  return square && Product::of(square, matched).isPowerOf(x, 2, cubic);
}

/// Raises x * 0.5 * (1 + erf(x / sqrt(2))) and x * 0.5 * (1 + tanh(...)) to
/// gelu, x * sigmoid(x) to swish, x * tanh(softplus(x)) to mish, and x *
/// clamp(x + 3, 0, 6) / 6 to hard_swish.
struct RaiseProduct : RewritePattern {
  explicit RaiseProduct(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<MulOp, DivOp>(op))
      return failure();
    Matched outer;
    Product product = Product::of(op->getResult(0), outer);
    if (product.factors.size() == 1)
      return raiseBounded(op, product, outer, rewriter);
    if (product.factors.size() != 2)
      return failure();
    for (unsigned i : {0u, 1u}) {
      Matched matched = outer;
      if (succeeded(raiseWith(op, product.factors[i], product.factors[1 - i],
                              product.number, matched, rewriter)))
        return success();
    }
    return failure();
  }

  static LogicalResult raiseWith(Operation *op, Value x, Value factor,
                                 double number, Matched &matched,
                                 PatternRewriter &rewriter) {
    Builder &b = rewriter;
    if (isAbout(number, 0.5, x)) {
      Value function = withoutTerm(factor, 1, matched);
      if (auto erf = matched.take<ErfOp>(function);
          erf && Product::of(erf->getOperand(0), matched)
                     .isPowerOf(x, 1, 0.70710678118654752440))
        return raise<GeluOp>(rewriter, op, x, matched);
      if (auto tanh = matched.take<TanhOp>(function);
          tanh && isTanhArgument(tanh->getOperand(0), x, matched))
        return raise<GeluOp>(
            rewriter, op, x, matched,
            b.getNamedAttr("approximate", b.getStringAttr("tanh")));
      return failure();
    }
    if (isAbout(number, 1.0 / 6, x)) {
      Value shifted = withoutBounds(factor, 0, 6, matched);
      if (shifted && withoutTerm(shifted, 3, matched) == x)
        return raise<HardSwishOp>(rewriter, op, x, matched);
      return failure();
    }
    if (number != 1)
      return failure();
    if (auto sigmoid = matched.take<SigmoidOp>(factor)) {
      Product argument = Product::of(sigmoid->getOperand(0), matched);
      if (argument.isPowerOf(x, 1, argument.number) &&
          fitsAttribute(argument.number, x))
        return raise<SwishOp>(
            rewriter, op, x, matched,
            b.getNamedAttr("alpha", b.getF32FloatAttr(argument.number)));
      return failure();
    }
    if (auto bounded = matched.take<HardSigmoidOp>(factor);
        bounded && bounded->getOperand(0) == x &&
        isAbout(bounded.getAlpha().convertToDouble(), 1.0 / 6, x) &&
        isAbout(bounded.getBeta().convertToDouble(), 0.5, x))
      return raise<HardSwishOp>(rewriter, op, x, matched);
    if (auto tanh = matched.take<TanhOp>(factor))
      if (auto softplus = matched.take<SoftplusOp>(tanh->getOperand(0));
          softplus && softplus->getOperand(0) == x)
        return raise<MishOp>(rewriter, op, x, matched);
    return failure();
  }

  /// Raises clamp(x + 3, 0, 6) / 6 to hard_sigmoid. It is a factor of a hard
  /// swish, and is raised separately if it also has other users.
  static LogicalResult raiseBounded(Operation *op, const Product &product,
                                    Matched &matched,
                                    PatternRewriter &rewriter) {
    Builder &b = rewriter;
    if (!isAbout(product.number, 1.0 / 6, product.factors[0]))
      return failure();
    Value shifted = withoutBounds(product.factors[0], 0, 6, matched);
    Value x = shifted ? withoutTerm(shifted, 3, matched) : Value();
    if (!x || !fitsAttribute(1.0 / 6, x))
      return failure();
    return raise<HardSigmoidOp>(
        rewriter, op, x, matched,
        {b.getNamedAttr("alpha", b.getF32FloatAttr(1.0f / 6)),
         b.getNamedAttr("beta", b.getF32FloatAttr(0.5f))});
  }
};

//===----------------------------------------------------------------------===//
// Patterns for functions of e^x
//===----------------------------------------------------------------------===//

/// Returns x if `v` is 1 + exp(x) or, with `negated`, 1 + exp(-x); null
/// otherwise.
Value exponentOf(Value v, bool negated, Matched &matched) {
  auto exp = matched.take<ExpOp>(withoutTerm(v, 1, matched));
  if (!exp || !negated)
    return exp ? exp->getOperand(0) : Value();
  auto minus = matched.take<NegOp>(exp->getOperand(0));
  return minus ? minus->getOperand(0) : Value();
}

/// Raises 1 / (1 + exp(-x)) to sigmoid(x).
struct RaiseSigmoid : RewritePattern {
  explicit RaiseSigmoid(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    bool isInverse = isa<ReciprocalOp>(op) ||
                     (isa<DivOp>(op) && isUniform(op->getOperand(0), 1.0));
    Matched matched;
    Value x = isInverse ? exponentOf(op->getOperands().back(), /*negated=*/true,
                                     matched)
                        : Value();
    return x ? raise<SigmoidOp>(rewriter, op, x, matched) : failure();
  }
};

/// Raises log(1 + exp(x)), which overflows for large x, to softplus(x), which
/// does not.
LogicalResult raiseSoftplus(LogOp op, PatternRewriter &rewriter) {
  Matched matched;
  Value x = exponentOf(op->getOperand(0), /*negated=*/false, matched);
  return x ? raise<SoftplusOp>(rewriter, op, x, matched) : failure();
}

} // namespace

void populateActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseProduct, RaiseSigmoid>(patterns.getContext())
      .add(raiseSoftplus);
}

} // namespace ingot::simplify
