// Builds operators on 32-bit fixed-point numbers: an integer n with f
// fractional bits has the value n * 2^-f.

#ifndef INGOT_PASSES_DECIDE_WORDBUILDER_H
#define INGOT_PASSES_DECIDE_WORDBUILDER_H

#include "dialects/graph/GraphDialect.h"
#include "passes/decide/IntegerSums.h"

#include <optional>

namespace ingot::decide {

class WordBuilder {
public:
  /// Operators are inserted before `before`.
  explicit WordBuilder(mlir::Operation *before)
      : builder(before), loc(before->getLoc()),
        si32(builder.getIntegerType(32, /*isSigned=*/true)) {}

  /// Builds an OpT of `x` and `y`, which are broadcast.
  template <typename OpT> mlir::Value binary(mlir::Value x, mlir::Value y) {
    return OpT::create(builder, loc, typeOf(x, y), mlir::ValueRange{x, y})
        ->getResult(0);
  }
  template <typename OpT> mlir::Value unary(mlir::Value x) {
    return OpT::create(builder, loc, x.getType(), x)->getResult(0);
  }
  mlir::Value shifted(mlir::Value x, mlir::Value by, llvm::StringRef direction);
  /// Builds a shift of `x` by a constant; returns `x` itself if `by` is 0.
  mlir::Value left(mlir::Value x, int64_t by);
  mlir::Value right(mlir::Value x, int64_t by);

  mlir::Value number(int64_t value);
  mlir::Value constant(const Numbers &numbers);
  mlir::Value cast(mlir::Value x, mlir::Type type);
  mlir::Value bits(mlir::Value x, mlir::Type type);

  /// Builds the value of `sum` with `fraction` fractional bits. The value must
  /// fit 32 bits (see `fits`).
  mlir::Value sum(const Sum &sum, int fraction);

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type si32;

protected:
  /// Returns the type of binary(x, y): the broadcast shape with the element
  /// type of `x`.
  mlir::RankedTensorType typeOf(mlir::Value x, mlir::Value y);

private:
  mlir::Value term(const Term &term, int fraction);
};

/// Whether WordBuilder::sum supports `sum`, whose magnitude is at most `bound`,
/// with `fraction` fractional bits: the integer that represents `bound` is
/// below 2^`bits`, and no integer of a term exceeds 32 bits when it is shifted
/// left to be scaled.
bool fits(const Sum &sum, double bound, int fraction, int bits);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_WORDBUILDER_H
