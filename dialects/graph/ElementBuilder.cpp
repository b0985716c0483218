#include "dialects/graph/ElementBuilder.h"

#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/SizeDivision.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace ingot::graph {

Type storageType(Type type) {
  // Integers of 2 and 4 bits are stored in a byte each.
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(
        type.getContext(),
        integer.getWidth() == 1 ? 1 : std::max(8u, integer.getWidth()));
  return type;
}

Type computeType(Type type) {
  if (auto f = dyn_cast<FloatType>(type); f && f.getWidth() < 32)
    return Float32Type::get(type.getContext());
  return storageType(type);
}

MemRefType storageType(RankedTensorType type) {
  return MemRefType::get(type.getShape(), storageType(type.getElementType()));
}

//===----------------------------------------------------------------------===//
// Constants and lanes
//===----------------------------------------------------------------------===//

Expr ElementBuilder::zero(Type type) {
  if (isa<kernel::StringType>(type))
    return {this, kernel::EmptyStringOp::create(builder, loc, type), type};
  return constant(0, type);
}

Expr ElementBuilder::constant(double value, Type type) {
  Type compute = computeType(type);
  if (isa<FloatType>(compute))
    return {this,
            arith::ConstantOp::create(builder, loc,
                                      builder.getFloatAttr(compute, value)),
            type};
  return constantInt(static_cast<int64_t>(value), type);
}

Expr ElementBuilder::constantInt(int64_t value, Type type) {
  Type compute = computeType(type);
  if (isa<FloatType>(compute))
    return constant(static_cast<double>(value), type);
  if (compute.isIndex())
    return {this, arith::ConstantIndexOp::create(builder, loc, value), type};
  auto attr = IntegerAttr::get(compute, APInt(compute.getIntOrFloatBitWidth(),
                                              static_cast<uint64_t>(value),
                                              /*isSigned=*/true,
                                              /*implicitTrunc=*/true));
  return {this, arith::ConstantOp::create(builder, loc, attr), type};
}

Expr ElementBuilder::index(int64_t value) {
  return constantInt(value, builder.getIndexType());
}

static Expr evaluate(ElementBuilder &b, AffineExpr value, const Dim &size,
                     ArrayRef<Expr> symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(value))
    return b.index(number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value))
    return symbols[symbol.getPosition()];
  auto parts = cast<AffineBinaryOpExpr>(value);
  Expr x = evaluate(b, parts.getLHS(), size, symbols),
       y = evaluate(b, parts.getRHS(), size, symbols);
  switch (value.getKind()) {
  case AffineExprKind::Add:
    return x + y;
  case AffineExprKind::Mul:
    return x * y;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod: {
    // arith's signed division truncates towards zero, but floordiv and mod of
    // affine expressions round down. So a multiple of the divisor is first
    // added to the dividend, such that the dividend is never negative.
    int64_t more = kernel::divisorsToAdd(parts, size.symbols());
    if (more != 0)
      x = x + b.index(more) * y;
    if (value.getKind() == AffineExprKind::Mod)
      return x % y;
    return more == 0 ? x / y : x / y - b.index(more);
  }
  default:
    llvm_unreachable("sizes have no other expressions");
  }
}

Expr ElementBuilder::size(const Dim &dim) {
  if (auto known = dim.known())
    return index(*known);
  Exprs values;
  for (kernel::SymbolAttr symbol : dim.symbols()) {
    assert(symbols.contains(symbol) && "the symbol is no argument");
    values.push_back(wrap(symbols.lookup(symbol), builder.getIndexType()));
  }
  return evaluate(*this, dim.expression(), dim, values);
}

Expr ElementBuilder::withLanes(int64_t lanes, llvm::function_ref<Expr()> emit) {
  int64_t saved = laneCount;
  laneCount = lanes;
  llvm::scope_exit restore([&] { laneCount = saved; });
  return emit();
}

Expr ElementBuilder::broadcast(Expr x, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(x.value.getType()))
    return x;
  auto type = VectorType::get({lanes}, x.value.getType());
  return {this, vector::BroadcastOp::create(builder, loc, type, x.value),
          x.type};
}

