// Values that are known when a model is compiled.

#ifndef INGOT_PASSES_DECIDE_KNOWNVALUES_H
#define INGOT_PASSES_DECIDE_KNOWNVALUES_H

#include "mlir/IR/Value.h"

namespace ingot::decide {

/// Whether a value is computed from one constant alone.
bool isKnown(mlir::Value v);

} // namespace ingot::decide

#endif // INGOT_PASSES_DECIDE_KNOWNVALUES_H
