#include "dialects/graph/ElementBuilder.h"
#include "dialects/graph/ExprNames.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace ingot::graph {

void BodyBuilder::store(Value buffer, Expr value, ArrayRef<Expr> idx) {
  value = broadcast(value, laneCount);
  SmallVector<Value> indices;
  for (Expr i : idx)
    indices.push_back(i.value);
  Type stored = cast<MemRefType>(buffer.getType()).getElementType();
  Value v = value.value;
  auto vector = dyn_cast<VectorType>(v.getType());
  Type element = vector ? vector.getElementType() : v.getType();
  if (element != stored) {
    Type to =
        vector ? Type(VectorType::get(vector.getShape(), stored)) : stored;
    v = arith::TruncFOp::create(builder, loc, to, v);
  }
  if (vector)
    vector::StoreOp::create(builder, loc, v, buffer, indices);
  else
    memref::StoreOp::create(builder, loc, v, buffer, indices);
}

void BodyBuilder::store(unsigned output, Expr value, ArrayRef<Expr> idx) {
  store(outputs[output], value, idx);
}

Expr BodyBuilder::loadFrom(Value buffer, Type type, ArrayRef<Expr> idx) {
  return loadBuffer(buffer, type, idx);
}

Expr BodyBuilder::loadOutput(unsigned output, Type type, ArrayRef<Expr> idx) {
  return loadBuffer(outputs[output], type, idx);
}

Value BodyBuilder::stack(ArrayRef<int64_t> shape, Type type) {
  return memref::AllocaOp::create(builder, loc,
                                  MemRefType::get(shape, storageType(type)));
}

void BodyBuilder::forRange(Expr lo, Expr hi,
                           llvm::function_ref<void(Expr)> body) {
  loop(lo, hi, 1, {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
    body(i);
    return {};
  });
}

/// The largest number of elements of a row (along the last axis) that one
/// thread processes in unrolled code. More elements are processed in a loop.
static constexpr int64_t mostInText = 32;

/// Emits the part of the thread with index `thread` if `threads` threads share
/// a row of `trips` elements: `step` for each vector of the row that this
/// thread processes. The vectors have `vectorLanes` elements; the first begins
/// at thread * vectorLanes, each next one threads * vectorLanes elements later.
/// `step` gets the index and the carried values, which begin as `init`. Returns
/// the final carried values.
static Exprs overShare(BodyBuilder &b, int64_t threads, Expr thread,
                       const Dim &trips, ArrayRef<Expr> init,
                       llvm::function_ref<Exprs(Expr, ArrayRef<Expr>)> step) {
  int64_t lanes = b.vectorLanes, stride = threads * lanes;
  Expr first = lanes == 1 ? thread : thread * static_cast<double>(lanes);
  Exprs carried(init);
  std::optional<int64_t> count = trips.known();
  b.withLanes(lanes, [&]() -> Expr {
    if (!count || *count % stride || *count / threads > mostInText)
      carried = b.loop(first, b.size(trips), stride, carried, step);
    else
      for (int64_t at = 0; at < *count; at += stride)
        carried = step(at ? first + static_cast<double>(at) : first, carried);
    return {};
  });
  return carried;
}

Expr BodyBuilder::mergeLanes(Expr acc,
                             llvm::function_ref<Expr(Expr, Expr)> merge) {
  ElementBuilder &b = *acc.builder;
  auto vector = dyn_cast<VectorType>(acc.value.getType());
  if (!vector)
    return acc;
  for (int64_t half = vector.getNumElements() / 2; half > 0; half /= 2) {
    auto slice = [&](int64_t from) -> Expr {
      return {&b,
              vector::ExtractStridedSliceOp::create(b.builder, b.loc, acc.value,
                                                    from, half, 1),
              acc.type};
    };
    Expr low = slice(0), high = slice(half);
    acc = named(merge(low, high), "total_of_" + Twine(half));
  }
  acc.value =
      vector::ExtractOp::create(b.builder, b.loc, acc.value, int64_t{0});
  return acc;
}

void BodyBuilder::forLanes(const Dim &trips,
                           llvm::function_ref<void(Expr)> body) {
  Dim inLanes = tripsInLanes(trips);
  auto step = [&](Expr i, ArrayRef<Expr>) -> Exprs {
    body(i);
    named(i, "element");
    return {};
  };
  if (sharing) {
    overShare(*this, sharing->threads, sharing->thread, trips, {}, step);
    return;
  }
  if (!(inLanes == 0))
    withLanes(vectorLanes, [&]() -> Expr {
      loop(index(0), size(inLanes), vectorLanes, {}, step);
      return {};
    });
  if (mayDiffer(inLanes, trips))
    loop(size(inLanes), size(trips), 1, {}, step);
}

Expr BodyBuilder::reduceLanes(const Dim &trips, Expr init,
                              llvm::function_ref<Expr(Expr, Expr)> body,
                              llvm::function_ref<Expr(Expr, Expr)> merge) {
  Dim inLanes = tripsInLanes(trips);
  auto step = [&](Expr i, ArrayRef<Expr> acc) {
    return reductionStep(i, acc[0], body);
  };
  Expr acc = init;
  if (sharing) {
    acc = overShare(*this, sharing->threads, sharing->thread, trips,
                    {broadcast(init, vectorLanes)}, step)[0];
    return acrossThreads(mergeLanes(acc, merge), merge);
  }
  if (!(inLanes == 0)) {
    acc = withLanes(vectorLanes, [&] {
      return loop(index(0), size(inLanes), vectorLanes,
                  {broadcast(init, vectorLanes)}, step)[0];
    });
    acc = mergeLanes(acc, merge);
  }
  if (inLanes == trips)
    return acc;
  return loop(size(inLanes), size(trips), 1, {acc}, step)[0];
}

void BodyBuilder::forEach(ArrayRef<Dim> trips,
                          llvm::function_ref<void(ArrayRef<Expr>)> body) {
  Exprs at;
  std::function<void()> nest = [&] {
    if (at.size() == trips.size())
      return body(at);
    loop(trips[at.size()], {}, [&](Expr i, ArrayRef<Expr>) -> Exprs {
      at.push_back(i);
      nest();
      at.pop_back();
      named(i, axisName(at.size(), trips.size()));
      return {};
    });
  };
  nest();
}

void BodyBuilder::forColumns(ArrayRef<Dim> trips,
                             llvm::function_ref<void(ArrayRef<Expr>)> body) {
  Dims outer(trips);
  outer.back() = 1;
  forIndependent(outer, [&](ArrayRef<Expr> idx) {
    Exprs at(idx);
    forLanes(trips.back(), [&](Expr i) {
      at.back() = i;
      body(at);
    });
  });
}

void BodyBuilder::when(Expr condition, llvm::function_ref<void()> then) {
  auto op = scf::IfOp::create(builder, loc, condition.value,
                              /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.getThenRegion().front());
  then();
}

} // namespace ingot::graph
