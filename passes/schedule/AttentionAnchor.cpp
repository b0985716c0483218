#include "passes/schedule/AttentionAnchor.h"

#include "passes/schedule/Anchors.h"
#include "passes/schedule/StoredOperands.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot::graph;

namespace ingot::schedule {

/// Follows `v` back through elementwise operators, each with a single user, to
/// the matrix product that it is computed from; null if there is none. Appends
/// the operators in between to `between`.
static MatMulOp elementwiseFrom(Value v,
                                SmallVectorImpl<Operation *> &between) {
  // Chains of masks and scales are short; a longer chain is not attention.
  constexpr size_t mostBetween = 16;
  Operation *op = v.getDefiningOp();
  if (!op || !op->hasOneUse() || between.size() > mostBetween)
    return {};
  if (auto product = dyn_cast<MatMulOp>(op))
    return product;
  if (!isa<ElementwiseOpInterface>(op))
    return {};
  between.push_back(op);
  for (Value operand : op->getOperands()) {
    size_t size = between.size();
    if (dimsOf(operand) == dimsOf(v))
      if (MatMulOp product = elementwiseFrom(operand, between))
        return product;
    between.truncate(size);
  }
  return {};
}

/// Whether `product` is a batched matrix product without zero points, whose
/// operands are nonempty and have type `operands`, whose result has that type
/// or f32, and whose three tensors have the same rank.
static bool isPlain(MatMulOp product, Type operands) {
  size_t rank = shapeOf(product.getResult()).size();
  return rank >= 3 && product.getZeros().empty() &&
         (elementOf(product.getResult()).isF32() ||
          elementOf(product.getResult()) == operands) &&
         llvm::all_of(product->getOperands(), [&](Value v) {
           return shapeOf(v).size() == rank && elementOf(v) == operands &&
                  tensorType(v).getNumElements() > 0;
         });
}

AttentionAnchor AttentionAnchor::of(MatMulOp product) {
  AttentionAnchor found;
  Value weights = product.getA();
  Type operands = elementOf(weights);
  if (!isa<FloatType>(operands) || operands.getIntOrFloatBitWidth() > 32)
    return {};
  if (Operation *op = weights.getDefiningOp();
      op && op->hasOneUse() &&
      ((isa<CastOp>(op) && isa<BFloat16Type, Float16Type>(operands)) ||
       isa<RoundToTf32Op>(op))) {
    found.rounding = op;
    weights = op->getOperand(0);
  }
  auto softmax = weights.getDefiningOp<SoftmaxOp>();
  if (!softmax || !softmax->hasOneUse() ||
      (!elementOf(softmax).isF32() &&
       (found.rounding || elementOf(softmax) != operands)) ||
      !isPlain(product, operands) ||
      static_cast<size_t>(softmax.getAxis()) + 1 != shapeOf(softmax).size())
    return {};
  MatMulOp scores = elementwiseFrom(softmax.getInput(), found.between);
  if (!scores || !isPlain(scores, operands) ||
      ArrayRef(dimsOf(scores)).drop_back() !=
          ArrayRef(dimsOf(product)).drop_back() ||
      !dimsOf(scores.getA()).back().known() ||
      !dimsOf(product).back().known() || dimsOf(scores).back().least() < 1)
    return {};
  found.product = product;
  found.softmax = softmax;
  found.scores = scores;
  return found;
}

bool isReadInPlace(Operation *op, Operation *reader) {
  if (!op->hasOneUse() || reader->getNumResults() != 1)
    return false;
  if (auto transpose = dyn_cast<TransposeOp>(reader))
    return transpose.getPerm().back() + 1 ==
           static_cast<int64_t>(transpose.getPerm().size());
  return isa<ElementwiseOpInterface>(reader) &&
         dimsOf(reader->getResult(0)) == dimsOf(op->getResult(0));
}

AttentionAnchor AttentionAnchor::of(GroupView group) {
  AttentionAnchor found;
  for (auto product : group.block->getOps<MatMulOp>())
    if (AttentionAnchor anchor = of(product))
      found = anchor;
  if (!found || group.results().size() != 1)
    return {};
  for (Operation &op : group.block->without_terminator()) {
    auto element = dyn_cast<ElementOpInterface>(op);
    bool isPart = &op == found.product || &op == found.softmax ||
                  &op == found.scores || &op == found.rounding ||
                  llvm::is_contained(found.between, &op);
    if (!isPart && !isa<ConstantOp>(op) && !(element && element.isCheap()))
      return {};
  }
  // Follow the single users from the second matrix product to the result of the
  // group.
  Operation *op = found.product;
  while (op->getResult(0) != group.results()[0]) {
    Operation *reader = *op->user_begin();
    if (!isReadInPlace(op, reader))
      return {};
    op = reader;
  }
  return found;
}

/// Whether the operators after `product` in its group form a chain. The chain
/// may contain elementwise operators, and transposes that keep the last axis.
/// Among the group's operators, each may read only the result of the previous
/// operator of the chain.
static bool endsInPlace(Operation *product,
                        llvm::function_ref<bool(Operation *)> isMember) {
  Operation *op = product;
  while (!op->use_empty() && isMember(*op->user_begin())) {
    Operation *reader = *op->user_begin();
    if (!isReadInPlace(op, reader))
      return false;
    for (Value operand : reader->getOperands())
      if (Operation *other = operand.getDefiningOp();
          other && other != op && isMember(other))
        return false;
    op = reader;
  }
  return true;
}

/// Whether `op` takes the stored rows of a state that has spare rows.
static bool takesStoredRows(Operation *op) {
  auto slice = dyn_cast_or_null<SliceOp>(op);
  return slice && slice.passesLanes() && slice.getX().getDefiningOp<AppendOp>();
}

/// Appends to `taken` the chain of operators that computes `operand` of a
/// matrix product, from its end, as long as they have a single use, satisfy
/// `isFree` and are of these kinds: transposes that keep the last axis; slices
/// with the stored rows of a state; with `scales` also multiplications by a
/// scalar; with `rounds` also casts, and reshapes of stored tensors. With
/// `rounds`, the chain may begin with an elementwise expression of stored
/// tensors, such as a rotary embedding. Of that expression, only the last
/// operator is appended; the others join the group later.
static void addInFront(Value operand, bool scales, bool rounds,
                       llvm::function_ref<bool(Operation *)> isFree,
                       SmallVectorImpl<Operation *> &taken) {
  for (Operation *op = operand.getDefiningOp();
       op && op->hasOneUse() && isFree(op);
       op = op->getOperand(0).getDefiningOp()) {
    auto transpose = dyn_cast<TransposeOp>(op);
    bool scalesHere = scales && isa<MulOp>(op) &&
                      tensorType(op->getOperand(1)).getNumElements() == 1 &&
                      dimsOf(op->getOperand(0)) == dimsOf(op->getResult(0));
    bool roundsHere = rounds && isa<CastOp, RoundToTf32Op>(op);
    bool isMovedHere =
        (transpose && transpose.passesLanes()) || takesStoredRows(op) ||
        (rounds && isa<ReshapeOp>(op) && readsStored(op, isFree));
    if (!scalesHere && !roundsHere && !isMovedHere) {
      if (rounds && isa<ElementwiseOpInterface>(op) && readsStored(op, isFree))
        taken.push_back(op);
      return;
    }
    taken.push_back(op);
  }
}

std::optional<RepeatedMatrices> RepeatedMatrices::of(Value repeated) {
  RepeatedMatrices found;
  auto take = [&](Operation *op) {
    found.path.push_back(op);
    Value v = op->getOperand(0);
    while (isa_and_nonnull<CastOp, RoundToTf32Op>(v.getDefiningOp())) {
      found.path.push_back(v.getDefiningOp());
      v = v.getDefiningOp()->getOperand(0);
    }
    return v;
  };
  auto merging = repeated.getDefiningOp<ReshapeOp>();
  auto expand = merging ? take(merging).getDefiningOp<ExpandOp>() : ExpandOp();
  auto splitting =
      expand ? take(expand).getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!splitting)
    return std::nullopt;
  found.path.push_back(splitting);
  found.from = splitting.getX();
  Dims whole = dimsOf(repeated), from = dimsOf(found.from),
       wide = dimsOf(expand.getResult());
  if (whole.size() != from.size() || wide.size() != from.size() + 1)
    return std::nullopt;
  while (found.axis + 2 < int64_t(from.size()) &&
         whole[found.axis] == from[found.axis])
    ++found.axis;
  std::optional<int64_t> times = wide[found.axis + 1].known();
  if (!times)
    return std::nullopt;
  found.times = *times;
  Dims single(from), several(from);
  single.insert(single.begin() + found.axis + 1, Dim(1));
  several.insert(several.begin() + found.axis + 1, Dim(found.times));
  from[found.axis] = from[found.axis] * found.times;
  bool isRepeated = found.axis + 2 < int64_t(from.size()) && whole == from &&
                    wide == several && dimsOf(splitting.getResult()) == single;
  return isRepeated ? std::optional(found) : std::nullopt;
}

