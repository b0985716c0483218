// Merges a sum of convolutions of the same tensor into one convolution.
//
//   add(conv(x, w, b), conv(x, v, c))        ->  conv(x, w + v, b + c)
//   add(conv(x, w, b), add(mul(x, s), t))    ->  conv(x, w + diagonal(s), b + t)
//
// The weights must be constant. The kernel window of one convolution must lie
// inside the window of the other. s and t have one element per channel, or one
// in total; `x` itself counts as x * 1. Such sums are in networks that were
// trained with several branches per layer and exported without merging them
// (RepVGG, MobileOne). The merged convolution costs as much as the largest
// branch. Roundings change, so --strict omits this pass.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "dialects/graph/ops/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Channels.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_JOINCONVOLUTIONS
#include "passes/simplify/Passes.h.inc"

namespace {

bool isConstant(Value v) { return v.getDefiningOp<ConstantOp>() != nullptr; }

/// Whether `conv` is a convolution of floats with constant weights and bias,
/// and its result is used once.
bool isJoinable(ConvOp conv) {
  return conv && conv->hasOneUse() && isConstant(conv.getW()) &&
         (!conv.getBias() || isConstant(conv.getBias())) &&
         conv.getXZero() == 0 &&
         isa<Float32Type, Float64Type>(elementOf(conv.getX())) &&
         elementOf(conv.getX()) == elementOf(conv.getResult());
}

/// Returns, for each spatial axis, the position within the window of `outer` at
/// which the window of `inner` begins. Returns nothing if the positions that
/// `inner` reads are not among those that `outer` reads, or if inputs, strides
/// or groups differ.
std::optional<SmallVector<int64_t>> placeIn(ConvOp outer, ConvOp inner) {
  if (outer.getX() != inner.getX() || outer.getGroups() != inner.getGroups() ||
      outer.getStrides() != inner.getStrides())
    return std::nullopt;
  SmallVector<int64_t> place;
  for (size_t axis = 0; axis < outer.getLow().size(); ++axis) {
    int64_t size = shapeOf(outer.getW())[axis],
            own = shapeOf(inner.getW())[axis],
            dilation = outer.getDilations()[axis],
            ahead = outer.getLow()[axis] - inner.getLow()[axis];
    if ((own > 1 && dilation != inner.getDilations()[axis]) || ahead < 0 ||
        ahead % dilation != 0 || ahead / dilation + own > size)
      return std::nullopt;
    place.push_back(ahead / dilation);
  }
  return place;
}

/// Returns the weights of a 1x1 convolution that multiplies each channel by its
/// element of `scales`, in the layout of the weights of `conv`: [1, ...,
/// channels / groups, channels].
Value diagonal(OpBuilder &builder, ConvOp conv, Value scales) {
  Location loc = scales.getLoc();
  ArrayRef<int64_t> w = shapeOf(conv.getW()).take_back(2);
  SmallVector<bool> isOn(w[0] * w[1]);
  for (int64_t channel = 0; channel < w[1]; ++channel)
    isOn[channel % w[0] * w[1] + channel] = true;
  auto bits = RankedTensorType::get(w, builder.getI1Type());
  Value on =
      ConstantOp::create(builder, loc, DenseElementsAttr::get(bits, isOn));
  on = CastOp::create(builder, loc, RankedTensorType::get(w, elementOf(scales)),
                      on);
  SmallVector<int64_t> shape(conv.getLow().size(), 1);
  llvm::append_range(shape, w);
  return buildReshape(builder, loc,
                      elementwise<MulOp>(builder, loc, on, scales), shape);
}

/// A term of a sum of tensors.
struct Term {
  Value value;
  ConvOp conv;
  /// If the term is x * constant, `scaled` is x and `scale` the constant.
  /// Otherwise `scaled` is the whole term, and `scale` is null, which means 1.
  Value scale, scaled;
};

class Sum {
public:
  Sum(AddOp root, PatternRewriter &rewriter)
      : rewriter(rewriter), root(root), type(tensorType(root.getResult())) {
    collect(root);
  }

  LogicalResult join() {
    // Start with the convolution that has the most weights: smaller kernel
    // windows may lie inside its window.
    SmallVector<size_t> order;
    for (size_t i = 0; i < terms.size(); ++i)
      if (terms[i].conv)
        order.push_back(i);
    llvm::sort(order, [&](size_t a, size_t b) {
      return std::make_pair(-weightsOf(terms[a]), a) <
             std::make_pair(-weightsOf(terms[b]), b);
    });
    bool found = false;
    for (size_t i : order)
      if (terms[i].conv)
        found |= joinInto(terms[i]);
    if (!found)
      return failure();
    rebuild();
    return success();
  }

private:
  static int64_t weightsOf(const Term &term) {
    ConvOp conv = term.conv;
    return tensorType(conv.getW()).getNumElements();
  }

  void collect(AddOp add) {
    for (Value operand : add->getOperands()) {
      auto inner = operand.getDefiningOp<AddOp>();
      if (inner && inner->hasOneUse() && inner.getType() == type) {
        locations.push_back(inner.getLoc());
        collect(inner);
        continue;
      }
      Term term{operand, {}, {}, operand};
      // The result of a convolution of another type is broadcast.
      if (auto conv = operand.getDefiningOp<ConvOp>();
          isJoinable(conv) && conv.getType() == type)
        term.conv = conv;
      if (auto mul = operand.getDefiningOp<MulOp>(); mul && mul->hasOneUse())
        for (unsigned i : {0u, 1u})
          if (isConstant(mul->getOperand(i))) {
            term.scale = mul->getOperand(i);
            term.scaled = mul->getOperand(1 - i);
          }
      terms.push_back(term);
    }
  }

