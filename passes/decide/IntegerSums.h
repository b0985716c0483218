// Represents floats as sums of integers times constant factors.
//
//   dequantize(a: ui8, sa, za) + cast(b: si32) * sb + 1.5
//     ->  terms (a, sa), (b, sb), constant 1.5 - za * sa
//
// The operators between integers and a quantization are matched if all factors
// and addends are constants.

#ifndef INGOT_PASSES_DECIDE_INTEGERSUMS_H
#define INGOT_PASSES_DECIDE_INTEGERSUMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace ingot::decide {

/// The elements of a constant in row-major order; they broadcast. If the shape
/// is empty, there is a single element.
struct Numbers {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<double> values;

  static Numbers of(double value) { return {{}, {value}}; }
  /// Returns the finite elements of a float or integer constant; nothing for
  /// other values.
  static std::optional<Numbers> of(mlir::Value v);

  /// Returns the largest magnitude of the elements.
  double most() const;
  Numbers mapped(llvm::function_ref<double(double)> f) const;
  /// Returns this + sign * x * y, elementwise; nothing if shapes differ.
  std::optional<Numbers> withProducts(const Numbers &x, const Numbers &y,
                                      double sign) const;
  /// Returns f(a, b), elementwise; nothing if shapes differ.
  static std::optional<Numbers>
  combined(const Numbers &a, const Numbers &b,
           llvm::function_ref<double(double, double)> f);
};

struct Sum;

/// A term of a sum: an integer times a factor, or another sum that is clamped.
struct Term {
  mlir::Value integer;
  Numbers factor;
  /// A bound of the magnitude of the integer's elements.
  double bound = 0;
  /// The sum that is clamped to `least` and `most`; null if the term is an
  /// integer times a factor.
  std::shared_ptr<Sum> limited;
  std::optional<Numbers> least, most;

  /// Returns the least left shift for which the factor has enough fractional
  /// bits.
  int shift(int fraction) const;
};

/// The sum of all terms and a constant.
struct Sum {
  llvm::SmallVector<Term, 1> terms;
  Numbers constant = Numbers::of(0.0);

  /// Returns a bound of the magnitude of the sum and of all its partial sums.
  double bound() const;
  void forEachFactor(llvm::function_ref<void(const Term &)> body) const;
};

/// Returns `v` * `factor` as a sum of integers; nothing if `v` is not such a
/// sum, or if an intermediate float has other users. The integers of the result
/// may be new operators.
std::optional<Sum> readSum(mlir::Value v, const Numbers &factor);

/// Returns `v` as a sum of integers, whatever other users it has; nothing if
/// `v` is not such a sum.
std::optional<Sum> readSharedSum(mlir::Value v);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_INTEGERSUMS_H
