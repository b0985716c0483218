// Recognizes selects that compute a maximum or a minimum.

#ifndef INGOT_DIALECTS_KERNEL_EXTREMUM_H
#define INGOT_DIALECTS_KERNEL_EXTREMUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace ingot::kernel {

/// Returns true if a select of floats or signed integers is the maximum `a > b
/// ? a : b` of its operands a and b, and false if it is the minimum `a < b ? a
/// : b`. Returns nullopt if it is neither.
std::optional<bool> isMaximum(mlir::arith::SelectOp select);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_EXTREMUM_H
