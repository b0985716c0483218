// Definitions of the operators that move elements.

#include "dialects/graph/ops/Movement.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ingot::graph {

static RankedTensorType withShape(Value x, ArrayRef<Dim> sizes) {
  return tensorOf(sizes, elementOf(x));
}
static RankedTensorType withShape(Value x, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, elementOf(x));
}

/// Returns a copy of `op` on `operands`, whose axes have been permuted by
/// `perm`. The axes of the result are permuted, too; the caller permutes the
/// attributes.
template <typename OpT>
static OpT clonePermuted(OpT op, OpBuilder &builder, ArrayRef<int64_t> perm,
                         ValueRange operands) {
  auto copy = cast<OpT>(builder.clone(*op));
  copy->setOperands(operands);
  copy.getResult().setType(
      withShape(op.getResult(), permuted(dimsOf(op.getResult()), perm)));
  return copy;
}

static bool isIdentity(ArrayRef<int64_t> perm) {
  return llvm::all_of(llvm::enumerate(perm),
                      [](auto p) { return int64_t(p.index()) == p.value(); });
}

static bool allEqual(ArrayRef<int64_t> values, int64_t to) {
  return llvm::all_of(values, [&](int64_t v) { return v == to; });
}

int64_t permutedAxis(int64_t axis, ArrayRef<int64_t> perm) {
  return llvm::find(perm, axis) - perm.begin();
}

Expr wrapIndex(ElementBuilder &b, Expr i, const Dim &size) {
  Expr at = convert(i, b.builder.getIndexType());
  auto known = size.known();
  if (!i.type.isUnsignedInteger())
    at = select(at < 0.0,
                known ? at + static_cast<double>(*known) : at + b.size(size),
                at);
  return max(min(at, b.size(size - 1)), b.index(0));
}

Expr haveElements(ElementBuilder &b, ArrayRef<Dim> sizes) {
  Expr all;
  for (const Dim &size : sizes)
    if (size.least() < 1) {
      Expr any = b.size(size) > 0.0;
      all = all ? all & any : any;
    }
  return all;
}

Expr loadIfAny(ElementBuilder &b, Value x, ArrayRef<Expr> at,
               ArrayRef<Dim> axes) {
  auto load = [&] { return b.load(x, at); };
  Expr any = haveElements(b, axes);
  return any ? b.ifElse(any, load, [&] { return b.zero(elementOf(x)); })
             : load();
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferTypes(Adaptor op, TypeRule &rule) {
  SmallVector<int64_t> sorted(op.getPerm());
  llvm::sort(sorted);
  if (sorted.size() != shapeOf(op.getX()).size() || !isIdentity(sorted))
    return rule.refuse("perm is not a permutation of the operand's axes");
  return rule.result(permuted(dimsOf(op.getX()), op.getPerm()),
                     elementOf(op.getX()));
}

Expr TransposeOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at(idx.size());
  for (auto [i, p] : llvm::enumerate(getPerm()))
    at[p] = idx[i];
  return b.load(getX(), at);
}

