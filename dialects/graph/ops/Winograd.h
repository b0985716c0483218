// Winograd's algorithm for windows of three.
//
// `size` neighbouring outputs of a convolution with three weights along an axis are
// coefficients of a product of two polynomials, which is known once its values at
// size + 2 points are: one multiplication for each point instead of three for each
// output. The values of the input are `input` * x, those of the weights `weights` *
// w, and the outputs are `output` * their products. Along two axes the matrices are
// applied to rows and then to columns.
//
// The points are 0, pairs p and -p, and infinity. Points of different magnitude
// lose digits where the outputs are put together: 3/4 and 3/2 lose a fifth of what
// the common 1 and 2 do, and all products of theirs are exact.

#ifndef INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H
#define INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H

#include "dialects/graph/ElementBuilder.h"

namespace ingot::graph {

struct Winograd {
  /// Outputs along an axis that are computed together: 2 or 4.
  explicit Winograd(int64_t size);
  static bool hasSize(int64_t size) { return size == 2 || size == 4; }

  using Row = llvm::SmallVector<double, 6>;
  using Matrix = llvm::SmallVector<Row, 6>;

  static constexpr int64_t window = 3;
  int64_t size, points;
  /// 0, p, -p, ...; the last point, infinity, is not among them.
  Row finite;
  Matrix input, weights, output;
  /// The weights from their values: the inverse of `weights`.
  Matrix restore;

  /// The values of `x`, one for each row of `input`, at all points.
  Exprs sampled(llvm::ArrayRef<Expr> x) const;
  /// The outputs of products at all points.
  Exprs outputsOf(llvm::ArrayRef<Expr> products) const;
};

} // namespace ingot::graph

#endif // INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H
