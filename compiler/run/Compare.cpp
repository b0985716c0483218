#include "compiler/run/Compare.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace ingot {

Difference compare(const Tensor &got, const Tensor &want, Tolerance tolerance) {
  Difference difference;
  if (got.type != want.type) {
    difference.wrong = -1;
    return difference;
  }
  if (want.type.getElementType().isBF16())
    tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least = infinity, most = -infinity;
  for (int64_t i = 0, e = want.elements(); i < e; ++i) {
    if (want.isOfStrings()) {
      size_t at = i * sizeof(const char *);
      if (std::memcmp(&got.bytes[at], &want.bytes[at], sizeof(const char *)) &&
          difference.wrong++ == 0)
        difference.firstWrong = i;
      continue;
    }
    double g = got.number(i), w = want.number(i);
    if (std::isfinite(w)) {
      least = std::min(least, w);
      most = std::max(most, w);
    }
    // Infinities of one sign are equal; their difference is NaN.
    if (g == w || (std::isnan(g) && std::isnan(w)))
      continue;
    double error = std::abs(g - w);
    bool close = std::isfinite(w) &&
                 error <= tolerance.absolute + tolerance.relative * std::abs(w);
    difference.maxError =
        std::isnan(error) ? infinity : std::max(difference.maxError, error);
    if (close)
      continue;
    if (difference.wrong++ == 0)
      difference.firstWrong = i;
  }
  difference.range = most > least ? most - least : 0;
  return difference;
}

} // namespace ingot