bool TransposeOp::passesLanes() {
  return getPerm().empty() ||
         getPerm().back() == static_cast<int64_t>(getPerm().size()) - 1;
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (isIdentity(getPerm()))
    return getX();
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    setPerm(permuted(inner.getPerm(), getPerm()));
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

bool isReshapeLike(TransposeOp op) {
  int64_t last = -1;
  Dims sizes = dimsOf(op.getX());
  for (int64_t p : op.getPerm()) {
    if (sizes[p] == 1)
      continue;
    if (p < last)
      return false;
    last = p;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

void SliceOp::build(OpBuilder &builder, OperationState &state, Value x,
                    ArrayRef<int64_t> starts, ArrayRef<int64_t> steps,
                    ArrayRef<int64_t> sizes) {
  build(builder, state, x, starts, steps, Dims(sizes.begin(), sizes.end()));
}

void SliceOp::build(OpBuilder &, OperationState &state, Value x,
                    ArrayRef<int64_t> starts, ArrayRef<int64_t> steps,
                    ArrayRef<Dim> sizes) {
  state.addOperands(x);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.starts = DenseI64ArrayAttr::get(x.getContext(), starts);
  properties.steps = DenseI64ArrayAttr::get(x.getContext(), steps);
  state.addTypes(withShape(x, sizes));
}

LogicalResult SliceOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), to = rule.statedDims();
  if (from.size() != to.size() || op.getStarts().size() != to.size() ||
      op.getSteps().size() != to.size())
    return rule.refuse("starts, steps, operand and result differ in rank");
  for (auto [size, count, start, step] :
       llvm::zip(from, to, op.getStarts(), op.getSteps())) {
    if (count == 0)
      continue;
    Dim last = (count - 1) * step + start, low = step < 0 ? last : Dim(start),
        high = step < 0 ? Dim(start) : last;
    if (low.least() < 0 || (size - 1 - high).least() < 0)
      return rule.refuse("reaches outside of the operand");
  }
  return rule.result(to, elementOf(op.getX()));
}

Expr SliceOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at;
  for (auto [i, start, step] : llvm::zip(idx, getStarts(), getSteps())) {
    Expr scaled = step == 1 ? i : i * static_cast<double>(step);
    at.push_back(start == 0 ? scaled : scaled + static_cast<double>(start));
  }
  return b.load(getX(), at);
}

bool SliceOp::passesLanes() {
  return getSteps().empty() || getSteps().back() == 1;
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (getX().getType() == getType() && allEqual(getStarts(), 0) &&
      allEqual(getSteps(), 1))
    return getX();
  if (auto inner = getX().getDefiningOp<SliceOp>()) {
    SmallVector<int64_t> starts, steps;
    for (auto [start, step, innerStart, innerStep] : llvm::zip(
             getStarts(), getSteps(), inner.getStarts(), inner.getSteps())) {
      starts.push_back(innerStart + start * innerStep);
      steps.push_back(step * innerStep);
    }
    setStarts(starts);
    setSteps(steps);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

Operation *SliceOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                  ValueRange operands) {
  SliceOp copy = clonePermuted(*this, builder, perm, operands);
  copy.setStarts(permuted(getStarts(), perm));
  copy.setSteps(permuted(getSteps(), perm));
  return copy;
}

bool SliceOp::permutesOperand(unsigned) { return true; }

//===----------------------------------------------------------------------===//
// Concat
//===----------------------------------------------------------------------===//

static std::optional<Dims> concatSizes(ValueRange inputs, int64_t axis) {
  auto parts =
      llvm::map_to_vector(inputs, [](Value part) { return dimsOf(part); });
  return concatenated(SmallVector<ArrayRef<Dim>>(parts.begin(), parts.end()),
                      axis);
}

LogicalResult ConcatOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (op.getInputs().empty() ||
      op.getAxis() >= shapeOf(op.getInputs()[0]).size())
    return rule.refuse("needs operands and an axis of theirs");
  std::optional<Dims> shape = concatSizes(op.getInputs(), op.getAxis());
  if (!shape)
    return rule.refuse("operands differ in more than the axis");
  if (failed(rule.alike(op.getInputs())))
    return failure();
  return rule.result(*shape, elementOf(op.getInputs()[0]));
}

Expr ConcatOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  int64_t axis = getAxis();
  // The branches that choose the operand form a balanced tree, so that they do
  // not nest deeply if there are many operands.
  std::function<Expr(OperandRange, Dim)> from = [&](OperandRange inputs,
                                                    Dim offset) -> Expr {
    if (inputs.size() == 1) {
      Exprs at(idx.begin(), idx.end());
      if (!(offset == 0))
        at[axis] = at[axis] - b.size(offset);
      return b.load(inputs[0], at);
    }
    size_t half = inputs.size() / 2;
    Dim middle = offset;
    for (Value x : inputs.take_front(half))
      middle += dimsOf(x)[axis];
    return b.ifElse(
        idx[axis] < b.size(middle),
        [&] { return from(inputs.take_front(half), offset); },
        [&] { return from(inputs.drop_front(half), middle); });
  };
  return from(getInputs(), 0);
}

