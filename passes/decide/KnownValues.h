// Values that are known at compile time.

#ifndef INGOT_PASSES_DECIDE_KNOWNVALUES_H
#define INGOT_PASSES_DECIDE_KNOWNVALUES_H

#include "mlir/IR/Value.h"

namespace ingot::decide {

/// Whether a value is computed from a single constant by unary operators.
bool isKnown(mlir::Value v);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_KNOWNVALUES_H
