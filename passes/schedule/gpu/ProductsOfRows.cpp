#include "passes/schedule/gpu/ProductsOfRows.h"

#include "passes/schedule/Anchors.h"
#include "passes/schedule/gpu/BlockOperands.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Whether `product` is a float product of few rows, with enough steps (K) for
/// the threads of a warp, whose weights form one matrix that is packed or can
/// be (mayBeInPanels). All its sizes must be static.
static bool isOfFewRows(MatMulOp product, bool packs) {
  // Each thread of a warp gets at least one of the steps (indices along K).
  constexpr int64_t fewestSteps = 32;
  return product.getZeros().empty() && shapeOf(product.getB()).size() == 2 &&
         shapeOf(product.getA()).size() >= 2 &&
         !hasDynamicSizes(product.getOperation()) &&
         shapeOf(product.getA()).back() >= fewestSteps &&
         isa<FloatType>(elementOf(product.getB())) &&
         ProductSizes(product).rows.most() < fewestOfBlock &&
         mayBeInPanels(product.getB(), packs);
}

/// Returns the RMS norm that computes the product's left operand, possibly
/// through a cast: a norm without centering and shift. Null if there is none.
static LayerNormOp normBefore(MatMulOp product) {
  Operation *before = product.getA().getDefiningOp();
  if (isa_and_nonnull<CastOp>(before))
    before = before->getOperand(0).getDefiningOp();
  auto norm = dyn_cast_or_null<LayerNormOp>(before);
  return norm && !norm.getCenter() && norm.getAffine().size() <= 1
             ? norm
             : LayerNormOp();
}

/// Returns the only user of a value if this user is an elementwise operator
/// whose result has the value's shape; null otherwise.
static Operation *readerInPlace(Value v) {
  Operation *reader = v.hasOneUse() ? *v.user_begin() : nullptr;
  return isa_and_nonnull<ElementwiseOpInterface>(reader) &&
                 dimsOf(reader->getResult(0)) == dimsOf(v)
             ? reader
             : nullptr;
}

/// Follows the first operands from `v` back through at most three elementwise
/// operators to a matrix product and returns it. Null if there is none, or if
/// one of these results, `v` included, has several users or other sizes than
/// `sizes`.
static MatMulOp productBehind(Value v, const Dims &sizes) {
  constexpr int mostBetween = 4;
  for (int i = 0; i < mostBetween; ++i) {
    Operation *op = v.getDefiningOp();
    if (!op || !op->hasOneUse() || dimsOf(v) != sizes)
      return {};
    if (auto product = dyn_cast<MatMulOp>(op))
      return product;
    if (!isa<ElementwiseOpInterface>(op))
      return {};
    v = op->getOperand(0);
  }
  return {};
}

/// Whether `x` and `y` are two products with the same left operand, whose right
/// operands have the same type, as have their results.
static bool areAlike(MatMulOp x, MatMulOp y) {
  return x != y && x.getA() == y.getA() &&
         x.getResult().getType() == y.getResult().getType() &&
         x.getB().getType() == y.getB().getType();
}

/// Returns the other product whose result is combined elementwise with the
/// result of `product`, as in a gated MLP; null if there is none.
static MatMulOp partnerOf(MatMulOp product) {
  Dims sizes = dimsOf(product.getResult());
  Value v = product.getResult();
  while (Operation *reader = readerInPlace(v)) {
    for (Value other : reader->getOperands())
      if (other != v)
        if (MatMulOp found = productBehind(other, sizes);
            found && areAlike(found, product))
          return found;
    v = reader->getResult(0);
  }
  return {};
}

ProductsOfRows ProductsOfRows::of(GroupView group) {
  ProductsOfRows found;
  for (Operation &op : group.block->without_terminator()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    if (isa<ConstantOp>(op) || (element && element.isCheap()))
      continue;
    auto norm = dyn_cast<LayerNormOp>(op);
    if (norm && !found.norm)
      found.norm = norm;
    else if (!norm)
      found.products.push_back(&op);
    else
      return {};
  }
  if (found.products.size() == 1 && !found.norm)
    return found;
  auto first = found.products.empty()
                   ? MatMulOp()
                   : dyn_cast<MatMulOp>(found.products.front());
  for (Operation *op : found.products) {
    auto product = dyn_cast<MatMulOp>(op);
    if (!product || !isOfFewRows(product, group.packs) ||
        normBefore(product) != found.norm ||
        (product != first && !areAlike(product, first)))
      return {};
  }
  return first ? found : ProductsOfRows();
}

SmallVector<Operation *> ProductsOfRows::taken(
    Operation *producer, llvm::function_ref<bool(Operation *)> isMember,
    llvm::function_ref<bool(Operation *)> isFree, bool packs) {
  if (auto product = dyn_cast<MatMulOp>(producer)) {
    MatMulOp partner =
        isOfFewRows(product, packs) ? partnerOf(product) : MatMulOp();
    return partner && isMember(partner) ? SmallVector<Operation *>{product}
                                        : SmallVector<Operation *>();
  }
  SmallVector<Operation *> taken{producer};
  for (Operation *user : producer->getUsers()) {
    auto product = dyn_cast<MatMulOp>(user);
    LayerNormOp norm = product && isMember(product) &&
                               isOfFewRows(product, packs) &&
                               product.getA() == producer->getResult(0)
                           ? normBefore(product)
                           : LayerNormOp();
    if (!norm || !isFree(norm) || (producer != norm && !norm->hasOneUse()))
      return {};
    if (taken.back() != norm)
      taken.push_back(norm);
  }
  return taken;
}

void ProductsOfRows::separateNorms(Block &block, bool packs) {
  for (auto norm : llvm::make_early_inc_range(block.getOps<LayerNormOp>())) {
    llvm::SetVector<Operation *> readers;
    for (Operation *user : norm->getUsers()) {
      if (isa<CastOp>(user))
        readers.insert_range(user->getUsers());
      else
        readers.insert(user);
    }
    if (!llvm::all_of(readers, [&](Operation *reader) {
          auto product = dyn_cast<MatMulOp>(reader);
          return product && isOfFewRows(product, packs) &&
                 normBefore(product) == norm;
        }))
      continue;
    llvm::DenseSet<Operation *> separated;
    for (Operation *reader : readers) {
      auto product = cast<MatMulOp>(reader);
      MatMulOp partner = partnerOf(product);
      if (!separated.insert(product).second)
        continue;
      bool isFirst = separated.size() == 1;
      if (partner)
        separated.insert(partner);
      if (isFirst)
        continue;
      Operation *earlier =
          partner && partner->isBeforeInBlock(product) ? partner : product;
      OpBuilder builder(earlier);
      Operation *before = product.getA().getDefiningOp();
      Value own = builder.clone(*norm)->getResult(0);
      if (before != norm) {
        Operation *rounding = builder.clone(*before);
        rounding->setOperand(0, own);
        own = rounding->getResult(0);
      }
      product.getAMutable().assign(own);
      if (partner)
        partner.getAMutable().assign(own);
    }
  }
}

} // namespace ingot::schedule