bool ConcatOp::passesLanes() {
  return static_cast<int64_t>(getAxis()) != getType().getRank() - 1;
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  SmallVector<Value> flat;
  for (Value x : getInputs()) {
    auto inner = x.getDefiningOp<ConcatOp>();
    if (inner && inner.getAxis() == getAxis() && inner->hasOneUse())
      llvm::append_range(flat, inner.getInputs());
    else if (tensorType(x).getNumElements() != 0)
      flat.push_back(x);
  }
  if (flat.empty())
    flat.push_back(getInputs()[0]);
  if (flat.size() == 1 && flat[0].getType() == getType())
    return flat[0];
  if (llvm::equal(flat, getInputs()) ||
      concatSizes(flat, getAxis()) != dimsOf(getResult()))
    return {};
  getInputsMutable().assign(flat);
  return getResult();
}

Operation *ConcatOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                   ValueRange operands) {
  ConcatOp copy = clonePermuted(*this, builder, perm, operands);
  copy.setAxis(permutedAxis(getAxis(), perm));
  return copy;
}

bool ConcatOp::permutesOperand(unsigned) { return true; }

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

void PadOp::build(OpBuilder &builder, OperationState &state, Value x,
                  Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                  StringRef mode) {
  state.addOperands({x, value});
  auto &properties = state.getOrAddProperties<Properties>();
  properties.low = builder.getDenseI64ArrayAttr(low);
  properties.mode = builder.getStringAttr(mode);
  Dims sizes = dimsOf(x);
  for (auto [size, before, after] : llvm::zip(sizes, low, high))
    size += before + after;
  state.addTypes(withShape(x, sizes));
}

bool repeatsKnown(const Dim &size, int64_t low, int64_t high, StringRef mode) {
  return mode == "constant" || size.known() ||
         (mode == "edge" && size.least() > 0) ||
         (mode == "reflect" && size.least() > std::max(low, high));
}

LogicalResult PadOp::inferTypes(Adaptor op, TypeRule &rule) {
  if (!shapeOf(op.getValue()).empty() ||
      elementOf(op.getValue()) != elementOf(op.getX()))
    return rule.refuse("the value is not one element of the operand's type");
  Dims from = dimsOf(op.getX()), to = rule.statedDims();
  if (from.size() != to.size() || op.getLow().size() != to.size())
    return rule.refuse("low, operand and result differ in rank");
  for (auto [size, padded, low] : llvm::zip(from, to, op.getLow())) {
    if (low < 0 || (padded - size - low).least() < 0)
      return rule.refuse("crops");
    bool isRepeated = op.getMode() != "constant" && !(size == padded);
    if (isRepeated && size == 0)
      return rule.refuse("repeats an empty axis");
    Dim high = padded - size - low;
    if (isRepeated)
      rule.needKnown(high, "repeats an axis as often as only the run knows");
    if (isRepeated && high.known() &&
        !repeatsKnown(size, low, *high.known(), op.getMode()))
      rule.needKnown(size, "repeats an axis of a size known only at run time");
  }
  return rule.result(to, elementOf(op.getX()));
}

/// Returns the index from which index `i` of a padded axis is copied, for the
/// padding modes `reflect`, `edge` and `wrap`. `i` is relative to the first
/// element of the operand, so it may be negative.
static Expr repeatedIndex(ElementBuilder &b, Expr i, const Dim &size,
                          int64_t low, int64_t high, StringRef mode) {
  Expr last = b.size(size - 1), zero = b.index(0);
  if (mode == "edge" || size == 1)
    return max(min(i, last), zero);
  if (mode == "reflect" && size.least() > std::max(low, high)) {
    Expr r = low > 0 ? select(i < 0.0, -i, i) : i;
    return high > 0 ? select(r > last, b.size(size * 2 - 2) - r, r) : r;
  }
  int64_t known = *size.known();
  if (mode == "wrap") {
    Expr r = i;
    if (low > 0)
      r = r + static_cast<double>(llvm::alignTo(low, known));
    return r % static_cast<double>(known);
  }
  // Reflects more than once: the index is a periodic function of `i`.
  int64_t period = 2 * known - 2;
  Expr r = (i + static_cast<double>(llvm::alignTo(low, period))) %
           static_cast<double>(period);
  return min(r, static_cast<double>(period) - r);
}

