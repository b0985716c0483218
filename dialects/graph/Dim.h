// The arithmetic on sizes that shape rules use, for constant sizes (int64_t)
// and for dynamic ones (`Dim`).

#ifndef INGOT_GRAPH_DIM_H
#define INGOT_GRAPH_DIM_H

#include "dialects/kernel/Sizes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace ingot::graph {

using kernel::Dim;
using kernel::Dims;
using kernel::dimsOf;
using kernel::hasDynamicSizes;
using kernel::isCompact;
using kernel::mayDiffer;
using kernel::surelyDiffer;
using kernel::tensorOf;

template <typename Size> using ShapeOf = llvm::SmallVector<Size>;
template <typename Size> using ShapeRef = llvm::ArrayRef<Size>;

#define INGOT_SHAPE_ARITHMETIC(SIZE)                                             \
  /** Returns the product of `sizes`. */                                         \
  SIZE product(ShapeRef<SIZE> sizes);                                            \
  /** Returns the shape to which NumPy's rule broadcasts `shapes`; empty if    \
      they do not fit, or if the shape is unknown at compile time. */ \
  std::optional<ShapeOf<SIZE>> broadcastShapes(                                  \
      llvm::ArrayRef<ShapeRef<SIZE>> shapes);                                    \
  /** Returns `sizes` with `size` at each of `axes`. */                          \
  ShapeOf<SIZE> resized(ShapeRef<SIZE> sizes, llvm::ArrayRef<int64_t> axes,      \
                        SIZE size);                                              \
  /** Returns `sizes` with `between` in place of the `count` axes from `axis`  \
      on. */ \
  ShapeOf<SIZE> spliced(ShapeRef<SIZE> sizes, size_t axis, size_t count,         \
                        ShapeRef<SIZE> between);                                 \
  /** Returns the shape of the concatenation, along `axis`, of tensors with    \
      the shapes `parts`; empty if these differ in the rank or in the size of  \
      another axis. */ \
  std::optional<ShapeOf<SIZE>> concatenated(                                     \
      llvm::ArrayRef<ShapeRef<SIZE>> parts, int64_t axis);                       \
  /** Returns [N, spatial..., channels], N being the first of `sizes`. */        \
  ShapeOf<SIZE> windowShape(ShapeRef<SIZE> sizes, ShapeRef<SIZE> spatial,        \
                            SIZE channels);

INGOT_SHAPE_ARITHMETIC(int64_t)
INGOT_SHAPE_ARITHMETIC(Dim)
#undef INGOT_SHAPE_ARITHMETIC

} // namespace ingot::graph

#endif // INGOT_GRAPH_DIM_H
