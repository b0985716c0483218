#include "dialects/graph/Dim.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ingot::graph {
namespace {

/// Arithmetic on shapes whose sizes are int64_t (constant) or Dim (dynamic).
template <typename Size> struct Shapes {
  static Size product(ArrayRef<Size> sizes) {
    Size count = 1;
    for (const Size &size : sizes)
      count *= size;
    return count;
  }

  static std::optional<ShapeOf<Size>>
  broadcast(ArrayRef<ArrayRef<Size>> shapes) {
    size_t rank = 0;
    for (ArrayRef<Size> shape : shapes)
      rank = std::max(rank, shape.size());
    ShapeOf<Size> result(rank, 1);
    for (ArrayRef<Size> shape : shapes)
      for (auto [i, size] : enumerate(shape)) {
        Size &to = result[rank - shape.size() + i];
        // Fails if neither size is the constant 1 and the two are not known to
        // be equal. Then the shapes do not fit, or a dynamic size may be 1, so
        // that the broadcast size is unknown at compile time.
        bool isOne = size == Size(1), isFirst = to == Size(1);
        if (!isOne && !isFirst && !(size == to))
          return std::nullopt;
        if (!isOne)
          to = size;
      }
    return result;
  }

  static ShapeOf<Size> resized(ArrayRef<Size> sizes, ArrayRef<int64_t> axes,
                               Size size) {
    ShapeOf<Size> result(sizes);
    for (int64_t axis : axes)
      result[axis] = size;
    return result;
  }

  static ShapeOf<Size> spliced(ArrayRef<Size> sizes, size_t axis, size_t count,
                               ArrayRef<Size> between) {
    ShapeOf<Size> result(sizes.take_front(axis));
    append_range(result, between);
    append_range(result, sizes.drop_front(axis + count));
    return result;
  }

  static std::optional<ShapeOf<Size>>
  concatenated(ArrayRef<ArrayRef<Size>> parts, int64_t axis) {
    ShapeOf<Size> result(parts.front()), lengths;
    for (ArrayRef<Size> part : parts) {
      if (part.size() != result.size() ||
          resized(part, axis, 0) != resized(result, axis, 0))
        return std::nullopt;
      lengths.push_back(part[axis]);
    }
    // Adds the lengths in pairs: adding to an expression that already has many
    // terms is slow.
    for (; lengths.size() > 1; lengths.truncate((lengths.size() + 1) / 2))
      for (size_t i = 0; i < lengths.size(); i += 2)
        lengths[i / 2] =
            i + 1 < lengths.size() ? lengths[i] + lengths[i + 1] : lengths[i];
    result[axis] = lengths.front();
    return result;
  }

  static ShapeOf<Size> window(ArrayRef<Size> sizes, ArrayRef<Size> spatial,
                              Size channels) {
    ShapeOf<Size> result(sizes.take_front());
    append_range(result, spatial);
    result.push_back(channels);
    return result;
  }
};

} // namespace

#define INGOT_SHAPE_ARITHMETIC(SIZE)                                           \
  SIZE product(ArrayRef<SIZE> sizes) { return Shapes<SIZE>::product(sizes); }  \
  std::optional<ShapeOf<SIZE>> broadcastShapes(                                \
      ArrayRef<ArrayRef<SIZE>> shapes) {                                       \
    return Shapes<SIZE>::broadcast(shapes);                                    \
  }                                                                            \
  ShapeOf<SIZE> resized(ArrayRef<SIZE> sizes, ArrayRef<int64_t> axes,          \
                        SIZE size) {                                           \
    return Shapes<SIZE>::resized(sizes, axes, size);                           \
  }                                                                            \
  ShapeOf<SIZE> spliced(ArrayRef<SIZE> sizes, size_t axis, size_t count,       \
                        ArrayRef<SIZE> between) {                              \
    return Shapes<SIZE>::spliced(sizes, axis, count, between);                 \
  }                                                                            \
  std::optional<ShapeOf<SIZE>> concatenated(ArrayRef<ArrayRef<SIZE>> parts,    \
                                            int64_t axis) {                    \
    return Shapes<SIZE>::concatenated(parts, axis);                            \
  }                                                                            \
  ShapeOf<SIZE> windowShape(ArrayRef<SIZE> sizes, ArrayRef<SIZE> spatial,      \
                            SIZE channels) {                                   \
    return Shapes<SIZE>::window(sizes, spatial, channels);                     \
  }

INGOT_SHAPE_ARITHMETIC(int64_t)
INGOT_SHAPE_ARITHMETIC(Dim)
#undef INGOT_SHAPE_ARITHMETIC

} // namespace ingot::graph
