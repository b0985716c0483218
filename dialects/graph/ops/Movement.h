// Questions about operators that move elements.

#ifndef INGOT_GRAPH_OPS_MOVEMENT_H
#define INGOT_GRAPH_OPS_MOVEMENT_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::graph {

class OnnxNode;

/// Whether `op` moves only axes of size 1, so that it is a reshape.
bool isReshapeLike(TransposeOp op);

/// Where axis `axis` is after permuting by `perm`.
int64_t permutedAxis(int64_t axis, llvm::ArrayRef<int64_t> perm);

/// The index of the element that ONNX means by `i` along an axis of `size`:
/// negative counts from the end, anything else out of range is clamped.
Expr wrapIndex(ElementBuilder &b, Expr i, const Dim &size);
/// Whether there are elements along all of these axes; null if there always are. Where
/// there are none, no index is that of an element.
Expr haveElements(ElementBuilder &b, llvm::ArrayRef<Dim> sizes);
/// The element at `at`; 0 where a run has none along one of `axes`.
Expr loadIfAny(ElementBuilder &b, mlir::Value x, llvm::ArrayRef<Expr> at,
               llvm::ArrayRef<Dim> axes);

/// Whether graph.pad can repeat an axis of this size: one that only the run knows where
/// nothing is repeated twice.
bool repeatsKnown(const Dim &size, int64_t low, int64_t high,
                  llvm::StringRef mode);

/// The part of `x` along one axis; `x` itself if it is all of it.
mlir::Value slice(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x,
                  int64_t axis, int64_t start, int64_t size, int64_t step = 1);

/// Builds a transpose: axis `i` of the result is axis `perm[i]` of `x`.
mlir::Value buildTranspose(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value x, llvm::ArrayRef<int64_t> perm);
/// Builds a reshape of `x`; a refill where elements move in memory.
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<int64_t> shape);
mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value x, llvm::ArrayRef<Dim> sizes);
inline mlir::Value buildReshape(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value x,
                                std::initializer_list<int64_t> shape) {
  return buildReshape(builder, loc, x, llvm::ArrayRef<int64_t>(shape));
}

/// Builds transpose(reshape(x)) for a reshape of transpose(x), which nobody else reads,
/// where all axes that the reshape merges or splits follow one another in x as well; null
/// where they do not.
mlir::Value reshapedBeforeTranspose(mlir::OpBuilder &builder, ReshapeOp op);

/// A run of axes of `from` that a reshape makes of a run of axes of `to`.
struct AxisRun {
  size_t from, fromCount, to, toCount;
};

/// Cuts a reshape into its runs of axes with equal numbers of elements, each as
/// short as can be, so that only axes that are really merged or split cost
/// divisions. None if axes of size 0 leave that open.
llvm::SmallVector<AxisRun> axisRuns(llvm::ArrayRef<Dim> from,
                                    llvm::ArrayRef<Dim> to);
inline llvm::SmallVector<AxisRun> axisRuns(llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to) {
  return axisRuns(Dims(from.begin(), from.end()), Dims(to.begin(), to.end()));
}
/// Whether one reshape makes a tensor of the sizes `to` of one of `from`, at
/// whatever sizes the caller names at run time, and elements keep their places in
/// memory.
bool isOneReshape(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to);

/// A constant of float element type `type`.
mlir::Value floatConstant(OnnxNode &node, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<double> values, mlir::Type type);

} // namespace ingot::graph

#endif // INGOT_GRAPH_OPS_MOVEMENT_H