Expr PadOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Dims from = dimsOf(getX()), to = dimsOf(getResult());
  Exprs at;
  Expr inside;
  auto require = [&](Expr condition) {
    inside = inside ? inside & condition : condition;
  };
  for (auto [axis, size] : llvm::enumerate(from)) {
    int64_t low = getLow()[axis];
    Dim high = to[axis] - low - size;
    Expr i = low == 0 ? idx[axis] : idx[axis] - static_cast<double>(low);
    bool isPadded = low > 0 || !(high == 0);
    if (getMode() != "constant" && isPadded && !(size == 0)) {
      i = repeatedIndex(b, i, size, low, *high.known(), getMode());
    } else {
      if (low > 0)
        require(i >= 0.0);
      if (!(high == 0))
        require(i < b.size(size));
    }
    at.push_back(i);
  }
  auto load = [&] { return b.load(getX(), at); };
  if (!inside)
    return load();
  return b.ifElse(inside, load, [&] { return b.loadScalar(getValue(), {}); });
}

bool PadOp::passesLanes() {
  return getType().getRank() == 0 ||
         dimsOf(getX()).back() == dimsOf(getResult()).back();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

Operation *PadOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                ValueRange operands) {
  PadOp copy = clonePermuted(*this, builder, perm, operands);
  copy.setLow(permuted(getLow(), perm));
  return copy;
}

bool PadOp::permutesOperand(unsigned i) { return i == 0; }

//===----------------------------------------------------------------------===//
// Expand
//===----------------------------------------------------------------------===//

void ExpandOp::build(OpBuilder &, OperationState &state, Value x,
                     ArrayRef<int64_t> shape) {
  state.addOperands(x);
  state.addTypes(withShape(x, shape));
}

void ExpandOp::build(OpBuilder &, OperationState &state, Value x,
                     ArrayRef<Dim> sizes) {
  state.addOperands(x);
  state.addTypes(withShape(x, sizes));
}

/// Whether an axis of the operand has a dynamic size that may be 1 or the size
/// of the result.
static bool growsInRun(const Dim &from, const Dim &to) {
  return !from.known() && !(from == to);
}

LogicalResult ExpandOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), to = rule.statedDims();
  auto fits = [](auto axis) {
    auto [from, to] = axis;
    return from == to || from == 1 || growsInRun(from, to);
  };
  if (from.size() > to.size() ||
      !llvm::all_of(llvm::zip(llvm::reverse(from), llvm::reverse(to)), fits))
    return rule.refuse("the operand does not broadcast to the result");
  return rule.result(to, elementOf(op.getX()));
}

Expr ExpandOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at(idx);
  Dims from = dimsOf(getX()), to = dimsOf(getResult());
  for (auto [position, size, whole] :
       llvm::zip(llvm::reverse(at), llvm::reverse(from), llvm::reverse(to)))
    if (growsInRun(size, whole))
      position = min(position, b.size(size - 1));
  return b.broadcast(b.loadBroadcast(getX(), at), b.lanes());
}

bool ExpandOp::passesLanes() {
  Dims from = dimsOf(getX());
  return from.empty() || !growsInRun(from.back(), dimsOf(getResult()).back());
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ExpandOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

Operation *ExpandOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                   ValueRange operands) {
  if (!permutesOperand(0) && !(product(dimsOf(getX())) == 1))
    return nullptr;
  return clonePermuted(*this, builder, perm, operands);
}