void ElementBuilder::unify(Expr &x, Expr &y) {
  auto vx = dyn_cast<VectorType>(x.value.getType()),
       vy = dyn_cast<VectorType>(y.value.getType());
  if (vx && !vy)
    y = y.builder->broadcast(y, vx.getNumElements());
  else if (vy && !vx)
    x = x.builder->broadcast(x, vy.getNumElements());
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

Expr ElementBuilder::loadBuffer(Value buffer, Type elementType,
                                ArrayRef<Expr> idx) {
  SmallVector<Value> indices;
  for (Expr i : idx)
    indices.push_back(i.value);
  auto memref = cast<MemRefType>(buffer.getType());
  Value v;
  if (laneCount == 1) {
    v = memref::LoadOp::create(builder, loc, buffer, indices);
  } else {
    v = vector::LoadOp::create(
        builder, loc, VectorType::get({laneCount}, memref.getElementType()),
        buffer, indices);
  }
  Type compute = computeType(elementType);
  if (memref.getElementType() != compute) {
    Type wide =
        laneCount == 1 ? compute : Type(VectorType::get({laneCount}, compute));
    v = arith::ExtFOp::create(builder, loc, wide, v);
  }
  Expr element{this, v, elementType};
  // An integer of 2 or 4 bits is stored in a byte. Replaces the other bits of
  // the byte by zeros or, if the integer is signed, by copies of the sign bit.
  if (auto integer = dyn_cast<IntegerType>(elementType);
      integer && integer.getWidth() > 1 && integer.getWidth() < 8) {
    element.type =
        IntegerType::get(integer.getContext(), 8, integer.getSignedness());
    return convert(element, elementType);
  }
  return element;
}

/// Rounds a value that is computed in a wider type to its element type in the
/// graph, as storing and loading the value would. Results therefore do not
/// depend on which operators are fused.
static Expr rounded(Expr x) {
  Type compute = computeType(x.type);
  if (compute == x.type || !isa<FloatType>(x.type) ||
      x.value.getDefiningOp<arith::ExtFOp>())
    return x;
  return convert({x.builder, x.value, compute}, x.type, /*saturate=*/false);
}

Expr ElementBuilder::load(Value tensor, ArrayRef<Expr> idx) {
  if (auto bound = elements.find(tensor); bound != elements.end())
    return rounded(bound->second);
  Type elementType = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (Value buffer = buffers.lookup(tensor))
    return loadBuffer(buffer, elementType, idx);
  if (auto constant = tensor.getDefiningOp<ConstantOp>()) {
    // An empty tensor has no valid index, but the code that reads it never
    // runs.
    if (constant.getValue().empty())
      return this->constantInt(0, elementType);
    auto splat = dyn_cast<DenseElementsAttr>(constant.getValue());
    assert(splat && splat.isSplat() && "only splat constants live in groups");
    Attribute value = splat.getSplatValue<Attribute>();
    if (auto f = dyn_cast<FloatAttr>(value))
      return this->constant(f.getValueAsDouble(), elementType);
    APInt bits = cast<IntegerAttr>(value).getValue();
    return constantInt(elementType.isSignedInteger()
                           ? bits.getSExtValue()
                           : static_cast<int64_t>(bits.getZExtValue()),
                       elementType);
  }
  ++loadDepth;
  llvm::scope_exit leave([&] {
    if (--loadDepth == 0)
      memo.clear();
  });
  ElementMemo::Key key = memo.keyOf(tensor, laneCount, idx);
  Block *block = builder.getInsertionBlock();
  if (Expr known = memo.lookup(key, block))
    return known;
  Expr element = build(tensor, idx);
  memo.remember(key, element, block);
  return element;
}

/// Names an element after the operator that computes it (`relu`, `exp`), unless
/// the operator only returns a loaded or a carried value. The result of a
/// conversion is named "narrowed" or "converted".
static Expr nameElement(Expr element, Operation *op) {
  if (!isa_and_nonnull<memref::LoadOp, vector::LoadOp>(
          element.value.getDefiningOp()) &&
      !isa<BlockArgument>(element.value))
    named(element,
          isa<CastOp>(op)
              ? kernel::elementBytes(elementOf(op->getResult(0))) <
                        kernel::elementBytes(elementOf(op->getOperand(0)))
                    ? "narrowed"
                    : "converted"
              : op->getName().stripDialect());
  return element;
}

/// Whether the `lanes` elements from `idx` on lie in one operand of a
/// concatenation along the last axis. False if that is unknown.
static bool isInOnePart(Operation *op, ArrayRef<Expr> idx, int64_t lanes) {
  auto concat = dyn_cast<ConcatOp>(op);
  APInt known;
  if (!concat || !matchPattern(idx.back().value, m_ConstantInt(&known)))
    return false;
  Dim first = known.getSExtValue(), end = 0;
  for (Value part : concat.getInputs()) {
    Dim begin = end;
    end += dimsOf(part).back();
    if ((first - begin).least() >= 0 && (end - first).least() >= lanes)
      return true;
  }
  return false;
}

Expr ElementBuilder::build(Value tensor, ArrayRef<Expr> idx) {
  auto op = cast<ElementOpInterface>(tensor.getDefiningOp());
  if (laneCount == 1 || op.passesLanes() || isInOnePart(op, idx, laneCount))
    return nameElement(rounded(op.emitElement(*this, idx)), op);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < laneCount; ++lane) {
    Exprs at(idx.begin(), idx.end());
    at.back() = at.back() + static_cast<double>(lane);
    lanes.push_back(loadScalar(tensor, at).value);
  }
  auto type = VectorType::get({laneCount}, lanes[0].getType());
  return nameElement(
      {this, vector::FromElementsOp::create(builder, loc, type, lanes),
       cast<RankedTensorType>(tensor.getType()).getElementType()},
      op);
}

