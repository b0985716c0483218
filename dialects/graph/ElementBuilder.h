// The builders with which operators define their elements (ElementBuilder) or
// their whole results (BodyBuilder).

#ifndef INGOT_GRAPH_ELEMENTBUILDER_H
#define INGOT_GRAPH_ELEMENTBUILDER_H

#include "dialects/graph/Dim.h"
#include "dialects/graph/ElementMemo.h"
#include "dialects/graph/Expr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace ingot::graph {

using Exprs = llvm::SmallVector<Expr, 4>;

/// Returns the type in which elements that have type `type` in the graph are
/// computed: f32 for narrower floats, otherwise storageType(type).
mlir::Type computeType(mlir::Type type);
/// Returns the type in which elements that have type `type` in the graph are
/// stored in a memref: for integers a signless integer (i1, or at least 8
/// bits), otherwise `type` itself.
mlir::Type storageType(mlir::Type type);
/// Returns the memref type in which a tensor is stored.
mlir::MemRefType storageType(mlir::RankedTensorType type);

/// Builds the code of operator definitions at one insertion point. A load of a
/// tensor resolves to an element bound to the tensor by bindElement (such as an
/// accumulator in a register), to a load from a buffer, or to the definition of
/// the operator that yields the tensor: the code that computes one element of
/// it.
class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Returns the number of consecutive elements along the last axis that one
  /// load yields, as a vector if there are more than one ("lane mode").
  int64_t lanes() const { return laneCount; }
  /// Calls `emit` with lanes() set to `lanes`, and returns its result.
  Expr withLanes(int64_t lanes, llvm::function_ref<Expr()> emit);

  /// Returns the element of `tensor` at `idx`, or the vector of lanes()
  /// elements that begins there.
  Expr load(mlir::Value tensor, llvm::ArrayRef<Expr> idx);
  /// Returns one element of `tensor`, even if lanes() is more than 1. In that
  /// case all lanes must have the same index.
  Expr loadScalar(mlir::Value tensor, llvm::ArrayRef<Expr> idx);
  /// Loads the element of `tensor` that belongs to the index `idx` of a result,
  /// by NumPy's broadcasting: axes are aligned at the last one, axes of size 1
  /// are repeated.
  Expr loadBroadcast(mlir::Value tensor, llvm::ArrayRef<Expr> idx);

  Expr constant(double value, mlir::Type type);
  /// Returns 0 of type `type`; an empty string for the type of strings.
  Expr zero(mlir::Type type);
  Expr constantInt(int64_t value, mlir::Type type);
  Expr index(int64_t value);
  /// Returns a size as an index: a constant, or code that computes the size
  /// from the values that `bindSymbol` gave to its symbols.
  Expr size(const Dim &dim);
  /// Returns a value of the IR as an expression of element type `type`.
  Expr wrap(mlir::Value value, mlir::Type type) { return {this, value, type}; }

  /// Emits for (i = lo; i < hi; i += step) with values that are carried from
  /// one iteration to the next and begin as `init`; returns the final values.
  /// With `trips`, i runs from 0 to trips - 1; if `trips` is the constant 1,
  /// the body is emitted without a loop.
  Exprs
  loop(Expr lo, Expr hi, int64_t step, llvm::ArrayRef<Expr> init,
       llvm::function_ref<Exprs(Expr i, llvm::ArrayRef<Expr> carried)> body);
  Exprs
  loop(const Dim &trips, llvm::ArrayRef<Expr> init,
       llvm::function_ref<Exprs(Expr i, llvm::ArrayRef<Expr> carried)> body);
  /// Emits the loop `while (goesOn(carried)) carried = body(carried)`; returns
  /// the final values.
  Exprs loopWhile(llvm::ArrayRef<Expr> init,
                  llvm::function_ref<Expr(llvm::ArrayRef<Expr> carried)> goesOn,
                  llvm::function_ref<Exprs(llvm::ArrayRef<Expr> carried)> body);
  /// Emits a loop of `trips` iterations that carries one value; returns its
  /// final value.
  Expr reduce(const Dim &trips, Expr init,
              llvm::function_ref<Expr(Expr i, Expr acc)> body);
  /// Emits nested loops, one for each element of `trips`, that carry one value;
  /// returns its final value.
  Expr reduce(llvm::ArrayRef<Dim> trips, Expr init,
              llvm::function_ref<Expr(llvm::ArrayRef<Expr> i, Expr acc)> body);
  Expr reduce(llvm::ArrayRef<int64_t> trips, Expr init,
              llvm::function_ref<Expr(llvm::ArrayRef<Expr> i, Expr acc)> body) {
    return reduce(Dims(trips.begin(), trips.end()), init, body);
  }
  /// Emits a branch on a scalar condition; only one side is executed. If the
  /// condition is a constant, emits only the code of the side that it selects.
  Expr ifElse(Expr condition, llvm::function_ref<Expr()> then,
              llvm::function_ref<Expr()> otherwise);

  /// Returns the row-major position of the element `idx` in a tensor with the
  /// given sizes; `delinearize` is the inverse.
  Expr linearize(llvm::ArrayRef<Expr> idx, llvm::ArrayRef<Dim> sizes);
  Expr linearize(llvm::ArrayRef<Expr> idx, llvm::ArrayRef<int64_t> shape) {
    return linearize(idx, Dims(shape.begin(), shape.end()));
  }
  Exprs delinearize(Expr position, llvm::ArrayRef<Dim> sizes);
  Exprs delinearize(Expr position, llvm::ArrayRef<int64_t> shape) {
    return delinearize(position, Dims(shape.begin(), shape.end()));
  }
  Exprs delinearize(Expr position, std::initializer_list<int64_t> shape) {
    return delinearize(position, llvm::ArrayRef<int64_t>(shape));
  }

  /// States that the elements of `tensor` are in `buffer`.
  void bindBuffer(mlir::Value tensor, mlir::Value buffer) {
    buffers[tensor] = buffer;
  }
  /// States that every load of `tensor` yields `element` (such as an
  /// accumulator in a register), whatever its index.
  void bindElement(mlir::Value tensor, Expr element) {
    elements[tensor] = element;
  }
  /// States that the dynamic size `symbol` has the value `value`.
  void bindSymbol(kernel::SymbolAttr symbol, mlir::Value value) {
    symbols[symbol] = value;
  }
  void unbindElement(mlir::Value tensor) { elements.erase(tensor); }
  mlir::Value bufferOf(mlir::Value tensor) const {
    return buffers.lookup(tensor);
  }

  /// If only one of `x` and `y` is a vector, broadcasts the other to its lanes.
  static void unify(Expr &x, Expr &y);
  /// Returns `x` broadcast to `lanes` lanes if it is a scalar and `lanes` is
  /// more than 1; otherwise `x`.
  Expr broadcast(Expr x, int64_t lanes);

  mlir::OpBuilder &builder;
  mlir::Location loc;

