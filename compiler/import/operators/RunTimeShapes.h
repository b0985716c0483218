// Shapes, axes and counts that are known only at run time.
//
// If an operator's shape is known at compile time, import functions compute
// with numbers and `Dim`. If the shape is a tensor that is computed at run
// time, they do the same arithmetic with operators on integer vectors, and the
// generated program reads the resulting data-dependent sizes
// (OnnxNode::readSizes). Elements are then gathered at computed positions,
// which works for all shapes, but is slow.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESHAPES_H
#define INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESHAPES_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Builds operators on scalars and vectors of 64-bit integers, which broadcast,
/// beyond the arithmetic of OnnxNode.
class RunTimeInts {
public:
  explicit RunTimeInts(OnnxNode &node) : node(node) {}

  mlir::Value number(int64_t value) { return node.integers({}, value); }
  mlir::Value numbers(llvm::ArrayRef<int64_t> values) {
    return node.integers(values);
  }
  /// Returns sizes as an si64 vector.
  mlir::Value sizes(llvm::ArrayRef<Dim> sizes);
  mlir::Value sizes(const Dim &size) {
    return sizes(llvm::ArrayRef<Dim>(size));
  }
  /// Return the tensor `value` of integers or booleans, or input `i`, as an
  /// si64 vector. An input whose length is dynamic is rejected, because the
  /// length would determine the rank of a result; so is one of more than 4096
  /// elements.
  mlir::Value vector(mlir::Value value);
  mlir::Value input(unsigned i);
  /// Returns elements [first, first + count) of a vector.
  mlir::Value part(mlir::Value vector, int64_t first, int64_t count = 1);
  mlir::Value joined(llvm::ArrayRef<mlir::Value> vectors);
  /// Returns the last element of `counts`, which has `size` elements in
  /// non-decreasing order. Returns 0 if `size` is dynamic and 0 in a run. A
  /// static `size` must not be 0.
  mlir::Value last(mlir::Value counts, const Dim &size);

  /// Returns x / y, or x where y is 0.
  mlir::Value div(mlir::Value x, const OnnxNode::Operand &y);
  /// Returns x modulo y, a number in [0, y); y must be positive.
  mlir::Value modulo(mlir::Value x, mlir::Value y);
  /// Returns for each element of `vector` the product of the elements after it.
  mlir::Value productsBehind(mlir::Value vector);
  mlir::Value product(mlir::Value vector);
  /// Returns the prefix sums of `vector`: the sum of all elements before each
  /// element and, unless `exclusive` is set, of the element itself.
  mlir::Value sums(mlir::Value vector, bool exclusive);
  /// Returns `vector` with element at[i] replaced by values[i]; negative
  /// positions count from the end.
  mlir::Value put(mlir::Value vector, mlir::Value at, mlir::Value values);
  /// Returns the `left` elements of `vector` for which the element of `mask` is
  /// 0, not 1, in their order.
  mlir::Value without(mlir::Value vector, mlir::Value mask, int64_t left);
  /// Returns the elements of `vector` at the positions `at`; positions out of
  /// range are clamped.
  mlir::Value take(mlir::Value vector, mlir::Value at);

private:
  OnnxNode &node;
};

/// Returns the elements of `x` at `positions`, a vector, along an axis.
/// Positions out of range are clamped.
mlir::Value gatherAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                        mlir::Value positions);
/// Extends an axis of `x` by `count` zeros or empty strings at its end; returns
/// `x` if `count` is not positive.
mlir::Value extendedAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                          int64_t count);
/// Cuts an axis of `x` to `size` elements, or extends it with zeros or empty
/// strings.
mlir::Value resizedAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                         const Dim &size);
/// Cuts a vector to `count` elements, or extends it with zeros or empty
/// strings.
mlir::Value resizedFlat(OnnxNode &node, mlir::Value flat, const Dim &count);
/// Requires an axis of `x` to have at least `size` elements; if this is known
/// only at run time, the generated program checks it. Fails, without a
/// diagnostic, if the axis has fewer elements in every run.
mlir::LogicalResult requireLength(OnnxNode &node, mlir::Value x, int64_t axis,
                                  const Dim &size);
/// Reshapes `x` to `sizes`. The generated program fails unless the numbers of
/// elements are equal.
mlir::Value reshapeAtRunTime(OnnxNode &node, mlir::Value x,
                             llvm::ArrayRef<Dim> sizes);
