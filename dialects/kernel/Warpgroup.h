#ifndef INGOT_DIALECTS_KERNEL_WARPGROUP_H
#define INGOT_DIALECTS_KERNEL_WARPGROUP_H

#include "dialects/kernel/KernelDialect.h"

namespace ingot::kernel {

/// Returns the name of a warpgroup operation in a target's table of intrinsics,
/// such as "kernel.tile_product[f16,f16]"; empty for any other operation.
std::string warpgroupIntrinsic(mlir::Operation *op);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_WARPGROUP_H
