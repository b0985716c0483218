#include "dialects/graph/ExprNames.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::graph {

Expr named(Expr x, const Twine &name) {
  kernel::nameValue(x.value, name);
  return x;
}

/// Returns the name of `axis` in a tensor of rank `rank`. `names` are the names
/// of the last axes: names[0] is that of the last axis.
static std::string fromTheEnd(size_t axis, size_t rank,
                              ArrayRef<StringRef> names) {
  size_t behind = rank - 1 - axis;
  return behind < names.size() ? names[behind].str() : "axis_" + utostr(axis);
}

std::string axisName(size_t axis, size_t rank) {
  return rank == 1 ? "element"
                   : fromTheEnd(axis, rank, {"column", "row", "plane"});
}

std::string spatialAxisName(size_t axis, size_t spatialRank) {
  return fromTheEnd(axis, spatialRank, {"column", "row", "plane"});
}

std::string imageAxisName(size_t axis, size_t rank) {
  return axis == 0          ? "batch"
         : axis + 1 == rank ? "channel"
                            : spatialAxisName(axis - 1, rank - 2);
}

} // namespace ingot::graph
