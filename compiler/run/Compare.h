// Are two tensors the same, nearly.

#ifndef INGOT_COMPILER_RUN_COMPARE_H
#define INGOT_COMPILER_RUN_COMPARE_H

#include "compiler/import/TensorFile.h"

namespace ingot {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

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
