// Merges matmuls that multiply the same tensor by constant weights, if the
// columns of each result are split into attention heads.
//
//   %q = reshape(add(matmul(%x, %a), %b))       %j = reshape(add(matmul(%x, a|c|e), b|d|f))
//   %k = reshape(add(matmul(%x, %c), %d))  ->   %q = slice(%j)   // the heads of %q
//   %v = reshape(add(matmul(%x, %e), %f))       %k = slice(%j)
//     : 1x128x12x64                             %v = slice(%j) : 1x128x12x64 of 1x128x36x64
//
// A launch on a device takes a few microseconds regardless of its work, and a
// matmul of few rows leaves most processors idle: the queries, keys and values
// of attention become one launch. Heads are slices of the merged axis, which
// attention reads in place.

#include "dialects/graph/GraphDialect.h"
#include "dialects/graph/ops/Movement.h"
#include "passes/decide/KnownValues.h"
#include "passes/decide/Passes.h"
#include "passes/schedule/ExecutionModel.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::decide {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "passes/decide/Passes.h.inc"

namespace {

/// A matmul, the addition of its bias if there is one, and the reshape of its
/// columns to heads.
struct Heads {
  MatMulOp product;
  AddOp sum;
  Value bias;
  ReshapeOp heads;

  static std::optional<Heads> of(MatMulOp product) {
    if (!product.getZeros().empty() || shapeOf(product.getB()).size() != 2 ||
        !isa<FloatType>(elementOf(product.getResult())) ||
        !isKnown(product.getB()) || !product->hasOneUse())
      return std::nullopt;
    Heads found{product, {}, {}, {}};
    Operation *user = *product->user_begin();
    if (auto sum = dyn_cast<AddOp>(user)) {
      Value other = sum->getOperand(sum->getOperand(0) == product.getResult());
      if (!isKnown(other) || !sum->hasOneUse() ||
          shapeOf(other) != ArrayRef{found.columns()})
        return std::nullopt;
      found.sum = sum;
      found.bias = other;
      user = *sum->user_begin();
    }
    found.heads = dyn_cast<ReshapeOp>(user);
    return found.heads && found.splitsColumns() ? std::optional(found)
                                                : std::nullopt;
  }

  int64_t columns() { return shapeOf(product.getB()).back(); }
  int64_t sizeOfHead() { return shapeOf(heads.getResult()).back(); }

private:
  /// Whether the reshape splits the columns into two axes and keeps all other
  /// axes. If the matmul has a single row, transposes are reshapes, so the axis
  /// of heads may be any except the last.
  bool splitsColumns() {
    Dims from = dimsOf(product.getResult()), to = dimsOf(heads.getResult());
    auto isOne = [](const Dim &size) { return size == 1; };
    if (llvm::all_of(ArrayRef(from).drop_back(), isOne) && to.back().known() &&
        llvm::count_if(ArrayRef(to).drop_back(), std::not_fn(isOne)) == 1)
      return true;
    return to.size() == from.size() + 1 &&
           ArrayRef(from).drop_back() == ArrayRef(to).drop_back(2);
  }
};

/// Moves the operators that compute `v` (from constants) to a place before
/// `op`.
void moveBefore(Value v, Operation *op) {
  Operation *from = v.getDefiningOp();
  if (from->getBlock() == op->getBlock() && from->isBeforeInBlock(op))
    return;
  for (Value operand : from->getOperands())
    moveBefore(operand, op);
  from->moveBefore(op);
}

void join(MutableArrayRef<Heads> parts) {
  MatMulOp first = parts.front().product;
  OpBuilder builder(first);
  Location loc = first.getLoc();
  Type type = elementOf(first.getResult());
  bool hasBias =
      llvm::any_of(parts, [](const Heads &part) { return bool(part.bias); });
  SmallVector<Value> weights, biases;
  for (Heads &part : parts) {
    moveBefore(part.product.getB(), first);
    weights.push_back(part.product.getB());
    if (!hasBias)
      continue;
    if (part.bias) {
      moveBefore(part.bias, first);
      biases.push_back(part.bias);
    } else {
      auto none = RankedTensorType::get({part.columns()}, type);
      biases.push_back(ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(none, builder.getZeroAttr(type))));
    }
  }
  int64_t columns = 0, size = parts.front().sizeOfHead();
  for (Heads &part : parts)
    columns += part.columns();
  Dims sizes = dimsOf(first.getResult());
  sizes.back() = columns;
  Value joined =
      MatMulOp::create(builder, loc, tensorOf(sizes, type), first.getA(),
                       ConcatOp::create(builder, loc, weights, int64_t(1)));
  if (hasBias)
    joined = AddOp::create(builder, loc, joined,
                           ConcatOp::create(builder, loc, biases, int64_t(0)));
  sizes.back() = columns / size;
  sizes.push_back(size);
  joined = buildReshape(builder, loc, joined, ArrayRef<Dim>(sizes));
  SmallVector<int64_t> starts(sizes.size()), steps(sizes.size(), 1);
  for (Heads &part : parts) {
    Location ofPart = part.heads.getLoc();
    sizes.end()[-2] = part.columns() / size;
    Value slice = SliceOp::create(builder, ofPart, joined, starts, steps,
                                  ArrayRef<Dim>(sizes));
    starts.end()[-2] += part.columns() / size;
    Dims own = dimsOf(part.heads.getResult());
    part.heads.replaceAllUsesWith(
        own == sizes
            ? slice
            : buildReshape(builder, ofPart, slice, ArrayRef<Dim>(own)));
  }
  for (Heads &part : parts) {
    part.heads.erase();
    if (part.sum)
      part.sum.erase();
    part.product.erase();
  }
}

struct JoinProductsPass : impl::JoinProductsBase<JoinProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!schedule::modelOf(*lookupTarget(targetName)).readsSlices)
      return;
    // Collects matmuls of the same tensor with heads of the same size.
    llvm::MapVector<std::pair<Value, int64_t>, SmallVector<Heads>> found;
    for (auto product : getOperation().getBody().front().getOps<MatMulOp>())
      if (auto heads = Heads::of(product))
        found[{product.getA(), heads->sizeOfHead()}].push_back(*heads);
    for (auto &[key, parts] : found)
      if (parts.size() > 1)
        join(parts);
  }
};

} // namespace
} // namespace ingot::decide
