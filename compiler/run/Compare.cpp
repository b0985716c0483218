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

Tolerance Tolerance::forElementsOf(const Tensor &want) const {
  Type element = want.type.getElementType();
  if (!isa<FloatType>(element)) {
    bool mayBeRounded = element.isInteger(8) || element.isInteger(16);
    return {mayBeRounded ? relative : 0, mayBeRounded ? absolute : 0, 0};
  }
  constexpr double twoUnitsOfBfloat = 0x1p-6;
  return {element.isBF16() ? std::max(relative, twoUnitsOfBfloat) : relative,
          std::max(absolute, ofRange * rangeOf(want)), 0};
}

Difference compare(const Tensor &got, const Tensor &want, Tolerance tolerance) {
  Difference difference;
  if (got.type != want.type) {
    difference.wrong = -1;
    return difference;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  difference.range = rangeOf(want);
  const auto [relative, absolute, ofRange] = tolerance.forElementsOf(want);
  const bool isOfFloats = isa<FloatType>(want.type.getElementType());
  const size_t size = want.elements() ? want.bytes.size() / want.elements() : 0;
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
    // Different 64-bit integers may be equal as doubles.
    bool isSame = isOfFloats ? g == w || (std::isnan(g) && std::isnan(w))
                             : !std::memcmp(&got.bytes[i * size],
                                            &want.bytes[i * size], size);
    if (isSame)
      continue;
    double error = std::abs(g - w), allowed = absolute + relative * std::abs(w);
    bool close = std::isfinite(w) && allowed > 0 && error <= allowed;
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
