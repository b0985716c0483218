// Represents float expressions as sums of integers times constant factors.
//
//   dequantize(a: ui8, sa, za) + cast(b: si32) * sb + 1.5
//     ->  terms (a, sa), (b, sb), constant 1.5 - za * sa
//
// The float operators between integer tensors and a quantization have this form
// if all factors and addends are constants.

#ifndef INGOT_PASSES_DECIDE_INTEGERSUMS_H
#define INGOT_PASSES_DECIDE_INTEGERSUMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace ingot::decide {

/// The elements of a constant of shape `shape` in row-major order. If the shape
/// is empty, `values` is one element that broadcasts to all shapes.
struct Numbers {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<double> values;

  static Numbers of(double value) { return {{}, {value}}; }
  /// Returns the elements of `v`, an f32 or integer constant or a reshape of
  /// one. Returns nothing for other values, or if an element is not finite.
  static std::optional<Numbers> of(mlir::Value v);

  /// Returns the largest magnitude of the elements.
  double most() const;
  Numbers mapped(llvm::function_ref<double(double)> f) const;
  /// Returns this + sign * x * y, elementwise; nothing if the shapes differ
  /// (see `combined`).
  std::optional<Numbers> withProducts(const Numbers &x, const Numbers &y,
                                      double sign) const;
  /// Returns f(a, b), elementwise. Returns nothing if `a` and `b` both have
  /// several elements and their shapes differ, apart from leading axes of size
  /// 1.
  static std::optional<Numbers>
  combined(const Numbers &a, const Numbers &b,
           llvm::function_ref<double(double, double)> f);
};

struct Sum;

/// A term of a sum: `integer` * `factor`, or another sum that is clamped
/// (`limited`).
struct Term {
  mlir::Value integer;
  Numbers factor;
  /// An upper bound of the magnitudes of `integer`.
  double bound = 0;
  /// The sum that is clamped to `least` and `most`; null if the term is an
  /// integer times a factor.
  std::shared_ptr<Sum> limited;
  std::optional<Numbers> least, most;

  /// Returns the least number of bits by which `integer` must be shifted left
  /// to be scaled by mul_high to `fraction` fractional bits: the 32-bit
  /// multiplier is factor * 2^(32 + fraction - shift), which has to be below
  /// 2^31.
  int shift(int fraction) const;
};

/// The sum of all terms and a constant.
struct Sum {
  llvm::SmallVector<Term, 1> terms;
  Numbers constant = Numbers::of(0.0);

  /// Returns an upper bound of the magnitude of the sum and of all its partial
  /// sums.
  double bound() const;
  void forEachFactor(llvm::function_ref<void(const Term &)> body) const;
};

/// Returns `v` * `factor` as a sum of integers; nothing if `v` is not such a
/// sum, or if an intermediate float has other users. This may create operators
/// that compute the integers of the sum.
std::optional<Sum> readSum(mlir::Value v, const Numbers &factor);

/// Returns `v` as a sum of integers even if `v` has several users; nothing if
/// `v` is not such a sum.
std::optional<Sum> readSharedSum(mlir::Value v);

/// Returns an upper bound of the magnitudes in the integer tensor `v`.
double boundOf(mlir::Value v);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_INTEGERSUMS_H