/// Appends to `taken` the transposes, slices, repetitions and casts between a
/// stored tensor and `operand`, so that the kernel can read the tensor in its
/// stored layout.
static void addMoves(Value operand,
                     llvm::function_ref<bool(Operation *)> isFree,
                     SmallVectorImpl<Operation *> &taken) {
  auto canTake = [&](Operation *op) { return op->hasOneUse() && isFree(op); };
  for (Operation *op = operand.getDefiningOp(); op && canTake(op);
       op = op->getOperand(0).getDefiningOp()) {
    auto repeated = RepeatedMatrices::of(op->getResult(0));
    if (repeated && llvm::all_of(repeated->path, canTake)) {
      llvm::append_range(taken, repeated->path);
      op = repeated->path.back();
    } else if (isa<TransposeOp, SliceOp, CastOp, RoundToTf32Op>(op)) {
      taken.push_back(op);
    } else {
      return;
    }
  }
}

SmallVector<Operation *>
takeAttention(Operation *producer,
              llvm::function_ref<bool(Operation *)> isMember,
              llvm::function_ref<bool(Operation *)> isFree, bool inStoredLayout,
              llvm::function_ref<bool(const AttentionAnchor &)> suits) {
  // Start from the second matrix product, also if `producer` is the softmax or
  // the rounding cast before that product.
  Operation *last = producer;
  while (isa<SoftmaxOp, CastOp, RoundToTf32Op>(last) && last->hasOneUse())
    last = *last->user_begin();
  auto product = dyn_cast<MatMulOp>(last);
  AttentionAnchor anchor =
      product ? AttentionAnchor::of(product) : AttentionAnchor();
  if (!anchor || !suits(anchor) || !endsInPlace(product, isMember) ||
      GroupView(product->getBlock()).isStrict() ||
      (producer != product && producer != anchor.softmax &&
       producer != anchor.rounding))
    return {};
  SmallVector<Operation *> taken{anchor.softmax, anchor.scores};
  llvm::append_range(taken, anchor.between);
  if (producer != anchor.softmax && anchor.rounding)
    taken.push_back(anchor.rounding);
  if (producer == product)
    taken.push_back(product);
  if (!llvm::all_of(taken, isFree))
    return {};
  addInFront(anchor.scores.getA(), /*scales=*/true, /*rounds=*/inStoredLayout,
             isFree, taken);
  if (inStoredLayout) {
    addMoves(anchor.scores.getB(), isFree, taken);
    addMoves(product.getB(), isFree, taken);
  } else {
    addInFront(product.getB(), /*scales=*/false, /*rounds=*/false, isFree,
               taken);
  }
  return taken;
}

