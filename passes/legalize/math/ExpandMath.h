// Expands the operations of the math dialect, and floating-point remainders,
// into plain arithmetic, so that generated code does not need a math library.

#ifndef INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H
#define INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H

#include "mlir/IR/Operation.h"
#include "targets/TargetDescription.h"

namespace ingot::legalize {

/// Expands all math operations and floating-point remainders within `root`, on
/// scalars and vectors; floats narrower than f32 are computed in f32. Leaves
/// only math.sqrt and the operations for which `target` has an instruction.
/// Fails, with an error, on an unknown operation.
mlir::LogicalResult expandMath(mlir::Operation *root,
                               const TargetDescription &target);

/// Whether `op` is computed by the target's instruction for 2^x (kernel.exp2).
/// This is so for a scalar exponential or error function of at most 32 bits
/// with fastmath<afn> in a device thread, if the target has this instruction
/// and the module is not strict.
bool isByExp2(mlir::Operation *op, const TargetDescription &target);

/// Whether an exponential that may be approximate (isExpOrZero) is computed in
/// f16 if it has the type `type`: a vector of f16, for which the target has
/// instructions.
bool expandsInHalves(mlir::Type type, const TargetDescription &target);

/// Whether `op` is an exponential with fastmath<afn>: it may return 0 instead
/// of a value that is negligible compared to 1.
bool isExpOrZero(mlir::Operation *op);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MATH_EXPANDMATH_H