bool ExpandOp::permutesOperand(unsigned) { return hasAxesOfResult(*this, 0); }

//===----------------------------------------------------------------------===//
// Tile
//===----------------------------------------------------------------------===//

void TileOp::build(OpBuilder &, OperationState &state, Value x,
                   ArrayRef<Dim> sizes) {
  state.addOperands(x);
  state.addTypes(withShape(x, sizes));
}

bool TileOp::isMultiple(const Dim &tiled, const Dim &size) {
  return tiled == 0 || (!(size == 0) && tiled.dividedBy(size));
}

LogicalResult TileOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), to = rule.statedDims();
  if (from.size() != to.size())
    return rule.refuse("operand and result differ in rank");
  for (auto [size, tiled] : llvm::zip(from, to))
    if (!isMultiple(tiled, size))
      return rule.refuse("the result's size " + kernel::sizeText(tiled) +
                         " is not a multiple of the operand's size " +
                         kernel::sizeText(size));
  return rule.result(to, elementOf(op.getX()));
}

Expr TileOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  Exprs at;
  Dims from = dimsOf(getX()), to = dimsOf(getResult());
  for (auto [i, size, tiled] : llvm::zip(idx, from, to))
    at.push_back(size == tiled ? i : size == 1 ? b.index(0) : i % b.size(size));
  if (b.lanes() > 1 && !(from.back() == to.back()))
    return b.broadcast(b.loadScalar(getX(), at), b.lanes());
  return b.load(getX(), at);
}

bool TileOp::passesLanes() {
  Dims from = dimsOf(getX()), to = dimsOf(getResult());
  return from.empty() || from.back() == 1 || from.back() == to.back();
}

OpFoldResult TileOp::fold(FoldAdaptor) {
  return getX().getType() == getType() ? OpFoldResult(getX()) : OpFoldResult();
}

Operation *TileOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                 ValueRange operands) {
  return clonePermuted(*this, builder, perm, operands);
}

bool TileOp::permutesOperand(unsigned) { return true; }

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferTypes(Adaptor op, TypeRule &rule) {
  Dims from = dimsOf(op.getX()), indices = dimsOf(op.getIndices());
  if (failed(rule.axis(op.getAxis(), op.getX())))
    return failure();
  Dims sizes = spliced(from, op.getAxis(), 1, indices);
  if (from[op.getAxis()] == 0 && product(sizes).most() > 0)
    return rule.refuse("takes elements of an empty axis");
  return rule.result(sizes, elementOf(op.getX()));
}

Expr GatherOp::emitElement(ElementBuilder &b, ArrayRef<Expr> idx) {
  size_t axis = getAxis(), count = shapeOf(getIndices()).size();
  Expr i = b.loadScalar(getIndices(), idx.slice(axis, count));
  i = getInRange() ? convert(i, b.builder.getIndexType())
                   : wrapIndex(b, i, dimsOf(getX())[axis]);
  Exprs at(idx.take_front(axis));
  at.push_back(i);
  llvm::append_range(at, idx.drop_front(axis + count));
  return getInRange() ? b.load(getX(), at)
                      : loadIfAny(b, getX(), at, dimsOf(getX())[axis]);
}

bool GatherOp::passesLanes() { return getAxis() + 1 < shapeOf(getX()).size(); }

Operation *GatherOp::buildPermuted(OpBuilder &builder, ArrayRef<int64_t> perm,
                                   ValueRange operands) {
  if (!permutesOperand(0))
    return nullptr;
  GatherOp copy = clonePermuted(*this, builder, perm, operands);
  copy.setAxis(permutedAxis(getAxis(), perm));
  return copy;
}

bool GatherOp::permutesOperand(unsigned i) {
  return i == 0 && shapeOf(getIndices()).size() == 1;
}

Value buildTranspose(OpBuilder &builder, Location loc, Value x,
                     ArrayRef<int64_t> perm) {
  return TransposeOp::create(builder, loc, x, perm);
}

} // namespace ingot::graph
