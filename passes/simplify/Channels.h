// Constants with an entry for each channel.

#ifndef INGOT_PASSES_SIMPLIFY_CHANNELS_H
#define INGOT_PASSES_SIMPLIFY_CHANNELS_H

#include "dialects/graph/GraphDialect.h"

namespace ingot::simplify {

/// `v`, a constant with one entry for each channel of a last axis of `channels`, or one in
/// all, as a tensor of one axis with an entry for each; null if it is another value.
mlir::Value perChannel(mlir::OpBuilder &builder, mlir::Value v,
                       int64_t channels);

/// An elementwise operator of two operands, the first of which has the result's type.
template <typename OpT>
mlir::Value elementwise(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value x, mlir::Value y) {
  return OpT::create(builder, loc, mlir::TypeRange{x.getType()},
                     mlir::ValueRange{x, y});
}

} // namespace ingot::simplify

#endif // INGOT_PASSES_SIMPLIFY_CHANNELS_H
