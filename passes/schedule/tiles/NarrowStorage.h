// Float constants with integer values, stored in fewer bits.
//
// Integer networks that are computed in floats have filters and biases such as
// -24.0f, which take four bytes each. A kernel that reads each of them once for
// many multiplications can read 8 or 16 bits instead and convert the value.

#ifndef INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H
#define INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H

#include "passes/schedule/KernelBuilder.h"

namespace ingot::schedule {

/// If the group's operand at `use` is a float constant with small integer
/// values, and no other group reads it, stores it as si8 or si16 and adds a
/// cast to the group.
void storeNarrow(graph::GroupOp group, mlir::OpOperand &use);

/// A view, in a given shape, of an operand that may have been stored in fewer
/// bits by storeNarrow.
class StoredOperand {
public:
  StoredOperand(KernelBuilder &b, mlir::Value operand,
                llvm::ArrayRef<int64_t> shape);
  /// Loads the element or, if the builder has lanes, the vector at index `at`,
  /// and converts it to the operand's type.
  graph::Expr load(llvm::ArrayRef<graph::Expr> at) const;

private:
  KernelBuilder &b;
  mlir::Type type, storedType;
  mlir::Value buffer;
};

} // namespace ingot::schedule

#endif // INGOT_PASSES_SCHEDULE_TILES_NARROWSTORAGE_H
