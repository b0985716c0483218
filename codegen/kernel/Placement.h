// Decides which SSA values become C++ variables.
//
// Decides, for one function and before any text is written, how its SSA values
// appear in C++:
//   - a *nested* operation is not a statement: its text is part of the text of
//     its single use;
//   - values that *share* a variable are one mutable local: the carried value
//     of a loop, the operations that update this value on its way to the yield,
//     and the result of the loop.
//
//     %r = scf.for .. iter_args(%a = %z) {        f32x16 acc0 = f32x16{};
//       %w = vector.load %x[%i]                   for (...)
//       %n = vector.fma %w, %s, %a          =>      acc0 += load(x, i) * s;
//       scf.yield %n
//     }
//
// Statements keep their order: compilers schedule well, but start from the
// given order, and strategies order loads and multiplications deliberately.
//
// Guarantee: no expression moves over a write to memory that it reads, over an
// assignment to a variable or a load into a register that it uses, or into a
// loop.

#ifndef INGOT_CODEGEN_KERNEL_PLACEMENT_H
#define INGOT_CODEGEN_KERNEL_PLACEMENT_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ingot {

class Placement {
public:
  explicit Placement(mlir::Region &body);

  /// Whether the operation is not a statement: its text is part of the text of
  /// its user.
  bool isNested(mlir::Operation *op) const { return nested.contains(op); }
  /// Whether an scf.if is written as the expression `c ? a : b`, which is
  /// either assigned to a variable or part of another expression.
  bool isConditional(mlir::Operation *op) const {
    return conditionals.contains(op);
  }
  /// Returns the value that represents all values in the same variable.
  mlir::Value variable(mlir::Value value) const;
  /// Whether the value is in a variable that is assigned more than once.
  bool isShared(mlir::Value value) const { return leader.contains(value); }
  /// Whether the variable holds integer sums (of dot products) that are
  /// converted to floats as signed integers.
  bool isReadSigned(mlir::Value value) const {
    return readSigned.contains(variable(value));
  }

private:
  void findChains(mlir::Region &body);
  void findSigns(mlir::Region &body);
  void findNested(mlir::Block &block);
  void confirmNested(mlir::Block &block);
  void shareUpdates(mlir::Operation *loop);
  void share(mlir::Value a, mlir::Value b);

  bool followToYield(mlir::Value carried, mlir::Value yielded,
                     llvm::SmallVectorImpl<mlir::Value> &path);
  unsigned occurrences(mlir::Value value) const;
  bool leavesOthers(mlir::Operation *load) const;
  mlir::Operation *statementOf(mlir::Operation *op) const;
  bool standsBefore(mlir::Operation *reader, mlir::Operation *update) const;

  llvm::DenseSet<mlir::Operation *> nested, conditionals;
  /// Operations that must be statements, since they assign to a variable that
  /// several values share.
  llvm::DenseSet<mlir::Operation *> pinned;
  llvm::DenseMap<mlir::Operation *, unsigned> weight;
  llvm::DenseMap<mlir::Value, mlir::Value> leader;
  /// The variables for which isReadSigned holds.
  llvm::DenseSet<mlir::Value> readSigned;
};

/// Whether the text of an operation is short and costs nothing when repeated.
/// This is so for scalar constants, constant vectors with equal lanes, splats
/// of floats, the lane of a one-lane vector, and names of globals.
bool isTransparent(mlir::Operation *op);

/// Returns how often the text of `op` contains the text of its operand `index`.
unsigned textualUses(mlir::Operation *op, unsigned index);

} // namespace ingot

#endif // INGOT_CODEGEN_KERNEL_PLACEMENT_H