/// Returns the positions of the true elements of a boolean vector, as a vector
/// whose length is data-dependent.
mlir::FailureOr<mlir::Value> positionsOf(OnnxNode &node, mlir::Value truths);
/// Returns the positions of the elements of input `i`, flattened, that are not
/// 0: a constant if the elements are known when compiling.
mlir::FailureOr<mlir::Value> positionsOfInput(OnnxNode &node, unsigned i);
/// Returns a data-dependent size that equals `size` and is never negative: the
/// generated program fails if `size` is negative.
mlir::FailureOr<Dim> checkedSize(OnnxNode &node, const Dim &size);
/// Replaces each of `sizes` that may be negative, but is not always, by its
/// checkedSize.
mlir::LogicalResult checkSizes(OnnxNode &node,
                               llvm::MutableArrayRef<Dim> sizes);
/// Returns a size for each element of `counts`, as OnnxNode::readSizes does,
/// with upper bounds that are inferred or that the user has given. Fails, with
/// a diagnostic, if `counts` has more than 64 elements or a bound is missing.
mlir::FailureOr<Dims> readBoundedSizes(OnnxNode &node, mlir::Value counts);
/// Returns the elements of input `i`, the `what` of the node, as sizes: numbers,
/// expressions of sizes or data-dependent sizes. The upper bound of the latter
/// is `most` or, if it is nullopt, is inferred or given by the user.
mlir::FailureOr<Dims> sizesOfInput(OnnxNode &node, unsigned i,
                                   llvm::StringRef what,
                                   std::optional<int64_t> most = std::nullopt);

// Defined in RunTimeReduction.cpp: reductions along axes that are known only at
// run time.

/// An operation that combines elements. `name` is the value of the attribute
/// `reduction` of ScatterElements, `none` the result for no elements.
struct Combination {
  llvm::StringRef name;
  double none;
};
class RunTimeReduction {
public:
  /// Builds the reduction of input 0 along the axes in input 1.
  explicit RunTimeReduction(OnnxNode &node) : node(node) {}
  /// Computes the sizes of the result; must be called before combine, spread
  /// and count.
  mlir::LogicalResult prepare();
  /// Combines the elements of `x` along the reduced axes; returns the result in
  /// the shape of the node's result.
  mlir::Value combine(mlir::Value x, const Combination &by);
  /// Returns `reduced`, the result of a reduction, expanded to the shape of the
  /// operand.
  mlir::Value spread(mlir::Value reduced);
  /// Returns the number of elements combined into each result element, as a
  /// scalar.
  mlir::Value count();

private:
  mlir::Value combineFlat(mlir::Value x, const Combination &by);

  OnnxNode &node;
  Dims from, to;
  /// For each element of the operand: its target position (`places`). For each
  /// axis: its size after the reduction, which is 1 for reduced axes (`kept`).
  mlir::Value places, kept;
  int64_t most = 1;
};

// Defined in RunTimeMovement.cpp: import of operators that move elements, with
// shapes or positions that are known only at run time.
ImportResult reshapeByInput(OnnxNode &node);
/// Imports Reshape to the sizes `to`; the generated program checks the number
/// of elements. If `inferred` is given, the size of this axis is computed from
/// the others.
ImportResult reshapeInferring(OnnxNode &node, Dims to,
                              std::optional<size_t> inferred);
ImportResult squeezeByInput(OnnxNode &node);
ImportResult unsqueezeByInput(OnnxNode &node);
ImportResult expandByInput(OnnxNode &node);
/// Pads the start of an axis of `x` by `low` elements, or crops it if `low` is
/// negative. Then extends or cuts the end of the axis, so that the axis has
/// `size` elements. `mode` is the attribute of Pad that determines the added
/// elements: in mode `constant`, they are equal to `value`.
mlir::Value padAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                     mlir::Value low, const Dim &size, llvm::StringRef mode,
                     mlir::Value value);
/// Pads each axis of input 0 by `low` elements at the start and `high` at the
/// end; both are vectors with one element per axis, which may be negative.
ImportResult padByInput(OnnxNode &node, mlir::Value low, mlir::Value high,
                        llvm::StringRef mode, mlir::Value value);

// Defined in Parts.cpp.
/// Imports Split of input 0 along `axis` into `parts` parts, whose lengths are
/// the elements of input 1.
ImportResult splitToLengths(OnnxNode &node, int64_t axis, int64_t parts);

// Defined in RunTimeIndexing.cpp.
ImportResult importCol2Im(OnnxNode &node);
ImportResult uniqueAlong(OnnxNode &node, int64_t axis);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESHAPES_H