Expr ElementBuilder::loadScalar(Value tensor, ArrayRef<Expr> idx) {
  return withLanes(1, [&] { return load(tensor, idx); });
}

Expr ElementBuilder::loadBroadcast(Value tensor, ArrayRef<Expr> idx) {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  // Axes of size 1 are read at index 0. If the tensor is bound to an element
  // (bindElement), `load` ignores the index.
  Exprs at;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    Expr i = idx[idx.size() - shape.size() + axis];
    at.push_back(size == 1 ? index(0) : i);
  }
  if (laneCount > 1 && (shape.empty() || shape.back() == 1))
    return loadScalar(tensor, at);
  return load(tensor, at);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Exprs ElementBuilder::loop(
    Expr lo, Expr hi, int64_t step, ArrayRef<Expr> init,
    llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> body) {
  SmallVector<Value> initValues;
  for (Expr e : init)
    initValues.push_back(e.value);
  Value stepValue = index(step).value;
  auto rewrap = [&](ValueRange values) {
    Exprs exprs;
    for (auto [v, e] : llvm::zip(values, init))
      exprs.push_back({this, v, e.type});
    return exprs;
  };
  auto loop = scf::ForOp::create(builder, loc, lo.value, hi.value, stepValue,
                                 initValues);
  {
    OpBuilder::InsertionGuard guard(builder);
    // If scf.for carries no values, its builder has already added a
    // terminator.
    if (init.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    else
      builder.setInsertionPointToEnd(loop.getBody());
    Exprs results = body({this, loop.getInductionVar(), builder.getIndexType()},
                         rewrap(loop.getRegionIterArgs()));
    if (!init.empty()) {
      SmallVector<Value> yielded;
      for (auto [e, arg] : llvm::zip(results, loop.getRegionIterArgs())) {
        assert(e.value.getType() == arg.getType() &&
               "a carried value changed its type");
        yielded.push_back(e.value);
      }
      scf::YieldOp::create(builder, loc, yielded);
    }
  }
  return rewrap(loop.getResults());
}

Exprs ElementBuilder::loop(
    const Dim &trips, ArrayRef<Expr> init,
    llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> body) {
  if (trips == 1)
    return body(index(0), init);
  return loop(index(0), size(trips), 1, init, body);
}

Exprs ElementBuilder::loopWhile(
    ArrayRef<Expr> init, llvm::function_ref<Expr(ArrayRef<Expr>)> goesOn,
    llvm::function_ref<Exprs(ArrayRef<Expr>)> body) {
  SmallVector<Value> values;
  SmallVector<Type> types;
  for (Expr e : init) {
    values.push_back(e.value);
    types.push_back(e.value.getType());
  }
  auto rewrap = [&](ValueRange carried) {
    Exprs exprs;
    for (auto [v, e] : llvm::zip(carried, init))
      exprs.push_back({this, v, e.type});
    return exprs;
  };
  // Both regions of the loop are built by this builder, whose insertion point
  // is moved into them.
  auto inside = [&](OpBuilder &nested, llvm::function_ref<void()> build) {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(nested.saveInsertionPoint());
    build();
  };
  auto loop = scf::WhileOp::create(
      builder, loc, types, values,
      [&](OpBuilder &nested, Location, ValueRange carried) {
        inside(nested, [&] {
          scf::ConditionOp::create(builder, loc, goesOn(rewrap(carried)).value,
                                   carried);
        });
      },
      [&](OpBuilder &nested, Location, ValueRange carried) {
        inside(nested, [&] {
          SmallVector<Value> next;
          for (Expr e : body(rewrap(carried)))
            next.push_back(e.value);
          scf::YieldOp::create(builder, loc, next);
        });
      });
  return rewrap(loop.getResults());
}

Exprs ElementBuilder::reductionStep(Expr i, Expr acc,
                                    llvm::function_ref<Expr(Expr, Expr)> body) {
  Expr next = broadcast(body(i, acc), laneCount);
  named(i, "term");
  return {named(next, "total")};
}

Expr ElementBuilder::reduce(const Dim &trips, Expr init,
                            llvm::function_ref<Expr(Expr, Expr)> body) {
  init = broadcast(init, laneCount);
  return loop(trips, {init}, [&](Expr i, ArrayRef<Expr> c) -> Exprs {
    return reductionStep(i, c[0], body);
  })[0];
}

Expr ElementBuilder::reduce(
    ArrayRef<Dim> trips, Expr init,
    llvm::function_ref<Expr(ArrayRef<Expr>, Expr)> body) {
  Exprs at;
  std::function<Expr(Expr)> nest = [&](Expr acc) -> Expr {
    if (at.size() == trips.size())
      return body(at, acc);
    return reduce(trips[at.size()], acc, [&](Expr i, Expr inner) {
      at.push_back(i);
      Expr result = nest(inner);
      at.pop_back();
      return result;
    });
  };
  return nest(broadcast(init, laneCount));
}

Expr ElementBuilder::ifElse(Expr condition, llvm::function_ref<Expr()> then,
                            llvm::function_ref<Expr()> otherwise) {
  assert(!isa<VectorType>(condition.value.getType()) &&
         "a branch needs a scalar condition");
  APInt known;
  if (matchPattern(condition.value, m_ConstantInt(&known)))
    return known.isZero() ? otherwise() : then();
  // The result type of scf.if is known only after one of its regions has been
  // built, so the regions are built before the scf.if.
  Block *thenBlock = new Block(), *elseBlock = new Block();
  Expr x, y;
  {
    OpBuilder::InsertionGuard guard(builder);
    for (Block *side : {thenBlock, elseBlock})
      memo.nest(side, builder.getInsertionBlock());
    builder.setInsertionPointToEnd(thenBlock);
    x = broadcast(then(), laneCount);
    scf::YieldOp::create(builder, loc, x.value);
    builder.setInsertionPointToEnd(elseBlock);
    y = broadcast(otherwise(), laneCount);
    scf::YieldOp::create(builder, loc, y.value);
  }
  assert(x.value.getType() == y.value.getType() &&
         "both sides of a branch have one type");
  OperationState state(loc, scf::IfOp::getOperationName());
  state.addOperands(condition.value);
  state.addTypes(x.value.getType());
  state.addRegion()->push_back(thenBlock);
  state.addRegion()->push_back(elseBlock);
  Operation *op = builder.create(state);
  return {this, op->getResult(0), x.type};
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

Expr ElementBuilder::linearize(ArrayRef<Expr> idx, ArrayRef<Dim> sizes) {
  Expr position = index(0);
  for (auto [i, dim] : llvm::zip(idx, sizes)) {
    if (dim == 1)
      continue;
    auto known = dim.known();
    position = known ? position * static_cast<double>(*known) + i
                     : position * size(dim) + i;
  }
  return position;
}

Exprs ElementBuilder::delinearize(Expr position, ArrayRef<Dim> sizes) {
  Exprs idx(sizes.size());
  // Axes of size 1 have index 0. Of the other axes, the outermost one needs no
  // remainder to compute its index.
  std::optional<size_t> outermost;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!(size == 1) && !outermost)
      outermost = axis;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] == 1) {
      idx[axis] = index(0);
    } else if (axis == *outermost) {
      idx[axis] = position;
    } else if (auto known = sizes[axis].known()) {
      idx[axis] = position % static_cast<double>(*known);
      position = position / static_cast<double>(*known);
    } else {
      idx[axis] = position % size(sizes[axis]);
      position = position / size(sizes[axis]);
    }
  }
  return idx;
}

} // namespace ingot::graph
