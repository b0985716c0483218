// Compares tensors within a tolerance.

#ifndef INGOT_COMPILER_RUN_COMPARE_H
#define INGOT_COMPILER_RUN_COMPARE_H

#include "compiler/import/TensorFile.h"

namespace ingot {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
  /// For floats: an additional tolerance relative to the range of the expected
  /// values, since the rounding error of a long sum does not shrink for results
  /// near zero.
  double ofRange = 0;
  /// Returns the relative and the absolute tolerance for the elements of the
  /// expected tensor `want`. Integers of more than 16 bits have none. For bfloat16
  /// the relative tolerance is at least two units in the last place.
  Tolerance forElementsOf(const Tensor &want) const;
};

/// Returns the difference of the largest and the smallest finite value; 0 if
/// there are fewer than two.
double rangeOf(const Tensor &tensor);

struct Difference {
  /// The number of elements out of tolerance; -1 if the types or shapes differ.
  int64_t wrong = 0;
  int64_t firstWrong = -1;
  /// The largest absolute error, and the range (maximum - minimum) of the
  /// finite expected values.
  double maxError = 0, range = 0;
  bool same() const { return wrong == 0; }
};

/// Compares like NumPy's isclose: |got - want| <= absolute + relative * |want|
/// with the tolerances of forElementsOf, and NaN equals NaN. Strings and integers
/// of more than 16 bits must be equal.
Difference compare(const Tensor &got, const Tensor &want, Tolerance tolerance);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_COMPARE_H
