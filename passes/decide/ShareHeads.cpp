// Avoids repeating the keys and values of attention for the heads that share
// them, if each head has one query.
//
//   %k = reshape(expand(reshape(%keys)))      [B, G, N, D] -> [B, G * T, N, D]
//   softmax(f(%q x transpose(%k))) x %v       %q: [B, G * T, 1, D]
//     ->
//   softmax(f(%r x transpose(%keys))) x %values   %r: %q as [B, G, T, D]
//
// (f: elementwise operators, x: matmul.) The T queries that share a head of
// keys and values become the rows of one matmul. Nothing is repeated in memory,
// and no result changes.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/AttentionAnchor.h"
#include "targets/TargetDescription.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_SHAREHEADS
#include "passes/decide/Passes.h.inc"

namespace {

using schedule::AttentionAnchor;
using schedule::RepeatedMatrices;

/// Keys or values that are repeated for the query heads (`repeated`).
/// `isTransposed` states whether a transpose of the two matrix axes follows.
struct SharedHeads {
  RepeatedMatrices repeated;
  bool isTransposed = false;

  static std::optional<SharedHeads> of(Value operand) {
    SharedHeads found;
    Value from = operand;
    if (auto transpose = operand.getDefiningOp<TransposeOp>();
        transpose && exchangesMatrix(transpose.getPerm())) {
      found.isTransposed = true;
      from = transpose.getX();
    }
    auto repeated = RepeatedMatrices::of(from);
    // The axis of heads must directly precede the two matrix axes. The
    // repetition consists of a reshape, an expand and a reshape.
    if (!repeated || repeated->path.size() != 3 ||
        repeated->axis + 3 != int64_t(shapeOf(from).size()))
      return std::nullopt;
    found.repeated = *repeated;
    return found;
  }

  Value build(OpBuilder &builder) const {
    Value from = repeated.from;
    if (!isTransposed)
      return from;
    int64_t rank = int64_t(shapeOf(from).size());
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(perm[rank - 2], perm[rank - 1]);
    if (auto inner = from.getDefiningOp<TransposeOp>()) {
      perm = permuted(inner.getPerm(), perm);
      from = inner.getX();
    }
    return buildTranspose(builder, from.getLoc(), from, perm);
  }

private:
  /// Whether a permutation swaps the last two axes and keeps the order of all
  /// others.
  static bool exchangesMatrix(ArrayRef<int64_t> perm) {
    int64_t rank = int64_t(perm.size());
    for (int64_t i = 0; i + 2 < rank; ++i)
      if (perm[i] != i)
        return false;
    return rank >= 2 && perm[rank - 2] == rank - 1;
  }
};

class HeadSharing {
public:
  HeadSharing(AttentionAnchor anchor, SharedHeads keys, SharedHeads values)
      : anchor(anchor), keys(std::move(keys)), values(std::move(values)),
        axis(this->keys.repeated.axis), times(this->keys.repeated.times) {}

  bool canRewrite() const {
    return anchor.queries() == 1 && times > 1 && values.repeated.axis == axis &&
           values.repeated.times == times && isOfHeads(anchor.scores.getA()) &&
           llvm::all_of(anchor.between, [&](Operation *op) {
             return llvm::all_of(op->getOperands(), [&](Value operand) {
               return isBroadcast(operand) || isOfHeads(operand);
             });
           });
  }

  void rewrite() {
    OpBuilder builder(anchor.product);
    Location loc = anchor.product.getLoc();
    Value scores = MatMulOp::create(
        builder, anchor.scores.getLoc(),
        tensorOf(shared(anchor.scores.getResult()),
                 elementOf(anchor.scores.getResult())),
        reshaped(builder, anchor.scores.getA()), keys.build(builder));
    IRMapping mapping;
    mapping.map(anchor.scores.getResult(), scores);
    for (Operation *op : llvm::reverse(anchor.between))
      clone(builder, op, mapping);
    clone(builder, anchor.softmax, mapping);
    if (anchor.rounding)
      clone(builder, anchor.rounding, mapping);
    Value y = MatMulOp::create(builder, loc,
                               tensorOf(shared(anchor.product.getResult()),
                                        elementOf(anchor.product.getResult())),
                               mapping.lookup(anchor.product.getA()),
                               values.build(builder));
    anchor.product.getResult().replaceAllUsesWith(
        buildReshape(builder, loc, y, dimsOf(anchor.product.getResult())));
  }

private:
  /// Whether `operand` has one row for each query head.
  bool isOfHeads(Value operand) const {
    Dims sizes = dimsOf(operand);
    return sizes.size() == size_t(axis) + 3 &&
           sizes[axis] == dimsOf(anchor.scores.getResult())[axis] &&
           sizes[axis + 1] == 1;
  }
  /// Whether `operand` has one row that all heads share.
  bool isBroadcast(Value operand) const {
    Dims sizes = dimsOf(operand);
    return llvm::all_of(llvm::drop_begin(llvm::reverse(sizes)),
                        [&](Dim size) { return size == 1; }) ||
           (sizes.size() == size_t(axis) + 3 && sizes[axis] == 1 &&
            sizes[axis + 1] == 1);
  }

  /// `x` has a matrix with one row for each query head. Returns its sizes after
  /// the rows of the `times` query heads that share a key head have become the
  /// rows of one matrix.
  Dims shared(Value x) const {
    Dims sizes = dimsOf(x);
    sizes[axis] = sizes[axis].floorDiv(times);
    sizes[axis + 1] = times;
    return sizes;
  }
  Value reshaped(OpBuilder &builder, Value x) const {
    return buildReshape(builder, x.getLoc(), x, shared(x));
  }

  void clone(OpBuilder &builder, Operation *op, IRMapping &mapping) const {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand) && isOfHeads(operand))
        mapping.map(operand, reshaped(builder, operand));
    Operation *made = builder.clone(*op, mapping);
    Value result = made->getResult(0);
    result.setType(tensorOf(shared(op->getResult(0)), elementOf(result)));
    mapping.map(op->getResult(0), result);
  }

  AttentionAnchor anchor;
  SharedHeads keys, values;
  int64_t axis, times;
};

struct ShareHeadsPass : impl::ShareHeadsBase<ShareHeadsPass> {
  using Base::Base;

  void runOnOperation() override {
    const TargetDescription &target = *lookupTarget(targetName);
    SmallVector<MatMulOp> products(getOperation().getOps<MatMulOp>());
    for (MatMulOp product : products) {
      AttentionAnchor anchor = AttentionAnchor::of(product);
      // If the target has no vectors, kernels compute the elements of the
      // repeated tensors where they read them. These tensors are not stored, so
      // nothing can be saved.
      if (!anchor || target.maxLanes(elementOf(anchor.scores.getResult())) == 1)
        continue;
      auto keys = SharedHeads::of(anchor.scores.getB()),
           values = SharedHeads::of(product.getB());
      if (!keys || !values)
        continue;
      HeadSharing sharing(anchor, *keys, *values);
      if (sharing.canRewrite())
        sharing.rewrite();
    }
    // Remove the operators that were replaced: passes that follow ask which
    // operators read a tensor.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
} // namespace ingot::decide
