// Constants of whole numbers in fewer bits.
//
// Networks of integers that multiply in floats have filters and biases such as -24.0f,
// which fill four bytes each. A kernel that reads them once for many products can as
// well read 8 or 16 bits, and convert them.

#ifndef INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H
#define INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// Has a group read the floats behind `use` as si8 or si16, which a cast in the group
/// converts, if they are constants of such numbers and no other group reads them.
void storeNarrow(graph::GroupOp group, mlir::OpOperand &use);

/// An operand in `shape`, whether it is stored in its type or as storeNarrow leaves it.
class StoredOperand {
public:
  StoredOperand(KernelBuilder &b, mlir::Value operand,
                llvm::ArrayRef<int64_t> shape);
  /// The element at `at` of `shape`, or the vector from there on, in the operand's type.
  graph::Expr load(llvm::ArrayRef<graph::Expr> at) const;

private:
  KernelBuilder &b;
  mlir::Type type, storedType;
  mlir::Value buffer;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H
