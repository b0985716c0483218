//===- FlattenBuffers.h - shapes become arithmetic --------------*- C++ -*-===//

#ifndef INGOT_PASSES_KERNEL_FLATTENBUFFERS_H
#define INGOT_PASSES_KERNEL_FLATTENBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::kernel {

/// Gives a kernel's arguments types without shapes; the strides stand in its
/// code. False, with the function half changed, where a buffer is used in a way
/// that has no such form.
bool flattenBuffers(mlir::func::FuncOp kernel);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_FLATTENBUFFERS_H
