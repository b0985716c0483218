// Floats that are sums of integers times factors.
//
//   dequantize(a: ui8, sa, za) + cast(b: si32) * sb + 1.5
//     ->  terms (a, sa), (b, sb), constant 1.5 - za * sa
//
// As the operators between integers and a quantization compute them, if all factors and
// addends are constants.

#ifndef INGOT_PASSES_DECIDE_INTEGERSUMS_H
#define INGOT_PASSES_DECIDE_INTEGERSUMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace ingot::decide {

/// The numbers of a constant, which broadcast; one if the shape is empty.
struct Numbers {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<double> values;

  static Numbers of(double value) { return {{}, {value}}; }
  /// Those of a constant of floats or integers that are finite; nothing of others.
  static std::optional<Numbers> of(mlir::Value v);

  /// The greatest magnitude.
  double most() const;
  Numbers mapped(llvm::function_ref<double(double)> f) const;
  /// These and `sign` times the products of each two; nothing if shapes differ.
  std::optional<Numbers> withProducts(const Numbers &x, const Numbers &y,
                                      double sign) const;
  /// f(a, b) for each two; nothing if they do not have one shape.
  static std::optional<Numbers>
  combined(const Numbers &a, const Numbers &b,
           llvm::function_ref<double(double, double)> f);
};

struct Sum;

/// An integer times a factor, or a sum within limits.
struct Term {
  mlir::Value integer;
  Numbers factor;
  /// The magnitude that no element of the integer exceeds.
  double bound = 0;
  /// Instead of an integer.
  std::shared_ptr<Sum> limited;
  std::optional<Numbers> least, most;

  /// The least shift to the left with which a factor has its fractional bits.
  int shift(int fraction) const;
};

/// Terms and a constant.
struct Sum {
  llvm::SmallVector<Term, 1> terms;
  Numbers constant = Numbers::of(0.0);

  /// The magnitude that it does not exceed, nor any part of it.
  double bound() const;
  void forEachFactor(llvm::function_ref<void(const Term &)> body) const;
};

/// Returns `v` times a factor; nothing if it is no such sum, or if a float on the way
/// has another reader. Integers that it takes may be new operators.
std::optional<Sum> readSum(mlir::Value v, const Numbers &factor);

/// Returns `v`, whoever reads it; nothing if it is no such sum.
std::optional<Sum> readSharedSum(mlir::Value v);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_INTEGERSUMS_H
