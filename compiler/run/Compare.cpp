#include "compiler/run/Compare.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

namespace ingot {

double rangeOf(const Tensor &tensor) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (int64_t i = 0, e = tensor.isOfStrings() ? 0 : tensor.elements(); i < e;
       ++i)
    if (double x = tensor.number(i); std::isfinite(x)) {
      least = std::min(least, x);
      most = std::max(most, x);
    }
  return most > least ? most - least : 0;
}

double Tolerance::absoluteFor(const Tensor &want) const {
  bool isOfFloats = isa<FloatType>(want.type.getElementType());
  return isOfFloats ? std::max(absolute, ofRange * rangeOf(want)) : absolute;
}

Difference compare(const Tensor &got, const Tensor &want, Tolerance tolerance) {
  Difference difference;
  if (got.type != want.type) {
    difference.wrong = -1;
    return difference;
  }
  if (want.type.getElementType().isBF16())
    tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  difference.range = rangeOf(want);
  const double absolute = tolerance.absoluteFor(want);
  for (int64_t i = 0, e = want.elements(); i < e; ++i) {
    if (want.isOfStrings()) {
      size_t at = i * sizeof(const char *);
      if (std::memcmp(&got.bytes[at], &want.bytes[at], sizeof(const char *)) &&
          difference.wrong++ == 0)
        difference.firstWrong = i;
      continue;
    }
    double g = got.number(i), w = want.number(i);
    // Infinities of the same sign are equal, but their difference is NaN.
    if (g == w || (std::isnan(g) && std::isnan(w)))
      continue;
    double error = std::abs(g - w);
    bool close = std::isfinite(w) &&
                 error <= absolute + tolerance.relative * std::abs(w);
    difference.maxError =
        std::isnan(error) ? infinity : std::max(difference.maxError, error);
    if (close)
      continue;
    if (difference.wrong++ == 0)
      difference.firstWrong = i;
  }
  return difference;
}

} // namespace ingot
