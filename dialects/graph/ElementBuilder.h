// What operator definitions build with.

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

/// The type elements of graph type `type` are computed in.
mlir::Type computeType(mlir::Type type);
/// The type elements of graph type `type` are stored as in a memref: the same
/// float type, or a signless integer.
mlir::Type storageType(mlir::Type type);
/// The memref type a tensor is stored in.
mlir::MemRefType storageType(mlir::RankedTensorType type);

/// Builds the code of operator definitions at one insertion point. Tensors are
/// resolved to: an element bound by a strategy (an accumulator), a buffer, or
/// the definition of the operator that yields them.
class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// How many consecutive elements along the last axis one load stands for.
  int64_t lanes() const { return laneCount; }
  /// Runs `emit` with another number of lanes.
  Expr withLanes(int64_t lanes, llvm::function_ref<Expr()> emit);

  /// The element(s) of `tensor` at `idx`; a vector in lane mode.
  Expr load(mlir::Value tensor, llvm::ArrayRef<Expr> idx);
  /// One element, also in lane mode. No index may be the lane index.
  Expr loadScalar(mlir::Value tensor, llvm::ArrayRef<Expr> idx);
  /// load with `idx` of the result's shape, aligned at the last axis; axes of
  /// size 1 are broadcast.
  Expr loadBroadcast(mlir::Value tensor, llvm::ArrayRef<Expr> idx);

  Expr constant(double value, mlir::Type type);
  /// 0, or the empty string.
  Expr zero(mlir::Type type);
  Expr constantInt(int64_t value, mlir::Type type);
  Expr index(int64_t value);
  /// A size: a constant, or computed from the symbols bound at this place.
  Expr size(const Dim &dim);
  /// An operation of the IR as an expression of element type `type`.
  Expr wrap(mlir::Value value, mlir::Type type) { return {this, value, type}; }

  /// for (i = lo; i < hi; i += step), carrying values; a loop of one trip is
  /// not emitted as a loop.
  Exprs
  loop(Expr lo, Expr hi, int64_t step, llvm::ArrayRef<Expr> init,
       llvm::function_ref<Exprs(Expr i, llvm::ArrayRef<Expr> carried)> body);
  Exprs
  loop(const Dim &trips, llvm::ArrayRef<Expr> init,
       llvm::function_ref<Exprs(Expr i, llvm::ArrayRef<Expr> carried)> body);
  /// while (goesOn(carried)) carried = body(carried).
  Exprs loopWhile(llvm::ArrayRef<Expr> init,
                  llvm::function_ref<Expr(llvm::ArrayRef<Expr> carried)> goesOn,
                  llvm::function_ref<Exprs(llvm::ArrayRef<Expr> carried)> body);
  /// One carried value.
  Expr reduce(const Dim &trips, Expr init,
              llvm::function_ref<Expr(Expr i, Expr acc)> body);
  /// Nested reduce over all of `trips`.
  Expr reduce(llvm::ArrayRef<Dim> trips, Expr init,
              llvm::function_ref<Expr(llvm::ArrayRef<Expr> i, Expr acc)> body);
  Expr reduce(llvm::ArrayRef<int64_t> trips, Expr init,
              llvm::function_ref<Expr(llvm::ArrayRef<Expr> i, Expr acc)> body) {
    return reduce(Dims(trips.begin(), trips.end()), init, body);
  }
  /// A branch on a scalar condition; only the taken side is evaluated.
  Expr ifElse(Expr condition, llvm::function_ref<Expr()> then,
              llvm::function_ref<Expr()> otherwise);

  /// The flat position of `idx` in a tensor of `shape`, and back.
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

  /// `tensor`'s elements are in `buffer`.
  void bindBuffer(mlir::Value tensor, mlir::Value buffer) {
    buffers[tensor] = buffer;
  }
  /// At the place being built, `tensor`'s element(s) are `element`.
  void bindElement(mlir::Value tensor, Expr element) {
    elements[tensor] = element;
  }
  /// At run time, the size `symbol` is `value`.
  void bindSymbol(kernel::SymbolAttr symbol, mlir::Value value) {
    symbols[symbol] = value;
  }
  void unbindElement(mlir::Value tensor) { elements.erase(tensor); }
  mlir::Value bufferOf(mlir::Value tensor) const {
    return buffers.lookup(tensor);
  }

  /// Gives both the same number of lanes.
  static void unify(Expr &x, Expr &y);
  /// `x` in all lanes if it is a scalar and the builder is in lane mode.
  Expr broadcast(Expr x, int64_t lanes);

  mlir::OpBuilder &builder;
  mlir::Location loc;

