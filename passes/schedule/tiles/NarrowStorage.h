// Constants of whole numbers in fewer bits.
//
// Integer networks that are computed in floats have filters and biases such as
// -24.0f, which take four bytes each. A kernel that reads them once for many
// products can read 8 or 16 bits instead and convert them.

#ifndef INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H
#define INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// If the group's operand at `use` is a constant of small whole floats that no
/// other group reads, stores it as si8 or si16 and adds a cast to the group.
void storeNarrow(graph::GroupOp group, mlir::OpOperand &use);

/// An operand viewed in a given shape, whether stored in its own type or by
/// storeNarrow.
class StoredOperand {
public:
  StoredOperand(KernelBuilder &b, mlir::Value operand,
                llvm::ArrayRef<int64_t> shape);
  /// Loads the element, or the vector of elements, at `at`, in the operand's
  /// type.
  graph::Expr load(llvm::ArrayRef<graph::Expr> at) const;

private:
  KernelBuilder &b;
  mlir::Type type, storedType;
  mlir::Value buffer;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H
