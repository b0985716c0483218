// Recognizes selects that compute a maximum or a minimum, and floats that are
// never NaN.

#ifndef INGOT_DIALECTS_KERNEL_EXTREMUM_H
#define INGOT_DIALECTS_KERNEL_EXTREMUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace ingot::kernel {

/// Returns true if a select of floats or signed integers is the maximum `a > b
/// ? a : b` of its operands a and b, and false if it is the minimum `a < b ? a
/// : b`. Returns nullopt if it is neither.
std::optional<bool> isMaximum(mlir::arith::SelectOp select);

/// Whether `value` is a scalar or splat constant other than NaN.
bool isNumber(mlir::Value value);

/// Whether `value` is never NaN: a constant other than NaN; a maxnum or minnum
/// with such an operand; a maximum or minimum formed by a select whose last
/// operand is such a value; or a loop-carried value computed by these
/// operations only.
bool isNeverNan(mlir::Value value);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_EXTREMUM_H