protected:
  Expr loadBuffer(mlir::Value buffer, mlir::Type elementType,
                  llvm::ArrayRef<Expr> idx);
  /// Builds the element of `tensor` at `idx` by the definition (the code that
  /// computes one element) of the operator that yields `tensor`.
  Expr build(mlir::Value tensor, llvm::ArrayRef<Expr> idx);
  /// Builds one iteration of a reduction. Names its result "total" and the
  /// index `i` "term" unless `body` has named them.
  Exprs reductionStep(Expr i, Expr acc,
                      llvm::function_ref<Expr(Expr, Expr)> body);

  int64_t laneCount = 1;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::Value, Expr> elements;
  llvm::DenseMap<mlir::Attribute, mlir::Value> symbols;

private:
  /// The elements that the outermost `load` in progress has built. Cleared
  /// after each outermost `load`, since then buffers may be written and other
  /// elements bound.
  ElementMemo memo;
  unsigned loadDepth = 0;
};

/// Builds operators that write whole results rather than single elements.
class BodyBuilder : public ElementBuilder {
public:
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::ValueRange outputs)
      : ElementBuilder(builder, loc), outputs(outputs.begin(), outputs.end()) {}

  /// Stores `value`, converted to the element type of the result, into result
  /// `output`; a vector covers consecutive elements along the last axis.
  void store(unsigned output, Expr value, llvm::ArrayRef<Expr> idx);
  void store(mlir::Value buffer, Expr value, llvm::ArrayRef<Expr> idx);
  /// Loads an element that was stored in result `output`, which has element
  /// type `type` in the graph.
  Expr loadOutput(unsigned output, mlir::Type type, llvm::ArrayRef<Expr> idx);
  Expr loadFrom(mlir::Value buffer, mlir::Type type, llvm::ArrayRef<Expr> idx);
  /// Allocates a small array on the stack (at most a few hundred bytes).
  mlir::Value stack(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  /// Emits loops over all of `trips`, without carried values.
  void forEach(llvm::ArrayRef<Dim> trips,
               llvm::function_ref<void(llvm::ArrayRef<Expr>)> body);
  void forEach(llvm::ArrayRef<int64_t> trips,
               llvm::function_ref<void(llvm::ArrayRef<Expr>)> body) {
    forEach(Dims(trips.begin(), trips.end()), body);
  }
  void forEach(std::initializer_list<int64_t> trips,
               llvm::function_ref<void(llvm::ArrayRef<Expr>)> body) {
    forEach(llvm::ArrayRef<int64_t>(trips), body);
  }
  /// Emits loops like forEach, whose iterations are independent, so that they
  /// can be divided among threads. Used at most once per operator, as the
  /// outermost loop.
  virtual void
  forIndependent(llvm::ArrayRef<Dim> trips,
                 llvm::function_ref<void(llvm::ArrayRef<Expr>)> body) {
    forEach(trips, body);
  }
  /// Emits loops like forIndependent. Each iteration processes a row of
  /// `length` elements, computed in `type`. `body` accesses the elements of its
  /// row only by forLanes and reduceLanes, so that several threads may share
  /// the row.
  virtual void forRows(llvm::ArrayRef<Dim> trips, const Dim &length,
                       mlir::Type type,
                       llvm::function_ref<void(llvm::ArrayRef<Expr>)> body) {
    forIndependent(trips, body);
  }
  /// Emits loops like forIndependent. Unless this is overridden, the innermost
  /// loop is emitted by forLanes, so that `body` runs on vectors of elements
  /// along the last axis of `trips`.
  virtual void forColumns(llvm::ArrayRef<Dim> trips,
                          llvm::function_ref<void(llvm::ArrayRef<Expr>)> body);
  /// Emits `trips` independent iterations, for use inside of a sequential loop.
  /// In each iteration of the sequential loop, threads may divide the `trips`
  /// iterations among themselves: `body` processes the range [begin, end),
  /// which is [0, trips) if nothing is divided.
  virtual void forShared(int64_t trips,
                         llvm::function_ref<void(Expr begin, Expr end)> body) {
    body(index(0), index(trips));
  }
  void forRange(Expr lo, Expr hi, llvm::function_ref<void(Expr)> body);
  void when(Expr condition, llvm::function_ref<void()> then);

  /// Emits body(i) for i in [0, trips): with vectors of `vectorLanes` elements
  /// along the last axis, then for the remaining elements one by one. If
  /// several threads share the row (forRows), emits only the vectors of this
  /// thread.
  void forLanes(const Dim &trips, llvm::function_ref<void(Expr i)> body);
  /// Emits a reduction over [0, trips), by vectors and single elements like
  /// forLanes. The accumulator starts as `init`, and `body` adds element `i` to
  /// it. `merge` combines the partial results of two lanes or two threads.
  /// Returns the final accumulator.
  Expr reduceLanes(const Dim &trips, Expr init,
                   llvm::function_ref<Expr(Expr i, Expr acc)> body,
                   llvm::function_ref<Expr(Expr, Expr)> merge);

  /// Merges the lanes of a vector by halving it repeatedly; returns a scalar
  /// unchanged.
  static Expr mergeLanes(Expr acc, llvm::function_ref<Expr(Expr, Expr)> merge);

  /// Returns how many of `trips` iterations whole vectors cover: the largest
  /// multiple of `vectorLanes`, or 0 if `vectorLanes` is 1.
  Dim tripsInLanes(const Dim &trips) const {
    return vectorLanes > 1 ? trips.floorDiv(vectorLanes) * vectorLanes : 0;
  }

  llvm::SmallVector<mlir::Value> outputs;
  /// The best number of elements per vector on the target: a power of two.
  int64_t vectorLanes = 1;
  /// The number of independent vector accumulators that hide the latency of an
  /// addition.
  static constexpr int64_t sumsAtOnce = 8;
  /// Whether a recurrent layer (such as an LSTM) reads its weights backwards in
  /// every second time step. The weights that the previous step read last are
  /// then still in the cache.
  bool alternates = false;

  /// The number of adjacent factors that recurrent layers load at once, because
  /// multiply-adds of the target take a lane of a vector as factor; else 1.
  int64_t factorLanes = 1;

protected:
  /// The number of threads that share a row, and the index of this thread among
  /// them.
  struct Sharing {
    int64_t threads;
    Expr thread;
  };
  std::optional<Sharing> sharing;
  /// Merges the values that the threads sharing a row have computed, one per
  /// thread; all these threads get the result.
  virtual Expr acrossThreads(Expr value,
                             llvm::function_ref<Expr(Expr, Expr)> merge) {
    return value;
  }
};

} // namespace ingot::graph

#endif // INGOT_GRAPH_ELEMENTBUILDER_H
