// Queries and builders for operators that move elements.

#ifndef INGOT_GRAPH_OPS_MOVEMENT_H
#define INGOT_GRAPH_OPS_MOVEMENT_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::graph {

class OnnxNode;

/// Whether `op` only moves axes of size 1, so that it does the same as a
/// reshape.
bool isReshapeLike(TransposeOp op);

/// Returns the position of `axis` after permuting the axes by `perm`.
int64_t permutedAxis(int64_t axis, llvm::ArrayRef<int64_t> perm);

/// Converts an ONNX index along an axis of `size`: negative values count from
/// the end; other values out of range are clamped.
Expr wrapIndex(ElementBuilder &b, Expr i, const Dim &size);
/// Returns the run-time condition that none of `sizes` is 0, so that valid
/// indices exist. Returns null if this is known to hold.
Expr haveElements(ElementBuilder &b, llvm::ArrayRef<Dim> sizes);
/// Returns the element of `x` at index `at`, or 0 if one of the sizes `axes` is
/// 0 at run time.
Expr loadIfAny(ElementBuilder &b, mlir::Value x, llvm::ArrayRef<Expr> at,
               llvm::ArrayRef<Dim> axes);

/// Whether graph.pad supports an axis of `size` that gets `low` elements before
/// and `high` after it in the padding mode `mode`. All constant sizes are
/// supported, and all sizes in mode `constant`. A dynamic size is supported in
/// mode `edge` if it is never 0, in mode `reflect` if it is always large enough
/// that no index is reflected twice, and not in mode `wrap`.
bool repeatsKnown(const Dim &size, int64_t low, int64_t high,
                  llvm::StringRef mode);

/// Returns the slice of `x` along one axis; `x` itself if the slice is the
/// whole axis.
mlir::Value slice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                  int64_t axis, int64_t start, const Dim &size,
                  int64_t step = 1);

/// Builds a transpose: axis `i` of the result is axis `perm[i]` of `x`.
mlir::Value buildTranspose(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, llvm::ArrayRef<int64_t> perm);
/// Builds a reshape of `x` (a view) or, if elements have to move in memory, a
/// graph.refill (a copy).
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<int64_t> shape);
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<Dim> sizes);
inline mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value x,
                                std::initializer_list<int64_t> shape) {
  return buildReshape(builder, loc, x, llvm::ArrayRef<int64_t>(shape));
}

/// Rewrites reshape(transpose(x)) as transpose(reshape(x)). Returns null if
/// `op` does not reshape a transpose, if the transpose has another reader, if
/// axes that the reshape merges are not adjacent in `x`, or if the reshape of
/// `x` would not be a view (see isOneReshape).
mlir::Value reshapedBeforeTranspose(mlir::OpBuilder &builder, ReshapeOp op);

/// Consecutive axes of `from` that a reshape turns into consecutive axes of
/// `to`.
struct AxisRun {
  size_t from, fromCount, to, toCount;
};

/// Divides the axes of a reshape into the shortest runs that have equal numbers
/// of elements on both sides. The computation of indices then needs integer
/// divisions only in runs that merge or split axes. Returns an empty list if
/// runs are ambiguous because of axes of size 0.
llvm::SmallVector<AxisRun> axisRuns(llvm::ArrayRef<Dim> from,
                                    llvm::ArrayRef<Dim> to);
inline llvm::SmallVector<AxisRun> axisRuns(llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to) {
  return axisRuns(Dims(from.begin(), from.end()), Dims(to.begin(), to.end()));
}
/// Whether, for all values of dynamic sizes, a tensor of sizes `from` can be
/// reshaped to sizes `to` without moving elements in memory.
bool isOneReshape(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to);

/// Builds a constant of float element type `type` with these values.
mlir::Value floatConstant(OnnxNode &node, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<double> values, mlir::Type type);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_MOVEMENT_H
