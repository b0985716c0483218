// Computes the range of a size expression.

#ifndef INGOT_DIALECTS_KERNEL_SIZERANGE_H
#define INGOT_DIALECTS_KERNEL_SIZERANGE_H

#include "dialects/kernel/Sizes.h"

namespace ingot::kernel {

/// Add or multiply, saturating at the limits of int64_t. A saturated result is
/// still a valid bound.
int64_t saturatingAdd(int64_t x, int64_t y);
int64_t saturatingMul(int64_t x, int64_t y);

struct SizeRange {
  int64_t least, most;
};

/// Returns bounds of `value`, computed from the bounds of its symbols. The
/// bounds are exact if each symbol occurs only once and there is no mod.
SizeRange rangeOf(mlir::AffineExpr value, llvm::ArrayRef<SymbolAttr> symbols);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZERANGE_H
