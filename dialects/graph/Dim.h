// Sizes of tensors, and the arithmetic that shape rules do with them.

#ifndef INGOT_GRAPH_DIM_H
#define INGOT_GRAPH_DIM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace ingot::graph {

/// The size of one axis.
using Dim = int64_t;
using Dims = llvm::SmallVector<Dim>;

/// Returns the number of elements along all of `dims`.
Dim product(llvm::ArrayRef<Dim> dims);
/// NumPy's broadcasting; empty if the shapes do not fit.
std::optional<Dims> broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<Dim>> shapes);
/// Returns `dims` with `size` at each of `axes`.
Dims resized(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<int64_t> axes, Dim size);
/// Returns `dims` with `between` in place of the `count` axes from `axis` on.
Dims spliced(llvm::ArrayRef<Dim> dims, size_t axis, size_t count,
             llvm::ArrayRef<Dim> between);
/// Returns the shape of tensors of the shapes `parts` one after another along
/// `axis`; empty if the parts differ in another axis.
std::optional<Dims> concatenated(llvm::ArrayRef<llvm::ArrayRef<Dim>> parts,
                                 int64_t axis);
/// Returns [N, spatial..., channels], N being the first of `dims`.
Dims windowShape(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<Dim> spatial,
                 Dim channels);

} // namespace ingot::graph

#endif // INGOT_GRAPH_DIM_H
