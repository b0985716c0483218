// Shapes, axes and counts that are tensors of the run.
//
// Where an operator's shape is known when compiling, import functions compute with numbers
// and `Dim`. Where it is a tensor of the run, they do the same arithmetic with operators on
// vectors of integers, and have the run read the sizes that come out (OnnxNode::readSizes).
// What is moved then is gathered at computed positions: general, and not fast.

#ifndef INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESHAPES_H
#define INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESHAPES_H

#include "compiler/import/operators/OnnxImport.h"

namespace ingot::graph {

/// Arithmetic with integers of 64 bits; a vector and a number broadcast.
class RunTimeInts {
public:
  explicit RunTimeInts(OnnxNode &node) : node(node) {}

  mlir::Value number(int64_t value);
  mlir::Value numbers(llvm::ArrayRef<int64_t> values);
  /// Sizes as a vector.
  mlir::Value sizes(llvm::ArrayRef<Dim> sizes);
  mlir::Value sizes(const Dim &size) {
    return sizes(llvm::ArrayRef<Dim>(size));
  }
  /// A tensor of integers, or input `i`, as a vector; the operand's elements in any type
  /// of integers or truth values. An input of a length that is known only at run time is
  /// an error: it would be the rank of something.
  mlir::Value vector(mlir::Value value);
  mlir::Value input(unsigned i);
  /// Elements [first, first + count) of a vector.
  mlir::Value part(mlir::Value vector, int64_t first, int64_t count = 1);
  mlir::Value joined(llvm::ArrayRef<mlir::Value> vectors);
  /// The last of `size` counts that never get less; 0 if there is none.
  mlir::Value last(mlir::Value counts, const Dim &size);

  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value where(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// x modulo y, of the sign of y.
  mlir::Value modulo(mlir::Value x, mlir::Value y);
  /// Products of the elements behind each one.
  mlir::Value productsBehind(mlir::Value vector);
  mlir::Value product(mlir::Value vector);
  /// Sums of the elements up to each one, or before it.
  mlir::Value sums(mlir::Value vector, bool exclusive);
  /// `vector` with values[i] in the place of element at[i], counted from the end if
  /// negative.
  mlir::Value put(mlir::Value vector, mlir::Value at, mlir::Value values);
  /// The elements of `vector` at these places.
  mlir::Value take(mlir::Value vector, mlir::Value at);

private:
  OnnxNode &node;
};

/// `x` with the elements at `positions`, a vector, along an axis. Positions out of range
/// are clamped.
mlir::Value gatherAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                        mlir::Value positions);
/// The first elements along an axis as another size of it, with zeros after them.
mlir::Value resizedAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                         const Dim &size);
/// The same of a vector.
mlir::Value resizedFlat(OnnxNode &node, mlir::Value flat, const Dim &count);
/// The elements of `x`, in row-major order, as a tensor of other sizes. The run ends with
/// an error unless there are as many.
mlir::Value reshapeAtRunTime(OnnxNode &node, mlir::Value x,
                             llvm::ArrayRef<Dim> sizes);
/// How many elements of a vector of truth values hold, and where these are: a tensor of
/// positions as long as the count.
mlir::FailureOr<mlir::Value> positionsOf(OnnxNode &node, mlir::Value truths);
/// A size that is negative in no run: a run in which it would be ends with an error.
mlir::FailureOr<Dim> checkedSize(OnnxNode &node, const Dim &size);
/// Each size as long as the user says it can be; as many as `counts` has elements.
mlir::FailureOr<Dims> readBoundedSizes(OnnxNode &node, mlir::Value counts);

// RunTimeReduction.cpp: reductions along axes that are a tensor of the run.

/// What elements are combined by: ScatterElements' name of it, and what no elements are.
struct Combination {
  llvm::StringRef name;
  double none;
};
class RunTimeReduction {
public:
  /// Along the axes that input 1 names.
  explicit RunTimeReduction(OnnxNode &node) : node(node) {}
  /// Reads the sizes of the result.
  mlir::LogicalResult prepare();
  /// All elements combined, in the shape of the result.
  mlir::Value combine(mlir::Value x, const Combination &by);
  /// For each element of the operand that of a result of `combine`.
  mlir::Value spread(mlir::Value reduced);
  /// How many elements each of the result is made of, as a number.
  mlir::Value count();

private:
  mlir::Value combineFlat(mlir::Value x, const Combination &by);

  OnnxNode &node;
  Dims from, to;
  /// Where each element of the operand goes, and the sizes of the axes that stay.
  mlir::Value places, kept;
  int64_t most = 1;
};

// RunTimeMovement.cpp: operators whose shapes or places are tensors of the run.
ImportResult reshapeByInput(OnnxNode &node);
/// To sizes that only the run can compare with those that the input has; one may follow
/// from the others.
ImportResult reshapeInferring(OnnxNode &node, Dims to,
                              std::optional<size_t> inferred);
ImportResult squeezeByInput(OnnxNode &node);
ImportResult unsqueezeByInput(OnnxNode &node);
ImportResult expandByInput(OnnxNode &node);
ImportResult tileByInput(OnnxNode &node);
ImportResult sliceByInput(OnnxNode &node);
ImportResult splitByInput(OnnxNode &node, int64_t axis);
/// The same into as many parts as input 1 has to have elements.
ImportResult splitToLengths(OnnxNode &node, int64_t axis, int64_t parts);
/// `x` with `low` more elements in front of an axis (fewer if negative), and `size` in
/// all.
mlir::Value padAlong(OnnxNode &node, mlir::Value x, int64_t axis,
                     mlir::Value low, const Dim &size, llvm::StringRef mode,
                     mlir::Value value);
ImportResult padByInput(OnnxNode &node, llvm::StringRef mode,
                        mlir::Value value);
ImportResult centerCropPadByInput(OnnxNode &node, llvm::ArrayRef<int64_t> axes);

// RunTimeIndexing.cpp: the same of operators that scatter and sort.
ImportResult col2ImByInput(OnnxNode &node);
ImportResult uniqueAlong(OnnxNode &node, int64_t axis);

} // namespace ingot::graph

#endif // INGOT_COMPILER_IMPORT_OPERATORS_RUNTIMESHAPES_H
