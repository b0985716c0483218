// Values that are known at compile time.

#ifndef INGOT_PASSES_DECIDE_KNOWNVALUES_H
#define INGOT_PASSES_DECIDE_KNOWNVALUES_H

#include "mlir/IR/Value.h"

namespace ingot::decide {

/// Whether `v` is a constant, or computed from one constant by unary operators.
bool isKnown(mlir::Value v);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_KNOWNVALUES_H
