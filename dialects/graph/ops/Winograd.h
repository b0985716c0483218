// Winograd's minimal filtering for 3-tap windows.
//
// `size` adjacent outputs of a 3-tap convolution along an axis are coefficients
// of the product of two polynomials. The values of the product at size + 2
// points determine it, so one multiplication per point is needed instead of
// three per output. `input` * x are the values of the input's polynomial at the
// points, `weights` * w are those of the weights' polynomial, and `output` *
// (the products of these values) are the outputs. In two dimensions, the
// matrices are applied to rows, then to columns.
//
// The points are 0, pairs p and -p, and infinity. If the points have very
// different magnitudes, computing the outputs loses precision. The points 3/4
// and 3/2 lose a fifth of what the common points 1 and 2 lose, and the elements
// of `input` and `output` are exact with them.

#ifndef INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H
#define INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H

#include "dialects/graph/ElementBuilder.h"

namespace ingot::graph {

struct Winograd {
  /// Creates the matrices for a tile of `size` outputs along an axis, which are
  /// computed together. `size` is 2 or 4.
  explicit Winograd(int64_t size);
  static bool hasSize(int64_t size) { return size == 2 || size == 4; }

  using Row = llvm::SmallVector<double, 6>;
  using Matrix = llvm::SmallVector<Row, 6>;

  static constexpr int64_t window = 3;
  int64_t size, points;
  /// The finite points 0, p, -p, ... at which the polynomials are evaluated;
  /// the last point, infinity, is left out.
  Row finite;
  Matrix input, weights, output;
  /// The inverse of `weights`: multiplied by the values of the weights'
  /// polynomial at all points, it gives the weights.
  Matrix restore;

  /// Returns the largest power of two that makes the inputs of a tile, once
  /// transformed along both axes and multiplied by it, no larger than the
  /// largest input.
  double inputScale() const;
  /// Returns the factor of the outputs of f16 products: the smallest power of
  /// two, at least 1, that makes the standard deviation of the products no
  /// larger than that of the outputs. Inputs and weights are assumed to be
  /// independent, with equal variances.
  double outputScale() const;
  /// Returns the factor by which transformed weights of `type` are multiplied.
  /// For f16, it makes up for the factors of the inputs and of the outputs.
  double weightScale(mlir::Type type) const;
  /// Returns the factor by which the transform along both axes may enlarge the
  /// largest weight of `type`.
  double weightGain(mlir::Type type) const;
  /// Returns `input` * x: the values of the input's polynomial at all points.
  Exprs sampled(llvm::ArrayRef<Expr> x) const;
  /// Returns the outputs times `scale`, given the products of the values of the
  /// input's and the weights' polynomials at all points.
  Exprs outputsOf(llvm::ArrayRef<Expr> products, double scale = 1) const;
  /// Returns x * factor. A vector of f16 is multiplied in f16.
  static Expr scaled(Expr x, double factor);
};

} // namespace ingot::graph

#endif // INGOT_DIALECTS_GRAPH_OPS_WINOGRAD_H
