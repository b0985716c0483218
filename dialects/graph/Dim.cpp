#include "dialects/graph/Dim.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ingot::graph {

Dim product(ArrayRef<Dim> dims) {
  Dim count = 1;
  for (Dim size : dims)
    count *= size;
  return count;
}

std::optional<Dims> broadcastShapes(ArrayRef<ArrayRef<Dim>> shapes) {
  size_t rank = 0;
  for (ArrayRef<Dim> shape : shapes)
    rank = std::max(rank, shape.size());
  Dims result(rank, 1);
  for (ArrayRef<Dim> shape : shapes) {
    for (auto [i, size] : enumerate(shape)) {
      Dim &to = result[rank - shape.size() + i];
      if (size != 1 && to != 1 && size != to)
        return std::nullopt;
      if (size != 1)
        to = size;
    }
  }
  return result;
}

Dims resized(ArrayRef<Dim> dims, ArrayRef<int64_t> axes, Dim size) {
  Dims result(dims);
  for (int64_t axis : axes)
    result[axis] = size;
  return result;
}

Dims spliced(ArrayRef<Dim> dims, size_t axis, size_t count,
             ArrayRef<Dim> between) {
  Dims result(dims.take_front(axis));
  append_range(result, between);
  append_range(result, dims.drop_front(axis + count));
  return result;
}

std::optional<Dims> concatenated(ArrayRef<ArrayRef<Dim>> parts, int64_t axis) {
  Dims result(parts.front());
  for (ArrayRef<Dim> part : parts.drop_front()) {
    if (part.size() != result.size() ||
        resized(part, axis, 0) != resized(result, axis, 0))
      return std::nullopt;
    result[axis] += part[axis];
  }
  return result;
}

Dims windowShape(ArrayRef<Dim> dims, ArrayRef<Dim> spatial, Dim channels) {
  Dims result(dims.take_front());
  append_range(result, spatial);
  result.push_back(channels);
  return result;
}

} // namespace ingot::graph
