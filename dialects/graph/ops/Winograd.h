// Winograd's minimal filtering for 3-tap windows.
//
// `size` neighbouring outputs of a 3-tap convolution along an axis are
// coefficients of a product of two polynomials, which is determined by its
// values at size + 2 points: one multiplication per point instead of three per
// output. The values of the input are `input` * x, those of the weights
// `weights` * w, and the outputs are `output` * (the products of both). In two
// dimensions the matrices are applied to rows and then to columns.
//
// The points are 0, pairs p and -p, and infinity. Points of different magnitude
// lose precision when the outputs are computed: 3/4 and 3/2 lose a fifth of
// what the common 1 and 2 lose, and `input` and `output` are exact with them.

#ifndef INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H
#define INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H

#include "dialects/graph/ElementBuilder.h"

namespace ingot::graph {

struct Winograd {
  /// `size` outputs along an axis are computed together: 2 or 4.
  explicit Winograd(int64_t size);
  static bool hasSize(int64_t size) { return size == 2 || size == 4; }

  using Row = llvm::SmallVector<double, 6>;
  using Matrix = llvm::SmallVector<Row, 6>;

  static constexpr int64_t window = 3;
  int64_t size, points;
  /// The points 0, p, -p, ... without the last point, which is infinity.
  Row finite;
  Matrix input, weights, output;
  /// Recovers the weights from the values of their polynomial: the inverse of
  /// `weights`.
  Matrix restore;

  /// Returns the values of `x` at all points, one for each row of `input`.
  Exprs sampled(llvm::ArrayRef<Expr> x) const;
  /// Returns the outputs, given the products of input and weights at all
  /// points.
  Exprs outputsOf(llvm::ArrayRef<Expr> products) const;
};

} // namespace ingot::graph

#endif // INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H
