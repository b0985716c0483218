// What an expression of sizes is at least and at most.

#ifndef INGOT_DIALECTS_KERNEL_SIZERANGE_H
#define INGOT_DIALECTS_KERNEL_SIZERANGE_H

#include "dialects/kernel/Sizes.h"

namespace ingot::kernel {

/// Sums and products that stay at the largest and the smallest integer where they would
/// pass it: as bounds these hold all the same.
int64_t saturatingAdd(int64_t x, int64_t y);
int64_t saturatingMul(int64_t x, int64_t y);

struct SizeRange {
  int64_t least, most;
};

/// Bounds by the bounds of the symbols: exact where each symbol is there once.
SizeRange rangeOf(mlir::AffineExpr value, llvm::ArrayRef<SymbolAttr> symbols);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_SIZERANGE_H
