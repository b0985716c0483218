// Moves pointwise convolutions before a nearest-neighbour upsampling.
//
//   %u = gather %x, [0, 0, 1, 1, ..]        %c = conv %x, %w        // fewer positions
//   %y = conv %u, %w                   ->   %y = gather %c, [0, 0, 1, 1, ..]
//
//   %j = concat %u, %z                      %c = conv %x, %w[first channels]
//   %y = conv %j, %w                   ->   %d = conv %z, %w[other channels]
//                                           %y = add %d, gather(%c)
//
// Feature pyramid networks enlarge a feature map by nearest neighbours and
// concatenate it with the next finer one. After this pass, the convolution is
// computed once per pixel before the enlargement, nothing is concatenated, and
// the enlarged map is never stored. The sums are added in another order, so
// --strict omits this pass.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_HOISTCONVOLUTIONS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Whether `conv` is a convolution of f32 or f64 with one group, constant
/// weights and a window of one position, without padding and strides.
bool isPointwise(ConvOp conv) {
  auto isNumber = [](int64_t number) {
    return [number](int64_t x) { return x == number; };
  };
  return conv.getW().getDefiningOp<ConstantOp>() && conv.getGroups() == 1 &&
         isa<Float32Type, Float64Type>(elementOf(conv.getX())) &&
         llvm::all_of(shapeOf(conv.getW()).drop_back(2), isNumber(1)) &&
         llvm::all_of(conv.getStrides(), isNumber(1)) &&
         llvm::all_of(conv.getLow(), isNumber(0)) &&
         ArrayRef(dimsOf(conv.getX())).drop_back() ==
             ArrayRef(dimsOf(conv.getResult())).drop_back();
}

/// Returns the gathers that compute `v` from a smaller tensor by repeating
/// spatial positions, the last gather first; empty if `v` is not computed in
/// this way.
SmallVector<GatherOp> repetitionsBehind(Value v) {
  SmallVector<GatherOp> path;
  Value from = v;
  while (auto gather = from.getDefiningOp<GatherOp>()) {
    auto axis = static_cast<int64_t>(gather.getAxis());
    bool isOfPositions = axis > 0 &&
                         axis + 1 < int64_t(shapeOf(gather.getX()).size()) &&
                         shapeOf(gather.getIndices()).size() == 1 &&
                         gather.getIndices().getDefiningOp<ConstantOp>();
    if (!isOfPositions || !gather->hasOneUse())
      break;
    path.push_back(gather);
    from = gather.getX();
  }
  if (!path.empty() &&
      tensorType(from).getNumElements() >= tensorType(v).getNumElements())
    path.clear();
  return path;
}

/// Builds the convolution of `x` with the weights of `conv` for input channels
/// [first, first + number of channels of `x`).
Value convolve(OpBuilder &builder, ConvOp conv, Value x, int64_t first,
               Value bias) {
  ArrayRef<int64_t> w = shapeOf(conv.getW());
  Dims sizes = dimsOf(x);
  Value weights = slice(builder, conv.getLoc(), conv.getW(),
                        int64_t(w.size()) - 2, first, shapeOf(x).back());
  sizes.back() = w.back();
  return ConvOp::create(builder, conv.getLoc(),
                        tensorOf(sizes, elementOf(conv.getResult())), x,
                        weights, bias, conv.getStrides(), conv.getDilations(),
                        conv.getLow(), conv.getGroups(), conv.getXZero());
}

/// Applies the gathers of `path`, which repeat positions, to `v`.
Value repeat(OpBuilder &builder, Value v, ArrayRef<GatherOp> path) {
  for (GatherOp gather : llvm::reverse(path)) {
    Dims sizes = dimsOf(v);
    sizes[gather.getAxis()] = dimsOf(gather.getResult())[gather.getAxis()];
    Operation *repeated = builder.clone(*gather);
    repeated->setOperand(0, v);
    v = repeated->getResult(0);
    v.setType(tensorOf(sizes, elementOf(v)));
  }
  return v;
}

LogicalResult hoist(ConvOp conv, PatternRewriter &rewriter) {
  // If the repeated input has few channels, the additional addition per element
  // of the result costs more than the saved MACs.
  constexpr int64_t fewChannels = 8;
  Value x = conv.getX();
  if (!isPointwise(conv) || !x.hasOneUse())
    return failure();
  SmallVector<Value> parts{x};
  auto concat = x.getDefiningOp<ConcatOp>();
  if (concat) {
    if (concat.getAxis() + 1 != shapeOf(x).size())
      return failure();
    parts.assign(concat.getInputs().begin(), concat.getInputs().end());
  }
  struct Part {
    Value x;
    int64_t first;
    SmallVector<GatherOp> path;
  };
  SmallVector<Part> repeated, others;
  int64_t first = 0;
  for (Value part : parts) {
    if (!dimsOf(part).back().known())
      return failure();
    SmallVector<GatherOp> path = repetitionsBehind(part);
    bool pays = !path.empty() && shapeOf(part).back() > fewChannels;
    (pays ? repeated : others).push_back({part, first, std::move(path)});
    first += shapeOf(part).back();
  }
  if (repeated.empty())
    return failure();
  Location loc = conv.getLoc();
  Value sum, bias = conv.getBias();
  // Adjacent inputs of the concatenation that are not repeated stay
  // concatenated.
  while (!others.empty()) {
    SmallVector<Value> joined;
    first = others.front().first;
    int64_t behind = first;
    for (const Part &part : others) {
      if (part.first != behind)
        break;
      joined.push_back(part.x);
      behind += shapeOf(part.x).back();
    }
    others.erase(others.begin(), others.begin() + joined.size());
    Value all = joined.size() == 1 ? joined.front()
                                   : ConcatOp::create(rewriter, concat.getLoc(),
                                                      joined, concat.getAxis());
    Value product = convolve(rewriter, conv, all, first, sum ? Value() : bias);
    sum = sum ? AddOp::create(rewriter, loc, TypeRange{conv.getType()},
                              ValueRange{sum, product})
                    .getResult()
              : product;
  }
  for (Part &part : repeated) {
    Value product = repeat(rewriter,
                           convolve(rewriter, conv, part.path.back().getX(),
                                    part.first, sum ? Value() : bias),
                           part.path);
    sum = sum ? AddOp::create(rewriter, loc, TypeRange{conv.getType()},
                              ValueRange{sum, product})
                    .getResult()
              : product;
  }
  rewriter.replaceOp(conv, sum);
  return success();
}

struct HoistConvolutionsPass
    : impl::HoistConvolutionsBase<HoistConvolutionsPass> {
  using Base::Base;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(hoist);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot::simplify
