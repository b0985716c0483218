// Queries and builders for operators that move elements.

#ifndef INGOT_GRAPH_OPS_MOVEMENT_H
#define INGOT_GRAPH_OPS_MOVEMENT_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::graph {

class OnnxNode;

/// Whether `op` moves only axes of size 1 and so is a reshape.
bool isReshapeLike(TransposeOp op);

/// Returns the position of axis `axis` after permuting by `perm`.
int64_t permutedAxis(int64_t axis, llvm::ArrayRef<int64_t> perm);

/// Converts an ONNX index along an axis of `size`: negative values count from
/// the end, anything else out of range is clamped.
Expr wrapIndex(ElementBuilder &b, Expr i, const Dim &size);
/// Returns the condition that none of `sizes` is 0, so that valid indices
/// exist; null if it always holds.
Expr haveElements(ElementBuilder &b, llvm::ArrayRef<Dim> sizes);
/// Returns the element of `x` at `at`, or 0 if one of the sizes `axes` is 0 at
/// run time.
Expr loadIfAny(ElementBuilder &b, mlir::Value x, llvm::ArrayRef<Expr> at,
               llvm::ArrayRef<Dim> axes);

/// Whether graph.pad supports an axis of `size`: a dynamic size is supported if
/// no index is wrapped, or reflected more than once.
bool repeatsKnown(const Dim &size, int64_t low, int64_t high,
                  llvm::StringRef mode);

/// Returns the slice of `x` along one axis; `x` itself if the slice is the
/// whole axis.
mlir::Value slice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                  int64_t axis, int64_t start, int64_t size, int64_t step = 1);

/// Builds a transpose: axis `i` of the result is axis `perm[i]` of `x`.
mlir::Value buildTranspose(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, llvm::ArrayRef<int64_t> perm);
/// Builds a reshape of `x`, or a graph.refill if elements move in memory.
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<int64_t> shape);
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<Dim> sizes);
inline mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value x,
                                std::initializer_list<int64_t> shape) {
  return buildReshape(builder, loc, x, llvm::ArrayRef<int64_t>(shape));
}

/// Builds transpose(reshape(x)) for a reshape of transpose(x), if the transpose
/// has no other reader and all axes that the reshape merges or splits are
/// adjacent in x as well; otherwise returns null.
mlir::Value reshapedBeforeTranspose(mlir::OpBuilder &builder, ReshapeOp op);

/// Consecutive axes of `from` that a reshape turns into consecutive axes of
/// `to`.
struct AxisRun {
  size_t from, fromCount, to, toCount;
};

/// Divides the axes of a reshape into the shortest runs with equal numbers of
/// elements on both sides, so that only axes that are really merged or split
/// need divisions. Empty if this is ambiguous because of axes of size 0.
llvm::SmallVector<AxisRun> axisRuns(llvm::ArrayRef<Dim> from,
                                    llvm::ArrayRef<Dim> to);
inline llvm::SmallVector<AxisRun> axisRuns(llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to) {
  return axisRuns(Dims(from.begin(), from.end()), Dims(to.begin(), to.end()));
}
/// Whether a reshape turns a tensor of sizes `from` into one of sizes `to`, for
/// all values of dynamic sizes, without moving elements in memory.
bool isOneReshape(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to);

/// Builds a constant of float element type `type`.
mlir::Value floatConstant(OnnxNode &node, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<double> values, mlir::Type type);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_MOVEMENT_H
