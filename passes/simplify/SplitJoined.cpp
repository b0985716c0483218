// Moves operators before the concatenation of positions that they read, if they
// compute each position separately.
//
//   %j = concat %a, %b     // positions         %c = softmax %a
//   %s = softmax %j        // channels    ->    %d = conv %c, %w
//   %y = conv %s, %w       // pointwise         %e = softmax %b
//                                               %f = conv %e, %w
//                                               %y = concat %d, %f
//
// Detectors concatenate the features of all scales and then compute boxes and
// classes. If these are computed per scale instead, the features are still in
// the cache. A concatenation moves after operators if its result is then
// smaller, or if it meets another concatenation whose result is returned: the
// parts are then written directly into the output.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/simplify/Passes.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::simplify {
#define GEN_PASS_DEF_SPLITJOINED
#include "passes/simplify/Passes.h.inc"

namespace {

/// The least average number of elements per concatenated input for which
/// separate launches pay off.
constexpr int64_t leastPart = 4096;

int64_t elementsOf(Value v) { return tensorType(v).getNumElements(); }

/// Returns the axis along which the result of `op` is a concatenation if `x` is
/// a concatenation along `axis`. Returns nothing if a position of the result
/// depends on other positions of `x`, or if `op` is an operator for which this
/// is not known.
std::optional<int64_t> axisBehind(Operation *op, Value x, int64_t axis) {
  if (op->getNumResults() != 1 || hasDynamicSizes(op->getResult(0).getType()))
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(x), to = shapeOf(op->getResult(0));
  if (isa<ElementwiseOpInterface>(op)) {
    // The other operands of an elementwise operator must not vary along the
    // concatenated axis.
    int64_t behind = int64_t(from.size()) - axis;
    bool isOnly = llvm::all_of(op->getOperands(), [&](Value other) {
      ArrayRef<int64_t> sizes = shapeOf(other);
      return other == x || int64_t(sizes.size()) < behind ||
             sizes[sizes.size() - behind] == 1;
    });
    return isOnly && from == to ? std::make_optional(axis) : std::nullopt;
  }
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return int64_t(softmax.getAxis()) != axis ? std::make_optional(axis)
                                              : std::nullopt;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return inversePermutation(transpose.getPerm())[axis];
  if (isa<ReshapeOp>(op)) {
    for (const AxisRun &run : axisRuns(from, to))
      if (int64_t(run.from) == axis && run.fromCount == 1 && run.toCount == 1)
        return int64_t(run.to);
    return std::nullopt;
  }
  auto conv = dyn_cast<ConvOp>(op);
  if (!conv || conv.getX() != x || axis < 1 || axis + 1 >= int64_t(from.size()))
    return std::nullopt;
  int64_t position = axis - 1;
  bool isPointwise = shapeOf(conv.getW())[position] == 1 &&
                     conv.getStrides()[position] == 1 &&
                     conv.getLow()[position] == 0 && from[axis] == to[axis];
  return isPointwise ? std::make_optional(axis) : std::nullopt;
}

/// Builds `op` with `part` in place of `x`; the result has `size` elements
/// along `axis`.
Value buildFor(OpBuilder &builder, Operation *op, Value x, Value part,
               int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(shapeOf(op->getResult(0)));
  shape[axis] = size;
  if (isa<ReshapeOp>(op))
    return buildReshape(builder, op->getLoc(), part, ArrayRef<int64_t>(shape));
  Operation *own = builder.clone(*op);
  own->replaceUsesOfWith(x, part);
  own->getResult(0).setType(
      RankedTensorType::get(shape, elementOf(op->getResult(0))));
  return own->getResult(0);
}

/// A chain of operators that begins with the reader of a concatenation, and for
/// each operator the axis along which its result is a concatenation.
struct Readers {
  SmallVector<Operation *> ops;
  SmallVector<int64_t> axes;
};

/// Returns the operators that move before `concat`, beginning with its reader;
/// empty if none moves.
Readers readersOf(ConcatOp concat) {
  Readers all;
  size_t moved = 0;
  Value joined = concat.getResult();
  int64_t axis = concat.getAxis(), fewest = elementsOf(joined);
  while (joined.hasOneUse()) {
    Operation *op = *joined.user_begin();
    auto outer = dyn_cast<ConcatOp>(op);
    bool isReturned =
        outer && llvm::all_of(outer->getUsers(), [](Operation *u) {
          return u->hasTrait<OpTrait::IsTerminator>();
        });
    if (isReturned)
      moved = all.ops.size();
    auto behind = axisBehind(op, joined, axis);
    if (!behind)
      break;
    axis = *behind;
    joined = op->getResult(0);
    all.ops.push_back(op);
    all.axes.push_back(axis);
    if (2 * elementsOf(joined) <= fewest) {
      moved = all.ops.size();
      fewest = elementsOf(joined);
    }
  }
  all.ops.truncate(moved);
  all.axes.truncate(moved);
  return all;
}

void split(ConcatOp concat) {
  Readers readers = readersOf(concat);
  int64_t parts = concat.getInputs().size();
  if (readers.ops.empty() || elementsOf(concat.getResult()) < parts * leastPart)
    return;
  Operation *last = readers.ops.back();
  OpBuilder builder(last);
  SmallVector<Value> joined;
  for (Value part : concat.getInputs()) {
    int64_t size = shapeOf(part)[concat.getAxis()];
    Value x = concat.getResult();
    for (auto [op, axis] : llvm::zip(readers.ops, readers.axes)) {
      part = buildFor(builder, op, x, part, axis, size);
      x = op->getResult(0);
    }
    joined.push_back(part);
  }
  Value whole =
      ConcatOp::create(builder, concat.getLoc(), joined, readers.axes.back());
  last->getResult(0).replaceAllUsesWith(whole);
  for (Operation *op : llvm::reverse(readers.ops))
    op->erase();
  concat->erase();
}

struct SplitJoinedPass : impl::SplitJoinedBase<SplitJoinedPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto concat : llvm::make_early_inc_range(
             getOperation().getBody().front().getOps<ConcatOp>()))
      if (!hasDynamicSizes(concat.getResult().getType()))
        split(concat);
  }
};

} // namespace
} // namespace ingot::simplify
