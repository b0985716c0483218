// Recognizes selects that compute a maximum or a minimum.

#ifndef INGOT_DIALECTS_KERNEL_EXTREMUM_H
#define INGOT_DIALECTS_KERNEL_EXTREMUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace ingot::kernel {

/// Whether a select of floats or signed integers is `a > b ? a : b` (true) or
/// `a < b ? a : b` (false) for its operands a and b; nothing if it is neither.
std::optional<bool> isMaximum(mlir::arith::SelectOp select);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_EXTREMUM_H
