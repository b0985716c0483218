// Functions of 8-bit integers that are computed by table lookup: gathers from a
// table of 256 int8 elements.

#ifndef INGOT_PASSES_SCHEDULE_TABLES_H
#define INGOT_PASSES_SCHEDULE_TABLES_H

#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "targets/TargetDescription.h"

namespace ingot::schedule {

inline constexpr int64_t tableBytes = 256;

/// Whether the target has an instruction that looks up a vector of int8
/// elements in a table.
inline bool looksUpBytes(const TargetDescription &target) {
  return llvm::any_of(target.intrinsics, [](const Intrinsic &row) {
    return row.op == mlir::vector::GatherOp::getOperationName();
  });
}

inline bool isByteTable(mlir::Operation *op) {
  auto gather = llvm::dyn_cast<graph::GatherOp>(op);
  auto isByte = [](mlir::Value v) {
    return graph::storageType(graph::elementOf(v)).isInteger(8);
  };
  return gather && gather.getInRange() &&
         graph::shapeOf(gather.getX()) == llvm::ArrayRef<int64_t>(tableBytes) &&
         graph::elementOf(gather.getIndices()).isUnsignedInteger(8) &&
         isByte(gather.getX());
}

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TABLES_H