  /// Merges as many other terms as possible into the convolution of `term`.
  /// Returns whether any was merged.
  bool joinInto(Term &term) {
    ConvOp conv = term.conv;
    Value weights = conv.getW(), bias = conv.getBias();
    SmallVector<Location> from{conv.getLoc()};
    for (Term &other : terms) {
      if (&other == &term || !other.value)
        continue;
      Value more = other.conv ? weightsIn(conv, other.conv)
                              : weightsOfScale(conv, other);
      if (!more)
        continue;
      Location loc = other.value.getLoc();
      weights = elementwise<AddOp>(rewriter, loc, weights, more);
      if (other.conv && other.conv.getBias())
        bias = plus(bias, other.conv.getBias());
      from.push_back(loc);
      other = {};
    }
    if (from.size() == 1)
      return false;
    // Constant terms with one element per channel, such as those of
    // normalizations, become part of the bias.
    for (Term &other : terms)
      if (other.value)
        if (Value t = perChannel(rewriter, other.value, shapeOf(conv).back())) {
          bias = plus(bias, t);
          other = {};
        }
    term.value = ConvOp::create(
        rewriter, rewriter.getFusedLoc(from), conv.getType(), conv.getX(),
        weights, bias, conv.getStrides(), conv.getDilations(), conv.getLow(),
        conv.getGroups(), conv.getXZero());
    term.conv = {};
    return true;
  }

  Value plus(Value bias, Value more) {
    return bias ? elementwise<AddOp>(rewriter, more.getLoc(), bias, more)
                : more;
  }

  /// Returns the weights of `inner`, padded with zeros to the kernel window of
  /// `outer`; null if `outer` cannot contain `inner` (see placeIn).
  Value weightsIn(ConvOp outer, ConvOp inner) {
    std::optional<SmallVector<int64_t>> place = placeIn(outer, inner);
    return place ? inWindow(outer, inner.getW(), *place) : Value();
  }

  /// If `term` is the input of `conv` times a constant, returns weights that,
  /// added to those of `conv`, make it compute this term, too. Returns null for
  /// other terms, or if `conv` has strides, or if no element of its window lies
  /// at the position of the result, where the term reads the input.
  Value weightsOfScale(ConvOp conv, const Term &term) {
    if (term.scaled != conv.getX() || term.scaled.getType() != type ||
        !llvm::all_of(conv.getStrides(), [](int64_t s) { return s == 1; }))
      return {};
    SmallVector<int64_t> place;
    for (auto [low, dilation, size] :
         llvm::zip(conv.getLow(), conv.getDilations(), shapeOf(conv.getW()))) {
      if (low < 0 || low % dilation != 0 || low / dilation >= size)
        return {};
      place.push_back(low / dilation);
    }
    Location loc = term.value.getLoc();
    Value scale = term.scale;
    if (!scale)
      scale = uniformConstant(
          rewriter, loc, RankedTensorType::get({1}, elementOf(term.scaled)),
          1.0);
    scale = perChannel(rewriter, scale, shapeOf(conv).back());
    return scale ? inWindow(conv, diagonal(rewriter, conv, scale), place)
                 : Value();
  }

  /// Returns `weights` surrounded by zeros, so that they fill the kernel window
  /// of `outer`; they begin at the position `place` of the window. The zeros
  /// are concatenated instead of padded, since FoldConstants does not fold an
  /// operator whose result is much larger than its operands, such as a pad.
  Value inWindow(ConvOp outer, Value weights, ArrayRef<int64_t> place) {
    Location loc = weights.getLoc();
    for (size_t axis = 0; axis < place.size(); ++axis) {
      int64_t before = place[axis];
      SmallVector<int64_t> shape(shapeOf(weights));
      int64_t behind = shapeOf(outer.getW())[axis] - shape[axis] - before;
      auto zeros = [&](int64_t size) -> Value {
        shape[axis] = size;
        return uniformConstant(rewriter, loc,
                               RankedTensorType::get(shape, elementOf(weights)),
                               0.0);
      };
      SmallVector<Value> parts;
      if (before > 0)
        parts.push_back(zeros(before));
      parts.push_back(weights);
      if (behind > 0)
        parts.push_back(zeros(behind));
      if (parts.size() > 1)
        weights = ConcatOp::create(rewriter, loc, parts, int64_t(axis));
    }
    return weights;
  }

  /// Replaces the sum by a sum of the remaining terms. Terms with the shape of
  /// the result come first, so that all partial sums have this shape.
  void rebuild() {
    locations.push_back(root.getLoc());
    Location loc = rewriter.getFusedLoc(locations);
    Value sum;
    for (bool isWhole : {true, false})
      for (const Term &term : terms)
        if (term.value && (term.value.getType() == type) == isWhole)
          sum = sum ? elementwise<AddOp>(rewriter, loc, sum, term.value)
                    : term.value;
    rewriter.replaceOp(root, sum);
  }

  PatternRewriter &rewriter;
  AddOp root;
  RankedTensorType type;
  SmallVector<Location> locations;
  SmallVector<Term> terms;
};

LogicalResult joinTerms(AddOp op, PatternRewriter &rewriter) {
  // Only the last addition of a chain is rewritten, since its Sum contains the
  // terms of all additions.
  if (op->hasOneUse()) {
    auto next = dyn_cast<AddOp>(*op->getUsers().begin());
    if (next && next.getType() == op.getType())
      return failure();
  }
  return Sum(op, rewriter).join();
}

struct JoinConvolutionsPass : impl::JoinConvolutionsBase<JoinConvolutionsPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(joinTerms);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot::simplify
