// Helpers for constants with one element per channel.

#ifndef INGOT_PASSES_SIMPLIFY_CHANNELS_H
#define INGOT_PASSES_SIMPLIFY_CHANNELS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::simplify {

/// Returns `v` as a tensor of shape [channels], if `v` is a constant with one
/// element in total or with one per channel in its last axis; null for other
/// values.
mlir::Value perChannel(mlir::OpBuilder &builder, mlir::Value v,
                       int64_t channels);

/// Builds an elementwise operator of two operands; the result has the type of
/// `x`.
template <typename OpT>
mlir::Value elementwise(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x, mlir::Value y) {
  return OpT::create(builder, loc, mlir::TypeRange{x.getType()},
                     mlir::ValueRange{x, y});
}

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_CHANNELS_H
