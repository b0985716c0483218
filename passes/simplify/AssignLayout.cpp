// Moves transposes towards the results until they cancel or fold into weights.
//
// The importer makes convolutions and pools channels-last and surrounds them
// with transposes. This pass moves transposes down through operators that can
// compute on permuted axes, until two transposes cancel:
//
//   %t = transpose(conv)               %r = relu(conv)
//   %r = relu(%t)              ->      ... the next convolution reads %r
//   %u = transpose(%r)
//
// Other rewrites:
// - matmul(reshape(transpose(x)), constant weights): the rows of the weights
//   are permuted instead of x.
// - A transpose that moves only axes of size 1 becomes a reshape.
// - A transpose that permutes only rows of the left operand of a matmul moves
//   to the rows of its result.
// - A normalization of all elements of an image does not depend on their order,
//   except for the rounding of sums. So a transpose within the image moves
//   after the normalization.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/simplify/Moves.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_ASSIGNLAYOUT
#include "passes/simplify/Passes.h.inc"

namespace {

/// Whether `v` is a constant, or computed from a constant by transposes and
/// reshapes, which FoldConstants evaluates.
bool isWeight(Value v) {
  return isa_and_nonnull<ConstantOp>(Moves::behind(v).from.getDefiningOp());
}

bool isIdentity(ArrayRef<int64_t> perm) {
  for (auto [i, p] : llvm::enumerate(perm))
    if (static_cast<int64_t>(i) != p)
      return false;
  return true;
}

/// Returns transpose(v, perm). If `v` is computed by a transpose, both become a
/// single transpose, or none if they cancel.
Value transposed(OpBuilder &builder, Value v, ArrayRef<int64_t> perm) {
  SmallVector<int64_t> all(perm);
  if (auto inner = v.getDefiningOp<TransposeOp>()) {
    all = permuted(inner.getPerm(), perm);
    v = inner.getX();
  }
  return isIdentity(all) ? v : buildTranspose(builder, v.getLoc(), v, all);
}

class LayoutAssignment {
public:
  LayoutAssignment(func::FuncOp function, bool isStrict)
      : function(function), isStrict(isStrict) {}

  void run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (Operation &op : llvm::make_early_inc_range(
               function.getBody().front().without_terminator())) {
        if (op.use_empty() && isPure(&op)) {
          op.erase();
          changed = true;
        } else if (sink(&op)) {
          changed = true;
        } else if (auto product = dyn_cast<MatMulOp>(op)) {
          changed |= foldIntoWeights(product) || sinkRows(product);
        }
      }
    }
    for (Operation &op : llvm::make_early_inc_range(
             function.getBody().front().without_terminator()))
      if (auto transpose = dyn_cast<TransposeOp>(op))
        finish(transpose);
  }

