// Whether code must use the operations that ONNX states (--strict).

#ifndef INGOT_KERNEL_STRICT_H
#define INGOT_KERNEL_STRICT_H

#include "mlir/IR/Operation.h"

namespace ingot::kernel {

/// Whether the module that contains `op` is strict: the order of floating-point
/// operations stays, and a division does not become a multiplication by the
/// reciprocal, which rounds twice. False outside of a module, and if `op` is null.
bool isStrict(mlir::Operation *op);

} // namespace ingot::kernel

#endif // INGOT_KERNEL_STRICT_H
