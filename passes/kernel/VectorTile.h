//===- VectorTile.h - tiles of vectors on small cores -----------*- C++ -*-===//

#ifndef INGOT_PASSES_KERNEL_VECTORTILE_H
#define INGOT_PASSES_KERNEL_VECTORTILE_H

#include "passes/kernel/CursorTile.h"

namespace ingot::kernel {

/// The cheapest tile of vectors for a core that finishes one instruction after
/// the other; with `panelWidth` columns if that is not 0. Its `together` counts
/// the steps of one trip of the inner loop.
CursorTileChoice chooseVectorTile(const TileWork &work,
                                  const TargetDescription &target,
                                  mlir::Type type, int64_t panelWidth = 0);

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_VECTORTILE_H