private:
  /// Whether `op` is a concatenation whose result is only returned. Its inputs
  /// are copied into the result anyway, and such a copy can transpose. So
  /// transposes of the inputs stay there: after the concatenation, no later
  /// transpose could cancel them.
  static bool isReturned(Operation *op) {
    return isa<ConcatOp>(op) &&
           llvm::all_of(op->getUsers(), [](Operation *user) {
             return user->hasTrait<OpTrait::IsTerminator>();
           });
  }

  /// Whether each position of the result of `conv` depends on the same position
  /// of its input only, and the result has at most as many channels as the
  /// input. Then a transpose of the result is no more expensive than one of the
  /// input.
  static bool isPointwise(ConvOp conv) {
    auto isOne = [](int64_t x) { return x == 1; };
    return llvm::all_of(shapeOf(conv.getW()).drop_back(2), isOne) &&
           llvm::all_of(conv.getStrides(), isOne) &&
           dimsOf(conv.getX()).size() == dimsOf(conv.getResult()).size() &&
           ArrayRef(dimsOf(conv.getX())).drop_back() ==
               ArrayRef(dimsOf(conv.getResult())).drop_back() &&
           llvm::all_of(conv.getLow(), [](int64_t x) { return x == 0; }) &&
           shapeOf(conv.getResult()).back() <= shapeOf(conv.getX()).back();
  }

  /// Rewrites conv(transpose(x), w) as transpose(conv(x, w)) for a pointwise
  /// conv and a transpose of spatial axes only.
  static bool sinkBehind(ConvOp conv) {
    auto transpose = conv.getX().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasOneUse() || !isPointwise(conv) ||
        hasDynamicSizes(conv.getResult().getType()))
      return false;
    ArrayRef<int64_t> perm = transpose.getPerm();
    int64_t channels = static_cast<int64_t>(perm.size()) - 1;
    if (perm.front() != 0 || perm.back() != channels)
      return false;
    OpBuilder builder(conv);
    auto moved = cast<ConvOp>(builder.clone(*conv));
    moved.getXMutable().assign(transpose.getX());
    moved.getResult().setType(RankedTensorType::get(
        permuted(shapeOf(conv.getResult()), inversePermutation(perm)),
        elementOf(conv.getResult())));
    conv.getResult().replaceAllUsesWith(
        buildTranspose(builder, conv.getLoc(), moved.getResult(), perm));
    conv->erase();
    return true;
  }

  /// Whether every chain of elementwise operators that starts at `value` ends
  /// in a reshape to `type`, and all other operands of these operators have one
  /// element. Collects the reshapes in `ends`.
  static bool comesBack(Value value, Type type, SetVector<ReshapeOp> &ends) {
    SetVector<Value> made;
    made.insert(value);
    for (size_t i = 0; i < made.size(); ++i)
      for (Operation *user : made[i].getUsers()) {
        auto reshape = dyn_cast<ReshapeOp>(user);
        if (reshape && reshape.getType() == type)
          ends.insert(reshape);
        else if (isa<ElementwiseOpInterface>(user) &&
                 user->getResult(0).getType() == value.getType())
          made.insert(user->getResult(0));
        else
          return false;
      }
    auto isMadeOrNumber = [&](Value operand) {
      return made.contains(operand) ||
             tensorType(operand).getNumElements() == 1;
    };
    return llvm::all_of(made.getArrayRef().drop_front(), [&](Value element) {
      return llvm::all_of(element.getDefiningOp()->getOperands(),
                          isMadeOrNumber);
    });
  }

  /// Rewrites reshape(norm(reshape(transpose(x)))) as
  /// transpose(reshape(norm(reshape(x)))) if the transpose moves elements only
  /// within the rows that the norm normalizes.
  static bool sinkBehind(LayerNormOp norm) {
    auto flatten = norm.getInput().getDefiningOp<ReshapeOp>();
    auto transpose =
        flatten ? flatten.getX().getDefiningOp<TransposeOp>() : TransposeOp();
    if (!transpose || !norm.getAffine().empty() ||
        hasDynamicSizes(norm.getResult().getType()))
      return false;
    ArrayRef<int64_t> perm = transpose.getPerm(), y = shapeOf(transpose);
    int64_t row = shapeOf(norm.getResult()).back();
    size_t moved = perm.size();
    for (int64_t elements = 1; moved > 0 && elements < row;)
      elements *= y[--moved];
    bool staysInRow = ShapedType::getNumElements(y.drop_front(moved)) == row &&
                      isIdentity(perm.take_front(moved));
    SetVector<ReshapeOp> ends;
    if (!staysInRow || !comesBack(norm.getResult(), transpose.getType(), ends))
      return false;
    OpBuilder builder(norm);
    norm.getInputMutable().assign(buildReshape(
        builder, norm.getLoc(), transpose.getX(), dimsOf(norm.getResult())));
    for (ReshapeOp end : ends) {
      builder.setInsertionPoint(end);
      Value back = buildReshape(builder, end.getLoc(), end.getX(),
                                dimsOf(transpose.getX()));
      end.getResult().replaceAllUsesWith(
          buildTranspose(builder, end.getLoc(), back, perm));
    }
    return true;
  }

  /// Rewrites op(transpose(x), ...) as transpose(op(x, ...)).
  bool sink(Operation *op) {
    if (auto conv = dyn_cast<ConvOp>(op))
      return sinkBehind(conv);
    if (auto norm = dyn_cast<LayerNormOp>(op))
      return !isStrict && sinkBehind(norm);
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      auto inner = transpose.getX().getDefiningOp<TransposeOp>();
      if (!inner)
        return false;
      OpBuilder builder(op);
      Value merged = transposed(builder, inner, transpose.getPerm());
      op->getResult(0).replaceAllUsesWith(merged);
      op->erase();
      return true;
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      OpBuilder builder(op);
      Value moved = reshapedBeforeTranspose(builder, reshape);
      if (!moved)
        return false;
      op->getResult(0).replaceAllUsesWith(moved);
      op->erase();
      return true;
    }
    auto permutable = dyn_cast<PermuteOpInterface>(op);
    if (!permutable || op->getNumResults() != 1 || isReturned(op))
      return false;
    size_t rank = shapeOf(op->getResult(0)).size();
    // Choose the permutation of the largest transposed operand: removing its
    // transpose saves most. Transposes of weights do not count, since they are
    // folded; counting them would undo the move of a transpose that has just
    // passed this operator.
    TransposeOp leading;
    int64_t removed = 0, added = 0;
    for (Value operand : op->getOperands())
      if (auto transpose = operand.getDefiningOp<TransposeOp>())
        if (transpose.getPerm().size() == rank && !isWeight(operand) &&
            (!leading || tensorType(operand).getNumElements() >
                             tensorType(leading).getNumElements()))
          leading = transpose;
    if (!leading)
      return false;
    SmallVector<int64_t> perm(leading.getPerm());
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      if (!permutable.permutesOperand(i) || isWeight(operand))
        continue;
      auto transpose = operand.getDefiningOp<TransposeOp>();
      int64_t elements = tensorType(operand).getNumElements();
      if (transpose && transpose.getPerm() == ArrayRef<int64_t>(perm))
        removed += elements;
      else
        added += elements;
    }
    // Move the transpose only if strictly fewer elements are transposed
    // afterwards: otherwise a transpose could move back and forth between two
    // operators for ever.
    if (added >= removed)
      return false;
    OpBuilder builder(op);
    SmallVector<int64_t> inverse = inversePermutation(perm);
    alignRanks(builder, op, rank);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(permutable.permutesOperand(i)
                             ? transposed(builder, operand, inverse)
                             : operand);
    Operation *moved = permutable.buildPermuted(builder, inverse, operands);
    if (!moved)
      return false;
    op->getResult(0).replaceAllUsesWith(
        buildTranspose(builder, op->getLoc(), moved->getResult(0), perm));
    op->erase();
    return true;
  }

  /// If `op` is elementwise, reshapes its operands of lower rank to `rank`
  /// axes, by adding leading axes of size 1.
  static void alignRanks(OpBuilder &builder, Operation *op, size_t rank) {
    if (!isa<ElementwiseOpInterface>(op))
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      ArrayRef<int64_t> shape = shapeOf(operand.get());
      if (shape.size() >= rank || product(dimsOf(operand.get())) == 1)
        continue;
      Dims aligned(rank - shape.size(), 1);
      llvm::append_range(aligned, dimsOf(operand.get()));
      operand.set(buildReshape(builder, op->getLoc(), operand.get(), aligned));
    }
  }

  /// Rewrites matmul(reshape(transpose(x)), w) as matmul(reshape(x), w with its
  /// rows permuted).
  static bool foldIntoWeights(MatMulOp product) {
    auto flatten = product.getA().getDefiningOp<ReshapeOp>();
    auto transpose =
        flatten ? flatten.getX().getDefiningOp<TransposeOp>() : TransposeOp();
    if (!transpose || !isWeight(product.getB()) ||
        shapeOf(product.getB()).size() != 2)
      return false;
    ArrayRef<int64_t> perm = transpose.getPerm(), x = shapeOf(transpose.getX()),
                      flat = shapeOf(flatten);
    if (perm.empty() || perm[0] != 0 || flat.size() != 2 || flat[0] != x[0])
      return false;
    // The sizes must be checked: if the first axis has size 0, the product of
    // the other axes need not match the rows of the weights, and may be
    // dynamic.
    if (!llvm::all_of(llvm::drop_begin(dimsOf(transpose.getX())),
                      [](const Dim &size) { return size.known(); }) ||
        graph::product(x.drop_front()) != flat[1])
      return false;
    OpBuilder builder(product);
    Location loc = product.getLoc();
    int64_t columns = shapeOf(product.getB()).back();
    // The rows of w are in the order of the transposed axes: permute them into
    // the order of x.
    SmallVector<int64_t> apart, rows;
    for (int64_t p : perm.drop_front())
      apart.push_back(x[p]);
    apart.push_back(columns);
    SmallVector<int64_t> inverse = inversePermutation(perm);
    for (int64_t i : ArrayRef<int64_t>(inverse).drop_front())
      rows.push_back(i - 1);
    rows.push_back(perm.size() - 1);
    Value w = buildReshape(builder, loc, product.getB(), apart);
    w = buildReshape(builder, loc, buildTranspose(builder, loc, w, rows),
                     shapeOf(product.getB()));
    product.getBMutable().assign(w);
    product.getAMutable().assign(
        buildReshape(builder, loc, transpose.getX(), dimsOf(flatten)));
    return true;
  }

  /// Whether all chains of elementwise operators, reshapes and slices that read
  /// `value` end in transposes.
  static bool isTransposed(Value value) {
    SetVector<Value> made;
    made.insert(value);
    for (size_t i = 0; i < made.size(); ++i)
      for (Operation *user : made[i].getUsers())
        if (isa<ElementwiseOpInterface, ReshapeOp, SliceOp>(user))
          made.insert(user->getResult(0));
        else if (!isa<TransposeOp>(user))
          return false;
    return true;
  }

  /// Rewrites matmul(reshape(transpose(x)), w) as
  /// reshape(transpose(matmul(reshape(x), w))) if the transpose permutes only
  /// rows of the product: for example [sequence, batch] to [batch, sequence] in
  /// attention. If the result has more columns than x, the moved transpose
  /// would move more elements; then this is done only if it cancels with
  /// another transpose.
  static bool sinkRows(MatMulOp product) {
    auto flatten = product.getA().getDefiningOp<ReshapeOp>();
    auto transpose = (flatten ? flatten.getX() : product.getA())
                         .getDefiningOp<TransposeOp>();
    auto isProduct = [](Operation *user) {
      return isa<MatMulOp, ReshapeOp>(user);
    };
    Value w = product.getB();
    if (!transpose || !llvm::all_of(transpose->getUsers(), isProduct) ||
        isReshapeLike(transpose) || !product.getZeros().empty() ||
        shapeOf(w).size() != 2 || hasDynamicSizes(transpose.getType()) ||
        hasDynamicSizes(product.getResult().getType()))
      return false;
    ArrayRef<int64_t> perm = transpose.getPerm(), y = shapeOf(transpose);
    int64_t steps = shapeOf(w).front(), columns = shapeOf(w).back();
    size_t rows = perm.size();
    int64_t elements = 1;
    while (rows > 0 && elements < steps)
      elements *= y[--rows];
    SmallVector<int64_t> inOrder(perm.take_front(rows));
    llvm::sort(inOrder);
    // Moving axes of size 1 moves no data, so their order is ignored.
    SmallVector<int64_t> longer(perm.take_front(rows));
    llvm::erase_if(longer, [&](int64_t axis) {
      return shapeOf(transpose.getX())[axis] == 1;
    });
    bool moves = !llvm::is_sorted(longer);
    if (elements != steps || !moves ||
        (columns > steps && !isTransposed(product.getResult())))
      return false;
    OpBuilder builder(product);
    Location loc = product.getLoc();
    SmallVector<int64_t> before(inOrder), after, shape;
    llvm::append_range(before, perm.drop_front(rows));
    for (int64_t axis : inOrder)
      shape.push_back(shapeOf(transpose.getX())[axis]);
    for (int64_t axis : perm.take_front(rows))
      after.push_back(llvm::find(inOrder, axis) - inOrder.begin());
    after.push_back(static_cast<int64_t>(rows));
    shape.push_back(steps);
    Value a = buildReshape(
        builder, loc, transposed(builder, transpose.getX(), before), shape);
    shape.back() = columns;
    Value moved = MatMulOp::create(
        builder, loc,
        RankedTensorType::get(shape, elementOf(product.getResult())), a, w);
    product.getResult().replaceAllUsesWith(
        buildReshape(builder, loc, buildTranspose(builder, loc, moved, after),
                     dimsOf(product.getResult())));
    product->erase();
    return true;
  }

  static void finish(TransposeOp transpose) {
    OpBuilder builder(transpose);
    if (transpose.use_empty()) {
      transpose.erase();
    } else if (isReshapeLike(transpose)) {
      transpose.getResult().replaceAllUsesWith(buildReshape(
          builder, transpose.getLoc(), transpose.getX(), dimsOf(transpose)));
      transpose.erase();
    }
  }

  func::FuncOp function;
  bool isStrict;
};

struct AssignLayoutPass : impl::AssignLayoutBase<AssignLayoutPass> {
  using Base::Base;
  void runOnOperation() override {
    LayoutAssignment(getOperation(), strict).run();
  }
};

} // namespace
} // namespace ingot::simplify