protected:
  Expr loadBuffer(mlir::Value buffer, mlir::Type elementType,
                  llvm::ArrayRef<Expr> idx);
  /// The element as its operator defines it.
  Expr build(mlir::Value tensor, llvm::ArrayRef<Expr> idx);
  /// One step of a reduction. Names that the body gives come first.
  Exprs reductionStep(Expr i, Expr acc,
                      llvm::function_ref<Expr(Expr, Expr)> body);

  int64_t laneCount = 1;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::DenseMap<mlir::Value, Expr> elements;
  llvm::DenseMap<mlir::Attribute, mlir::Value> symbols;

private:
  /// What the outermost `load` in progress has built; empty between such loads,
  /// when buffers may be written and elements bound anew.
  ElementMemo memo;
  unsigned loadDepth = 0;
};

/// For operators that write whole results.
class BodyBuilder : public ElementBuilder {
public:
  BodyBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::ValueRange outputs)
      : ElementBuilder(builder, loc), outputs(outputs.begin(), outputs.end()) {}

  /// Stores into result `output` (converted to its type); a vector covers
  /// consecutive elements along the last axis.
  void store(unsigned output, Expr value, llvm::ArrayRef<Expr> idx);
  void store(mlir::Value buffer, Expr value, llvm::ArrayRef<Expr> idx);
  /// Reads back what was stored in result `output`, of graph type `type`.
  Expr loadOutput(unsigned output, mlir::Type type, llvm::ArrayRef<Expr> idx);
  Expr loadFrom(mlir::Value buffer, mlir::Type type, llvm::ArrayRef<Expr> idx);
  /// A small array on the stack (at most a few hundred bytes).
  mlir::Value stack(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  /// for loops over all of `trips`, without carried values.
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
  /// forEach where no pass reads what another one writes, so that threads may
  /// divide the passes among themselves. Once per operator, outermost.
  virtual void
  forIndependent(llvm::ArrayRef<Dim> trips,
                 llvm::function_ref<void(llvm::ArrayRef<Expr>)> body) {
    forEach(trips, body);
  }
  /// forIndependent over rows of `length` elements that are computed in `type`. The body
  /// visits these by forLanes and reduceLanes alone, so that threads may share a row.
  virtual void forRows(llvm::ArrayRef<Dim> trips, const Dim &length,
                       mlir::Type type,
                       llvm::function_ref<void(llvm::ArrayRef<Expr>)> body) {
    forIndependent(trips, body);
  }
  /// forIndependent over columns: the body is in lanes along the last of `trips`, where
  /// there are some.
  virtual void forColumns(llvm::ArrayRef<Dim> trips,
                          llvm::function_ref<void(llvm::ArrayRef<Expr>)> body);
  /// For i in [0, trips) inside of what is done in order: no pass reads what another
  /// one writes, so that threads may divide the passes of one step. `body` does those
  /// from `begin` to `end`, all of them where nothing is divided.
  virtual void forShared(int64_t trips,
                         llvm::function_ref<void(Expr begin, Expr end)> body) {
    body(index(0), index(trips));
  }
  void forRange(Expr lo, Expr hi, llvm::function_ref<void(Expr)> body);
  void when(Expr condition, llvm::function_ref<void()> then);

  /// body(i) for i = 0 ... trips - 1 along a last axis: in lane mode for groups
  /// of `vectorLanes`, one by one for the rest.
  void forLanes(const Dim &trips, llvm::function_ref<void(Expr i)> body);
  /// The same with an accumulator: the lanes' partial results are merged.
  Expr reduceLanes(const Dim &trips, Expr init,
                   llvm::function_ref<Expr(Expr i, Expr acc)> body,
                   llvm::function_ref<Expr(Expr, Expr)> merge);

  /// Merges the lanes of a vector half by half; a scalar stays as it is.
  static Expr mergeLanes(Expr acc, llvm::function_ref<Expr(Expr, Expr)> merge);

  /// As many of `trips` as whole vectors have.
  Dim tripsInLanes(const Dim &trips) const {
    return vectorLanes > 1 ? trips.floorDiv(vectorLanes) * vectorLanes : 0;
  }

  llvm::SmallVector<mlir::Value> outputs;
  /// How many elements at a time pay off on the target: a power of two.
  int64_t vectorLanes = 1;
  /// How many vectors of sums hide the latency of one.
  static constexpr int64_t sumsAtOnce = 8;
  /// Whether every other step of a recurrence reads its weights from the last to the
  /// first: what the step before has read last is in the cache still.
  bool alternates = false;

protected:
  /// Where threads share a row: how many, and the number of this one.
  struct Sharing {
    int64_t threads;
    Expr thread;
  };
  std::optional<Sharing> sharing;
  /// Merges a value of each thread that shares the row; all get the result.
  virtual Expr acrossThreads(Expr value,
                             llvm::function_ref<Expr(Expr, Expr)> merge) {
    return value;
  }
};

} // namespace ingot::graph

#endif // INGOT_GRAPH_ELEMENTBUILDER_H