/// Whether `op` is cheap and reads a single tensor besides constants, at the
/// same position along the last axis or in one of its parts.
static bool readsOneTensor(Operation *op) {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return transpose.passesLanes();
  return isa<ConcatOp>(op) || takesStoredRows(op) ||
         (isa<ElementwiseOpInterface>(op) &&
          cast<ElementOpInterface>(op).isCheap() &&
          llvm::count_if(op->getOperands(), [](Value x) {
            return !x.getDefiningOp<ConstantOp>();
          }) == 1);
}

void takeCache(Value operand, Operation *reader,
               llvm::function_ref<bool(Operation *)> isFree,
               SmallVectorImpl<Operation *> &taken) {
  llvm::SetVector<Operation *> chain;
  SmallVector<Value> operands{operand};
  while (!operands.empty()) {
    Operation *op = operands.pop_back_val().getDefiningOp();
    // An operator with several users is visited again after each of them.
    if (op && !isa<ConstantOp>(op) && isFree(op) && readsOneTensor(op) &&
        llvm::all_of(op->getUsers(),
                     [&](Operation *user) {
                       return user == reader || chain.contains(user);
                     }) &&
        chain.insert(op))
      llvm::append_range(operands, op->getOperands());
  }
  if (llvm::any_of(chain, [](Operation *op) {
        return isWidening(op) || takesStoredRows(op);
      }))
    for (Operation *op : chain)
      if (!llvm::is_contained(taken, op))
        taken.push_back(op);
}

Value AttentionAnchor::keyRows() const {
  auto transpose = scores.getB().getDefiningOp<TransposeOp>();
  if (!transpose)
    return {};
  ArrayRef<int64_t> perm = transpose.getPerm();
  return perm[perm.size() - 2] + 1 == int64_t(perm.size()) ? transpose.getX()
                                                           : Value();
}

Exprs AttentionAnchor::atKeyRows(ArrayRef<Expr> place) const {
  auto transpose = scores.getB().getDefiningOp<TransposeOp>();
  Exprs at(place.size());
  for (auto [axis, from] : llvm::enumerate(transpose.getPerm()))
    at[from] = place[axis];
  return at;
}

SmallVector<int64_t> AttentionAnchor::axesOf(Value result) {
  SmallVector<int64_t> axes =
      llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(result).size()));
  for (Value v = product.getResult(); v != result;) {
    Operation *reader = *v.user_begin();
    if (auto transpose = dyn_cast<TransposeOp>(reader)) {
      SmallVector<int64_t> before(axes);
      for (auto [axis, from] : llvm::enumerate(transpose.getPerm()))
        axes[axis] = before[from];
    }
    v = reader->getResult(0);
  }
  return axes;
}

} // namespace ingot::schedule
