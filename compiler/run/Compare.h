// Are two tensors the same, nearly.

#ifndef INGOT_COMPILER_RUN_COMPARE_H
#define INGOT_COMPILER_RUN_COMPARE_H

#include "compiler/import/TensorFile.h"

namespace ingot {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
  /// Of floats: a further part of the range of the expected values. What a long sum makes
  /// of rounding is as large for a result near zero as for the others.
  double ofRange = 0;
  /// The absolute error that this allows where `want` is expected.
  double absoluteFor(const Tensor &want) const;
};

/// From the least to the largest finite value; 0 where there are no two.
double rangeOf(const Tensor &tensor);

struct Difference {
  /// Elements out of tolerance; -1 if type or shape differ.
  int64_t wrong = 0;
  int64_t firstWrong = -1;
  /// The largest absolute error, and the range (maximum - minimum) of the
  /// expected finite values.
  double maxError = 0, range = 0;
  bool same() const { return wrong == 0; }
};

/// NumPy's isclose: |got - want| <= absolute + relative * |want|, NaN equals
/// NaN. bfloat16 gets two units in the last place.
Difference compare(const Tensor &got, const Tensor &want, Tolerance tolerance);

} // namespace ingot

#endif // INGOT_COMPILER_RUN_COMPARE_H
